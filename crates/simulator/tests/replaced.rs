//! The next version takes the place of the one that runs, while everybody calls and the power is cut.

use simulator::{Facts, Simulator, Size, unfit};

use crate::catalog::worlds;
use crate::plants::{SEATS, compile};

/// Another attribute and a stricter guard: what is stored is copied.
pub fn copied() -> String {
    SEATS.replace("paid: int = 0 }", "paid: int = 0, note: text = \"\" }").replace(
        "{ free: SeatState.holders = 0 }",
        "{ free: SeatState.holders = 0  few: SeatState.sold < 1 }",
    )
}

/// A stricter guard alone: what is stored stays where it is.
pub fn stricter() -> String {
    SEATS.replace(
        "{ free: SeatState.holders = 0 }",
        "{ free: SeatState.holders = 0  few: SeatState.sold < 1 }",
    )
}

/// Names change, and a repair waits for less long.
fn renamed() -> String {
    let text = SEATS.replace("sold", "bought").replace("after 10m", "after 5m");
    let version = layout::version(&compile(SEATS));
    format!("{text}\nfrom \"{version}\" {{ rename SeatState.sold as bought }}\n")
}

fn go_well(next: &str, few: u64) -> Facts {
    let size = Size { calls: 120, ..Size::default() };
    let next = compile(next);
    assert_eq!(unfit(&compile(SEATS), &next, 1), None);
    let simulator = Simulator::new(compile(SEATS), size).unwrap().replaced_by(next).unwrap();
    let mut facts = Facts::default();
    for seed in 0..worlds(few) {
        let outcome = simulator.draw(seed);
        facts.add(&outcome.facts);
        let story: Vec<String> = outcome.story.iter().map(|event| event.text.clone()).collect();
        assert_eq!(outcome.trouble, None, "seed {seed}:\n{}", story.join("\n"));
        let again = simulator.again(&outcome.script);
        assert_eq!(again.digest, outcome.digest, "seed {seed}");
    }
    println!(
        "{} replacements, {} calls, {} faults",
        facts.replacements,
        facts.calls,
        facts.faults()
    );
    facts
}

#[test]
fn a_version_that_is_copied_to_takes_over() {
    let facts = go_well(&copied(), 30);
    assert!(facts.replacements > 10, "{facts:?}");
    assert!(facts.refused.keys().any(|(_, clause)| clause == "few"), "{facts:?}");
}

#[test]
fn a_version_with_other_guards_takes_over() {
    let facts = go_well(&stricter(), 30);
    assert!(facts.replacements > 10, "{facts:?}");
    assert!(facts.refused.keys().any(|(_, clause)| clause == "few"), "{facts:?}");
}

#[test]
fn a_version_with_other_names_takes_over() {
    assert!(go_well(&renamed(), 15).replacements > 4);
}
