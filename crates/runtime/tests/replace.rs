//! Another version of a design under truth that is stored: what follows, what is refused, and that
//! nothing is lost on the way.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime::{CallError, Delivered, Delivery, Outside, ReplaceError, Request, Runtime};
use serde_json::{Value, json};
use store::{Store as _, block_on};
use support::{Bench, START, ask, bench, bench_on, compile};

const SHOP: &str = r#"
design Shop
actor keeper
actor porter
actor tidier
subject Item(item: text) {
    truth ItemState {
        status: NEW | SHOWN | HELD | SOLD = NEW,
        price: int = 0,
        note: text = "",
        tags: set text max 3,
    }
    truth HoldState { until: time? }
}
step keeper[make(item: new Item, price: int)] { ItemState.price := price }
step keeper[show(item: Item)] { ItemState.status := SHOWN }
step keeper[note(item: Item, note: text)] { ItemState.note := note }
step keeper[tag(item: Item, tag: text)] { ItemState.tags += tag }
step keeper[hold(item: Item, ttl: duration) { free: ItemState.status != HELD }] {
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
}] { ItemState.status := SHOWN }
"#;

fn shop() -> Bench {
    let bench = bench(compile("shop", SHOP));
    for (item, price) in [("a", 1), ("b", 2), ("c", 3)] {
        bench.call(ask("keeper", "make", "kim").with("item", item).with("price", price)).unwrap();
    }
    bench
}

fn changed(from: &str, to: &str) -> design::model::Design {
    assert!(SHOP.contains(from), "{from}");
    compile("shop", &SHOP.replace(from, to))
}

/// The same store with another version in its place.
fn replaced(bench: &Bench, design: design::model::Design, drop: &[&str]) -> Bench {
    let drop: Vec<String> = drop.iter().map(ToString::to_string).collect();
    let runtime = Arc::new(bench.runtime.replace(design, &drop).unwrap());
    Bench { runtime, clock: bench.clock.clone(), store: bench.store.clone() }
}

#[track_caller]
fn refused(bench: &Bench, design: design::model::Design) -> String {
    match bench.runtime.replace(design, &[]) {
        Err(error @ ReplaceError::Unsafe(_)) => {
            // nothing has changed, and it goes on
            bench.call(item("show", "c")).unwrap();
            assert!(!bench.runtime.is_replaced());
            error.to_string()
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

fn item(operation: &str, item: &str) -> Request {
    ask("keeper", operation, "kim").with("item", item)
}

#[test]
fn guards_and_bodies_change_at_once_and_the_old_one_says_so() {
    let old = shop();
    let new = replaced(
        &old,
        changed("free: ItemState.status != HELD", "shown: ItemState.status = SHOWN"),
        &[],
    );
    let hold = || item("hold", "a").with("ttl", "1s");
    assert_eq!(old.call(hold()), Err(CallError::Replaced));
    assert!(matches!(block_on(old.runtime.get("Item", &[json!("a")])), Err(CallError::Replaced)));
    assert_eq!(new.refused_by(hold()), "shown");
    new.call(item("show", "a")).unwrap();
    new.call(hold()).unwrap();
    assert!(matches!(old.runtime.replace(compile("shop", SHOP), &[]), Err(ReplaceError::Busy)));
}

#[test]
fn records_follow_by_name_whatever_moves() {
    let old = shop();
    old.call(item("note", "a").with("note", "kept")).unwrap();
    old.call(item("tag", "a").with("tag", "red")).unwrap();
    old.call(item("show", "b")).unwrap();
    let text = SHOP
        .replace("NEW | SHOWN | HELD | SOLD", "DRAFT | NEW | HELD | SHOWN | SOLD")
        .replace(
            "price: int = 0,\n        note: text = \"\",",
            "note: text? = \"\",\n        weight: int = 7,\n        price: decimal = 0,",
        )
        .replace(
            "price: int)] { ItemState.price := price }",
            "price: decimal)] { ItemState.price := price }",
        )
        .replace(
            "subject Item(",
            "subject Shelf(shelf: text) { truth ShelfState { n: int = 0 } }\nsubject Item(",
        )
        .replace(
            "step keeper[show",
            "step keeper[stock(shelf: Shelf)] { ShelfState.n += 1 }\nstep keeper[show",
        );
    let new = replaced(&old, compile("shop", &text), &[]);
    let truth = new.truth("Item", "a");
    assert_eq!(
        truth["ItemState"],
        json!({ "status": "NEW", "note": "kept", "weight": 7, "price": "1.00", "tags": ["red"] })
    );
    assert_eq!(new.truth("Item", "b")["ItemState"]["status"], "SHOWN");
    new.call(ask("keeper", "stock", "kim").with("shelf", "s")).unwrap();
    // what happened before is still told, in the words of its time
    let (history, _) = block_on(new.runtime.feed(None, 100)).unwrap();
    assert_eq!(history.len(), 7);
    assert_eq!(history[0].1.changes[0].truth.as_ref().unwrap()["ItemState"]["price"], 1);
    assert_eq!(new.runtime.remove_left_over().map(|removed| removed > 0), Ok(true));
    assert_eq!(new.runtime.remove_left_over(), Ok(0));
    assert_eq!(new.truth("Item", "b")["ItemState"]["status"], "SHOWN");
    let (again, _) = block_on(new.runtime.feed(None, 100)).unwrap();
    assert_eq!(again, history);
}

#[test]
fn what_is_used_is_not_taken_away() {
    let old = shop();
    old.call(item("note", "b").with("note", "mine")).unwrap();
    let gone = |text: &str| {
        text.replace("        note: text = \"\",\n", "")
            .replace("step keeper[note(item: Item, note: text)] { ItemState.note := note }\n", "")
    };
    let said = refused(&old, compile("shop", &gone(SHOP)));
    assert!(said.contains("`Item.ItemState.note` is gone, and holds something (Item b)"), "{said}");
    let renamed = SHOP
        .replace("note: text = \"\"", "remark: text = \"\"")
        .replace("ItemState.note", "ItemState.remark");
    let said = refused(&old, compile("shop", &renamed));
    let version = layout::version(&compile("shop", SHOP));
    let mend =
        format!("`from \"{version}\" {{ rename ItemState.note as remark }}` in the new text");
    assert!(said.contains(&mend), "{said}");
    let new = replaced(&old, compile("shop", &gone(SHOP)), &["Item.ItemState.note"]);
    assert_eq!(new.truth("Item", "b")["ItemState"].get("note"), None);
    // nobody has used it: it goes without a word
    let unused = shop();
    replaced(&unused, compile("shop", &gone(SHOP)), &[]);
}

#[test]
fn what_has_no_rule_is_refused_with_the_records_that_stand_in_the_way() {
    let old = shop();
    old.call(item("show", "a")).unwrap();
    for n in 0..7 {
        let make = ask("keeper", "make", "kim").with("item", format!("x{n}")).with("price", n);
        old.call(make).unwrap();
    }
    let cases = [
        (
            SHOP.replace("NEW | SHOWN", "NEW").replace("SHOWN", "NEW"),
            "`Item.ItemState.status` does not take what is stored: expected one of NEW, HELD, SOLD",
        ),
        (
            SHOP.replace("price: int", "price: text")
                .replace("price: text = 0", "price: text = \"\""),
            "`Item.ItemState.price` does not take what is stored: there is no rule from the one type to the other (Item a, Item b, Item c, Item x0, Item x1 and 5 more)",
        ),
        (SHOP.replace("Item(item: text)", "Item(item: int)"), "`Item` has another key"),
        (
            SHOP.replace("note: text = \"\"", "note: text = \"\",\n        size: int").replace(
                "{ ItemState.price := price }",
                "{ ItemState := { price: price, size: 1 } }",
            ),
            "`Item.ItemState.size` is new and has no default",
        ),
    ];
    for (text, expected) in cases {
        let said = refused(&old, compile("shop", &text));
        assert!(said.contains(expected), "{said}");
    }
    let other = SHOP.replace("design Shop", "design Other");
    let error = old.runtime.replace(compile("shop", &other), &[]).err().unwrap();
    assert_eq!(error.to_string(), "this is `Other`, and `Shop` is served");
}

#[test]
fn repairs_are_due_when_the_new_design_says() {
    let old = shop();
    for name in ["a", "b"] {
        old.call(item("hold", name).with("ttl", "10s")).unwrap();
    }
    let later = changed("over: HoldState.until < now", "over: HoldState.until + 20s < now");
    let new = replaced(&old, later, &[]);
    new.clock.advance(11_000);
    assert_eq!(new.runtime.fire_due().unwrap().0, 0);
    assert_eq!(new.runtime.fire_due().unwrap().1, Some(START + 30_001));
    new.clock.advance(20_000);
    assert_eq!(new.runtime.fire_due().unwrap().0, 2);
    assert_eq!(new.truth("Item", "a")["ItemState"]["status"], "SHOWN");
    assert_eq!(old.runtime.fire_due(), Err(CallError::Replaced));
}

/// Does what it is asked, and notes under which key.
struct Carrier(std::sync::Mutex<Vec<String>>);

impl Outside for Carrier {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        self.0.lock().unwrap().push(delivery.key.clone());
        Delivered::Ok(Value::Null)
    }
}

#[test]
fn calls_on_their_way_follow_or_hold_the_change_back() {
    let old = shop();
    old.call(item("ship", "a")).unwrap();
    let key = old.runtime.outbox(10).unwrap()[0].key.clone();
    let without = SHOP
        .replace("{ send porter.carry(item) }", "{ ItemState.status := SOLD }")
        .lines()
        .collect::<Vec<_>>()
        .join("\n");
    let start = without.find("effect porter").unwrap();
    let end = without.find("repair tidier").unwrap();
    let without = format!("{}{}", &without[..start], &without[end..]);
    let said = refused(&old, compile("shop", &without));
    assert!(said.contains("`porter.carry` is gone, and calls of it are on their way"), "{said}");
    assert!(said.contains(&key), "{said}");
    // operations move about, and the call follows
    let moved = SHOP.replace(
        "step keeper[make",
        "step keeper[first(item: Item)] { ItemState.price += 1 }\nstep keeper[make",
    );
    let new = replaced(&old, compile("shop", &moved), &[]);
    let carrier = Carrier(std::sync::Mutex::default());
    assert_eq!(old.runtime.deliver_one(&carrier), Err(CallError::Replaced));
    new.runtime.deliver_one(&carrier).unwrap();
    assert_eq!(*carrier.0.lock().unwrap(), [key]);
    assert_eq!(new.truth("Item", "a")["ItemState"]["status"], "SOLD");
    assert!(new.runtime.outbox(10).unwrap().is_empty());
}

#[test]
fn an_answer_that_was_given_is_given_again() {
    let old = shop();
    let make = || ask("keeper", "make", "kim").with("item", "k").with("price", 9).keyed("key-1");
    let first = old.call(make()).unwrap();
    let new = replaced(
        &old,
        changed("note: text = \"\"", "note: text = \"\",\n        more: int = 1"),
        &[],
    );
    let again = new.call(make()).unwrap();
    assert!(again.replayed);
    assert_eq!(again.truth, first.truth);
    assert_eq!(
        new.call(ask("keeper", "make", "kim").with("item", "z").with("price", 9).keyed("key-1")),
        Err(CallError::OtherPayload)
    );
}

#[test]
fn calls_go_on_while_a_design_is_replaced_and_none_is_lost() {
    let old = shop();
    let total = 12;
    for n in 0..400 {
        let make = ask("keeper", "make", "kim").with("item", format!("i{n}")).with("price", 0);
        old.call(make).unwrap();
    }
    let text = SHOP.replace(
        "step keeper[show",
        "step keeper[raise(item: Item)] { ItemState.price += 1 }\nstep keeper[show",
    );
    let first = replaced(&old, compile("shop", &text), &[]);
    let over = AtomicBool::new(false);
    let current = std::sync::RwLock::new(first.runtime.clone());
    let raised = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (over, current) = (&over, &current);
                scope.spawn(move || {
                    let mut done = 0_i64;
                    let mut n = 0;
                    while !over.load(Ordering::Relaxed) {
                        n += 1;
                        let name = format!("i{}", (n * 7 + thread * 100) % 400);
                        let raise = ask("keeper", "raise", "kim").with("item", name);
                        loop {
                            let runtime: Arc<Runtime> = current.read().unwrap().clone();
                            match runtime.call(&raise) {
                                Ok(_) => break done += 1,
                                Err(CallError::Replaced) => std::thread::yield_now(),
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                    done
                })
            })
            .collect();
        for n in 0..total {
            let moved = if n % 2 == 0 {
                text.replace("price: int = 0,", "extra: int = 5,\n        price: int = 0,")
            } else {
                text.clone()
            };
            let runtime = current.read().unwrap().clone();
            let next = runtime.replace(compile("shop", &moved), &[]).unwrap();
            *current.write().unwrap() = Arc::new(next);
            current.read().unwrap().remove_left_over().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i64>()
    });
    let runtime = current.into_inner().unwrap();
    let mut sum = 0;
    for n in 0..400 {
        let found = block_on(runtime.get("Item", &[json!(format!("i{n}"))])).unwrap().unwrap();
        sum += found.truth["ItemState"]["price"].as_i64().unwrap();
    }
    assert!(raised > 0);
    assert_eq!(sum, raised, "every answered call counts once");
}

#[test]
fn a_design_that_changed_while_nobody_served_it_is_replaced_when_it_is_opened() {
    let old = shop();
    old.call(item("show", "a")).unwrap();
    let more = changed("note: text = \"\"", "note: text = \"\",\n        more: int = 1");
    let new = bench_on(more, old.store.clone(), old.clock.clone());
    assert_eq!(new.truth("Item", "a")["ItemState"]["more"], 1);
    let back = bench_on(compile("shop", SHOP), old.store.clone(), old.clock.clone());
    assert_eq!(back.truth("Item", "a")["ItemState"]["status"], "SHOWN");
    back.call(item("note", "a").with("note", "x")).unwrap();
    let without = SHOP
        .replace("note: text = \"\"", "mark: text = \"\"")
        .replace("ItemState.note", "ItemState.mark");
    let error = Runtime::open_with_clock(
        compile("shop", &without),
        old.store.clone(),
        runtime::Settings::default(),
        old.clock.clone(),
    );
    let said = error.err().unwrap().to_string();
    assert!(said.contains("`Item.ItemState.note` is gone"), "{said}");
}

/// A store in memory that cannot make anything durable once it is told so.
struct Unsynced {
    memory: store::Memory,
    fails: AtomicBool,
}

impl store::LocalStore for Unsynced {
    fn transact(
        &self,
        run: &mut dyn FnMut(&mut dyn store::Transaction) -> store::Decision,
    ) -> store::Result<store::Ticket> {
        let ticket = self.memory.local().unwrap().transact(run)?;
        if !self.fails.load(Ordering::Acquire) {
            return Ok(ticket);
        }
        let never = Arc::new(store::Progress::new(0));
        never.fail(store::Error::Unavailable("the sync failed".into()));
        Ok(store::Ticket::new(u64::MAX, &never))
    }

    fn progress(&self) -> &Arc<store::Progress> {
        self.memory.local().unwrap().progress()
    }
}

impl store::Store for Unsynced {
    fn read<'a>(
        &'a self,
        keys: &'a [store::Key],
        at_least: Option<store::Cursor>,
    ) -> store::Pending<'a, store::Read> {
        self.memory.read(keys, at_least)
    }

    fn scan(&self, scan: store::Scan) -> store::Pending<'_, store::Page> {
        self.memory.scan(scan)
    }

    fn commit(&self, commit: store::Commit) -> store::Pending<'_, store::Cursor> {
        self.memory.commit(commit)
    }

    fn feed(&self, from: store::Cursor, limit: usize) -> store::Pending<'_, store::FeedPage> {
        self.memory.feed(from, limit)
    }

    fn changed(&self, after: store::Cursor) -> store::Pending<'_, store::Cursor> {
        self.memory.changed(after)
    }

    fn head(&self, partition: store::Partition) -> store::Pending<'_, store::Cursor> {
        self.memory.head(partition)
    }

    fn trim(&self, below: store::Cursor) -> store::Pending<'_, store::Cursor> {
        self.memory.trim(below)
    }

    fn blobs(&self) -> &dyn store::Blobs {
        self.memory.blobs()
    }

    fn limits(&self) -> store::Limits {
        self.memory.limits()
    }

    fn describe(&self) -> store::Description {
        self.memory.describe()
    }

    fn local(&self) -> Option<&dyn store::LocalStore> {
        Some(self)
    }

    fn close(&self) -> store::Pending<'_, ()> {
        self.memory.close()
    }
}

#[test]
fn a_switch_that_never_becomes_durable_leaves_the_old_version_serving() {
    let store = Arc::new(Unsynced { memory: store::Memory::new(), fails: AtomicBool::new(false) });
    let clock = Arc::new(runtime::ManualClock::new(START));
    let old = bench_on(compile("shop", SHOP), store.clone(), clock);
    old.call(ask("keeper", "make", "kim").with("item", "a").with("price", 1)).unwrap();
    store.fails.store(true, Ordering::Release);
    let other = || changed("free: ItemState.status != HELD", "shown: ItemState.status = SHOWN");
    match old.runtime.replace(other(), &[]) {
        Err(ReplaceError::Call(CallError::Store(_))) => {}
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("nothing is durable"),
    }
    assert!(!old.runtime.is_replaced());
    store.fails.store(false, Ordering::Release);
    old.call(item("show", "a")).unwrap();
    assert!(old.runtime.replace(other(), &[]).is_ok());
}
