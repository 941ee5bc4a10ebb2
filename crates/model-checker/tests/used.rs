//! What is used is checked as it is by itself: the same states, the same verdicts; and what a design changes of it
//! has the consequences that it should have.

use std::collections::BTreeMap;
use std::path::Path;

use design::model::Design;
use design::{Catalog, compile};
use model_checker::{FailureStatus, Options, Report, Verdict, check};

/// The archetypes of the catalog.
struct Shelf(BTreeMap<String, String>);

impl Shelf {
    fn new() -> Shelf {
        let mut all = BTreeMap::new();
        for folder in ["infra", "product"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs").join(folder);
            for entry in std::fs::read_dir(folder).expect("the folder is there") {
                let path = entry.expect("it can be read").path();
                if path.extension().is_some_and(|ending| ending == "design") {
                    let name = path.file_stem().expect("it has a name").to_string_lossy();
                    let text = std::fs::read_to_string(&path).expect("it is text");
                    all.insert(name.into_owned(), text);
                }
            }
        }
        Shelf(all)
    }

    #[track_caller]
    fn compiled(&self, text: &str) -> Design {
        let compiled = compile("test", text, self);
        let said: Vec<&String> = compiled.diagnostics.iter().map(|it| &it.message).collect();
        let said = format!("{said:?}");
        compiled.design.unwrap_or_else(|| panic!("{text}\n{said}"))
    }

    #[track_caller]
    fn checked(&self, text: &str) -> Report {
        check(&self.compiled(text), &options(), &mut |_| ()).expect("it can be explored")
    }
}

impl Catalog for Shelf {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

fn options() -> Options {
    Options { threads: 1, ..Options::default() }
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Proved => "proved".into(),
        Verdict::Holds(bounds) => format!("holds within {} bounds", bounds.len()),
        Verdict::Violated(trace) => format!("violated in {}", trace.steps.len()),
        Verdict::Unknown(_) => "not known".into(),
    }
}

fn status(status: &FailureStatus) -> String {
    match status {
        FailureStatus::LoadBearing(trace) => format!("load-bearing in {}", trace.steps.len()),
        FailureStatus::Redundant { covered_by } => format!("redundant by {}", covered_by.len()),
        FailureStatus::Vacuous { .. } => "vacuous".into(),
        FailureStatus::Unknown { .. } => "not known".into(),
        FailureStatus::Compiler { code } => format!("compiler {code}"),
        FailureStatus::Measured => "measured".into(),
    }
}

/// Everything that a report says, without names.
fn told(report: &Report, scope: &str) -> Vec<String> {
    let mine = |name: &str| scope.is_empty() || name.starts_with(scope);
    let goals = report.goals.iter().filter(|goal| mine(&goal.name));
    let mut told: Vec<String> =
        goals.map(|goal| format!("{} in {} states", word(&goal.verdict), goal.states)).collect();
    let titled = scope.trim_end_matches('.');
    let failures = report
        .failures
        .iter()
        .filter(|failure| titled.is_empty() || failure.title.starts_with(&format!("{titled}: ")));
    told.extend(failures.map(|failure| status(&failure.status)));
    told
}

/// Archetypes with small worlds.
const QUICK: [&str; 4] = ["A07", "A08", "I04", "I12"];

#[test]
fn a_used_archetype_has_the_states_and_verdicts_of_the_archetype() {
    let shelf = Shelf::new();
    for id in QUICK {
        let alone = shelf.checked(&shelf.0[id]);
        let used = shelf.checked(&format!("design D\n\nuse {id} as Zebra\n"));
        assert_eq!(told(&used, "zebra."), told(&alone, ""), "{id}");
        let size = |report: &Report| {
            let (base, unseen) = (&report.base, report.unwitnessed.len());
            (base.states, base.transitions, base.depth, unseen, report.free.len())
        };
        assert_eq!(size(&used), size(&alone), "{id}");
    }
}

#[test]
fn two_archetypes_cost_what_they_cost_alone() {
    let shelf = Shelf::new();
    // the worlds of the first two say the same; that of the third has other faults
    for (one, other) in [("A07", "A08"), ("A08", "A08"), ("A08", "I12")] {
        let both = shelf.checked(&format!("design D\n\nuse {one} as Zebra\nuse {other} as Yak\n"));
        assert_eq!(told(&both, "zebra."), told(&shelf.checked(&shelf.0[one]), ""), "{one}");
        let second = told(&both, "yak.");
        if other == "I12" {
            // durations of both are told apart in one world, so it may have more states
            assert_eq!(second.len(), told(&shelf.checked(&shelf.0[other]), "").len());
        } else {
            assert_eq!(second, told(&shelf.checked(&shelf.0[other]), ""), "{other}");
        }
        assert_eq!(both.unwitnessed, [""; 0], "{one} {other}");
    }
}

const PAID: &str = "design Theatre

use A08 as Seat {
    SeatBooking also { truth PaidState { paid: bool = false } }
    confirm_seat also { paid: PaidState.paid }
}

actor cashier

step cashier[take_money(booking: SeatBooking) { due: not PaidState.paid }] { PaidState.paid := true }

invariant sold_is_paid: all b in SeatBooking: b.SeatBookingState.status = CONFIRMED implies b.paid

failure \"sold without payment\" { without confirm_seat.paid breaks sold_is_paid }
";

#[test]
fn a_clause_more_is_needed_and_the_goals_hold() {
    let report = Shelf::new().checked(PAID);
    assert!(report.goals.iter().all(|goal| goal.verdict == Verdict::Proved), "{:?}", report.goals);
    assert!(report.failures.iter().all(|failure| failure.expected()), "{:?}", report.failures);
    assert_eq!(report.uses[0].added, ["confirm_seat.paid"]);
    assert_eq!(report.origin("seat.one_winner").map(|used| &*used.archetype), Some("A08"));
    assert_eq!(report.origin("sold_is_paid"), None);
}

#[test]
fn what_writes_into_the_archetype_breaks_its_goals_if_it_does() {
    let text = "design Theatre

use A08 as Seat { confirm_seat also into { SeatBookingState.item.status := AVAILABLE } }
";
    let report = Shelf::new().checked(text);
    let broken: Vec<&str> = report
        .goals
        .iter()
        .filter(|goal| matches!(goal.verdict, Verdict::Violated(_)))
        .map(|goal| goal.name.as_str())
        .collect();
    let wanted = ["seat.one_winner", "seat.winner_has_it", "seat.shown_is_free"];
    assert_eq!(broken, wanted, "{:?}", report.goals);
}

#[test]
fn a_replacement_that_is_wrong_is_found_out() {
    let text = "design Theatre

use A08 as Seat {
    release_seat instead {
        repair expiry_worker[release_seat(seat: Seat) { stale: SeatInventoryState.status = HELD }] {
            SeatInventoryState.booking.status := EXPIRED
            SeatInventoryState.status := AVAILABLE
            SeatInventoryState.booking := null
            SeatHoldState.expires_at := null
        }
    }
}
";
    let report = Shelf::new().checked(text);
    let kept = report.goals.iter().find(|goal| goal.name == "seat.hold_is_kept").expect("a goal");
    assert!(matches!(kept.verdict, Verdict::Violated(_)), "{kept:?}");
}

#[test]
fn what_is_hidden_is_not_missed() {
    let report = Shelf::new().checked("design Theatre\n\nuse A08 as Seat { hide cancel_seat }\n");
    assert_eq!(report.uses[0].hidden, ["cancel_seat"]);
    assert_eq!(report.unwitnessed, [""; 0]);
    assert!(report.goals.iter().all(|goal| goal.verdict == Verdict::Proved), "{:?}", report.goals);
    let titles: Vec<&str> = report.failures.iter().map(|failure| &*failure.title).collect();
    assert!(!titles.contains(&"seat: cancel/confirm race"), "{titles:?}");
    assert!(titles.contains(&"seat: oversell"), "{titles:?}");
}

#[test]
fn what_an_addition_makes_redundant_is_covered() {
    // Whoever confirms must hold the seat still: `live` says the same.
    let text = "design Theatre

use A08 as Seat {
    confirm_seat also { in_time: SeatBookingState.item.expires_at >= now }
}
";
    let report = Shelf::new().checked(text);
    let race = report.failures.iter().find(|it| it.title == "seat: confirm-after-expiry race");
    let race = race.expect("the failure is there");
    assert!(race.covered && race.expected(), "{race:?}");
    let FailureStatus::Redundant { covered_by } = &race.status else { panic!("{race:?}") };
    assert_eq!(covered_by, &["confirm_seat.in_time"]);
}
