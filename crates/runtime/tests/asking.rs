//! What is legal instead, what would be refused, preconditions, and lists.

use crate::support;

use runtime::{CallError, IfMatch, Request};
use serde_json::{Value, json};
use support::{Bench, ask, bench, design};

fn hold(seat: &str, booking: &str, who: &str) -> Request {
    ask("buyer", "hold", who).with("seat", seat).with("booking", booking)
}

fn tickets(seats: &[&str]) -> Bench {
    let bench = bench(design("systems/tickets"));
    for seat in seats {
        let add = ask("organizer", "add_seat", "olga").with("seat", *seat).with("section", "A");
        bench.call(add).unwrap();
    }
    bench
}

fn legal(bench: &Bench, mut request: Request) -> Vec<Value> {
    request.legal = true;
    match bench.call(request) {
        Err(CallError::Refused(refused)) => refused.legal,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_refusal_tells_what_could_be_done_instead() {
    let bench = tickets(&["A1"]);
    bench.call(hold("A1", "b1", "ann")).unwrap();
    assert_eq!(legal(&bench, hold("A1", "b2", "bob")), Vec::<Value>::new());
    let yours = json!({ "actor": "buyer", "operation": "confirm", "params": { "booking": "b1" } });
    assert_eq!(legal(&bench, hold("A1", "b1", "ann")), std::slice::from_ref(&yours));
    bench.clock.advance(11 * 60_000);
    let again = json!({ "actor": "buyer", "operation": "hold", "params": { "seat": "A1" } });
    let found = legal(&bench, ask("buyer", "confirm", "ann").with("booking", "b1"));
    assert!(found.iter().any(|step| step["operation"] == again["operation"]), "{found:?}");
    assert!(!found.contains(&yours), "{found:?}");
}

#[test]
fn what_would_happen_is_told_without_doing_it() {
    let bench = tickets(&["A1"]);
    let before = store::block_on(bench.runtime.head()).unwrap();
    assert_eq!(bench.runtime.would(&hold("A1", "b1", "ann")), Ok(()));
    assert_eq!(bench.truth("Booking", "b1"), Value::Null);
    assert_eq!(store::block_on(bench.runtime.head()).unwrap(), before);
    bench.call(hold("A1", "b1", "ann")).unwrap();
    let refused = bench.runtime.would(&hold("A1", "b2", "bob"));
    let Err(CallError::Refused(refused)) = refused else { panic!("{refused:?}") };
    assert_eq!(refused.clause, "free");
    assert!(matches!(
        bench.runtime.would(&hold("A1", "b2", "bob").with("x", 1)),
        Err(CallError::Bad(_))
    ));
    let counted = bench.runtime.counters().all();
    assert!(counted.iter().all(|(_, _, refusals)| refusals.is_empty()), "{counted:?}");
}

#[test]
fn a_step_is_taken_only_on_the_record_as_it_was_seen() {
    let bench = tickets(&["A1"]);
    let version = |bench: &Bench| {
        let found = store::block_on(bench.runtime.get("Seat", &[json!("A1")]));
        found.unwrap().unwrap().version
    };
    let seen = version(&bench);
    let expecting = |booking: &str, expected: IfMatch| {
        let mut request = hold("A1", booking, "ann");
        request.if_match = Some(expected);
        request
    };
    bench.call(expecting("b1", IfMatch::Versions(vec![seen]))).unwrap();
    bench.clock.advance(11 * 60_000);
    let stale = bench.call(expecting("b2", IfMatch::Versions(vec![seen])));
    assert_eq!(stale, Err(CallError::Precondition));
    assert_eq!(bench.truth("Booking", "b2"), Value::Null);
    bench.call(expecting("b3", IfMatch::Exists)).unwrap();
    let mut missing = hold("A9", "b4", "ann");
    missing.if_match = Some(IfMatch::Exists);
    assert_eq!(bench.call(missing), Err(CallError::Precondition));
}

#[test]
fn records_are_listed_page_by_page_and_repairs_by_time() {
    let bench = tickets(&["A1", "A2", "A3"]);
    let page = |after: Option<&[Value]>| {
        let found = store::block_on(bench.runtime.records("Seat", after, 2)).unwrap();
        let keys: Vec<Value> = found.records.iter().map(|(key, _)| key[0].clone()).collect();
        (keys, found.more)
    };
    assert_eq!(page(None), (vec![json!("A1"), json!("A2")], true));
    assert_eq!(page(Some(&[json!("A2")])), (vec![json!("A3")], false));
    assert_eq!(bench.runtime.due(10).unwrap(), []);
    bench.call(hold("A2", "b2", "ann").with("ttl", "20m")).unwrap();
    bench.call(hold("A1", "b1", "ann")).unwrap();
    let due = bench.runtime.due(10).unwrap();
    let listed: Vec<_> = due.iter().map(|due| (due.repair.as_str(), &due.key[0])).collect();
    assert_eq!(listed, [("release", &json!("A1")), ("release", &json!("A2"))]);
    assert!(due[0].at < due[1].at && bench.runtime.due(1).unwrap().len() == 1);
}
