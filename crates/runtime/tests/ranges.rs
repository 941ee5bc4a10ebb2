//! Values outside their range: refused with a pointer to the field before the step, and by `range` after.

use crate::support;

use runtime::{
    CallError, Delivered, Delivery, Fired, Outside, ReplaceError, Request, Runtime, TextCall,
    Worked,
};
use serde_json::{Value, json};
use support::{Bench, ask, bench, compile};

const POOLS: &str = "
design Pools
actor owner
actor tidier
actor bank
subject Pool(pool: text) {
    truth PoolState { slots: int 1..64 = 4, lease: duration 1s..10m = 30s, debt: int 0..3 = 0, up: bool = false }
    truth Got { answer: int? }
}
subject Shelf(shelf: int 1..9) { truth ShelfState { n: int = 0 } }
step owner[resize(pool: Pool, slots: int 1..64, lease: duration 1s..10m = 30s, price: decimal 0..9.50?)] {
    PoolState.slots := slots
    PoolState.lease := lease
}
step owner[grow(pool: Pool, by: int)] { PoolState.slots += by }
step owner[start(pool: Pool)] { PoolState.up := true }
step owner[stop(pool: Pool)] { PoolState.up := false }
step owner[put(shelf: Shelf)] { ShelfState.n += 1 }
step owner[pass_on(pool: Pool, n: int)] { send owner.take(pool, n) }
step owner[take(pool: Pool, n: int 1..2)] { PoolState.slots := n }
step owner[ask(pool: Pool)] { send bank.charge(pool) }
effect bank[charge(pool: Pool)] {
    call POST \"u\" key pool
    on ok(n: int 5..9?) { Got.answer := if n = null then -1 else n }
    on refused {}
    on unknown {}
}
repair tidier[nag(pool: Pool) { up: PoolState.up }] { PoolState.debt += 1 }
";

fn pools() -> Bench {
    bench(compile("pools", POOLS))
}

fn on(operation: &str) -> Request {
    ask("owner", operation, "ann").with("pool", "p")
}

#[test]
fn an_argument_outside_its_range_is_told_with_its_field() {
    let bench = pools();
    let bad = |request: Request| match bench.call(request) {
        Err(CallError::Bad(bad)) => (bad.pointer, bad.message),
        other => panic!("{other:?}"),
    };
    let resize = |slots: i64| on("resize").with("slots", slots);
    for (request, pointer, message) in [
        (resize(0), "/params/slots", "expected a value in 1..64, found 0"),
        (resize(65), "/params/slots", "expected a value in 1..64, found 65"),
        (resize(1).with("lease", "11m"), "/params/lease", "expected a value in 1s..10m, found 11m"),
        (
            resize(1).with("price", "9.51"),
            "/params/price",
            "expected a value in 0..9.5, found 9.51",
        ),
        (
            ask("owner", "put", "ann").with("shelf", 10),
            "/params/shelf",
            "expected a value in 1..9, found 10",
        ),
    ] {
        assert_eq!(bad(request), (pointer.into(), message.into()));
    }
    for request in [resize(1), resize(64).with("lease", "10m").with("price", Value::Null)] {
        bench.call(request).unwrap();
    }
    let found = store::block_on(bench.runtime.get("Shelf", &[json!(0)]));
    assert!(matches!(found, Err(CallError::Bad(_))));
}

#[test]
fn the_short_way_leaves_it_to_the_long_one() {
    let bench = pools();
    let short = |name: &str, params: &str| {
        let operations = &bench.runtime.design().operations;
        let at = operations.iter().position(|operation| operation.name == name).unwrap();
        let (operation, params) = (design::model::OperationId::of(at), params.as_bytes());
        let call = TextCall { operation, params, principal: "ann", viewer: None, trace: None };
        bench.runtime.begin_text(&call, &mut Vec::new()).is_some()
    };
    assert!(short("resize", r#"{"pool":"p","slots":64}"#));
    assert!(!short("resize", r#"{"pool":"p","slots":65}"#));
    assert!(short("put", r#"{"shelf":9}"#));
    assert!(!short("put", r#"{"shelf":0}"#));
}

#[test]
fn a_step_that_would_leave_the_range_is_refused_and_changes_nothing() {
    let bench = pools();
    bench.call(on("grow").with("by", 60)).unwrap();
    let Err(CallError::Refused(refused)) = bench.call(on("grow").with("by", 1)) else {
        panic!("not refused");
    };
    assert_eq!((refused.clause.as_str(), refused.reason), ("range", "range"));
    let why = "`Pool.PoolState.slots` would be 65, and it takes 1..64; nothing was changed";
    assert_eq!(refused.why.as_deref(), Some(why));
    assert_eq!(bench.truth("Pool", "p")["PoolState"]["slots"], json!(64));
}

struct Answers(i64);

impl Outside for Answers {
    fn deliver(&self, _delivery: &Delivery) -> Delivered {
        Delivered::Ok(json!(self.0))
    }
}

fn deliver(bench: &Bench, answers: &Answers) {
    while bench.runtime.deliver_one(answers).unwrap() == Worked::Tried {}
}

#[test]
fn a_message_is_refused_where_it_arrives() {
    let bench = pools();
    bench.call(on("pass_on").with("n", 2)).unwrap();
    bench.call(on("pass_on").with("n", 3)).unwrap();
    deliver(&bench, &Answers(0));
    assert_eq!(bench.truth("Pool", "p")["PoolState"]["slots"], json!(2));
    assert!(bench.runtime.outbox(10).unwrap().is_empty());
}

#[test]
fn an_answer_outside_its_range_is_null() {
    for (answer, kept) in [(9, 9), (10, -1)] {
        let bench = pools();
        bench.call(on("ask")).unwrap();
        deliver(&bench, &Answers(answer));
        assert_eq!(bench.truth("Pool", "p")["Got"]["answer"], json!(kept));
    }
}

#[test]
fn a_repair_that_would_leave_the_range_rests_until_its_record_changes() {
    let bench = pools();
    bench.call(on("start")).unwrap();
    for _ in 0..3 {
        assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Done);
    }
    // 3 is the largest: it is not even looked at again, however much time goes by
    for _ in 0..3 {
        assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(None));
        bench.clock.advance(3_600_000);
    }
    assert_eq!(bench.truth("Pool", "p")["PoolState"]["debt"], json!(3));
    bench.call(on("stop")).unwrap();
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(None));
}

#[test]
fn a_narrower_range_is_held_against_what_is_stored() {
    let bench = pools();
    bench.call(on("resize").with("slots", 40)).unwrap();
    bench.call(ask("owner", "put", "ann").with("shelf", 9)).unwrap();
    let change = |from: &str, to: &str| {
        assert!(POOLS.contains(from), "{from}");
        bench.runtime.replace(compile("pools", &POOLS.replacen(from, to, 1)), &[])
    };
    let refused = |replaced: Result<Runtime, ReplaceError>| match replaced {
        Err(error @ ReplaceError::Unsafe(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    };
    let why = refused(change("slots: int 1..64 = 4", "slots: int 1..32 = 4"));
    assert!(why.contains("`Pool.PoolState.slots` does not take what is stored"), "{why}");
    assert!(why.contains("expected a value in 1..32, found 40 (Pool p)"), "{why}");
    let why = refused(change("shelf: int 1..9", "shelf: int 1..8"));
    assert!(why.contains("`Shelf` has keys that it does not take"), "{why}");
    let replaced = change("slots: int 1..64 = 4", "slots: int 1..40 = 4").unwrap();
    let Err(CallError::Refused(refused)) = replaced.call(&on("grow").with("by", 1)) else {
        panic!("not refused");
    };
    assert_eq!(refused.clause, "range");
}
