//! Calls, refusals, retries, truth and feed.

use crate::support;

use runtime::{CallError, Request};
use serde_json::{Map, Value, json};
use support::{ask, bench, bench_on, design};

fn seat(bench: &support::Bench, name: &str) {
    let add = ask("organizer", "add_seat", "olga").with("seat", name).with("section", "A");
    bench.call(add).unwrap();
}

fn hold(seat: &str, booking: &str, who: &str) -> Request {
    ask("buyer", "hold", who).with("seat", seat).with("booking", booking)
}

#[test]
fn a_seat_is_held_confirmed_and_then_refused_with_the_reason() {
    let bench = bench(design("systems/tickets"));
    seat(&bench, "A1");
    let reply = bench.call(hold("A1", "b1", "ann")).unwrap();
    assert_eq!(reply.revision, "0-3");
    let truth = bench.truth("Seat", "A1");
    assert_eq!(truth["SeatInventoryState"]["status"], "HELD");
    assert_eq!(truth["SeatInventoryState"]["booking"], "b1");
    assert_eq!(truth["SeatHoldState"]["expires_at"], "2023-11-14T22:23:20Z");

    let Err(CallError::Refused(refused)) = bench.call(hold("A1", "b2", "bob")) else { panic!() };
    assert_eq!(refused.clause, "free");
    assert_eq!(refused.prevents, ["seat: oversell", "seat: duplicate hold"]);
    assert_eq!(refused.truth[0]["truth"]["SeatInventoryState"]["status"], "HELD");
    assert_eq!(bench.truth("Booking", "b2"), Value::Null, "a refusal changes nothing");

    let confirm = |who: &str| ask("buyer", "confirm", who).with("booking", "b1");
    assert_eq!(bench.refused_by(confirm("bob")), "yours");
    bench.call(confirm("ann")).unwrap();
    assert_eq!(bench.refused_by(confirm("ann")), "open");
    assert_eq!(bench.truth("Seat", "A1")["SeatInventoryState"]["status"], "SOLD");
    assert_eq!(bench.refused_by(hold("A9", "b3", "ann")), "exists");
    assert_eq!(bench.refused_by(hold("A1", "b1", "ann")), "fresh");
}

#[test]
fn the_feed_tells_what_happened_in_order() {
    let bench = bench(design("systems/tickets"));
    seat(&bench, "A1");
    bench.call(hold("A1", "b1", "ann")).unwrap();
    bench.call(ask("buyer", "confirm", "ann").with("booking", "b1")).unwrap();
    let (all, next) = store::block_on(bench.runtime.feed(None, 100)).unwrap();
    let told: Vec<(&str, &str)> =
        all.iter().map(|(_, t)| (t.operation.as_str(), t.principal.as_str())).collect();
    assert_eq!(told, [("add_seat", "olga"), ("hold", "ann"), ("confirm", "ann")]);
    assert_eq!(all[2].1.events[0].0, "BookingConfirmed");
    assert_eq!(all[2].1.events[0].1, json!({ "booking": "b1", "seat": "A1" }));
    assert_eq!(all[2].0, next);
    let (later, _) = store::block_on(bench.runtime.feed(Some(&all[0].0), 100)).unwrap();
    assert_eq!(later.len(), 2, "strictly after the given revision");
}

#[test]
fn a_stale_holder_is_fenced_by_what_it_remembers() {
    let bench = bench(design("infra/I02"));
    let claim = |who: &str| ask("claimant", "claim", who).with("resource", "r").with("ttl", "10s");
    let commit = |write: &str, who: &str, memory: &Map<String, Value>| {
        ask("holder", "commit", who)
            .with("resource", "r")
            .with("write", write)
            .with("value", who)
            .remembering(memory.clone())
    };
    let first = bench.call(claim("ann")).unwrap();
    assert_eq!(first.memory["my_epoch"], 1);
    assert_eq!(bench.refused_by(claim("bob")), "free");
    // sent while the lease lasts, and still under way when another one holds it
    bench.call(commit("w1", "ann", &first.memory)).unwrap();
    bench.clock.advance(10_001);
    let second = bench.call(claim("bob")).unwrap();
    assert_eq!(second.memory["my_epoch"], 2);
    assert_eq!(bench.refused_by(commit("w2", "ann", &first.memory)), "fenced");
    bench.call(commit("w3", "bob", &second.memory)).unwrap();
    bench.runtime.fire_due().unwrap();
    // nothing but the claim of another made this repair due
    assert_eq!(bench.truth("Write", "w1")["WriteState"]["status"], "REJECTED");
    assert_eq!(bench.truth("Write", "w3")["WriteState"]["status"], "APPLIED");
    assert_eq!(
        bench.truth("Resource", "r")["Protected"],
        json!({ "value": "bob", "written_by": 2 })
    );
    assert_eq!(bench.refused_by(commit("w4", "ann", &Map::new())), "fenced");
}

#[test]
fn the_same_key_gives_the_same_answer_and_another_payload_is_refused() {
    let bench = bench(design("systems/tickets"));
    seat(&bench, "A1");
    let first = bench.call(hold("A1", "b1", "ann").keyed("k1")).unwrap();
    let again = bench.call(hold("A1", "b1", "ann").keyed("k1")).unwrap();
    assert!(again.replayed);
    assert_eq!((again.revision, again.truth), (first.revision, first.truth));
    let other = bench.call(hold("A1", "b2", "ann").keyed("k1"));
    assert_eq!(other, Err(CallError::OtherPayload));
    // another principal's key is another key; and refusals are evaluated anew
    assert_eq!(bench.refused_by(hold("A1", "b1", "bob").keyed("k1")), "fresh");
    assert_eq!(bench.refused_by(hold("A1", "b9", "bob").keyed("k2")), "free");
    bench.clock.advance(600_001);
    bench.call(hold("A1", "b9", "bob").keyed("k2")).unwrap();
    // after a day the outcome is forgotten
    bench.clock.advance(24 * 3_600_000);
    assert_eq!(bench.runtime.forget_outcomes(100).unwrap(), 2);
    assert_eq!(bench.refused_by(hold("A1", "b1", "ann").keyed("k1")), "fresh");
}

#[test]
fn bad_arguments_are_named_with_a_pointer_and_change_nothing() {
    let bench = bench(design("systems/tickets"));
    let bad = |request: Request| match bench.call(request) {
        Err(CallError::Bad(bad)) => format!("{} {}", bad.pointer, bad.message),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        bad(ask("buyer", "hold", "ann").with("seat", "A1")),
        "/params/booking `booking` is missing"
    );
    assert_eq!(
        bad(ask("buyer", "hold", "ann").with("saet", "A1").with("booking", "b")),
        "/params/saet `hold` takes no `saet`; its parameters are seat, booking, ttl"
    );
    assert_eq!(
        bad(hold("A1", "b", "ann").with("ttl", "soon")),
        "/params/ttl expected a duration, such as \"10m\" or \"1500ms\", found \"soon\""
    );
    assert_eq!(
        bad(hold("A1", "b", "ann").with("price", 3)),
        "/params/price `hold` takes no `price`; its parameters are seat, booking, ttl"
    );
    assert_eq!(
        bad(ask("buyer", "hold", "ann").with("seat", json!(["a", "b"])).with("booking", "b")),
        "/params/seat the key has more parts than its subject"
    );
    let unknown = bench.call(ask("buyer", "release", "ann"));
    assert!(matches!(unknown, Err(CallError::Unknown(_))), "repairs are not called: {unknown:?}");
    assert!(store::block_on(bench.runtime.feed(None, 10)).unwrap().0.is_empty());
}

#[test]
fn several_designs_share_a_store() {
    let first = bench(design("systems/tickets"));
    // another design beside it is no trouble
    let second = bench_on(design("infra/I02"), first.store.clone(), first.clock.clone());
    let claim = ask("claimant", "claim", "ann").with("resource", "r").with("ttl", "10s");
    second.call(claim).unwrap();
    assert_eq!(store::block_on(second.runtime.feed(None, 10)).unwrap().0.len(), 1);
    assert!(store::block_on(first.runtime.feed(None, 10)).unwrap().0.is_empty());
}

#[test]
fn the_hottest_key_is_known() {
    let bench = bench(design("infra/I02"));
    for n in 0..40 {
        let resource = if n % 4 == 0 { format!("cold{n}") } else { "hot".to_string() };
        let claim = ask("claimant", "claim", "ann").with("resource", resource).with("ttl", "1ms");
        bench.call(claim).unwrap();
        bench.clock.advance(10);
    }
    let (hottest, total) = bench.runtime.hottest(1);
    assert_eq!(total, 40);
    assert_eq!(hottest[0].0, "Resource");
    assert_eq!(hottest[0].1, [json!("hot")]);
    assert_eq!(hottest[0].2.count, 30);
}
