//! Bugs that are planted in a design: its test fails, and says where.

use crate::{SEATS, failure};

const STORY: &str = "operator op: add_seat(A1, north) ok
    buyer ann: hold(A1, b1) ok
    buyer bob: hold(A1, b2) refused free
    buyer bob: confirm(b1) refused yours
    after 11m
    expect A1.status = FREE
    buyer bob: hold(A1, b2) ok
    buyer bob: confirm(b2) ok
    buyer bob: confirm(b2) refused open
    expect A1.status = SOLD";

fn planted(from: &str, to: &str) -> Option<(String, String)> {
    assert_eq!(SEATS.matches(from).count(), 1, "{from}");
    failure(&SEATS.replace(from, to), STORY)
}

fn pair(expected: &str, happened: &str) -> Option<(String, String)> {
    Some((expected.to_string(), happened.to_string()))
}

#[test]
fn a_design_without_one_of_its_protections_fails_its_test() {
    assert_eq!(failure(SEATS, STORY), None);
    let done = "it is done";
    assert_eq!(
        planted("free: SeatState.status = FREE", "free: SeatState.status != SOLD"),
        pair("refused by `free`", done)
    );
    assert_eq!(
        planted("yours: BookingState.buyer = me\n", "yours: BookingState.status != GONE\n"),
        pair("refused by `yours`", done)
    );
    assert_eq!(
        planted("SeatHold.until < now }]", "SeatHold.until < now - 5m }]"),
        pair("this holds", "it does not")
    );
    assert_eq!(
        planted("    BookingState.status := DONE\n", "    BookingState.buyer := me\n"),
        pair("refused by `open`", done)
    );
    assert_eq!(
        planted("    BookingState.seat.status := SOLD\n", "    BookingState.seat.status := HELD\n"),
        pair("this holds", "it does not")
    );
}

/// A goal that breaks on the way is told, although no line speaks of it.
#[test]
fn a_goal_that_breaks_fails_the_test() {
    let design = SEATS
        .replace("free: SeatState.status = FREE", "free: SeatState.status in {FREE, HELD, SOLD}");
    let found = failure(
        &design,
        "operator op: add_seat(A1, north) ok
        buyer ann: hold(A1, b1) ok
        buyer ann: confirm(b1) ok
        buyer bob: hold(A1, b2) ok
        buyer bob: confirm(b2) ok",
    );
    assert_eq!(found, pair("the goal `one_winner` is kept", "it is broken"));
}
