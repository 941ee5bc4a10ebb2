//! A design as a module of TLA+: what it says, what is taken away, and what is refused by name. That TLC
//! finds the same states and verdicts as the checker is shown by `crates/model-checker/tests/tlc.rs`.

use design::model::{ClauseRef, Design, OperationId, Protection};

const SEATS: &str = "\
design Seats

actor buyer { my_version: int? of Seat }

subject Seat(seat: text) {
    truth SeatState { status: OPEN | HELD = OPEN, by: actor?, version: int = 0, seen: time? }
}

step buyer[hold(seat: Seat) { free: SeatState.status = OPEN  fit: SeatState.by = null or SeatState.by = me }] {
    SeatState.status := HELD
    SeatState.by := me
    SeatState.version += 1
    SeatState.seen := now
    my_version := SeatState.version
}

invariant kept: all s in Seat: old(s.by) = null or s.by = old(s.by)
invariant held: all s in Seat where s.status = HELD: s.by present

check { seat: 2  buyer: 2  SeatState.version: 0..3  faults: lost_reply 1 }
";

fn compiled(text: &str) -> Design {
    let compiled = design::compile("test", text, &design::NoCatalog);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    compiled.design.unwrap()
}

#[track_caller]
fn says(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "`{line}` is not in\n{text}");
    }
}

#[test]
fn a_step_is_its_clauses_in_order_and_what_it_changes() {
    let tla = explain::tla(&compiled(SEATS), &[]).unwrap();
    assert_eq!(tla.name, "Seats");
    says(
        &tla.module,
        &[
            "SeatKeys == {\"seat-1\", \"seat-2\"}",
            "buyer_hold(me, seat, hears) ==\n    /\\ clause_free:: Seat_status[seat] = \"OPEN\"\n    /\\ clause_fit:: Holds(Seat_by[seat] = Null \\/ Seat_by[seat] = me)\n",
            "Seat_status' = [Seat_status EXCEPT ![seat] = \"HELD\"]",
            "Seat_version_1 == [Seat_version EXCEPT ![seat] = @ + 1]",
            "/\\ Left_lost_reply > 0",
            "WithinBounds ==",
            "Seat_version[k] \\in 0..3",
        ],
    );
    // a time that nothing reads is not part of a state
    assert!(!tla.module.contains("Seat_seen"), "{}", tla.module);
    let config = tla.whole_config();
    says(&config, &["CONSTRAINT WithinBounds", "PROPERTY goal_kept", "INVARIANT goal_held"]);
    assert_eq!(tla.config(&[]).matches("goal_").count(), 0);
}

#[test]
fn what_is_taken_away_is_not_in_the_module() {
    let design = compiled(SEATS);
    let free = Protection::Clause { operation: OperationId::of(0), clause: ClauseRef::Named(0) };
    let tla = explain::tla(&design, &[free]).unwrap();
    assert!(!tla.module.contains("clause_free"), "{}", tla.module);
    says(&tla.module, &["clause_fit::"]);
}

#[test]
fn what_has_no_translation_is_refused_by_name() {
    let refused = |text: &str, named: &str| {
        let problems = explain::tla(&compiled(text), &[]).unwrap_err();
        assert!(problems.iter().any(|problem| problem.contains(named)), "{problems:?}");
    };
    refused(&SEATS.replace("faults: lost_reply 1", "faults: clock_step"), "`clock_step`");
    refused(&SEATS.replace("  SeatState.version: 0..3", ""), "`SeatState.version: 0..4`");
    let content = "\
design Content

actor someone

blob Picture

subject Thing(thing: text) {
    truth ThingState { picture: Picture? }
}

step someone[put(thing: Thing, picture: Picture) { there: picture present }] {
    ThingState.picture := picture
}

check { thing: 1  picture: 2 }
";
    refused(content, "blobs");
}
