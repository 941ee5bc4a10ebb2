//! Random designs, checked twice: by the checker, and by a naive interpreter that shares nothing
//! with it but the compiler. Both must find the same states and the same verdicts.
//!
//! `STEADFAST_DESIGNS=5000 STEADFAST_SEED=7 cargo test --release -p model-checker --test
//! differential` goes further.

#[path = "differential/generate.rs"]
mod generate;
#[path = "differential/naive.rs"]
mod naive;

use std::collections::{BTreeMap, BTreeSet};

use design::model::{Design, Goal};
use model_checker::{Options, Verdict};
use naive::{Found, Naive};

/// More states than this are not explored.
const STATES_MAX: usize = 5_000;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The states, the violated invariants with the length of a history, the recoveries that fail.
type Answer = Result<(u64, BTreeMap<String, usize>, BTreeSet<String>), String>;

fn by_checker(design: &Design, options: &Options) -> Answer {
    let report = model_checker::check(design, options, &mut |_| ())
        .map_err(|problem| format!("not a finite world: {problem}"))?;
    let (mut violated, mut avoided) = (BTreeMap::new(), BTreeSet::new());
    for goal in &report.goals {
        match (&goal.verdict, goal.goal) {
            (Verdict::Proved, _) => {}
            (Verdict::Violated(trace), Goal::Invariant(_)) => {
                violated.insert(goal.name.clone(), trace.steps.len());
            }
            (Verdict::Violated(_), Goal::Recovery(_)) => {
                avoided.insert(goal.name.clone());
            }
            (Verdict::Unknown(why), _) => return Err(format!("{} is not known: {why}", goal.name)),
        }
    }
    Ok((report.base.states, violated, avoided))
}

fn plain() -> Options {
    Options {
        symmetry: false,
        normalise: false,
        faults: Some(Vec::new()),
        failures: false,
        recovery: true,
        witnesses: false,
        threads: 1,
        ..Options::default()
    }
}

/// What differs, if anything does.
fn difference(design: &Design, expected: &Found) -> Option<String> {
    compare(design, expected).err()
}

fn compare(design: &Design, expected: &Found) -> Result<(), String> {
    let (states, violated, avoided) = by_checker(design, &plain())?;
    if states != expected.states {
        return Err(format!("{states} states, not {}", expected.states));
    }
    if violated != expected.violated {
        return Err(format!("violated {violated:?}, not {:?}", expected.violated));
    }
    // Beyond a bound a repair leads nowhere, and each side has its own view of that.
    if !expected.cut && avoided != expected.avoided {
        return Err(format!("not recovered {avoided:?}, not {:?}", expected.avoided));
    }
    // What is looked up, and orders that are left out, change nothing.
    let asked = by_checker(design, &Options { memo: false, ..plain() })?;
    if asked != (states, violated, avoided) {
        return Err(format!("with the engine asked for every step: {asked:?}"));
    }
    // Fewer states, the same verdicts, histories as short.
    let symmetric = Options { symmetry: true, threads: 2, ..plain() };
    let (states, violated, avoided) = by_checker(design, &symmetric)?;
    let recovered = expected.cut || avoided == expected.avoided;
    if states > expected.states || violated != expected.violated || !recovered {
        return Err(format!(
            "with symmetry: {states} of {} states, violated {violated:?}, not {:?}; \
             not recovered {avoided:?}, not {:?}",
            expected.states, expected.violated, expected.avoided
        ));
    }
    // Without bounds where ranks will do: what is found within the bounds is found, as early.
    let ranked = Options { normalise: true, ..plain() };
    let (_, violated, _) = by_checker(design, &ranked)?;
    let missed = expected
        .violated
        .iter()
        .find(|(name, length)| violated.get(*name).is_none_or(|found| found > *length));
    if missed.is_some() || !expected.cut && violated != expected.violated {
        return Err(format!("by rank: violated {violated:?}, not {:?}", expected.violated));
    }
    Ok(())
}

#[test]
fn the_checker_agrees_with_a_naive_interpreter() {
    let (count, first) = (number("STEADFAST_DESIGNS", 400), number("STEADFAST_SEED", 1));
    let mut sizes: Vec<u64> = Vec::new();
    let (mut too_large, mut rejected, mut violated, mut proved) = (0, 0, 0, 0);
    let (mut avoided, mut recovered) = (0, 0);
    let mut differences = Vec::new();
    for seed in first..first + count {
        let text = generate::design(seed);
        let compiled = design::compile("random", &text, &design::NoCatalog);
        let errors: Vec<&String> = compiled
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .map(|diagnostic| &diagnostic.message)
            .collect();
        let Some(design) = compiled.design.filter(|_| errors.is_empty()) else {
            rejected += 1;
            if rejected < 10 {
                eprintln!("seed {seed} does not compile: {errors:?}\n{text}");
            }
            continue;
        };
        let Some(expected) = Naive::new(&design).explore(STATES_MAX) else {
            too_large += 1;
            continue;
        };
        sizes.push(expected.states);
        violated += expected.violated.len();
        proved += design.invariants.len() - expected.violated.len();
        avoided += expected.avoided.len();
        recovered += design.recoveries.len() - expected.avoided.len();
        if let Some(difference) = difference(&design, &expected) {
            eprintln!("seed {seed}: {difference}");
            differences.push(format!("seed {seed}: {difference}\n{text}"));
        }
    }
    sizes.sort_unstable();
    let at = |share: usize| sizes[(sizes.len() - 1) * share / 100];
    eprintln!(
        "seeds {first} to {}: {} designs compared, {rejected} rejected, {too_large} too large\n\
         states: {} least, {} at a quarter, {} in the middle, {} at three quarters, {} most\n\
         invariants: {violated} violated, {proved} proved; \
         recoveries: {avoided} violated, {recovered} proved",
        first + count - 1,
        sizes.len(),
        at(0),
        at(25),
        at(50),
        at(75),
        at(100),
    );
    assert!(
        differences.is_empty(),
        "{} differences, the shortest of them:\n{}",
        differences.len(),
        differences.iter().min_by_key(|text| text.len()).expect("there is one")
    );
    // Nothing is shown by designs that do nothing.
    assert!(sizes.len() as u64 * 10 >= count * 7, "most designs are compared");
    assert!(at(50) >= 12 && at(75) >= 40, "most designs do something");
    assert!(violated * 10 >= proved && proved * 10 >= violated, "both verdicts occur");
    assert!(avoided * 10 >= recovered && recovered * 10 >= avoided, "both occur of recoveries");
}
