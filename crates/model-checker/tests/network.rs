//! Random designs with places, messages, caches and faults, checked twice: by the checker from
//! their text, and by an interpreter of what the text was made of, which shares nothing with it.
//!
//! `STEADFAST_DESIGNS=5000 STEADFAST_SEED=7 cargo test --release -p model-checker --test network`
//! goes further.

#[path = "network/generate.rs"]
mod generate;
#[path = "network/interpret.rs"]
mod interpret;

use std::collections::BTreeMap;

use generate::Fault;
use model_checker::{Options, Verdict};

/// More states than this are not explored.
const STATES_MAX: usize = 20_000;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn by_checker(text: &str, symmetry: bool) -> Result<(u64, BTreeMap<String, usize>), String> {
    let compiled = design::compile("random", text, &design::NoCatalog);
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|held| held.is_error()).collect();
    let Some(design) = compiled.design.filter(|_| errors.is_empty()) else {
        return Err(format!("it does not compile: {errors:?}"));
    };
    let options = Options {
        symmetry,
        normalise: false,
        failures: false,
        recovery: false,
        witnesses: false,
        threads: 1,
        ..Options::default()
    };
    let report = model_checker::check(&design, &options, &mut |_| ())
        .map_err(|problem| format!("not a finite world: {problem}"))?;
    let mut violated = BTreeMap::new();
    for goal in &report.goals {
        match &goal.verdict {
            Verdict::Proved => {}
            Verdict::Violated(trace) => {
                violated.insert(goal.name.clone(), trace.steps.len());
            }
            Verdict::Unknown(why) => return Err(format!("{} is not known: {why}", goal.name)),
        }
    }
    Ok((report.base.states, violated))
}

#[test]
fn the_checker_agrees_about_messages_caches_and_their_faults() {
    let (count, first) = (number("STEADFAST_DESIGNS", 300), number("STEADFAST_SEED", 1));
    let (mut compared, mut too_large, mut violated, mut proved) = (0, 0, 0, 0);
    let mut struck: BTreeMap<Fault, usize> = BTreeMap::new();
    let mut sizes = Vec::new();
    let mut differences = Vec::new();
    for seed in first..first + count {
        let made = generate::design(seed);
        let text = made.text();
        let Some(expected) = interpret::explore(&made, STATES_MAX) else {
            too_large += 1;
            continue;
        };
        compared += 1;
        sizes.push(expected.states);
        violated += expected.violated.len();
        proved += made.invariants.len() - expected.violated.len();
        for fault in &expected.struck {
            *struck.entry(*fault).or_default() += 1;
        }
        match by_checker(&text, false) {
            Ok((states, found)) if states == expected.states && found == expected.violated => {}
            other => differences.push(format!("seed {seed}: {other:?}, not {expected:?}\n{text}")),
        }
        match by_checker(&text, true) {
            Ok((states, found)) if states <= expected.states && found == expected.violated => {}
            other => differences
                .push(format!("seed {seed}, with symmetry: {other:?}, not {expected:?}\n{text}")),
        }
    }
    sizes.sort_unstable();
    eprintln!(
        "{compared} designs compared, {too_large} too large; {} states in the middle, {} most; \
         invariants: {violated} violated, {proved} proved; designs in which each strikes: {struck:?}",
        sizes[sizes.len() / 2],
        sizes[sizes.len() - 1],
    );
    assert!(
        differences.is_empty(),
        "{} differences, the shortest of them:\n{}",
        differences.len(),
        differences.iter().min_by_key(|text| text.len()).expect("there is one")
    );
    // Nothing is shown by designs that do nothing.
    assert!(compared * 10 >= count as usize * 7, "most designs are compared");
    assert!(sizes[sizes.len() / 2] >= 20, "most designs do something");
    assert!(violated * 10 >= proved && proved * 10 >= violated, "both verdicts occur");
    for fault in Fault::ALL {
        let designs = struck.get(&fault).copied().unwrap_or(0);
        assert!(designs as u64 * 40 >= count, "{fault:?} strikes in {designs} designs only");
    }
}
