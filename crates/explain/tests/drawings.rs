//! Drawings: no label on another, the same every time, and the machines are what the steps do.

use crate::support;

use drawing::together;
use explain::{drawings, machines};
use support::{changed, compiled, design, designs};

/// However long it is: `checkpoint_coordinator` was cut where its box ended.
#[test]
fn every_actor_and_state_has_its_whole_name_in_the_map() {
    for found in designs() {
        let map =
            drawings(&found.design).into_iter().find(|drawing| drawing.name == "map").unwrap();
        let acting = found.design.operations.iter().map(|operation| operation.actor.index());
        let actors = acting.map(|actor| &found.design.actors[actor].name);
        let states = found.design.subjects.iter().flat_map(|subject| &subject.states);
        for name in actors.chain(states.map(|state| &state.name)) {
            assert!(map.svg.contains(&format!(">{name}<")), "{}: {name}", found.name);
        }
    }
}

/// One mark for each state that an operation changes or reads, and one of each kind that says what it means.
#[test]
fn the_map_has_a_mark_for_everything_that_is_touched() {
    let drawings = drawings(&compiled(&design("tickets").text));
    let map = drawings.into_iter().find(|drawing| drawing.name == "map").unwrap();
    let marks = |class: &str| map.svg.matches(&format!("<circle class=\"{class}\"")).count();
    assert_eq!((marks("am"), marks("open")), (12 + 1, 3 + 1));
}

#[test]
fn no_two_labels_meet() {
    let mut labels = 0;
    for found in designs() {
        for drawing in drawings(&found.design) {
            labels += drawing.labels.len();
            for (at, label) in drawing.labels.iter().enumerate() {
                assert!(
                    label.x >= 0.0 && label.y >= 0.0,
                    "{} {}: {label:?}",
                    found.name,
                    drawing.name
                );
                assert!(
                    label.x + label.width <= drawing.width,
                    "{} {}: {label:?}",
                    found.name,
                    drawing.name
                );
                assert!(
                    label.y + label.height <= drawing.height,
                    "{} {}: {label:?}",
                    found.name,
                    drawing.name
                );
                for other in &drawing.labels[at + 1..] {
                    assert!(
                        !label.overlaps(other),
                        "{} {}: {label:?} {other:?}",
                        found.name,
                        drawing.name
                    );
                }
            }
        }
    }
    assert!(labels > 100, "{labels}");
}

#[test]
fn the_same_design_is_drawn_the_same() {
    for found in designs() {
        let (one, other) = (drawings(&found.design), drawings(&found.design));
        assert_eq!(one, other);
        let page = together(&one);
        assert_eq!(page.matches("<svg").count(), 1);
        assert!(one.iter().all(|drawing| drawing.svg.contains("prefers-color-scheme:dark")));
    }
}

#[test]
fn a_machine_has_the_edges_that_guards_allow() {
    let text = design("tickets").text;
    let machine =
        |text: &str| machines(&compiled(text)).into_iter().find(|m| m.subject == "Seat").unwrap();
    let seat = machine(&text);
    assert_eq!(seat.constants, ["AVAILABLE", "HELD", "SOLD"]);
    let edges = |op: &str| {
        let of = machine(&text).transitions.into_iter().filter(|t| t.operation == op);
        of.map(|t| (t.created, t.from, t.to)).collect::<Vec<_>>()
    };
    assert_eq!(edges("organizer[add_seat]"), [(true, vec![], 0)]);
    assert_eq!(edges("buyer[hold]"), [(false, vec![0, 1], 1)]);
    assert_eq!(edges("sweeper[release]"), [(false, vec![1], 0)]);
    assert_eq!(edges("buyer[confirm]"), [(false, vec![0, 1, 2], 2)]);
    let narrowed = changed(
        &text,
        "    free: SeatInventoryState.status = AVAILABLE\n       or SeatInventoryState.status = HELD and SeatHoldState.expires_at < now\n",
        "    free: SeatInventoryState.status = AVAILABLE\n",
    );
    let hold =
        machine(&narrowed).transitions.into_iter().find(|t| t.operation == "buyer[hold]").unwrap();
    assert_eq!(hold.from, [0]);
}

/// Each arm of an `if` goes its own way, on its own condition; what an arm leaves as it is, is no transition.
#[test]
fn the_arms_of_an_if_are_apart() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { \
                status: NEW | BIG | SMALL = NEW, size: int = 0, kind: LEFT | RIGHT } }\n\
                step a[make(s: new S, kind: LEFT | RIGHT)] { T := { kind: kind } }\n\
                step a[sort(s: S) { new: T.status = NEW }] { T.status := if T.size > 3 then BIG else SMALL }\n\
                step a[grow(s: S)] { T.status := if T.size > 3 then BIG else T.status }\n";
    let found = machines(&compiled(text));
    // the kind stays as it was made
    assert_eq!(found.iter().map(|m| m.attribute.as_str()).collect::<Vec<_>>(), ["status"]);
    let edges: Vec<_> = found[0].transitions.iter().collect();
    let plain: Vec<_> =
        edges.iter().map(|t| (t.operation.as_str(), t.created, t.from.clone(), t.to)).collect();
    assert_eq!(
        plain,
        [
            ("a[make]", true, vec![], 0),
            ("a[sort]", false, vec![0], 1),
            ("a[sort]", false, vec![0], 2),
            ("a[grow]", false, vec![0, 1, 2], 1),
        ]
    );
    assert_eq!(edges[1].guard, ["new: T.status = NEW", "if T.size > 3"]);
    assert_eq!(edges[2].guard, ["new: T.status = NEW", "unless T.size > 3"]);
}

/// What is written without a condition replaces what was written before it; what is written on one does not.
#[test]
fn what_is_written_last_counts() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { \
                status: NEW | BIG | SMALL = NEW, size: int = 0 } }\n\
                step a[make(s: new S, size: int)] { T := { size: size } if size > 3 { T.status := BIG } }\n\
                step a[twice(s: S)] { T.status := BIG T.status := SMALL }\n";
    let found = machines(&compiled(text));
    let edges: Vec<_> =
        found[0].transitions.iter().map(|t| (t.operation.as_str(), t.created, t.to)).collect();
    assert_eq!(edges, [("a[make]", true, 0), ("a[make]", true, 1), ("a[twice]", false, 2)]);
}
