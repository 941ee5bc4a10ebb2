//! Random designs, checked twice: by the checker from their text, and by a naive interpreter of
//! what the text was made of, which shares nothing with it. Both must say the same.
//!
//! `cargo xtask fuzz checker` goes further; so does
//! `STEADFAST_DESIGNS=5000 STEADFAST_SEED=7 cargo test --release -p model-checker --test it random_designs`.

use crate::naive;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use naive::ast::{Design, Fault};
use naive::compare::{Compared, compare};
use naive::explore::{Found, Word};
use naive::{generate, network, shrink, text};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What was seen in all designs together.
#[derive(Default)]
struct Tally {
    sizes: Vec<u64>,
    too_large: u64,
    no_world: u64,
    rejected: Vec<String>,
    /// how many goals of each kind have each word
    words: BTreeMap<(&'static str, &'static str), u64>,
    struck: BTreeMap<Fault, u64>,
    cuts: BTreeMap<&'static str, u64>,
    differences: Vec<(u64, String, Design)>,
}

impl Tally {
    fn count(&mut self, made: &Design, found: &Found) {
        self.sizes.push(found.states);
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

fn all(first: u64, count: u64) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            let made = generate::design(seed);
            let compared = compare(&made);
            let mut tally = tally.lock().expect("no thread has failed");
            match compared {
                Compared::Same(found) => tally.count(&made, &found),
                Compared::TooLarge => tally.too_large += 1,
                Compared::NoWorld => tally.no_world += 1,
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
fn kind(why: &str) -> String {
    let words = why.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.take(3).map(|word| word.split('(').next().unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// The first differences, each as small as it gets.
fn told(differences: &[(u64, String, Design)]) -> String {
    let mut out = String::new();
    for (seed, why, made) in differences.iter().take(number("STEADFAST_SHOWN", 3) as usize) {
        // It stays the same kind of difference.
        let differs = |smaller: &Design| match compare(smaller) {
            Compared::Differs(now) => kind(&now) == kind(why),
            _ => false,
        };
        let small = shrink::shrink(made.clone(), &differs);
        let now = match compare(&small) {
            Compared::Differs(why) => why,
            other => format!("{other:?}"),
        };
        out.push_str(&format!("seed {seed}: {why}\nmade smaller: {now}\n{}\n", text::text(&small)));
    }
    out
}

#[test]
fn the_checker_agrees_with_a_naive_interpreter() {
    let (count, first) = (number("STEADFAST_DESIGNS", 500), number("STEADFAST_SEED", 1));
    let mut tally = all(first, count);
    tally.sizes.sort_unstable();
    let sizes = &tally.sizes;
    let at = |share: usize| sizes.get((sizes.len().max(1) - 1) * share / 100).copied().unwrap_or(0);
    eprintln!(
        "seeds {first} to {}: {} designs compared, {} too large, {} without a world, \
         {} rejected\n\
         states: {} at a quarter, {} in the middle, {} at three quarters, {} most\n\
         goals: {:?}\nfaults strike: {:?}\ncut: {:?}",
        first + count - 1,
        sizes.len(),
        tally.too_large,
        tally.no_world,
        tally.rejected.len(),
        at(25),
        at(50),
        at(75),
        at(100),
        tally.words,
        tally.struck,
        tally.cuts,
    );
    tally.differences.sort_by_key(|held| text::text(&held.2).len());
    assert!(
        tally.differences.is_empty(),
        "{} differences:\n{}",
        tally.differences.len(),
        told(&tally.differences)
    );
    assert!(tally.rejected.is_empty(), "not compiled:\n{}", tally.rejected.join("\n"));
    // Nothing is shown by designs that do nothing.
    assert!(tally.too_large * 10 <= count, "most designs are compared");
    assert!(tally.no_world * 100 <= count, "what is written has a world");
    assert!(at(50) >= 12 && at(75) >= 40, "most designs do something");
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
