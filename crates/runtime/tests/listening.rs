//! Designs of one store that hear each other: an event is stored where it is heard, in the commit that emits it.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime::Runtime;
use serde_json::{Value, json};
use store::{Memory, Store};
use support::{Bench, ask, bench_on, compile, deliver_all as deliver};

const TICKETS: &str = r#"
design Tickets
actor buyer
subject Seat(seat: text) { truth SeatState { sold: int = 0 } }
subject Booking(booking: text) { truth BookingState { times: int = 0 } }
step buyer[confirm(booking: Booking, seat: Seat)] {
    BookingState.times += 1
    SeatState.sold += 1
    emit BookingConfirmed { booking: booking, seat: seat, times: BookingState.times }
}
"#;

const BILLING: &str = r#"
design Billing
actor clerk
subject Bill(bill: text) { truth BillState { last: int = 0, taken: int = 0, wrong: int = 0, seat: text = "" } }
on Tickets.BookingConfirmed(booking: Bill, seat: text, times: int) { wanted: times != 3 } {
    if times != BillState.last + 1 { BillState.wrong += 1 }
    BillState.last := times
    BillState.seat := seat
    BillState.taken += 1
}
step clerk[look(bill: Bill)] { BillState.seat := BillState.seat }
"#;

/// Two designs on one store, told of each other.
fn both() -> (Bench, Bench) {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(runtime::ManualClock::new(support::START));
    let tickets = bench_on(compile("tickets", TICKETS), Arc::clone(&store), Arc::clone(&clock));
    let billing = bench_on(compile("billing", BILLING), store, clock);
    Runtime::link(&[Arc::clone(&tickets.runtime), Arc::clone(&billing.runtime)]).unwrap();
    (tickets, billing)
}

fn confirm(tickets: &Bench, booking: &str) {
    let call = ask("buyer", "confirm", "ann").with("booking", booking).with("seat", "A1");
    tickets.call(call).unwrap();
}

fn bill(runtime: &Runtime, booking: &str) -> Value {
    let found = store::block_on(runtime.get("Bill", &[json!(booking)])).unwrap();
    found.map_or(Value::Null, |held| held.truth["BillState"].clone())
}

#[test]
fn an_event_of_another_design_is_handled_in_its_order() {
    let (tickets, billing) = both();
    for booking in ["b1", "b2", "b1", "b1", "b1"] {
        confirm(&tickets, booking);
    }
    assert_eq!(tickets.runtime.undelivered().unwrap(), []);
    assert_eq!(billing.runtime.undelivered().unwrap().len(), 5);
    deliver(&billing.runtime);
    // the third is refused, and does not stop the fourth
    let taken = json!({ "last": 4, "taken": 3, "wrong": 1, "seat": "A1" });
    assert_eq!(bill(&billing.runtime, "b1"), taken);
    assert_eq!(bill(&billing.runtime, "b2")["last"], 1);
    let counted = billing.runtime.counters().all();
    let name = "on_tickets_booking_confirmed";
    let (_, done, refused) = counted.iter().find(|(held, _, _)| held == name).unwrap();
    assert_eq!((*done, refused.get("wanted")), (4, Some(&1)));
    let heard = tickets.runtime.heard();
    assert_eq!(heard.len(), 1);
    assert!(heard[0].served && heard[0].by == "Billing" && heard[0].event == "BookingConfirmed");
}

#[test]
fn an_event_waits_while_nobody_serves_the_design_that_hears_it() {
    let (tickets, billing) = both();
    confirm(&tickets, "b1");
    let Bench { runtime, clock, store } = billing;
    drop(runtime);
    // a server that is started with one of the two
    Runtime::link(&[Arc::clone(&tickets.runtime)]).unwrap();
    assert!(!tickets.runtime.heard()[0].served);
    confirm(&tickets, "b1");
    let billing = bench_on(compile("billing", BILLING), store, clock);
    deliver(&billing.runtime);
    assert_eq!(bill(&billing.runtime, "b1")["last"], 2);
    assert_eq!(bill(&billing.runtime, "b1")["wrong"], 0);
}

#[test]
fn nobody_hears_what_was_emitted_before() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(runtime::ManualClock::new(support::START));
    let tickets = bench_on(compile("tickets", TICKETS), Arc::clone(&store), Arc::clone(&clock));
    Runtime::link(&[Arc::clone(&tickets.runtime)]).unwrap();
    confirm(&tickets, "b1");
    let billing = bench_on(compile("billing", BILLING), store, clock);
    Runtime::link(&[Arc::clone(&tickets.runtime), Arc::clone(&billing.runtime)]).unwrap();
    assert_eq!(billing.runtime.undelivered().unwrap(), []);
    confirm(&tickets, "b2");
    assert_eq!(billing.runtime.undelivered().unwrap().len(), 1);
}

/// The version that is there when it arrives judges it, in the encoding that it has then.
#[test]
fn both_sides_may_be_replaced_while_events_wait() {
    let (tickets, billing) = both();
    confirm(&tickets, "b1");
    // the design that emits: heard as before, without being linked again
    let other = TICKETS.replace("times: int = 0 }", "times: int = 0, note: text = \"\" }");
    let tickets_after = tickets.runtime.replace(compile("tickets", &other), &[]).unwrap();
    let call = ask("buyer", "confirm", "ann").with("booking", "b1").with("seat", "A2");
    tickets_after.call(&call).unwrap();
    // the design that hears: its records are laid out in another way
    let other = BILLING.replace("seat: text = \"\" }", "seat: text = \"\", more: int = 7 }");
    let other = other.replace("times != 3", "times != 2");
    let billing_after = billing.runtime.replace(compile("billing", &other), &[]).unwrap();
    // not linked again yet: the number that counts is found all the same
    tickets_after.call(&call).unwrap();
    deliver(&billing_after);
    let held = bill(&billing_after, "b1");
    assert_eq!((held["last"].as_i64(), held["taken"].as_i64()), (Some(3), Some(2)));
    assert_eq!(held["seat"], "A2");
    assert_eq!(billing_after.undelivered().unwrap(), []);
}

/// What one design tells another is not taken for its own while it is replaced itself.
#[test]
fn nothing_is_lost_or_doubled_while_the_design_that_emits_is_replaced() {
    let (tickets, billing) = both();
    let mut current = Arc::clone(&tickets.runtime);
    let mut emitted = 0;
    for version in 1..=5 {
        let next = std::thread::scope(|scope| {
            let old = &current;
            let emitting = scope.spawn(move || {
                let call = ask("buyer", "confirm", "ann").with("booking", "b1").with("seat", "A1");
                let mut emitted = 0;
                // until another version has the say
                while old.call(&call).is_ok() {
                    emitted += 1;
                }
                emitted
            });
            let text = TICKETS.replace("sold: int", &format!("v{version}: int = 0, sold: int"));
            while billing.runtime.undelivered().unwrap().len() < 4 {
                std::thread::yield_now();
            }
            let next = current.replace(compile("tickets", &text), &[]).unwrap();
            emitted += emitting.join().unwrap();
            next
        });
        current = Arc::new(next);
        assert_eq!(current.undelivered().unwrap(), []);
    }
    assert_eq!(billing.runtime.undelivered().unwrap().len(), emitted);
    deliver(&billing.runtime);
    let held = bill(&billing.runtime, "b1");
    // the third is refused
    assert_eq!(held["taken"].as_u64(), Some(emitted as u64 - 1));
    assert_eq!(held["last"].as_u64(), Some(emitted as u64));
}

/// Whatever is emitted while records are copied is copied, too.
#[test]
fn nothing_is_lost_while_the_design_that_hears_is_replaced() {
    let (tickets, billing) = both();
    let stop = Arc::new(AtomicBool::new(false));
    let mut current = Arc::clone(&billing.runtime);
    let emitted = std::thread::scope(|scope| {
        let (emitter, stopped) = (&tickets, Arc::clone(&stop));
        let emitting = scope.spawn(move || {
            let mut emitted = 0;
            while !stopped.load(Ordering::Relaxed) {
                confirm(emitter, "b1");
                emitted += 1;
            }
            emitted
        });
        for version in 1..=5 {
            while current.undelivered().unwrap().len() < 3 {
                std::thread::yield_now();
            }
            let text = BILLING.replace("times != 3", "times > 0");
            let text = text.replace("BillState {", &format!("BillState {{ v{version}: int = 0,"));
            let next = current.replace(compile("billing", &text), &[]);
            // what earlier versions added is gone again, and holds nothing
            let next = Arc::new(next.unwrap());
            Runtime::link(&[Arc::clone(&tickets.runtime), Arc::clone(&next)]).unwrap();
            deliver(&next);
            current = next;
        }
        stop.store(true, Ordering::Relaxed);
        emitting.join().unwrap()
    });
    deliver(&current);
    let held = bill(&current, "b1");
    let all = (held["last"].as_i64(), held["taken"].as_i64(), held["wrong"].as_i64());
    // version 0 is never asked: nothing was delivered before the first replacement
    assert_eq!(all, (Some(emitted), Some(emitted), Some(0)));
}
