//! Random designs, checked twice: by the checker from their text, and by a naive interpreter of
//! what the text was made of, which shares nothing with it. Both must say the same.
//!
//! `cargo xtask fuzz checker` and `cargo xtask fuzz slices` go further; so does
//! `STEADFAST_DESIGNS=5000 STEADFAST_SEED=7 cargo test --release -p model-checker --test it random_designs`.

use crate::naive;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use naive::ast::{Design, Fault};
use naive::compare::{Compared, compare, compare_slices};
use naive::explore::{Found, Word};
use naive::{events, generate, network, parts, shrink, text};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What was seen in all designs together.
#[derive(Default)]
struct Tally {
    sizes: Vec<u64>,
    too_large: u64,
    no_world: Vec<String>,
    rejected: Vec<String>,
    /// how many goals of each kind have each word
    words: BTreeMap<(&'static str, &'static str), u64>,
    /// how many goals were told in less than the whole design
    sliced: u64,
    struck: BTreeMap<Fault, u64>,
    cuts: BTreeMap<&'static str, u64>,
    differences: Vec<(u64, String, Design)>,
}

impl Tally {
    fn count(&mut self, made: &Design, found: &Found, sliced: u64) {
        self.sizes.push(found.states);
        self.sliced += sliced;
        for (goal, word) in made.goals.iter().zip(&found.words) {
            let word = match word {
                Word::Proved => "proved",
                Word::HoldsWithin => "holds within",
                Word::Violated(_) => "violated",
                Word::NotKnown => "not known",
            };
            let kind = match &goal.leads {
                Some(_) => "leads_to",
                None if goal.recovers => "recovers",
                None => "invariant",
            };
            *self.words.entry((kind, word)).or_default() += 1;
        }
        for fault in &found.seen.struck {
            *self.struck.entry(*fault).or_default() += 1;
        }
        for cut in &found.seen.cuts {
            *self.cuts.entry(cut).or_default() += 1;
        }
    }
}

/// How random designs are made, and how each is compared.
#[derive(Clone, Copy)]
struct Kind {
    make: fn(u64) -> Design,
    compare: fn(&Design) -> Compared,
}

const ONE: Kind = Kind { make: generate::design, compare };
const EVENTS: Kind = Kind { make: events::design, compare };
const EVENTS_IN_PARTS: Kind = Kind { make: events::in_parts, compare: compare_slices };
const TWO_PARTS: Kind = Kind { make: parts::design, compare: compare_slices };

fn all(kind: Kind, first: u64, count: u64) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let made = (kind.make)(seed);
            let compared = (kind.compare)(&made);
            let mut tally = tally.lock().expect("no thread has failed");
            match compared {
                Compared::Same(found, sliced) => tally.count(&made, &found, sliced),
                Compared::TooLarge => tally.too_large += 1,
                Compared::NoWorld(why) => tally.no_world.push(format!("seed {seed}: {why}")),
                Compared::Rejected(why) => tally.rejected.push(format!("seed {seed}: {why}")),
                Compared::Differs(why) => {
                    eprintln!("seed {seed}: {why}");
                    tally.differences.push((seed, why, made));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(4) {
            scope.spawn(work);
        }
    });
    tally.into_inner().expect("no thread has failed")
}

/// The first words of a difference, without names and numbers.
fn sort(why: &str) -> String {
    let words = why.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.take(3).map(|word| word.split('(').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// The first differences, each as small as it gets.
fn told(kind: Kind, differences: &[(u64, String, Design)]) -> String {
    let mut out = String::new();
    for (seed, why, made) in differences.iter().take(number("STEADFAST_SHOWN", 3) as usize) {
        // It stays the same sort of difference.
        let differs = |smaller: &Design| match (kind.compare)(smaller) {
            Compared::Differs(now) => sort(&now) == sort(why),
            _ => false,
        };
        let small = shrink::shrink(made.clone(), &differs);
        let now = match (kind.compare)(&small) {
            Compared::Differs(why) => why,
            other => format!("{other:?}"),
        };
        out.push_str(&format!("seed {seed}: {why}\nmade smaller: {now}\n{}\n", text::text(&small)));
    }
    out
}

impl Tally {
    /// How many states the designs have, so many of a hundred being smaller.
    fn size(&self, share: usize) -> u64 {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.get((sizes.len().max(1) - 1) * share / 100).copied().unwrap_or(0)
    }

    fn print(&self, first: u64, count: u64) {
        let goals: u64 = self.words.values().sum();
        eprintln!(
            "seeds {first} to {}: {} designs compared, {} too large, {} without a world, \
             {} rejected\n\
             states: {} at a quarter, {} in the middle, {} at three quarters, {} most\n\
             goals: {:?}; {} of {goals} in less than the whole design\n\
             faults strike: {:?}\ncut: {:?}",
            first + count - 1,
            self.sizes.len(),
            self.too_large,
            self.no_world.len(),
            self.rejected.len(),
            self.size(25),
            self.size(50),
            self.size(75),
            self.size(100),
            self.words,
            self.sliced,
            self.struck,
            self.cuts,
        );
    }

    /// Both said the same of every design, and the designs do something.
    fn assert_same(&mut self, kind: Kind, count: u64) {
        self.differences.sort_by_key(|held| text::text(&held.2).len());
        assert!(
            self.differences.is_empty(),
            "{} differences:\n{}",
            self.differences.len(),
            told(kind, &self.differences)
        );
        assert!(self.rejected.is_empty(), "not compiled:\n{}", self.rejected.join("\n"));
        // Nothing is shown by designs that do nothing.
        assert!(self.too_large * 10 <= count, "most designs are compared");
        let without = self.no_world.len() as u64;
        assert!(without * 100 <= count, "without a world:\n{}", self.no_world.join("\n"));
        assert!(self.size(50) >= 12 && self.size(75) >= 40, "most designs do something");
    }
}

#[test]
fn the_checker_agrees_with_a_naive_interpreter() {
    let (count, first) = (number("STEADFAST_DESIGNS", 500), number("STEADFAST_SEED", 1));
    let mut tally = all(ONE, first, count);
    tally.print(first, count);
    tally.assert_same(ONE, count);
    if count >= 300 {
        for (fault, name) in Fault::ALL {
            let designs = tally.struck.get(&fault).copied().unwrap_or(0);
            assert!(designs * 100 >= count, "{name} strikes in {designs} designs only");
        }
        for word in ["proved", "violated", "not known"] {
            let goals = tally.words.get(&("leads_to", word)).copied().unwrap_or(0);
            assert!(goals * 50 >= count, "{goals} goals `leads_to` are {word}");
        }
    }
}

#[test]
fn slices_agree_with_a_naive_interpreter_of_the_whole_design() {
    let (count, first) = (number("STEADFAST_PARTS", 300), number("STEADFAST_SEED", 1));
    let mut tally = all(TWO_PARTS, first, count);
    tally.print(first, count);
    tally.assert_same(TWO_PARTS, count);
    if count >= 300 {
        let goals: u64 = tally.words.values().sum();
        assert!(tally.sliced * 2 >= goals, "{} of {goals} goals have a slice", tally.sliced);
        for kind in ["invariant", "recovers", "leads_to"] {
            for word in ["proved", "violated"] {
                let goals = tally.words.get(&(kind, word)).copied().unwrap_or(0);
                assert!(goals * 20 >= count, "{goals} goals `{kind}` are {word}");
            }
        }
    }
}

/// In the order of their key, at least once, never lost: in the whole design and in slices.
#[test]
fn events_agree_with_a_naive_interpreter() {
    let (count, first) = (number("STEADFAST_EVENTS_DESIGNS", 150), number("STEADFAST_SEED", 1));
    for (kind, count) in [(EVENTS, count), (EVENTS_IN_PARTS, count / 3)] {
        let mut tally = all(kind, first, count);
        tally.print(first, count);
        tally.assert_same(kind, count);
        for word in ["proved", "violated"] {
            let goals: u64 = ["invariant", "recovers", "leads_to"]
                .iter()
                .map(|kind| tally.words.get(&(*kind, word)).copied().unwrap_or(0))
                .sum();
            assert!(goals * 10 >= count, "{goals} goals are {word}");
        }
    }
}

/// What was compared of designs whose messages the checker keeps as a set.
#[derive(Default)]
struct Network {
    designs: u64,
    too_large: u64,
    /// `recovers` or not, and what both say
    words: BTreeMap<(bool, String), u64>,
    differences: Vec<(u64, String)>,
}

#[test]
fn messages_that_are_kept_as_a_set_give_the_same_words() {
    let (count, first) = (number("STEADFAST_NETWORKS", 150), number("STEADFAST_SEED", 1));
    let tally = Mutex::new(Network::default());
    let next = AtomicU64::new(first);
    let work = || {
        while tally.lock().expect("no thread has failed").designs < count {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let Some(made) = network::with_a_set(generate::design(seed)) else { continue };
            let compared = network::compare(&made);
            let mut tally = tally.lock().expect("no thread has failed");
            match compared {
                network::Compared::Same(words) => {
                    tally.designs += 1;
                    for (recovers, word) in words {
                        *tally.words.entry((recovers, format!("{word:?}"))).or_default() += 1;
                    }
                }
                network::Compared::TooLarge => tally.too_large += 1,
                network::Compared::Differs(why) => {
                    tally.designs += 1;
                    tally.differences.push((seed, why));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(4) {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().expect("no thread has failed");
    eprintln!(
        "{} designs with a network as a set, {} too large\ngoals: {:?}",
        tally.designs, tally.too_large, tally.words
    );
    // The smallest designs first.
    let mut differences = tally.differences;
    differences.sort_by_key(|(_, why)| why.len());
    let shown: Vec<String> =
        differences.iter().take(3).map(|(seed, why)| format!("seed {seed}: {why}")).collect();
    let many = differences.len();
    assert!(differences.is_empty(), "{many} differences:\n{}", shown.join("\n"));
    for wanted in [(false, "Holds"), (false, "Violated"), (true, "Holds"), (true, "Violated")] {
        let held = tally.words.get(&(wanted.0, wanted.1.to_string())).copied().unwrap_or(0);
        assert!(held * 30 >= count, "{wanted:?}: only {held} goals");
    }
}
