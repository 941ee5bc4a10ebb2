//! Events that call something: what a handler becomes, what two designs must agree on, several designs as one.

use design::model::{Design, ExprKind, OperationKind, StmtKind, Type, visit};
use design::{Compiled, NoCatalog, compile, compile_together, misheard};

fn compiled(text: &str) -> Design {
    let compiled = compile("events", text, &NoCatalog);
    let said: Vec<&String> = compiled.diagnostics.iter().map(|held| &held.message).collect();
    compiled.design.unwrap_or_else(|| panic!("{said:?}"))
}

const TICKETS: &str = "
design Tickets
actor buyer
subject Seat(seat: text) { truth SeatState { sold: bool = false } }
subject Booking(booking: text) {
    truth BookingState { seat: Seat, status: HELD | SOLD = HELD, price: decimal = 0 }
}
step buyer[hold(booking: new Booking, seat: Seat)] { BookingState.seat := seat }
step buyer[confirm(booking: Booking) { held: BookingState.status = HELD }] {
    BookingState.status := SOLD
    BookingState.seat.sold := true
    emit BookingConfirmed {
        booking: booking,
        seat: BookingState.seat,
        status: BookingState.status,
        price: BookingState.price,
    }
}
invariant stays_sold: all b in Booking: b.status = SOLD or old(b.status) != SOLD
check { seat: 1  booking: 1 }
";

fn billing(params: &str) -> String {
    format!(
        "
design Billing
actor clerk
subject Bill(booking: text) {{ truth BillState {{ paid: bool = false, times: int = 0 }} }}
on Tickets.BookingConfirmed({params}) {{ BillState.times += 1 }}
step clerk[settle(bill: Bill) {{ due: not BillState.paid }}] {{ BillState.paid := true }}
invariant billed_once: all b in Bill: b.times <= 1
check {{ booking: 1  BillState.times: 0..2 }}
"
    )
}

#[test]
fn an_emit_sends_to_the_handler_of_its_event_wherever_it_stands() {
    let design = compiled(
        "
design Doors
actor porter
subject Door(door: text) { truth DoorState { open: bool = false, moves: int = 0 } }
step porter[open_it(door: Door, loud: bool)] {
    DoorState.open := true
    if loud { emit Moved { door: door, open: true } } else { DoorState.moves += 1 }
}
repair porter[shut(door: Door) { open: DoorState.open }] {
    DoorState.open := false
    emit Moved { open: false, door: door }
}
on Moved(door: Door, open: bool) { counted: open } { DoorState.moves += 1 }
",
    );
    let handler = design.operations.iter().position(|held| held.name == "on_moved").unwrap();
    let held = &design.operations[handler];
    assert!(matches!(held.kind, OperationKind::Step { keyed: false }));
    assert_eq!(design.actors[held.actor.index()].name, "event");
    assert_eq!(held.hears.as_ref().map(|hears| hears.told()), Some("Moved".into()));
    assert!(visit::message_targets(&design)[handler]);
    let mut sends = Vec::new();
    for operation in &design.operations {
        let mut ids = Vec::new();
        visit::each_statement(&operation.body, &mut |statement| {
            ids.push(statement.id);
            if let StmtKind::Send { operation: to, args } = &statement.kind {
                assert_eq!(to.index(), handler);
                // in the order of the parameters, whatever that of the fields is
                let types: Vec<&Type> = args.iter().map(|arg| &arg.ty).collect();
                assert!(matches!(types[..], [Type::Ref(_), Type::Bool]), "{types:?}");
                sends.push(operation.name.as_str());
            }
        });
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "statements of `{}` have numbers of their own", operation.name);
    }
    assert_eq!(sends, ["open_it", "shut"]);
}

#[test]
fn designs_agree_on_what_one_hears_of_the_other() {
    let tickets = compiled(TICKETS);
    for (params, code) in [
        ("booking: Bill", None),
        ("booking: new Bill, seat: text", None),
        ("booking: Bill, price: decimal", None),
        ("booking: Bill, status: HELD | SOLD | GONE", None),
        ("booking: Bill, seat: text?", None),
        ("booking: Bill, status: HELD | GONE", Some("E0903")),
        ("booking: Bill, seat: int", Some("E0903")),
        ("booking: Bill, price: int", Some("E0903")),
        ("booking: Bill, row: text", Some("E0902")),
    ] {
        let found = misheard(&compiled(&billing(params)), &tickets);
        let codes: Vec<&str> = found.iter().map(|held| held.code).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{params}: {found:?}");
    }
    let other = billing("booking: Bill").replace("BookingConfirmed", "BookingConfirmd");
    let found = misheard(&compiled(&other), &tickets);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, "E0901");
    assert_eq!(found[0].help, "did you mean `BookingConfirmed`?");
    // of a design that it does not hear nothing is asked
    assert_eq!(misheard(&tickets, &compiled(&billing("booking: Bill"))), []);
}

fn together(texts: &[&str]) -> (Compiled, String) {
    let (_, compiled) = compile_together(texts, &NoCatalog);
    let flat = compiled.flat.clone().unwrap_or_default();
    (compiled, flat)
}

#[test]
fn several_designs_are_one_in_which_events_reach_their_handlers() {
    let billing = billing("booking: Bill, seat: text");
    let (compiled, flat) = together(&[TICKETS, &billing]);
    let said: Vec<&String> = compiled.diagnostics.iter().map(|held| &held.message).collect();
    let design = compiled.design.unwrap_or_else(|| panic!("{said:?}\n{flat}"));
    let handler = design.operations.iter().find(|held| held.hears.is_some()).unwrap();
    assert_eq!(handler.name, "on_tickets_booking_confirmed", "{flat}");
    assert_eq!(handler.hears.as_ref().unwrap().told(), "TicketsBookingConfirmed");
    let goals: Vec<&str> = design.goals().map(|goal| goal.name.as_str()).collect();
    assert_eq!(goals, ["tickets.stays_sold", "billing.billed_once"]);
    // a booking is a bill by its key, a seat a text
    let confirm = design.operations.iter().find(|held| held.name == "confirm_tickets").unwrap();
    let mut args = Vec::new();
    visit::each_statement(&confirm.body, &mut |statement| {
        if let StmtKind::Send { args: sent, .. } = &statement.kind {
            args.extend(sent.iter().map(|arg| &arg.kind));
        }
    });
    assert!(matches!(args[..], [ExprKind::Keyed { .. }, ExprKind::KeyPart { .. }]), "{args:?}");
}

#[test]
fn designs_that_do_not_agree_are_not_one() {
    for (params, code) in [("booking: Bill, seat: int", "E0903"), ("row: Bill", "E0902")] {
        let billing = billing(params);
        let (compiled, flat) = together(&[TICKETS, &billing]);
        let codes: Vec<&str> =
            compiled.diagnostics.iter().filter(|it| it.is_error()).map(|it| it.code).collect();
        assert_eq!(codes, [code], "{params}\n{flat}");
    }
}

/// A design that is not among them may emit at any time, as if it were checked alone.
#[test]
fn a_design_that_is_not_there_stays_the_world() {
    let other = "design Notes actor clerk
        subject Note(note: text) { truth NoteState { read: bool = false } }
        step clerk[look(note: Note)] { NoteState.read := true }
        check { note: 1 }";
    let billing = billing("booking: Bill");
    let (compiled, flat) = together(&[other, &billing]);
    let design = compiled.design.unwrap_or_else(|| panic!("{flat}"));
    let handler = design.operations.iter().find(|held| held.hears.is_some()).unwrap();
    assert_eq!(handler.hears.as_ref().unwrap().design.as_deref(), Some("Tickets"));
}
