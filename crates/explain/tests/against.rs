//! Two designs held against each other: one change of the text, one finding.

use crate::support;

use explain::{Difference, Follows, against, difference};
use support::{changed, compiled, design, designs};

fn tickets(from: &str, to: &str) -> Difference {
    let text = design("tickets").text;
    against(&compiled(&text), &compiled(&changed(&text, from, to)))
}

fn only_truth(found: &Difference) -> (&str, &str, Follows) {
    assert_eq!(found.truth.len(), 1, "{found:#?}");
    (&found.truth[0].on, &found.truth[0].text, found.truth[0].follows)
}

#[test]
fn a_design_is_like_itself() {
    for found in designs() {
        let same = against(&found.design, &found.design);
        assert!(same.is_empty() && same.follows == Follows::AsItIs, "{}: {same:#?}", found.name);
        assert!(difference(&same).contains("Nothing changes"));
    }
}

#[test]
fn an_added_attribute_needs_a_default() {
    let given = tickets(
        "section: text }\n    truth SeatHold",
        "section: text, row: int = 1 }\n    truth SeatHold",
    );
    let (on, text, follows) = only_truth(&given);
    assert_eq!((on, follows), ("Seat.SeatInventoryState.row", Follows::ByRewriting));
    assert_eq!(text, "is new: each record gets its default, 1");
    let optional = tickets(
        "section: text }\n    truth SeatHold",
        "section: text, row: int? }\n    truth SeatHold",
    );
    assert_eq!(only_truth(&optional).2, Follows::ByRewriting);
    let text = design("tickets").text;
    let without = changed(
        &text,
        "section: text }\n    truth SeatHold",
        "section: text, row: int }\n    truth SeatHold",
    );
    let without = changed(
        &without,
        "{ SeatInventoryState.section := section }",
        "{\n    SeatInventoryState.section := section\n    SeatInventoryState.row := 1\n}",
    );
    let found = against(&compiled(&text), &compiled(&without));
    assert_eq!(found.follows, Follows::Never);
}

#[test]
fn a_removed_attribute_must_hold_nothing() {
    let text = design("tickets").text;
    let more = changed(
        &text,
        "section: text }\n    truth SeatHold",
        "section: text, row: int = 1 }\n    truth SeatHold",
    );
    let less = against(&compiled(&more), &compiled(&text));
    let (on, told, follows) = only_truth(&less);
    // as `replace` has it
    assert_eq!((on, follows), ("Seat.SeatInventoryState.row", Follows::IfUnused));
    assert!(told.contains("replace --drop"), "{told}");
}

#[test]
fn a_removed_state_must_be_unused_and_an_added_one_comes_last() {
    let more =
        tickets("IN_PROGRESS | CONFIRMED | EXPIRED,", "IN_PROGRESS | CONFIRMED | EXPIRED | LOST,");
    assert_eq!(only_truth(&more).2, Follows::AsItIs);
    let moved =
        tickets("IN_PROGRESS | CONFIRMED | EXPIRED,", "LOST | IN_PROGRESS | CONFIRMED | EXPIRED,");
    assert_eq!(only_truth(&moved).2, Follows::ByRewriting);
    let text = design("tickets").text;
    let more = changed(
        &text,
        "IN_PROGRESS | CONFIRMED | EXPIRED,",
        "IN_PROGRESS | CONFIRMED | EXPIRED | LOST,",
    );
    let less = against(&compiled(&more), &compiled(&text));
    let (_, told, follows) = only_truth(&less);
    assert_eq!(follows, Follows::IfUnused);
    assert!(told.ends_with("no record may be LOST"), "{told}");
}

#[test]
fn another_key_or_type_cannot_follow() {
    let key = tickets("subject Booking(booking: text)", "subject Booking(booking: int)");
    assert_eq!(key.follows, Follows::Never);
    let never = |on: &str| key.truth.iter().any(|it| it.on == on && it.follows == Follows::Never);
    // what refers to it cannot follow either
    assert!(never("Booking") && never("Seat.SeatInventoryState.booking"), "{key:#?}");
    let text = design("tickets").text.replace("section: text", "section: bytes");
    let ty = against(&design("tickets").design, &compiled(&text));
    assert_eq!(ty.follows, Follows::Never);
    assert_eq!(ty.truth[0].on, "Seat.SeatInventoryState.section");
}

#[test]
fn callers_are_told_of_refusals_and_parameters() {
    let found = tickets("    yours: BookingState.buyer = me\n", "");
    let texts: Vec<&str> = found.clients.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["is no longer refused by `yours`"]);
    assert_eq!(found.follows, Follows::AsItIs);
    let found = tickets("ttl: duration = 10m", "ttl: duration");
    assert_eq!(found.clients[0].text, "`ttl` may no longer be left out");
}

#[test]
fn what_waits_in_the_outbox_and_the_index_is_named() {
    let text = design("payments").text;
    let other = changed(&text, "every 30s", "every 60s");
    let found = against(&compiled(&text), &compiled(&other));
    assert_eq!(found.in_flight.len(), 1);
    assert!(
        found.in_flight[0].text.contains("every 30s and is after nothing, every 1m"),
        "{found:#?}"
    );
    let first = "step merchant[create_intent(intent: new Intent, amount: decimal, currency: text)] {\n    PaymentIntentState.amount := amount\n    PaymentIntentState.currency := currency\n}\n";
    let moved = format!("{}\n{first}", changed(&text, first, ""));
    let found = against(&compiled(&text), &compiled(&moved));
    assert_eq!(found.follows, Follows::ByRewriting);
    assert!(
        found
            .in_flight
            .iter()
            .all(|change| change.text.contains("another place among the operations"))
    );
    assert_eq!(found.in_flight.len(), 2, "{found:#?}");
}

#[test]
fn memory_of_another_type_is_worth_nothing() {
    let text = design("I02").text;
    let other = changed(
        &text,
        "my_epoch: int? of Resource",
        "my_epoch: int? of Resource, again: int? of Resource",
    );
    let found = against(&compiled(&text), &compiled(&other));
    assert_eq!(found.in_flight[0].on, "claimant.again");
}

#[test]
fn a_narrower_range_must_be_unused_and_a_wider_one_takes_what_is_stored() {
    let text = "design D\nactor a\nactor b\nsubject S(s: text) { truth T { n: int 1..9 = 4 } }\n\
                step a[go(s: S, x: int 1..9)] { T.n := x }\nstep b[look(s: S)] { T.n := 2 }\n";
    let narrower = text.replace("n: int 1..9", "n: int 2..9").replace("x: int 1..9", "x: int 1..3");
    let found = against(&compiled(text), &compiled(&narrower));
    let (on, said, follows) = only_truth(&found);
    assert_eq!((on, follows), ("S.T.n", Follows::IfUnused));
    assert_eq!(said, "took 1..9 and takes 2..9: no record may have another");
    assert_eq!(found.clients[0].text, "takes 1..3 of `x`: calls with another are refused");
    let wider = against(&compiled(text), &compiled(&text.replace("n: int 1..9", "n: int 0..9")));
    assert_eq!(only_truth(&wider).2, Follows::ByRewriting);
    let apart =
        against(&compiled(text), &compiled(&text.replace("actor b", "actor b apart from a")));
    let said = "is refused by `apart` to whoever acts as `b` from now on";
    assert!(apart.clients.iter().any(|it| it.on == "a[go]" && it.text == said), "{apart:#?}");
}
