//! A design that was copied from an archetype and uses it now: what is stored follows.

use crate::support::{Bench, Catalog, ask, bench, compile_with};

use design::model::Design;
use serde_json::json;
use std::sync::Arc;

/// The tickets of the catalog as they were before anything could be used.
const COPIED: &str = r#"design Tickets "Seat booking with timed holds"

actor organizer
actor buyer
actor sweeper

subject Seat(seat: text) {
    truth SeatInventoryState {
        status: AVAILABLE | HELD | SOLD = AVAILABLE,
        booking: Booking?,
        section: text,
    }
    truth SeatHoldState { expires_at: time? }
}

subject Booking(booking: text) {
    truth BookingState { status: IN_PROGRESS | CONFIRMED | EXPIRED, seat: Seat, buyer: actor }
        visible to buyer where buyer = me
}

step organizer[add_seat(seat: new Seat, section: text)] { SeatInventoryState.section := section }

step buyer[hold(seat: Seat, booking: new Booking, ttl: duration = 10m) {
    free: SeatInventoryState.status = AVAILABLE
       or SeatInventoryState.status = HELD and SeatHoldState.expires_at < now
}] {
    if SeatInventoryState.status = HELD { SeatInventoryState.booking.status := EXPIRED }
    SeatInventoryState.status := HELD
    SeatInventoryState.booking := booking
    SeatHoldState.expires_at := now + ttl
    BookingState := { status: IN_PROGRESS, seat: seat, buyer: me }
}

step buyer[confirm(booking: Booking) {
    yours: BookingState.buyer = me
    open: BookingState.status = IN_PROGRESS
    live: BookingState.seat.expires_at >= now
}] {
    BookingState.status := CONFIRMED
    BookingState.seat.status := SOLD
    emit BookingConfirmed { booking: booking, seat: BookingState.seat }
}

repair sweeper[release(seat: Seat) {
    stale: SeatInventoryState.status = HELD and SeatHoldState.expires_at < now
}] {
    SeatInventoryState.booking.status := EXPIRED
    SeatInventoryState.status := AVAILABLE
    SeatInventoryState.booking := null
    SeatHoldState.expires_at := null
}

view Availability(section: text) = list Seat where status = AVAILABLE order by seat
view SoldCount = count Seat where status = SOLD
"#;

/// The same names, from the archetype, as the catalog has them now.
const USED: &str = include_str!("../../../designs/systems/tickets.design");

/// A version of tickets with a seat that is sold, one that is held, one that is free.
fn sold() -> Bench {
    let old = bench(compile_with("tickets", COPIED, &Catalog));
    for seat in ["a1", "a2", "a3"] {
        let add = ask("organizer", "add_seat", "olga").with("seat", seat).with("section", "a");
        old.call(add).unwrap();
    }
    for (seat, booking) in [("a1", "b1"), ("a2", "b2")] {
        old.call(ask("buyer", "hold", "ben").with("seat", seat).with("booking", booking)).unwrap();
    }
    old.call(ask("buyer", "confirm", "ben").with("booking", "b1").keyed("once")).unwrap();
    old
}

fn replaced(old: &Bench, design: Design) -> Bench {
    let runtime = Arc::new(old.runtime.replace(design, &[]).unwrap());
    Bench { runtime, clock: old.clock.clone(), store: old.store.clone() }
}

#[test]
fn tickets_that_use_the_archetype_under_the_old_names_go_on() {
    let old = sold();
    let new = replaced(&old, compile_with("tickets", USED, &Catalog));
    assert_eq!(new.truth("Seat", "a1")["SeatInventoryState"]["status"], "SOLD");
    assert_eq!(
        new.truth("Booking", "b1")["BookingState"],
        json!({ "status": "CONFIRMED", "seat": "a1", "buyer": "ben" })
    );
    // an answer that was given is given again, and what is held can be confirmed
    let again = new.call(ask("buyer", "confirm", "ben").with("booking", "b1").keyed("once"));
    assert!(again.unwrap().replayed);
    new.call(ask("buyer", "confirm", "ben").with("booking", "b2")).unwrap();
    // the hold of another lapses by the repair of the archetype
    new.call(ask("buyer", "hold", "ben").with("seat", "a3").with("booking", "b3")).unwrap();
    new.clock.advance(3_600_000);
    assert_eq!(new.runtime.fire_due().unwrap().0, 1);
    assert_eq!(new.truth("Booking", "b3")["BookingState"]["status"], "EXPIRED");
}

/// Names as `use` gives them: subject, state and steps have the noun in front or behind.
const NOUNS: &str = r#"design Tickets "Seat booking with timed holds"

use A08 as Seat {
    actor user is buyer
    actor expiry_worker is sweeper
    SeatBookingState.item as seat
    SeatBookingState.holder as buyer
}
"#;

#[test]
fn what_has_the_noun_in_its_name_now_is_recognised() {
    let old = sold();
    let design = compile_with("tickets", NOUNS, &Catalog);
    let told = explain::against(old.runtime.design(), &design);
    let noun = |now: &str| format!("is `{now}` now, by the noun of `use A08 as Seat`");
    for (was, now) in [
        ("Booking", "SeatBooking"),
        ("BookingState", "SeatBookingState"),
        ("buyer[hold]", "buyer[hold_seat]"),
        ("sweeper[release]", "sweeper[release_seat]"),
    ] {
        let said = |change: &explain::Change| change.on == was && change.text == noun(now);
        assert!(told.truth.iter().any(said), "{was}: {told:#?}");
    }
    let new = replaced(&old, design);
    assert_eq!(
        new.truth("SeatBooking", "b1")["SeatBookingState"],
        json!({ "status": "CONFIRMED", "seat": "a1", "buyer": "ben" })
    );
    let again = new.call(ask("buyer", "confirm_seat", "ben").with("booking", "b1").keyed("once"));
    assert!(again.unwrap().replayed);
    new.call(ask("buyer", "confirm_seat", "ben").with("booking", "b2")).unwrap();
    // and back to what was written by hand
    let back = replaced(&new, compile_with("tickets", COPIED, &Catalog));
    assert_eq!(back.truth("Booking", "b2")["BookingState"]["status"], "CONFIRMED");
}

/// A name with the noun is not enough: the attributes have other names, so nothing is guessed.
#[test]
fn what_does_not_fit_is_refused_until_the_text_says_it() {
    let old = sold();
    let plain = "design Tickets\n\nuse A08 as Seat {\n    actor user is buyer\n}\n";
    let said = match old.runtime.replace(compile_with("tickets", plain, &Catalog), &[]) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was not refused"),
    };
    assert!(
        said.contains("`Booking` is gone, and there are records of it (Booking b1, Booking b2)"),
        "{said}"
    );
    let version = layout::version(old.runtime.design());
    let lines = "rename Booking as SeatBooking\nrename BookingState as SeatBookingState\n\
                 rename BookingState.seat as item\nrename BookingState.buyer as holder\n\
                 rename sweeper as expiry_worker";
    let text = format!("{plain}\nfrom \"{version}\" {{\n{lines}\n}}\n");
    let new = replaced(&old, compile_with("tickets", &text, &Catalog));
    assert_eq!(
        new.truth("SeatBooking", "b1")["SeatBookingState"],
        json!({ "status": "CONFIRMED", "item": "a1", "holder": "ben" })
    );
}
