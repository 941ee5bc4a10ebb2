//! Events that call something: in the order of their key, at least once, never lost, and not stopped by a refusal.

use crate::support::text::{holds, load_bearing, report, violated};

const PARCELS: &str = "
design Parcels
actor carrier
subject Parcel(parcel: text) {
    truth ParcelState { moves: int = 0 }
    truth Board { shown: int = 0, seen: int = 0 }
}
step carrier[move_on(parcel: Parcel)] {
    ParcelState.moves += 1
    emit Moved { parcel: parcel, moves: ParcelState.moves }
}
on Moved(KEY) { HANDLER }
GOALS
check { parcel: KEYS  ParcelState.moves: 0..2  Board.seen: 0..3  messages: 3  FAULTS }
";

fn parcels(key: &str, handler: &str, goals: &str, keys: &str, faults: &str) -> String {
    PARCELS
        .replace("KEYS", keys)
        .replace("KEY", key)
        .replace("HANDLER", handler)
        .replace("GOALS", goals)
        .replace("FAULTS", faults)
}

const BY_PARCEL: &str = "parcel: Parcel, moves: int";

#[test]
fn events_of_one_key_arrive_in_the_order_in_which_they_were_emitted() {
    let goals = "invariant never_back: all p in Parcel: p.shown >= old(p.shown)
        recovers up_to_date: all p in Parcel: p.shown = p.moves";
    for faults in ["", "faults: lost_message, doubled_message, crash", "faults: clock_step 1"] {
        let report = report(&parcels(BY_PARCEL, "Board.shown := moves", goals, "1", faults));
        holds(&report, "never_back");
        holds(&report, "up_to_date");
        if faults.is_empty() {
            assert_eq!(report.unwitnessed, Vec::<String>::new());
        }
    }
}

/// The first parameter is the key, and nothing else keeps the order.
#[test]
fn events_with_different_keys_overtake_each_other() {
    let goals = "invariant never_back: all p in Parcel: p.shown >= old(p.shown)";
    let by_number = "moves: int, parcel: Parcel";
    let report = report(&parcels(by_number, "Board.shown := moves", goals, "1", ""));
    let trace = violated(&report, "never_back");
    let arrived: Vec<&str> = trace
        .steps
        .iter()
        .filter(|step| step.name == "on_moved")
        .map(|step| step.params[0].1.as_str())
        .collect();
    assert_eq!(arrived, ["2", "1"], "{trace:#?}");
}

/// One comes again before the next one of its key, and never after it.
#[test]
fn an_event_comes_again_before_the_next_one_and_not_after_it() {
    let handler = "if moves = Board.shown { Board.seen += 1 }\n Board.shown := moves";
    let goals = "invariant once: all p in Parcel: p.seen = 0
        invariant never_back: all p in Parcel: p.shown >= old(p.shown)";
    let report = report(&parcels(BY_PARCEL, handler, goals, "1", ""));
    holds(&report, "never_back");
    let trace = violated(&report, "once");
    let faults: Vec<Option<&str>> = trace
        .steps
        .iter()
        .filter(|step| step.name == "on_moved")
        .map(|step| step.fault.as_deref())
        .collect();
    assert_eq!(faults, [Some("doubled_event"), None], "{trace:#?}");
}

/// Each is owed: with clients silent, everything arrives, however many keys there are.
#[test]
fn nothing_is_lost() {
    let goals = "recovers up_to_date: all p in Parcel: p.shown = p.moves";
    for faults in ["", "faults: lost_message, crash"] {
        let report = report(&parcels(BY_PARCEL, "Board.shown := moves", goals, "2", faults));
        holds(&report, "up_to_date");
    }
    // a handler that does nothing is found out
    let report = report(&parcels(BY_PARCEL, "Board.seen := 0", goals, "1", ""));
    violated(&report, "up_to_date");
}

/// It may be late by any time: what a step leaves is not what its handler leaves.
#[test]
fn an_event_is_never_handled_in_the_commit_that_emits_it() {
    let goals = "invariant at_once: all p in Parcel: p.shown = p.moves";
    let report = report(&parcels(BY_PARCEL, "Board.shown := moves", goals, "1", ""));
    let trace = violated(&report, "at_once");
    assert_eq!(trace.steps.len(), 1, "{trace:#?}");
}

const REFUSED: &str = "
design Refused
actor carrier
subject Parcel(parcel: text) {
    truth ParcelState { moves: int = 0 }
    truth Board { shown: int = 0 }
}
step carrier[move_on(parcel: Parcel)] {
    ParcelState.moves += 1
    emit Moved { parcel: parcel, moves: ParcelState.moves }
}
on Moved(parcel: Parcel, moves: int) { wanted: moves != 1 } { Board.shown := moves }
invariant not_the_first: all p in Parcel: p.shown != 1
recovers the_second: all p in Parcel: p.moves < 2 or p.shown >= 2
failure \"the first is shown\" { without on_moved.wanted breaks not_the_first }
check { parcel: 1  ParcelState.moves: 0..2  messages: 3 }
";

#[test]
fn an_event_that_is_refused_does_not_stop_the_next_one() {
    let report = report(REFUSED);
    holds(&report, "not_the_first");
    holds(&report, "the_second");
    load_bearing(&report, "the first is shown");
    assert_eq!(report.unwitnessed, Vec::<String>::new());
}

const OFFICE: &str = "
design BoxOffice
actor buyer
actor cashier
subject Booking(booking: text) { truth BookingState { status: HELD | CONFIRMED = HELD, tickets: int = 0 } }
subject Charge(charge: text) { truth ChargeState { status: OPEN | CAPTURED = OPEN, booking: Booking } }
step buyer[pay(charge: new Charge, booking: Booking)] { ChargeState.booking := booking }
step cashier[capture(charge: Charge) { open: ChargeState.status = OPEN }] {
    ChargeState.status := CAPTURED
    emit ChargeCaptured { booking: ChargeState.booking, charge: charge }
}
on ChargeCaptured(booking: Booking) { held: BookingState.status = HELD } {
    BookingState.status := CONFIRMED
    BookingState.tickets += 1
}
protocol main { buyer[pay] -> cashier[capture] -> event[on_charge_captured] => done }
protocol again { event[on_charge_captured] refused held => done }
invariant one_ticket: all b in Booking: b.tickets <= 1
recovers confirmed: all c in Charge: c.status = OPEN or c.booking.status = CONFIRMED
failure \"an event that comes twice\" { without on_charge_captured.held breaks one_ticket }
check { booking: 1  charge: 1  BookingState.tickets: 0..2 }
";

#[test]
fn a_guard_keeps_an_event_that_comes_twice_from_counting_twice() {
    let report = report(OFFICE);
    holds(&report, "one_ticket");
    holds(&report, "confirmed");
    assert_eq!(report.unwitnessed, Vec::<String>::new());
    let trace = load_bearing(&report, "an event that comes twice");
    let handled: Vec<Option<&str>> = trace
        .steps
        .iter()
        .filter(|step| step.name == "on_charge_captured")
        .map(|step| step.fault.as_deref())
        .collect();
    assert_eq!(handled, [Some("doubled_event"), None], "{trace:#?}");
}

/// The same word in every way of exploring: whole, without symmetry, on one thread.
#[test]
fn it_does_not_matter_how_it_is_explored() {
    let goals = "invariant never_back: all p in Parcel: p.shown >= old(p.shown)
        recovers up_to_date: all p in Parcel: p.shown = p.moves";
    let text = parcels(BY_PARCEL, "Board.shown := moves", goals, "2", "");
    let plain = report(&text);
    let unequal = report(&text.replace("messages: 3", "messages: 3  symmetry: off"));
    for report in [&plain, &unequal] {
        holds(report, "never_back");
        holds(report, "up_to_date");
    }
}

/// Alone, a design knows nothing of another one: its events come at any time, in any order.
#[test]
fn an_event_of_another_design_may_come_at_any_time() {
    let text = "
design Board
actor reader
subject Line(line: text) { truth LineState { shown: int = 0 } }
on Trains.Moved(line: Line, stop: int) { LineState.shown := stop }
read reader[look(line: Line)] = LineState
invariant never_back: all l in Line: l.shown >= old(l.shown)
invariant in_world: all l in Line: l.shown <= 2
check { line: 1  stop: 0..2 }
";
    let report = report(text);
    holds(&report, "in_world");
    let trace = violated(&report, "never_back");
    assert!(trace.steps.iter().all(|step| step.name == "on_trains_moved"), "{trace:#?}");
}
