//! Repairs fire when due; effects are delivered under one key until they are answered.

use crate::support;

use std::collections::VecDeque;
use std::sync::Mutex;

use runtime::{Delivered, Delivery, Fired, Outside, Worked};
use serde_json::{Value, json};
use support::{ask, bench, design};

#[test]
fn a_hold_that_runs_out_is_released_when_it_is_due_and_not_before() {
    let bench = bench(design("systems/tickets"));
    for seat in ["A1", "A2"] {
        let add = ask("organizer", "add_seat", "olga").with("seat", seat).with("section", "A");
        bench.call(add).unwrap();
        let hold = ask("buyer", "hold", "ann").with("seat", seat).with("booking", seat);
        bench.call(hold).unwrap();
        bench.clock.advance(1_000);
    }
    let due = support::START + 600_001;
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(Some(due)));
    // a seat that is sold in time is not released
    bench.call(ask("buyer", "confirm", "ann").with("booking", "A1")).unwrap();
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(Some(due + 1_000)));
    bench.clock.advance(600_000);
    assert_eq!(bench.runtime.fire_due().unwrap(), (1, None));
    assert_eq!(bench.truth("Seat", "A2")["SeatInventoryState"]["status"], "AVAILABLE");
    assert_eq!(bench.truth("Booking", "A2")["BookingState"]["status"], "EXPIRED");
    assert_eq!(bench.truth("Seat", "A1")["SeatInventoryState"]["status"], "SOLD");
    assert_eq!(bench.runtime.counters().done_of("release"), 1);
    let (all, _) = store::block_on(bench.runtime.feed(None, 100)).unwrap();
    assert_eq!(all.last().unwrap().1.actor, "sweeper");
}

/// Answers from a list, and keeps what it was asked.
struct Scripted {
    answers: Mutex<VecDeque<Delivered>>,
    asked: Mutex<Vec<Delivery>>,
}

impl Scripted {
    fn new(answers: Vec<Delivered>) -> Scripted {
        Scripted { answers: Mutex::new(answers.into()), asked: Mutex::default() }
    }

    fn keys(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|delivery| delivery.key.clone()).collect()
    }
}

impl Outside for Scripted {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        self.asked.lock().unwrap().push(delivery.clone());
        self.answers.lock().unwrap().pop_front().unwrap_or(unknown("no more answers"))
    }
}

fn unknown(trouble: &str) -> Delivered {
    Delivered::Unknown { trouble: trouble.into(), retry_after_ms: None }
}

fn paying() -> support::Bench {
    let bench = bench(design("systems/payments"));
    let create = ask("merchant", "create_intent", "shop")
        .with("intent", "i1")
        .with("amount", "12.50")
        .with("currency", "EUR");
    bench.call(create).unwrap();
    bench.call(ask("merchant", "pay", "shop").with("intent", "i1").with("charge", "c1")).unwrap();
    bench
}

#[test]
fn an_effect_is_delivered_with_its_body_and_its_answer_is_a_transition() {
    let bench = paying();
    let outside = Scripted::new(vec![Delivered::Ok(Value::Null)]);
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    let asked = outside.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.body, json!({ "charge": "c1", "amount": "12.50", "currency": "EUR" }));
    assert_eq!((asked.method.as_str(), asked.effect.as_str()), ("POST", "authorize"));
    assert_eq!(bench.truth("Intent", "i1")["PaymentIntentState"]["status"], "SUCCEEDED");
    assert_eq!(bench.truth("Charge", "c1")["TransactionState"]["status"], "AUTHORIZED");
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Idle(None));
    assert!(bench.runtime.outbox(10).unwrap().is_empty());
}

#[test]
fn what_is_unknown_is_tried_again_under_the_same_key_and_never_ends_silently() {
    let bench = paying();
    let outside = Scripted::new(Vec::new());
    for attempt in 0..8 {
        assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried, "{attempt}");
        let Worked::Idle(next) = bench.runtime.deliver_one(&outside).unwrap() else { panic!() };
        if let Some(next) = next {
            bench.clock.advance(next - runtime::Clock::now_ms(bench.clock.as_ref()));
        }
    }
    let waiting = bench.runtime.outbox(10).unwrap();
    assert_eq!(waiting[0].state, "dead letter");
    assert_eq!((waiting[0].attempts, waiting[0].trouble.as_str()), (8, "no more answers"));
    // the design was told, and its repair sends again under the same key
    assert_eq!(bench.truth("Charge", "c1")["TransactionState"]["status"], "UNKNOWN");
    assert_eq!(bench.runtime.fire_due().unwrap().0, 1);
    outside.answers.lock().unwrap().push_back(Delivered::Refused(Value::Null));
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    assert_eq!(bench.truth("Intent", "i1")["PaymentIntentState"]["status"], "FAILED");
    let keys = outside.keys();
    assert_eq!(keys.len(), 9);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(bench.runtime.outbox(10).unwrap().is_empty());
    // settled: the repair has nothing more to do
    bench.clock.advance(60_000);
    assert_eq!(bench.runtime.fire_due().unwrap().0, 0);
}

/// What a handler cannot take says nothing of what was decided.
#[test]
fn an_answer_that_is_out_of_range_or_of_another_type_is_asked_for_again() {
    let text = r#"
design Fees
actor clerk
actor bank
subject Order(order: text) { truth Paid { fee: int? } }
step clerk[pay(order: Order) { once: Paid.fee = null }] { send bank.charge(order) }
effect bank[charge(order: Order)] {
    call POST "{bank.url}/charge" key order
    on ok(fee: int 0..5) { Paid.fee := fee }
    on refused { }
    on unknown { }
}
"#;
    let bench = bench(support::compile("fees", text));
    bench.call(ask("clerk", "pay", "carl").with("order", "o1")).unwrap();
    let answers = [json!({ "fee": 9 }), json!({ "fee": "much" }), json!({ "fee": 5 })];
    let outside = Scripted::new(answers.into_iter().map(Delivered::Ok).collect());
    for wrong in ["9", "much"] {
        assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried, "{wrong}");
        let waiting = bench.runtime.outbox(10).unwrap();
        assert_eq!(
            waiting[0].trouble,
            "the answer is not of the type, or not in the range, that `on ok` takes"
        );
        assert_eq!(bench.truth("Order", "o1")["Paid"]["fee"], Value::Null);
        let Worked::Idle(Some(next)) = bench.runtime.deliver_one(&outside).unwrap() else {
            panic!("it is not tried again after {wrong}")
        };
        bench.clock.advance(next - runtime::Clock::now_ms(bench.clock.as_ref()));
    }
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    assert_eq!(bench.truth("Order", "o1")["Paid"]["fee"], 5);
    assert!(bench.runtime.outbox(10).unwrap().is_empty());
}

/// A design may ask again by itself, under the same key. When that is answered, it is over, and what
/// waits behind it is delivered.
#[test]
fn what_a_handler_sends_again_does_not_stand_in_the_way_afterwards() {
    let text = r#"
design Seals
actor clerk
actor keystore
subject Letter(letter: text) { truth LetterState { sealed: bool = false, turned_down: int = 0 } }
step clerk[post(letter: Letter)] { send keystore.seal(letter) }
effect keystore[seal(letter: Letter)] {
    call POST "{keystore.url}/seal" key letter
    on ok { LetterState.sealed := true }
    on refused {
        LetterState.turned_down += 1
        send keystore.seal(letter)
    }
    on unknown { send keystore.seal(letter) }
}
check { letter: 1  LetterState.turned_down: 0..1 }
"#;
    for answered in [vec![unknown("lost"); 8], vec![Delivered::Refused(Value::Null)]] {
        let bench = bench(support::compile("seals", text));
        let post = |letter: &str| {
            bench.call(ask("clerk", "post", "ann").with("letter", letter)).unwrap();
        };
        post("a");
        let outside = Scripted::new(answered);
        while !outside.answers.lock().unwrap().is_empty() {
            bench.clock.advance(61_000);
            assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
        }
        outside.answers.lock().unwrap().extend([const { Delivered::Ok(Value::Null) }; 2]);
        post("b");
        for _ in 0..2 {
            assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
        }
        assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Idle(None));
        for letter in ["a", "b"] {
            assert_eq!(bench.truth("Letter", letter)["LetterState"]["sealed"], true, "{letter}");
        }
        assert!(bench.runtime.outbox(10).unwrap().is_empty());
    }
}

#[test]
fn a_person_can_retry_a_dead_letter() {
    let bench = paying();
    let outside = Scripted::new(Vec::new());
    for _ in 0..8 {
        bench.runtime.deliver_one(&outside).unwrap();
        bench.clock.advance(61_000);
    }
    let waiting = bench.runtime.outbox(10).unwrap();
    assert_eq!(waiting[0].state, "dead letter");
    bench.runtime.retry(&waiting[0]).unwrap();
    outside.answers.lock().unwrap().push_back(Delivered::Ok(Value::Null));
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    assert_eq!(bench.truth("Charge", "c1")["TransactionState"]["status"], "AUTHORIZED");
}

#[test]
fn the_other_side_may_ask_for_patience() {
    let bench = paying();
    let outside = Scripted::new(vec![Delivered::Unknown {
        trouble: "busy".into(),
        retry_after_ms: Some(30_000),
    }]);
    bench.runtime.deliver_one(&outside).unwrap();
    let next = support::START + 30_000;
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Idle(Some(next)));
}

/// Everything happens by itself once the workers run.
#[test]
fn workers_fire_repairs_and_deliver_effects() {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    let store: Arc<dyn store::Store> = Arc::new(store::Memory::new());
    let settings = runtime::Settings::default();
    let open = |name| {
        let design = design(name);
        Arc::new(runtime::Runtime::open(design, store.clone(), settings.clone()).unwrap())
    };
    let (shop, till) = (open("systems/tickets"), open("systems/payments"));
    let outside = || Arc::new(Scripted::new(vec![Delivered::Ok(Value::Null)]));
    let _shop_workers = runtime::Workers::start(&shop, outside(), 1).unwrap();
    let _till_workers = runtime::Workers::start(&till, outside(), 1).unwrap();
    let status = |runtime: &runtime::Runtime, subject: &str, key: &str, state: &str| {
        let truth = store::block_on(runtime.get(subject, &[json!(key)])).unwrap().unwrap();
        truth.truth[state]["status"].as_str().unwrap_or_default().to_string()
    };
    let add = ask("organizer", "add_seat", "olga").with("seat", "A1").with("section", "A");
    shop.call(&add).unwrap();
    let hold = ask("buyer", "hold", "ann").with("seat", "A1").with("booking", "b");
    shop.call(&hold.with("ttl", "20ms")).unwrap();
    let create =
        ask("merchant", "create_intent", "shop").with("intent", "i").with("currency", "EUR");
    till.call(&create.with("amount", "1")).unwrap();
    till.call(&ask("merchant", "pay", "shop").with("intent", "i").with("charge", "c")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while status(&shop, "Seat", "A1", "SeatInventoryState") != "AVAILABLE"
        || status(&till, "Charge", "c", "TransactionState") != "AUTHORIZED"
    {
        assert!(Instant::now() < deadline, "{:?} {:?}", shop.counters(), till.counters());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((shop.counters().trouble(), till.counters().trouble()), (None, None));
}

/// A repair whose guard looks at something that its own record's commits do not tell of.
fn found_later(text: &str, first: &[(&str, &str, Value)], then: &dyn Fn(&support::Bench)) {
    let bench = bench(support::compile("later", text));
    for (operation, name, value) in first {
        let mut asked = ask("user", operation, "u").with("a", "x");
        if !name.is_empty() {
            asked = asked.with(name, value.clone());
        }
        bench.call(asked).unwrap();
    }
    assert_eq!(bench.runtime.fire_due().unwrap().0, 0);
    then(&bench);
    bench.clock.advance(1_000);
    assert_eq!(bench.runtime.fire_due().unwrap().0, 1, "it is looked at again");
    assert_eq!(bench.truth("A", "x")["S"]["done"], true);
}

#[test]
fn content_that_comes_later_makes_a_repair_due() {
    let text = "
        design Later
        actor user
        actor sweeper
        blob Content
        subject A(a: text) { truth S { digest: Content?, done: bool = false } }
        step user[want(a: A, digest: Content)] { S.digest := digest }
        repair sweeper[see(a: A) {
            waiting: S.digest present and not S.done
            here: stored(S.digest)
        }] { S.done := true }
    ";
    let digest = json!(store::Hash::of(b"hello").to_string());
    found_later(text, &[("want", "digest", digest)], &|bench| {
        store::block_on(bench.runtime.put_blob(b"hello")).unwrap();
    });
}

#[test]
fn a_record_among_several_makes_a_repair_due() {
    let text = "
        design Later
        actor user
        actor sweeper
        subject P(p: text) { truth T { ready: bool = false } }
        subject A(a: text) {
            truth S { parts: set P max 2 = {}, asked: bool = false, done: bool = false }
        }
        step user[want(a: A, p: P)] { S.parts += p S.asked := true }
        step user[make(p: P)] { T.ready := true }
        repair sweeper[see(a: A) {
            waiting: S.asked and not S.done
            here: all p in S.parts: p.ready
        }] { S.done := true }
    ";
    found_later(text, &[("want", "p", json!("y"))], &|bench| {
        bench.call(ask("user", "make", "u").with("p", "y")).unwrap();
    });
}

#[test]
fn an_answer_of_another_type_decides_nothing() {
    let text = "
        design Asks
        actor user
        actor network
        subject A(a: text) { truth S { n: int = 0, gave_up: bool = false } }
        step user[go(a: A)] { send network.ask(a) }
        effect network[ask(a: A)] {
            call POST \"{network.url}/ask\" key a
            on ok(n: int) { S.n := n }
            on refused {}
            on unknown { S.gave_up := true }
        }
    ";
    let bench = bench(support::compile("asks", text));
    bench.call(ask("user", "go", "u").with("a", "x")).unwrap();
    let outside =
        Scripted::new(vec![Delivered::Ok(json!({ "hello": 1 })), Delivered::Ok(json!(7))]);
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    assert_eq!(bench.runtime.outbox(10).unwrap().len(), 1, "it is asked again");
    bench.clock.advance(60_000);
    assert_eq!(bench.runtime.deliver_one(&outside).unwrap(), Worked::Tried);
    assert_eq!(bench.truth("A", "x")["S"], json!({ "n": 7, "gave_up": false }));
}
