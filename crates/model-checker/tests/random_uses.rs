//! Random designs that use random archetypes, and change them: the checker reads the text with `use` and looks at
//! slices, the naive interpreter walks through the same design as it would be written by hand. Both must say the
//! same of every goal, so that whatever an addition takes away is told by name.
//!
//! `cargo xtask fuzz uses` goes further.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::naive::compare::{Compared, compare_composed};
use crate::naive::composing;
use crate::naive::explore::Word;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What is left out of a text is missed by some design: the comparison sees a clause that is lost, and an effect.
#[test]
fn a_change_that_gets_lost_is_noticed() {
    type Lost = (&'static str, fn(&str) -> bool);
    let lost: [Lost; 2] = [
        ("clauses", |line| line.contains(" also { y")),
        ("effects", |line| line.contains(" also into {")),
    ];
    for (what, is_lost) in lost {
        let noticed = (1..).take(400).any(|seed| {
            let mut made = composing::design(seed);
            if !made.text.lines().any(is_lost) {
                return false;
            }
            let kept = made.text.lines().filter(|line| !is_lost(line));
            made.text = kept.map(|line| format!("{line}\n")).collect();
            matches!(compare_composed(&made), Compared::Differs(_))
        });
        assert!(noticed, "nobody misses the {what}");
    }
}

#[derive(Default)]
struct Tally {
    compared: u64,
    two: u64,
    too_large: u64,
    no_world: u64,
    rejected: Vec<String>,
    differences: Vec<String>,
    changes: BTreeMap<&'static str, u64>,
    words: BTreeMap<&'static str, u64>,
    /// goals that an addition took away
    lost: BTreeMap<&'static str, u64>,
    sliced: u64,
}

#[test]
fn used_and_changed_designs_have_the_verdicts_of_the_same_designs_by_hand() {
    let (count, first) = (number("STEADFAST_USES", 60), number("STEADFAST_SEED", 1));
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let made = composing::design(seed);
            let compared = compare_composed(&made);
            let lost = made.taken_away();
            let mut tally = tally.lock().expect("no thread has failed");
            match compared {
                Compared::Same(found, sliced) => {
                    tally.compared += 1;
                    tally.sliced += sliced;
                    tally.two += u64::from(made.text.contains("use R01"));
                    for change in &made.changes {
                        *tally.changes.entry(change).or_default() += 1;
                    }
                    for word in &found.words {
                        let word = match word {
                            Word::Proved => "proved",
                            Word::HoldsWithin => "holds within",
                            Word::Violated(_) => "violated",
                            Word::NotKnown => "not known",
                        };
                        *tally.words.entry(word).or_default() += 1;
                    }
                    for kind in lost {
                        *tally.lost.entry(kind).or_default() += 1;
                    }
                }
                Compared::TooLarge => tally.too_large += 1,
                Compared::NoWorld(_) => tally.no_world += 1,
                Compared::Rejected(why) => tally.rejected.push(format!("seed {seed}: {why}")),
                Compared::Differs(why) => {
                    let by_hand = crate::naive::text::text(&made.flat);
                    let shown = format!("seed {seed}: {why}\n{}\nby hand:\n{by_hand}", made.text);
                    eprintln!("seed {seed}: {why}");
                    tally.differences.push(shown);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(4) {
            scope.spawn(work);
        }
    });
    let mut tally = tally.into_inner().expect("no thread has failed");
    eprintln!(
        "seeds {first} to {}: {} designs compared ({} of two archetypes), {} too large, {} without a world, \
         {} rejected\nchanges: {:?}\ngoals: {:?}, {} in less than the whole design\n\
         taken away by an addition: {:?}",
        first + count - 1,
        tally.compared,
        tally.two,
        tally.too_large,
        tally.no_world,
        tally.rejected.len(),
        tally.changes,
        tally.words,
        tally.sliced,
        tally.lost,
    );
    tally.differences.sort_by_key(String::len);
    let many = tally.differences.len();
    let shown = tally.differences.iter().take(number("STEADFAST_SHOWN", 2) as usize);
    let shown: Vec<&str> = shown.map(String::as_str).collect();
    assert!(many == 0, "{many} differences:\n{}", shown.join("\n\n"));
    let rejected = tally.rejected.len();
    tally.rejected.sort_by_key(String::len);
    assert!(rejected == 0, "{rejected} not compiled:\n{}", tally.rejected[0]);
    assert!(tally.compared * 10 >= count * 9, "most designs are compared");
    if count >= 60 {
        for change in ["state", "bound", "clause", "effect", "hidden", "left out", "own step"] {
            let held = tally.changes.get(change).copied().unwrap_or(0);
            assert!(held * 60 >= count, "{change}: {held} times only");
        }
        for kind in ["invariant", "recovery"] {
            let held = tally.lost.get(kind).copied().unwrap_or(0);
            assert!(held * 60 >= count, "{held} times a {kind} is taken away");
        }
        assert!(tally.two * 5 >= count, "{} of two archetypes", tally.two);
    }
}
