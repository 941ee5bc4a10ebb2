//! What happens between two transactions of a replacement. The store calls back before the one that a test names, so
//! that every place of the copy is tried once, and no test waits for chance.

use crate::support;

use std::sync::{Arc, Mutex, PoisonError};

use runtime::{CallError, ManualClock, Request, Runtime};
use serde_json::{Value, json};
use store::{
    Blobs, Commit, Cursor, Decision, Description, FeedPage, Key, Limits, LocalStore, Memory, Page,
    Partition, Pending, Progress, Read, Result, Scan, Store, Ticket, Transaction,
};
use support::{Bench, START, ask, bench_on, compile, deliver_all};

type Callback = Box<dyn FnOnce() + Send>;

/// A store in memory that does something before one of its transactions.
struct Between {
    memory: Memory,
    /// how many transactions come before it
    waits: Mutex<Option<(usize, Callback)>>,
}

impl Between {
    fn new() -> Arc<Between> {
        Arc::new(Between { memory: Memory::new(), waits: Mutex::new(None) })
    }

    fn arm(&self, after: usize, callback: impl FnOnce() + Send + 'static) {
        *self.waits.lock().unwrap() = Some((after, Box::new(callback)));
    }

    /// Still to come: there were not so many transactions.
    fn is_armed(&self) -> bool {
        self.waits.lock().unwrap().take().is_some()
    }

    fn due(&self) -> Option<Callback> {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        match waits.take() {
            Some((0, callback)) => Some(callback),
            Some((after, callback)) => {
                *waits = Some((after - 1, callback));
                None
            }
            None => None,
        }
    }
}

impl LocalStore for Between {
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket> {
        if let Some(callback) = self.due() {
            callback();
        }
        self.memory.local().unwrap().transact(run)
    }

    fn progress(&self) -> &Arc<Progress> {
        self.memory.local().unwrap().progress()
    }
}

impl Store for Between {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        self.memory.read(keys, at_least)
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.memory.scan(scan)
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        self.memory.commit(commit)
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.memory.feed(from, limit)
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.memory.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.memory.head(partition)
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.memory.trim(below)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.memory.blobs()
    }

    fn limits(&self) -> Limits {
        self.memory.limits()
    }

    fn describe(&self) -> Description {
        self.memory.describe()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        self.memory.close()
    }
}

/// Tries every place until there are no more transactions; says in how many something was done meanwhile.
fn at_every_place(run: impl Fn(usize) -> Option<bool>) {
    let mut places = 0;
    for after in 0.. {
        match run(after) {
            Some(true) => places += 1,
            Some(false) => {}
            None => break,
        }
    }
    assert!(places >= 4, "only {places} places were tried");
}

const KITCHEN: &str = "
design Kitchen
actor cook
actor waiter
actor inspector apart from cook
actor auditor apart from waiter
subject Meal(meal: text) { truth MealState { touched: int = 0 } }
step cook[make(meal: Meal)] { MealState.touched += 1 }
step waiter[serve(meal: Meal)] { MealState.touched += 1 }
step inspector[inspect(meal: Meal)] { MealState.touched += 1 }
step auditor[audit(meal: Meal)] { MealState.touched += 1 }
";

/// Two actors that exchange their names: what somebody acted as is remembered under the name that it has then, also
/// when they act once more while the marks are copied.
#[test]
fn who_acts_while_marks_are_copied_stays_bound_by_both() {
    let meal = |actor: &str, operation: &str| -> Request {
        ask(actor, operation, "ann").with("meal", "m")
    };
    let version = layout::version(&compile("kitchen", KITCHEN));
    let exchanged = KITCHEN
        .replace("cook[make", "COOK[make")
        .replace("waiter[serve", "cook[serve")
        .replace("COOK[make", "waiter[make")
        .replace("touched: int = 0", "touched: int = 0, more: int = 0");
    let exchanged = format!(
        "{exchanged}\nfrom \"{version}\" {{ rename cook as waiter  rename waiter as cook }}\n"
    );
    at_every_place(|after| {
        let store = Between::new();
        let clock = Arc::new(ManualClock::new(START));
        let old = bench_on(compile("kitchen", KITCHEN), store.clone(), clock);
        old.call(meal("cook", "make")).unwrap();
        let (runtime, serve) = (Arc::clone(&old.runtime), meal("waiter", "serve"));
        let done = Arc::new(Mutex::new(false));
        let told = Arc::clone(&done);
        store.arm(after, move || match runtime.call(&serve) {
            Ok(_) => *told.lock().unwrap() = true,
            Err(CallError::Replaced) => {}
            Err(error) => panic!("{error}"),
        });
        let new = old.runtime.replace(compile("kitchen", &exchanged), &[]).unwrap();
        if store.is_armed() {
            return None;
        }
        let done = *done.lock().unwrap();
        let new = Bench { runtime: Arc::new(new), clock: old.clock, store };
        // who made it is called waiter now
        assert_eq!(new.refused_by(meal("auditor", "audit")), "apart", "place {after}");
        if done {
            assert_eq!(new.refused_by(meal("inspector", "inspect")), "apart", "place {after}");
        }
        Some(done)
    });
}

const SHOP: &str = "
design Shop
actor buyer
subject Order(order: text) { truth OrderState { times: int = 0 } }
step buyer[order(order: Order)] {
    OrderState.times += 1
    emit Ordered { order: order, times: OrderState.times }
}
";

const STOCK: &str = "
design Stock
actor clerk
subject Box(box: text) { truth BoxState { last: int = 0, wrong: int = 0 } }
on Shop.Ordered(order: Box, times: int) {
    if times != BoxState.last + 1 { BoxState.wrong += 1 }
    BoxState.last := times
}
step clerk[look(box: Box)] { BoxState.last := BoxState.last }
";

/// Another design writes an event into the outbox of the one that is being copied.
#[test]
fn an_event_that_comes_while_the_listener_is_copied_is_heard() {
    at_every_place(|after| {
        let store = Between::new();
        let clock = Arc::new(ManualClock::new(START));
        let shop = bench_on(compile("shop", SHOP), store.clone(), Arc::clone(&clock));
        let stock = bench_on(compile("stock", STOCK), store.clone(), clock);
        Runtime::link(&[Arc::clone(&shop.runtime), Arc::clone(&stock.runtime)]).unwrap();
        let order = ask("buyer", "order", "ann").with("order", "o");
        shop.call(order.clone()).unwrap();
        let (runtime, meanwhile) = (Arc::clone(&shop.runtime), order.clone());
        store.arm(after, move || drop(runtime.call(&meanwhile).unwrap()));
        let text = STOCK.replace("last: int = 0", "more: int = 0, last: int = 0");
        let new = stock.runtime.replace(compile("stock", &text), &[]).unwrap();
        if store.is_armed() {
            return None;
        }
        shop.call(order).unwrap();
        deliver_all(&new);
        let held = store::block_on(new.get("Box", &[json!("o")])).unwrap();
        let held = held.map_or(Value::Null, |held| held.truth["BoxState"].clone());
        assert_eq!(held, json!({ "more": 0, "last": 3, "wrong": 0 }), "place {after}");
        Some(true)
    });
}
