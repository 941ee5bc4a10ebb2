//! What is printed for an engine is complete, and says when a design is too large for it.

use crate::support;

use explain::{Engine, WriteKind, realization, realize};
use support::{compiled, design, designs};

fn of(name: &str, operation: &str, engine: Engine) -> explain::Realized {
    let all = realize(&design(name).design, engine).operations;
    all.into_iter()
        .find(|one| one.operation == operation)
        .unwrap_or_else(|| panic!("no {operation}"))
}

#[test]
fn a_commit_writes_truth_index_outbox_idempotency_and_feed() {
    let pay = of("payments", "merchant[pay]", Engine::Embedded).form;
    let writes: Vec<(&str, &str, WriteKind)> =
        pay.writes.iter().map(|w| (w.name.as_str(), w.what.as_str(), w.kind)).collect();
    assert_eq!(
        writes,
        [
            ("intent", "record", WriteKind::Update),
            ("charge", "record", WriteKind::Create),
            ("charge_reconcile_due", "due-time index", WriteKind::Put),
            ("outbox_authorize", "outbox entry, open", WriteKind::Create),
            ("outbox_authorize_next", "outbox by time", WriteKind::Put),
            ("idempotency", "idempotency outcome", WriteKind::Create),
            ("idempotency_until", "idempotency by time", WriteKind::Put),
        ]
    );
    assert!(pay.feed.is_some());
    let ok = of("payments", "network[authorize] on ok", Engine::Embedded).form;
    assert!(ok.writes.iter().any(|w| w.name == "outbox_authorize" && w.kind == WriteKind::Remove));
    assert_eq!(ok.events, ["PaymentSucceeded"]);
    let rounds: Vec<(&str, u32)> = ok.reads.iter().map(|r| (r.name.as_str(), r.round)).collect();
    assert_eq!(rounds, [("charge", 1), ("charge_intent", 2), ("outbox_authorize", 1)]);
}

#[test]
fn keys_are_laid_out_as_the_runtime_lays_them_out() {
    let hold = of("tickets", "buyer[hold]", Engine::Embedded).form;
    let text = |name: &str| name.as_bytes().to_vec();
    let key = |name: &str| hold.writes.iter().find(|w| w.name == name).unwrap().key.bytes(3, &text);
    assert_eq!(key("seat"), b"\x00\x03r\x00\x00seat\x00\x01");
    assert_eq!(key("booking"), b"\x00\x03r\x00\x01booking\x00\x01");
    let due = &hold.writes.iter().find(|w| w.name == "seat_release_due").unwrap().key;
    assert_eq!(due.to_string(), "design:u16 't' sorted(seat.release.due) 0003 0000 text(seat)");
    let zero = |_: &str| b"a\x00b".to_vec();
    let seat = &hold.writes.iter().find(|w| w.name == "seat").unwrap().key;
    assert_eq!(seat.bytes(0, &zero), b"\x00\x00r\x00\x00a\x00\xffb\x00\x01");
}

#[test]
fn every_write_is_printed_on_every_engine() {
    for found in designs() {
        for engine in Engine::ALL {
            let all = realize(&found.design, engine);
            let page = realization(&all);
            for one in &all.operations {
                assert!(page.contains(&format!("### {} on ", one.operation)));
                for write in &one.form.writes {
                    let printed = one.commit.iter().any(|line| line.text.contains(&write.name));
                    assert!(printed, "{} {} {}", found.name, one.operation, write.name);
                }
                for read in &one.form.reads {
                    let printed = one.reads.iter().any(|line| line.text.contains(&read.name));
                    assert!(printed, "{} {} {}", found.name, one.operation, read.name);
                }
            }
            assert!(serde_json::from_str::<serde_json::Value>(&all.to_json()).is_ok());
        }
    }
}

#[test]
fn a_read_writes_nothing() {
    let status = of("payments", "merchant[payment_status]", Engine::Postgres);
    assert!(status.commit.is_empty() && status.form.feed.is_none());
    // the request, and what its parameter holds
    assert_eq!(status.reads.len(), 2);
}

#[test]
fn a_design_that_cannot_fit_is_told_so() {
    let text = r#"
design Wide "A step that writes very much"
actor boss
subject Team(team: text) { truth TeamState { members: set Member max 120 = {} } }
subject Member(member: text) { truth MemberState { calls: int = 0 } }
subject Archive(archive: text) {
    truth ArchiveState {
        a: map int int max 4096 = {}, b: map int int max 4096 = {}, c: map int int max 4096 = {},
        d: map int int max 4096 = {}, e: map int int max 4096 = {}, f: map int int max 4096 = {},
    }
}
step boss[call_all(team: Team)] { for m in TeamState.members { m.calls += 1 } }
step boss[note(archive: Archive, number: int)] { ArchiveState.a[number] := number }
check { team: 1  member: 1  archive: 1  boss: 1  number: 0..1 }
"#;
    let design = compiled(text);
    let dynamodb = realize(&design, Engine::Dynamodb).misfits;
    assert_eq!(dynamodb.len(), 2, "{dynamodb:?}");
    assert!(dynamodb[0].contains("TransactWriteItems takes 100"), "{dynamodb:?}");
    assert!(dynamodb[1].contains("an item has at most 409600"), "{dynamodb:?}");
    let etcd = realize(&design, Engine::Etcd).misfits;
    assert_eq!(etcd.len(), 0, "{etcd:?}");
    let wider = compiled(&text.replace("max 120", "max 140"));
    assert_eq!(realize(&wider, Engine::Etcd).misfits.len(), 1);
    assert_eq!(realize(&wider, Engine::Embedded).misfits.len(), 0);
    assert!(realization(&realize(&wider, Engine::Etcd)).contains("**Does not fit:**"));
}

/// Views lie beside the runtime, so how a read gets at one is the same on every engine.
#[test]
fn a_read_of_a_view_says_where_its_rows_come_from() {
    let text = r#"
design Drive
actor user
subject File(file: text) { truth FileState { path: text = "" } }
subject Share(share: text) { truth ShareState { file: File?, to: actor, weight: int = 0 } }
step user[share(share: new Share, file: File, to: actor)] { ShareState := { file: file, to: to, weight: 1 } }
view Mine of user = list Share where to = me and weight > 0 with file.path order by weight desc
view Most(to: actor) = max weight of Share
view Mean = avg weight round half_up to 1 of Share
read user[mine] = Mine() paged
read user[most(to: actor)] = Most(to)
read user[mean] = Mean()
"#;
    let found = compiled(text);
    for engine in Engine::ALL {
        let all = realize(&found, engine).operations;
        let said = |name: &str| {
            let one = all.iter().find(|one| one.operation == name).unwrap();
            one.scans.iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        let kept = "which the server has in memory and keeps from the feed";
        assert_eq!(
            said("user[mine]"),
            [format!(
                "Mine(me): the Share in the order of weight desc, key, {kept}; for each row file.path from the File there"
            )]
        );
        assert_eq!(
            said("user[most]"),
            [format!(
                "Most(to): the Share in the order of weight desc, key, of which the first, {kept}"
            )]
        );
        assert_eq!(
            said("user[mean]"),
            [format!("Mean: the sum of weight and how many there are, {kept}")]
        );
    }
    let sheet = explain::sheet(&found);
    let mine = sheet.derived.iter().find(|derived| derived.name == "Mine").unwrap();
    assert_eq!(
        mine.text,
        "sorted list of Share for each user, each for its own rows alone with file.path, looked up when a row is \
         read, rebuilt from the feed"
    );
}
