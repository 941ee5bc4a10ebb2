//! What cannot be worked on is set aside and told, and everything else goes on.

use crate::support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use design::model::OperationId;
use layout::{DesignNumber, RecordKey, Space};
use runtime::{
    Ahead, Aside, AsideError, CallError, Clock, Delivered, Delivery, Fired, Outside, Request,
    Runtime, Settings, Worked, Workers,
};
use serde_json::{Value, json};
use store::{Decision, Distant, Faults, Key, KeyRange, Store, block_on};
use support::{Bench, START, ask, bench, bench_on, compile};

const SHOP: &str = r#"
design Shop
actor keeper
actor porter
actor tidier
subject Item(item: text) {
    truth ItemState { status: NEW | HELD | SOLD = NEW, shown: int = 0 }
    truth HoldState { until: time? }
}
step keeper[make(item: new Item)] { }
step keeper[show(item: Item)] { ItemState.shown += 1  emit Shown { item } }
step keeper[hold(item: Item, ttl: duration)] {
    ItemState.status := HELD
    HoldState.until := now + ttl
}
step keeper[ship(item: Item)] { send porter.carry(item) }
effect porter[carry(item: Item)] {
    call POST "{porter.url}/carry" key item body { item }
    on ok { ItemState.status := SOLD }
    on refused { }
    on unknown { }
}
repair tidier[lapse(item: Item) {
    held: ItemState.status = HELD
    over: HoldState.until < now
}] { ItemState.status := NEW }
view Stock = count Item where status = NEW
"#;

const NUMBER: DesignNumber = DesignNumber(0);

fn item(operation: &str, item: &str) -> Request {
    ask("keeper", operation, "kim").with("item", item)
}

fn shop_on(store: Arc<dyn Store>) -> Bench {
    let clock = Arc::new(runtime::ManualClock::new(START));
    let bench = bench_on(compile("shop", SHOP), store, clock);
    for name in ["a", "b", "c"] {
        bench.call(item("make", name)).unwrap();
    }
    bench
}

fn shop() -> Bench {
    shop_on(Arc::new(store::Memory::new()))
}

fn status(bench: &Bench, name: &str) -> Value {
    bench.truth("Item", name)["ItemState"]["status"].clone()
}

/// Changes the store behind the runtime's back; no value: the key is deleted.
fn put(store: &dyn Store, key: &[u8], value: Option<&[u8]>) {
    let key = Key::new(key.to_vec());
    let write = match value {
        Some(value) => store::Write::Put(key, value.to_vec().into()),
        None => store::Write::Delete(key),
    };
    let commit = store::Commit { writes: vec![write], ..store::Commit::default() };
    block_on(store.commit(commit)).unwrap();
}

/// Everything in some spaces of the design.
fn stored(bench: &Bench, spaces: &[Space]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut all = BTreeMap::new();
    for space in spaces {
        let range = KeyRange::prefix(space.prefix(NUMBER).to_vec());
        let looked = bench.store.local().unwrap().transact(&mut |transaction| {
            transaction.scan(&range, false, &mut |key, _, value| {
                all.insert(key.to_vec(), value.to_vec());
                ControlFlow::Continue(())
            });
            Decision::Abandon
        });
        looked.unwrap();
    }
    all
}

fn only(bench: &Bench) -> Aside {
    let mut list = bench.runtime.set_aside(10).unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    list.pop().unwrap()
}

/// Says yes to everything, but panics over the items that it is told to.
#[derive(Default)]
struct Porter {
    panics_over: Mutex<Vec<String>>,
    carried: Mutex<Vec<String>>,
}

impl Porter {
    fn panicking_over(name: &str) -> Porter {
        Porter { panics_over: Mutex::new(vec![name.into()]), ..Porter::default() }
    }

    fn carried(&self) -> Vec<String> {
        let mut carried = self.carried.lock().unwrap().clone();
        carried.sort();
        carried
    }
}

impl Outside for Porter {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let name = delivery.body["item"].as_str().unwrap().to_string();
        let panics = self.panics_over.lock().unwrap().contains(&name);
        assert!(!panics, "the porter stumbled over {name}");
        self.carried.lock().unwrap().push(name);
        Delivered::Ok(Value::Null)
    }
}

fn deliver_all(bench: &Bench, porter: &Porter) {
    while !matches!(bench.runtime.deliver_one(porter).unwrap(), Worked::Idle(_)) {}
}

/// The keys of the outbox entry and of its place in the index for an item.
fn outbox_entry(bench: &Bench, name: &str) -> (Vec<u8>, Vec<u8>) {
    let find = |space| {
        let all = stored(bench, &[space]);
        let found = all.keys().find(|key| key.windows(name.len()).any(|w| w == name.as_bytes()));
        found.unwrap().clone()
    };
    (find(Space::Outbox), find(Space::OutboxDue))
}

#[test]
fn a_due_entry_that_cannot_be_read_is_set_aside_and_the_others_fire() {
    let bench = shop();
    bench.call(item("hold", "a").with("ttl", "1s")).unwrap();
    // one that ends early, and one of a repair that there is not
    put(&*bench.store, b"\0\0t\0", Some(b""));
    let record =
        RecordKey { design: NUMBER, subject: design::model::SubjectId(0), parts: b"a\0\x01" };
    let unknown = record.due(OperationId(77), START).to_bytes();
    put(&*bench.store, &unknown, Some(b""));
    assert_eq!(bench.runtime.due(10).unwrap().len(), 1);
    bench.clock.advance(2_000);
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::SetAside);
    assert_eq!(bench.runtime.fire_due().unwrap(), (1, None));
    assert_eq!(status(&bench, "a"), "NEW");
    let list = bench.runtime.set_aside(10).unwrap();
    let told: Vec<(&str, &str, &str)> =
        list.iter().map(|it| (it.space, it.key.as_str(), it.reason.as_str())).collect();
    let key = unknown.escape_ascii().to_string();
    let reason =
        format!("the due repair key `{key}` is damaged: the design has no operation of its number");
    let short = r"the due repair key `\x00\x00t\x00` is damaged: it ends too early";
    assert!(told.contains(&("due repair", r"\x00\x00t\x00", short)), "{told:?}");
    assert!(told.contains(&("due repair", &key, &reason)), "{told:?}");
    assert!(list.iter().all(|it| it.at == START + 2_000 && it.can_go_back), "{list:?}");
    assert_eq!(bench.runtime.counters().set_aside(), 2);
    assert_eq!(bench.runtime.counters().trouble(), None);
}

#[test]
fn an_outbox_entry_that_cannot_be_read_is_set_aside_and_goes_back_as_it_was() {
    let bench = shop();
    for name in ["a", "b"] {
        bench.call(item("ship", name)).unwrap();
    }
    let (entry, _) = outbox_entry(&bench, "a");
    let sound = stored(&bench, &[Space::Outbox])[&entry].clone();
    put(&*bench.store, &entry, Some(b"\x09"));
    let listed = bench.runtime.outbox(10).unwrap();
    let states: Vec<&str> = listed.iter().map(|one| one.state).collect();
    assert_eq!(states, ["unreadable", "open"]);
    let (queue, porter) = (stored(&bench, &[Space::Outbox, Space::OutboxDue]), Porter::default());
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["b"]);
    assert_eq!((status(&bench, "a"), status(&bench, "b")), ("NEW".into(), "SOLD".into()));
    let aside = only(&bench);
    assert_eq!((aside.space, aside.operation.as_deref()), ("outbox entry", Some("carry")));
    assert!(
        aside.reason.contains("written in a form that this program does not know"),
        "{aside:?}"
    );
    assert!(aside.reason.contains(&aside.key), "{aside:?}");
    assert_eq!(stored(&bench, &[Space::Outbox, Space::OutboxDue]), BTreeMap::new());
    // byte by byte what it was, and so it is set aside again
    bench.runtime.try_again(&aside.id).unwrap();
    let back = stored(&bench, &[Space::Outbox, Space::OutboxDue]);
    assert!(back.len() == 2 && back.iter().all(|(key, value)| queue.get(key) == Some(value)));
    assert_eq!(bench.runtime.set_aside(10).unwrap(), []);
    assert_eq!(bench.runtime.deliver_one(&porter).unwrap(), Worked::SetAside);
    // mended, it is delivered
    bench.runtime.try_again(&only(&bench).id).unwrap();
    put(&*bench.store, &entry, Some(&sound));
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["a", "b"]);
    assert_eq!(status(&bench, "a"), "SOLD");
}

#[test]
fn an_effect_whose_delivery_panics_is_set_aside_and_delivered_when_it_is_tried_again() {
    let bench = shop();
    for name in ["a", "b", "c"] {
        bench.call(item("ship", name)).unwrap();
    }
    let before = stored(&bench, &[Space::Outbox, Space::OutboxDue]);
    let porter = Porter::panicking_over("b");
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["a", "c"]);
    let aside = only(&bench);
    assert!(aside.reason.contains("panicked: the porter stumbled over b"), "{aside:?}");
    assert_eq!(bench.runtime.counters().trouble(), None);
    porter.panics_over.lock().unwrap().clear();
    bench.runtime.try_again(&aside.id).unwrap();
    let back = stored(&bench, &[Space::Outbox, Space::OutboxDue]);
    assert!(back.len() == 2 && back.iter().all(|(key, value)| before.get(key) == Some(value)));
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["a", "b", "c"]);
    assert_eq!(bench.runtime.try_again(&aside.id), Err(AsideError::Unknown(aside.id.clone())));
}

#[test]
fn a_repair_of_a_damaged_record_waits_aside_until_the_record_is_mended() {
    let bench = shop();
    for name in ["a", "b"] {
        bench.call(item("hold", name).with("ttl", "1s")).unwrap();
    }
    let all = stored(&bench, &[Space::Record]);
    let (key, sound) = all.iter().next().unwrap();
    put(&*bench.store, key, Some(&sound[..sound.len() - 1]));
    bench.clock.advance(2_000);
    assert_eq!(bench.runtime.fire_due().unwrap(), (1, None));
    let aside = only(&bench);
    assert_eq!((aside.space, aside.operation.as_deref()), ("due repair", Some("lapse")));
    let named = format!("the record under `{}` is damaged", key.escape_ascii());
    assert!(aside.reason.starts_with(&named), "{aside:?}");
    put(&*bench.store, key, Some(sound));
    bench.runtime.try_again(&aside.id).unwrap();
    assert_eq!(bench.runtime.fire_due().unwrap(), (1, None));
    assert_eq!(status(&bench, "a"), "NEW");
}

#[test]
fn forgetting_outcomes_goes_past_an_entry_that_cannot_be_read() {
    let bench = shop();
    bench.call(item("show", "a").keyed("k")).unwrap();
    put(&*bench.store, b"\0\0j\0", Some(b""));
    bench.clock.advance(25 * 3_600_000);
    assert_eq!(bench.runtime.forget_outcomes(10).unwrap(), 1);
    assert_eq!(stored(&bench, &[Space::Idempotency, Space::IdempotencyDue]), BTreeMap::new());
    assert_eq!(only(&bench).space, "outcome to forget");
    bench.runtime.discard(&only(&bench).id).unwrap();
    assert_eq!(bench.runtime.set_aside(10).unwrap(), []);
}

#[test]
fn an_entry_whose_place_is_taken_stays_aside() {
    let bench = shop();
    bench.call(item("ship", "a")).unwrap();
    let porter = Porter::panicking_over("a");
    deliver_all(&bench, &porter);
    let first = only(&bench);
    // the same key again, while the first lies aside
    bench.call(item("ship", "a")).unwrap();
    assert!(matches!(bench.runtime.try_again(&first.id), Err(AsideError::Taken(_))));
    bench.clock.advance(1);
    deliver_all(&bench, &porter);
    let both = bench.runtime.set_aside(10).unwrap();
    assert_eq!((both.len(), &both[0].id), (2, &first.id));
    bench.runtime.discard(&both[1].id).unwrap();
    porter.panics_over.lock().unwrap().clear();
    bench.runtime.try_again(&first.id).unwrap();
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["a"]);
}

#[test]
fn what_is_aside_outlives_a_replacement_and_goes_back_only_if_it_can_be_read() {
    let bench = shop();
    bench.call(item("ship", "a")).unwrap();
    put(&*bench.store, b"\0\0t\0", Some(b""));
    let porter = Porter::panicking_over("a");
    deliver_all(&bench, &porter);
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::SetAside);
    // every operation has another number
    let text = SHOP.replace(
        "step keeper[make",
        "step keeper[first(item: Item)] { ItemState.shown += 2 }\nstep keeper[make",
    );
    let runtime = Arc::new(bench.runtime.replace(compile("shop", &text), &[]).unwrap());
    let new = Bench { runtime, clock: bench.clock.clone(), store: bench.store.clone() };
    let list = new.runtime.set_aside(10).unwrap();
    let find = |space: &str| list.iter().find(|it| it.space == space).unwrap();
    let (effect, due) = (find("outbox entry"), find("due repair"));
    assert_eq!((effect.can_go_back, effect.operation.as_deref()), (true, Some("carry")));
    assert!(!due.can_go_back);
    assert_eq!(new.runtime.try_again(&due.id), Err(AsideError::EarlierVersion));
    new.runtime.discard(&due.id).unwrap();
    porter.panics_over.lock().unwrap().clear();
    new.runtime.try_again(&effect.id).unwrap();
    deliver_all(&new, &porter);
    assert_eq!((porter.carried(), status(&new, "a")), (vec!["a".into()], "SOLD".into()));
}

/// Looks until it is so, for as long as a slow machine may take.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "not within two minutes: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn workers_go_on_past_everything_that_is_in_their_way() {
    let bench = shop();
    for name in ["a", "b", "c"] {
        bench.call(item("hold", name).with("ttl", "1s")).unwrap();
        bench.call(item("ship", name)).unwrap();
    }
    let (entry, _) = outbox_entry(&bench, "a");
    put(&*bench.store, &entry, Some(b"\x09"));
    put(&*bench.store, b"\0\0t\0", Some(b""));
    put(&*bench.store, b"\0\0j\0", Some(b""));
    bench.clock.advance(2_000);
    let porter = Arc::new(Porter::panicking_over("b"));
    let workers = Workers::start(&bench.runtime, porter.clone(), 2).unwrap();
    until("the rest is done", || {
        bench.runtime.set_aside(10).unwrap().len() == 4
            && porter.carried() == ["c"]
            && bench.runtime.due(10).unwrap().is_empty()
    });
    assert_eq!(bench.runtime.counters().trouble(), None);
    // what comes later is worked on, too
    bench.call(item("make", "d")).unwrap();
    bench.call(item("ship", "d")).unwrap();
    until("the next is carried", || porter.carried() == ["c", "d"]);
    // and so is what is put back
    porter.panics_over.lock().unwrap().clear();
    let panicked = bench.runtime.set_aside(10).unwrap();
    let panicked = panicked.iter().find(|it| it.reason.contains("panicked")).unwrap();
    bench.runtime.try_again(&panicked.id).unwrap();
    until("it is carried after all", || porter.carried() == ["b", "c", "d"]);
    drop(workers);
}

/// A clock that breaks.
struct Broken;

impl Clock for Broken {
    fn now_ms(&self) -> i64 {
        panic!("the clock broke");
    }
}

#[test]
fn a_worker_that_is_gone_is_told_of() {
    let (store, clock) = (Arc::new(store::Memory::new()), Arc::new(Broken));
    let settings = Settings::default();
    let runtime = Runtime::open_with_clock(compile("shop", SHOP), store, settings, clock);
    let runtime = Arc::new(runtime.unwrap());
    let workers = Workers::start(&runtime, Arc::new(Porter::default()), 1).unwrap();
    until("it is told", || runtime.counters().trouble().is_some());
    let told = runtime.counters().trouble().unwrap();
    assert!(told.ends_with("panicked: the clock broke"), "{told}");
    drop(workers);
}

#[test]
fn a_store_far_away_is_no_different() {
    let store = Arc::new(Distant::new(7, Faults::default()));
    let bench = shop_on(store.clone());
    bench.call(item("hold", "a").with("ttl", "1s")).unwrap();
    bench.call(item("ship", "b")).unwrap();
    bench.call(item("ship", "c")).unwrap();
    put(&*store, b"\0\0t\0", Some(b""));
    put(&*store, b"\0\0p\0", Some(b""));
    bench.clock.advance(2_000);
    assert_eq!(bench.runtime.fire_due().unwrap().0, 1);
    let porter = Porter::panicking_over("b");
    deliver_all(&bench, &porter);
    assert_eq!((porter.carried(), status(&bench, "a")), (vec!["c".into()], "NEW".into()));
    let list = bench.runtime.set_aside(10).unwrap();
    let mut spaces: Vec<&str> = list.iter().map(|it| it.space).collect();
    spaces.sort_unstable();
    assert_eq!(spaces, ["due outbox entry", "due repair", "outbox entry"]);
    let panicked = list.iter().find(|it| it.space == "outbox entry").unwrap();
    porter.panics_over.lock().unwrap().clear();
    bench.runtime.try_again(&panicked.id).unwrap();
    // whoever picked it has it until its claim is over
    bench.clock.advance(Settings::default().claim_ms);
    deliver_all(&bench, &porter);
    assert_eq!(porter.carried(), ["b", "c"]);
}

fn counted(runtime: &Runtime) -> Value {
    let query = runtime::ViewQuery { view: "Stock".into(), ..runtime::ViewQuery::default() };
    runtime.view(&query).unwrap()["count"].clone()
}

#[test]
fn an_entry_of_the_feed_that_cannot_be_read_is_a_gap_for_followers_and_nothing_to_views() {
    let bench = shop();
    let runtime = &bench.runtime;
    assert_eq!(counted(runtime), 3);
    let mut follower = runtime.follower("webhook").unwrap();
    bench.call(item("show", "a")).unwrap();
    let fed = bench.store.local().unwrap().transact(&mut |transaction| {
        transaction.feed(b"\0\0\x09");
        Decision::Commit
    });
    fed.unwrap().wait().unwrap();
    bench.call(item("ship", "b")).unwrap();
    bench.call(item("show", "c")).unwrap();
    let mut told = Vec::new();
    loop {
        match follower.ahead(100).unwrap() {
            Ahead::Nothing | Ahead::Elsewhere => break,
            Ahead::Gap { .. } => told.push("a gap".to_string()),
            Ahead::Transitions(list) => told.extend(list.into_iter().map(|(_, it)| it.operation)),
        }
    }
    assert_eq!(told, ["show", "a gap", "ship", "show"]);
    assert!(matches!(block_on(runtime.feed(None, 100)), Err(CallError::Damaged(_))));
    assert_eq!(counted(runtime), 3);
    // a record that cannot be read is missing from the views, and that is told
    let all = stored(&bench, &[Space::Record]);
    let (key, sound) = all.iter().next().unwrap();
    put(&*bench.store, key, Some(&sound[..2]));
    runtime.rebuild_views().unwrap();
    assert_eq!((counted(runtime), runtime.unreadable_records()), (json!(2), 1));
    put(&*bench.store, key, Some(sound));
    runtime.rebuild_views().unwrap();
    assert_eq!((counted(runtime), runtime.unreadable_records()), (json!(3), 0));
}

#[test]
fn nothing_is_said_of_what_is_well() {
    let bench = bench(compile("shop", SHOP));
    assert_eq!(bench.runtime.set_aside(10).unwrap(), []);
    for id in ["", "x", &"0".repeat(32)] {
        assert_eq!(bench.runtime.try_again(id), Err(AsideError::Unknown(id.into())));
        assert_eq!(bench.runtime.discard(id), Err(AsideError::Unknown(id.into())));
    }
    assert_eq!(bench.runtime.counters().set_aside(), 0);
}
