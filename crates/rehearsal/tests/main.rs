//! Tests of designs pass where the design does what they say, and name the line where it does not.

mod outside;
mod planted;
mod scratch;

use rehearsal::{Report, rehearse};

/// Seats with timed holds, and an owner of each booking.
pub const SEATS: &str = r#"
design Seats

actor operator
actor buyer
actor sweeper

subject Seat(seat: text) {
    truth SeatState { status: FREE | HELD | SOLD = FREE, booking: Booking?, section: text = "" }
    truth SeatHold { until: time? }
}
subject Booking(booking: text) {
    truth BookingState { status: OPEN | DONE | GONE, seat: Seat, buyer: actor }
}

step operator[add_seat(seat: new Seat, section: text)] {
    SeatState := { status: FREE, section: section }
}

step buyer[hold(seat: Seat, booking: new Booking, ttl: duration = 10m) {
    free: SeatState.status = FREE
}] {
    SeatState.status := HELD
    SeatState.booking := booking
    SeatHold.until := now + ttl
    BookingState := { status: OPEN, seat: seat, buyer: me }
}

step buyer[confirm(booking: Booking) {
    yours: BookingState.buyer = me
    open: BookingState.status = OPEN
}] {
    BookingState.status := DONE
    BookingState.seat.status := SOLD
}

repair sweeper[release(seat: Seat) { stale: SeatState.status = HELD and SeatHold.until < now }] {
    SeatState.booking.status := GONE
    SeatState.status := FREE
    SeatState.booking := null
}

read buyer[look(seat: Seat)] = { status: SeatState.status, section: SeatState.section }

view Free(section: text) = list Seat where status = FREE order by seat
view Sold = count Seat where status = SOLD

invariant one_winner: all s in Seat: count(b in Booking where b.seat = s and b.status = DONE) <= 1
"#;

pub fn run(text: &str) -> Report {
    let compiled = design::compile("it", text, &design::NoCatalog);
    let problems: Vec<String> = compiled
        .diagnostics
        .iter()
        .filter(|problem| problem.is_error())
        .map(|it| {
            let at = compiled.sources.position(it.primary.span);
            format!("{} {}:{} {}", it.code, at.line, at.column, it.message)
        })
        .collect();
    let design = compiled.design.unwrap_or_else(|| panic!("{problems:#?}"));
    rehearse(&design, &compiled.tests).unwrap_or_else(|why| panic!("{why}"))
}

/// The seats with this test: none if it passes, else what was expected and what happened.
pub fn seats(lines: &str) -> Option<(String, String)> {
    failure(SEATS, lines)
}

pub fn failure(design: &str, lines: &str) -> Option<(String, String)> {
    let report = run(&format!("{design}\ntest \"it\" {{\n{lines}\n}}\n"));
    report.tests[0].failure.as_ref().map(|it| (it.expected.clone(), it.happened.clone()))
}

#[test]
fn two_buyers_and_one_seat() {
    let found = seats(
        "operator op: add_seat(A1, north) ok
        operator op: add_seat(A2, north) ok
        operator op: add_seat(A1, north) refused fresh
        Free(north) gives [A1, A2]
        Free(south) gives []
        buyer ann: hold(A1, b1) ok
        expect A1.status = HELD and A1.booking = b1 and b1.buyer = ann
        expect A1.until = now + 10m
        buyer bob: hold(A1, b2) refused free
        buyer bob: hold(A9, b2) refused exists
        expect b2 absent
        buyer bob: confirm(b1) refused yours
        after 10m
        expect A1.status = HELD
        after 1s
        expect A1.status = FREE and A1.booking = null and b1.status = GONE
        buyer bob: hold(A1, b2, ttl: 5m) ok
        buyer bob: confirm(b2) ok
        buyer bob: confirm(b2) refused open
        buyer eve: look(A1) gives { status: SOLD, section: \"north\" }
        buyer eve: look(A1) gives { status: SOLD }
        Sold gives 1
        Free(north) gives [{ seat: A2, status: FREE }]
        expect count(Booking where status = DONE) = 1 and all s in Seat: s.section = north",
    );
    assert_eq!(found, None);
}

/// What was expected and what happened is told, and the test ends there.
#[test]
fn a_line_that_comes_to_something_else_is_told() {
    for (lines, expected, happened) in [
        ("buyer ann: hold(A1, b1) ok", "it is done", "refused by `exists`"),
        (
            "operator op: add_seat(A1, north) ok\nbuyer ann: hold(A1, b1) refused free",
            "refused by `free`",
            "it is done",
        ),
        (
            "operator op: add_seat(A1, north) ok\nbuyer ann: hold(A1, b1) ok
             buyer bob: confirm(b1) refused open",
            "refused by `open`",
            "refused by `yours`",
        ),
        (
            "operator op: add_seat(A1, north) ok\nbuyer ann: hold(A1, b1) ok\nafter 11m
             expect A1.status = HELD",
            "this holds",
            "it does not",
        ),
        (
            "operator op: add_seat(A1, north) ok\nFree(north) gives []",
            "`Free` shows []",
            "[[\"A1\"]]",
        ),
        ("Sold gives 1", "`Sold` shows 1", "0"),
        (
            "operator op: add_seat(A1, north) ok\nbuyer ann: look(A1) gives { status: HELD }",
            "gives {\"status\":\"HELD\"}",
            "it is done, and gives {\"section\":\"north\",\"status\":\"FREE\"}",
        ),
    ] {
        let found = seats(lines);
        assert_eq!(found, Some((expected.to_string(), happened.to_string())), "{lines}");
    }
}

#[test]
fn a_failure_has_its_line_its_truth_and_what_happened_meanwhile() {
    let text = format!(
        "{SEATS}\ntest \"it\" {{\noperator op: add_seat(A1, north) ok\nbuyer ann: hold(A1, b1) ok\n\
         after 11m\nbuyer ann: confirm(b1) ok\nSold gives 7\n}}\n"
    );
    let report = run(&text);
    let told = &report.tests[0];
    let failure = told.failure.as_ref().expect("it fails");
    assert_eq!(told.lines, 3);
    assert_eq!(failure.span.text(&text), "buyer ann: confirm(b1) ok");
    assert_eq!(failure.happened, "refused by `open`");
    assert_eq!(failure.after_ms, 660_000);
    let booking = failure.seen.iter().find(|seen| seen.subject == "Booking").expect("it is seen");
    assert_eq!(booking.truth["BookingState"]["status"], "GONE");
    assert_eq!(report.failed(), 1);
}

/// The same key: the answer of the first call again, and never for other arguments.
#[test]
fn a_key_gives_the_same_answer_again() {
    let found = seats(
        "operator op: add_seat(A1, north) ok
        buyer ann: hold(A1, b1) key k1 ok
        buyer ann: hold(A1, b1) key k1 again
        buyer ann: hold(A1, b2) key k1 mismatch
        buyer bob: hold(A1, b1) key k1 refused fresh
        after 25h
        buyer ann: hold(A1, b1) key k1 refused fresh",
    );
    assert_eq!(found, None);
    let found = seats(
        "operator op: add_seat(A1, north) key k1 ok\noperator op: add_seat(A1, north) key k1 ok",
    );
    let again = "the answer of an earlier call under this key";
    assert_eq!(found, Some(("it is done".to_string(), again.to_string())));
}

#[test]
fn what_no_test_made_happen_is_known() {
    let report = run(&format!(
        "{SEATS}\ntest \"one\" {{ operator op: add_seat(A1, n) ok }}\n\
         test \"two\" {{\noperator op: add_seat(A1, n) ok\nbuyer ann: hold(A1, b1) ok\n\
         buyer bob: hold(A1, b2) refused free\n}}\n"
    ));
    let of = |name: &str| {
        let all = &report.coverage.operations;
        all.iter().find(|covered| covered.operation == name).expect("it is there").clone()
    };
    assert_eq!(report.failed(), 0);
    assert_eq!(of("add_seat").done, 2);
    assert_eq!(of("hold").clauses, [("free".to_string(), true)]);
    assert!(!of("hold").lacks());
    assert_eq!(of("confirm").clauses, [("yours".to_string(), false), ("open".to_string(), false)]);
    assert_eq!((of("release").done, of("release").kind), (0, "repair"));
    // done: add_seat, hold; refused: free; of add_seat, hold, confirm, release, look and three clauses
    assert_eq!(report.coverage.counted(), (3, 8));
}
