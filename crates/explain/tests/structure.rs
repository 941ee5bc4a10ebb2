//! A change of structure changes what is derived; a change of names does not.

use crate::support;

use explain::{Derivation, FenceKind, Kind, Mechanism, Shape, derive};
use support::{changed, compiled, design, designs};

fn one(text: &str, name: &str) -> Derivation {
    let all = derive(&compiled(text));
    all.into_iter().find(|d| d.name == name).unwrap_or_else(|| panic!("no {name}"))
}

const STORE: &str = r#"
design Store "A setting"
actor admin { seen: int? of Setting }
subject Setting(setting: text) {
    truth SettingState { value: text = "", version: int = 0 }
}
step admin[put(setting: Setting, value: text) { current: SettingState.version = seen }] {
    SettingState.value := value
    SettingState.version += 1
}
read admin[get(setting: Setting)] = SettingState { seen := SettingState.version }
check { setting: 1  admin: 2  value: 2  SettingState.version: 0..2 }
"#;

#[test]
fn dropping_the_version_makes_the_last_one_win() {
    let put = one(STORE, "admin[put]");
    assert_eq!(put.mechanism, Some(Mechanism::VersionedOverwrite));
    assert_eq!(put.shapes, [Shape::Overwrite]);
    assert_eq!(put.phrase, "overwrite of the version that the caller saw");
    assert_eq!(put.fences.len(), 1);
    assert_eq!(put.fences[0].kind, FenceKind::Memory);
    assert_eq!(put.fences[0].moved_by, ["admin[put]"]);
    let text = changed(STORE, " { current: SettingState.version = seen }", "");
    let put = one(&text, "admin[put]");
    assert_eq!(put.phrase, "overwrite, the last one wins");
    assert!(put.fences.is_empty());
}

#[test]
fn dropping_the_deadline_turns_a_claim_into_another() {
    let text = design("I02").text;
    let claim = one(&text, "claimant[claim]");
    assert_eq!(claim.mechanism, Some(Mechanism::Claim));
    assert_eq!(claim.phrase, "claim/lease, epoch advanced");
    assert_eq!(claim.restored_by, ["reaper[reclaim]"]);
    let text =
        text.replacen("    LeaseState.expiry_at := now + ttl\n    OwnerEpoch", "    OwnerEpoch", 1);
    let claim = one(&text, "claimant[claim]");
    assert_eq!(claim.phrase, "claim without a deadline");
}

#[test]
fn without_the_clock_an_expiry_scan_is_a_repair_like_others() {
    let text = design("I02").text;
    let reclaim = one(&text, "reaper[reclaim]");
    assert_eq!(reclaim.phrase, "expiry scan + guarded release");
    let text = changed(
        &text,
        "expired: ClaimState.owner_id != null and LeaseState.expiry_at < now",
        "expired: ClaimState.owner_id != null",
    );
    assert_eq!(one(&text, "reaper[reclaim]").phrase, "guarded repair");
}

#[test]
fn a_send_makes_a_transition_a_workflow() {
    let text = design("payments").text;
    let pay = one(&text, "merchant[pay]");
    assert_eq!(pay.mechanism, Some(Mechanism::Workflow));
    assert_eq!(pay.shapes, [Shape::StateTransition, Shape::CreateTarget]);
    assert!(pay.phrase.ends_with("transactional outbox write"), "{}", pay.phrase);
    let outbox = pay.touches.iter().find(|t| t.state == "outbox authorize").unwrap();
    assert_eq!(outbox.shape, Some(Shape::CreateTarget));
    let reconcile = one(&text, "reconciler[reconcile]");
    assert_eq!(reconcile.shapes, [Shape::StateTransition]);
    let text = text.replacen("    send network.authorize(charge)\n}\n\neffect", "}\n\neffect", 1);
    let pay = derive(&support_compiled_lenient(&text))
        .into_iter()
        .find(|d| d.name == "merchant[pay]")
        .unwrap();
    assert_eq!(pay.mechanism, Some(Mechanism::GuardedUpdate));
}

/// The failure that names the outbox of a step that sends nothing is left out.
fn support_compiled_lenient(text: &str) -> design::model::Design {
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("outbox of pay")).collect();
    compiled(&(kept.join("\n") + "\n"))
}

#[test]
fn a_new_parameter_makes_a_target() {
    let text = design("tickets").text;
    let hold = one(&text, "buyer[hold]");
    assert_eq!(hold.mechanism, Some(Mechanism::Hold));
    assert_eq!(hold.phrase, "guarded exclusive hold + workflow create");
    let add = one(&text, "organizer[add_seat]");
    assert_eq!(
        (add.mechanism, add.shapes.clone()),
        (Some(Mechanism::Insert), vec![Shape::CreateTarget])
    );
    assert_eq!(add.guard[0].name, "fresh");
}

#[test]
fn an_archetype_and_its_use_are_one_structure() {
    let text = design("A08").text;
    let archetype = derive(&compiled(&text));
    let renamed = text
        .replace("XInventoryState", "Zebra")
        .replace("XHoldState", "Quagga")
        .replace("confirm", "okapi");
    let other = derive(&compiled(&renamed));
    assert_eq!(archetype.len(), other.len());
    for (one, other) in archetype.iter().zip(&other) {
        assert_eq!(
            (&one.mechanism, &one.shapes, &one.phrase),
            (&other.mechanism, &other.shapes, &other.phrase)
        );
    }
}

#[test]
fn everything_written_has_a_shape_and_a_mechanism() {
    for found in designs() {
        for one in derive(&found.design) {
            for touch in one.touches.iter().filter(|touch| touch.written) {
                assert!(
                    touch.shape.is_some() && touch.mechanism.is_some(),
                    "{} {}",
                    found.name,
                    one.name
                );
            }
            assert!(!one.phrase.is_empty(), "{} {}", found.name, one.name);
            let reads = one.kind == Kind::Read;
            assert_eq!(one.mechanism.is_none(), reads, "{} {}", found.name, one.name);
        }
    }
}
