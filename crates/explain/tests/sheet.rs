//! The sheet says of each design what its text shows.

use crate::support;

use explain::{Sheet, markdown, sheet};
use serde_json::Value;
use support::{changed, compiled, design, designs};

fn of(name: &str) -> Sheet {
    sheet(&design(name).design)
}

#[test]
fn ownership_is_derived_and_agrees_with_every_header() {
    for found in designs() {
        let ownership = sheet(&found.design).ownership;
        assert_ne!(ownership.agrees, Some(false), "{}: {ownership:?}", found.name);
    }
    for (name, shape) in [
        ("I02", "lease-backed"),
        ("A08", "lease-backed"),
        ("tickets", "lease-backed"),
        ("A07", "attempt-scoped"),
    ] {
        assert_eq!(of(name).ownership.derived, [shape], "{name}");
    }
    // by the number that an attempt was given, and by a key whose private half one must hold
    for (name, shape) in [("I20", "attempt-scoped"), ("I21", "owner-only")] {
        let found = designs().into_iter().find(|found| found.name == name).unwrap();
        assert_eq!(sheet(&found.design).ownership.derived, [shape], "{name}");
    }
    let text = changed(&design("I02").text, "ownership lease-backed", "ownership owner-only");
    assert_eq!(sheet(&compiled(&text)).ownership.agrees, Some(false));
}

#[test]
fn the_point_that_distances_are_taken_from_is_no_part_of_the_key() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { at: point?, city: text = \"\" } }\n\
        step a[put(s: S, city: text)] { T.city := city }\n\
        view Close(city: text, here: point) = near S on at from here within 5km first 10\n";
    let derived = sheet(&compiled(text)).derived;
    let said: Vec<&str> = derived.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(said, ["nearest S to any `here` for each city, rebuilt from the feed"]);
}

#[test]
fn each_failure_has_a_prevention_and_a_repair() {
    for found in designs() {
        for failure in sheet(&found.design).failures {
            assert!(
                !failure.prevention.is_empty() && !failure.repair.is_empty(),
                "{}",
                failure.title
            );
        }
    }
    let i02 = of("I02");
    let stale = i02.failures.iter().find(|f| f.title.starts_with("stale holder")).unwrap();
    assert_eq!(
        stale.prevention,
        ["guard: `holder[commit]` happens only if `fenced` (OwnerEpoch.current = my_epoch)"]
    );
    assert_eq!(stale.repair, ["refused by `fenced`, the protocol goes on with: retry"]);
    let payments = of("payments");
    let drift = payments.failures.iter().find(|f| f.title == "reconciliation drift").unwrap();
    assert!(drift.repair[0].contains("under the same key"), "{:?}", drift.repair);
}

#[test]
fn ranges_who_is_apart_and_clauses_kept_for_defence_are_told() {
    let text = "design D\nactor author\nactor approver apart from author\n\
        subject S(s: int 0..3) { truth T { n: int 1..64 = 4, d: duration 1s..10m? } }\n\
        step author[go(s: S, n: int 1..9 = 2) { low: T.n < 9 }] { T.n := n }\n\
        step approver[look(s: S)] { T.n := 1 }\n\
        defence go.low \"an old client asks twice\"\n";
    let sheet = sheet(&compiled(text));
    assert_eq!(sheet.truth[0].subject, "S(s: int 0..3)");
    assert_eq!(sheet.truth[0].attributes, ["n: int 1..64 = 4", "d: duration 1s..10m?"]);
    assert_eq!(sheet.operations[0].params, ["s: S", "n: int 1..9 = 2"]);
    assert_eq!(sheet.operations[0].guard[0].defence.as_deref(), Some("an old client asks twice"));
    assert_eq!(sheet.actors[0].apart, ["approver"]);
    let page = markdown(&sheet);
    for told in [
        "- guard `low`: `T.n < 9` (kept for defence: an old client asks twice)",
        "`approver` (apart from `author`)",
    ] {
        assert!(page.contains(told), "{page}");
    }
}

#[test]
fn trust_is_what_the_structure_shows() {
    let i02 = of("I02").trust;
    assert!(
        i02.identity.shown && i02.signed_versioned_state.shown && !i02.authenticated_channel.shown
    );
    assert_eq!(i02.specialised, ["epochs fence stale holders"]);
    let payments = of("payments").trust;
    assert!(payments.authenticated_channel.shown && !payments.identity.shown);
}

#[test]
fn shared_keys_are_named_with_their_way_out() {
    let i02 = of("I02");
    let renew = i02.hot_keys.iter().find(|hot| hot.operation == "holder[renew]").unwrap();
    assert_eq!((renew.key.as_str(), renew.way_out.name), ("Resource(resource)", "widen_lease"));
    let claim = i02.hot_keys.iter().find(|hot| hot.operation == "claimant[claim]").unwrap();
    assert_eq!((claim.way_out.name, claim.way_out.reads), ("shard", "N"));
    let tickets = of("tickets");
    let sold = &tickets.hot_keys[0];
    assert_eq!(
        (sold.key.as_str(), sold.shared_by, sold.way_out.name),
        ("view SoldCount", "all", "escrow")
    );
    assert!(!tickets.hot_keys.iter().any(|hot| hot.operation == "organizer[add_seat]"));
}

#[test]
fn a_counted_parent_is_the_key_that_gets_hot() {
    let text = r#"
design Rooms "Rooms with beds"
actor guest
subject Room(room: text) { truth RoomState { open: bool = true } }
subject Bed(room: Room, bed: int) { truth BedState { taken: bool = false } }
step guest[add(room: Room, bed: new Bed) { few: count(Bed of room) < 3 }] { BedState.taken := false }
check { room: 1  bed: 2  guest: 1 }
"#;
    let sheet = sheet(&compiled(text));
    let hot = &sheet.hot_keys[0];
    assert_eq!((hot.shared_by, hot.way_out.name), ("all", "escrow"));
    assert!(hot.key.starts_with("Room(room), counter of Bed"), "{}", hot.key);
}

#[test]
fn the_json_is_versioned_and_whole() {
    for found in designs() {
        let sheet = sheet(&found.design);
        let value: Value = serde_json::from_str(&sheet.to_json()).unwrap();
        assert_eq!(value["format"], "steadfast-explain/1");
        let count = |key: &str| value[key].as_array().unwrap().len();
        assert_eq!(count("actors"), found.design.actors.len());
        assert_eq!(count("failures"), found.design.failures.len());
        assert_eq!(count("protocols"), found.design.protocols.len());
        let answers = found
            .design
            .operations
            .iter()
            .filter(|op| matches!(op.kind, design::model::OperationKind::Effect(_)))
            .count()
            * 3;
        assert_eq!(
            count("operations"),
            found.design.operations.len() + answers + found.design.views.len()
        );
    }
}

/// Programs are written against these names: a new one may come, none may go.
#[test]
fn the_names_in_the_json_are_a_contract() {
    let value: Value = serde_json::from_str(&of("payments").to_json()).unwrap();
    let has = |value: &Value, names: &[&str]| {
        for name in names {
            assert!(value.get(name).is_some(), "{name} in {value}");
        }
    };
    has(
        &value,
        &[
            "format",
            "name",
            "id",
            "title",
            "family",
            "truth",
            "derived",
            "actors",
            "ownership",
            "operations",
            "machines",
            "protocols",
            "invariants",
            "recovers",
            "failures",
            "hotspots",
            "hot_keys",
            "trust",
            "connections",
            "boxes",
        ],
    );
    has(
        &value["operations"][1],
        &[
            "name",
            "kind",
            "actor",
            "params",
            "guard",
            "touches",
            "shapes",
            "mechanism",
            "phrase",
            "fences",
            "restored_by",
        ],
    );
    has(
        &value["operations"][1]["touches"][0],
        &[
            "state",
            "kind",
            "truth",
            "path",
            "subject",
            "read_in_guard",
            "read",
            "written",
            "shape",
            "mechanism",
        ],
    );
    has(
        &value["hot_keys"][0],
        &["key", "operation", "shared_by", "why", "reads", "writes", "way_out"],
    );
    has(&value["failures"][0], &["title", "prevention", "repair", "breaks"]);
}

#[test]
fn the_page_has_every_part_and_sound_tables() {
    for found in designs() {
        let sheet = sheet(&found.design);
        let page = markdown(&sheet);
        for title in [
            "Source of truth",
            "Actors",
            "Ownership",
            "Operations",
            "Protocols",
            "Failures",
            "Keys that callers share",
            "Trust",
            "Starter boxes",
        ] {
            assert!(page.contains(&format!("\n## {title}\n")), "{}: {title}", found.name);
        }
        for one in &sheet.operations {
            assert!(page.contains(&format!("### {}\n", one.name)), "{}: {}", found.name, one.name);
        }
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut before: Option<usize> = None;
        for line in page.lines() {
            let now = line.starts_with('|').then(|| columns(line));
            if let (Some(before), Some(now)) = (before, now) {
                assert_eq!(before, now, "{}: {line}", found.name);
            }
            before = now;
        }
    }
}

#[test]
fn the_whole_catalog_is_derived_in_well_under_a_second() {
    let designs = designs();
    let start = std::time::Instant::now();
    let pages: usize = designs.iter().map(|found| markdown(&sheet(&found.design)).len()).sum();
    let took = start.elapsed();
    println!("{} designs, {pages} bytes of sheets in {took:?}", designs.len());
    assert!(took.as_millis() < 500, "{took:?}");
}
