//! What the checker says of a design's text, held against what the interpreter found.

use model_checker::{Options, Report};

use super::agreed::{
    failures, free_clauses, in_slices, not_wrong, states, wider, witnesses, words,
};
use super::ast::*;
use super::composed::Composed;
use super::expected::{Expected, STATES_MAX, expect, joined, parts};
use super::explore::Found;
use super::{network, text};

/// What became of one design.
#[derive(Clone, Debug)]
pub enum Compared {
    /// what was found, and how many goals were told in less than the whole design
    Same(Box<Found>, u64),
    TooLarge,
    /// the checker finds no finite world
    NoWorld(String),
    /// what the compiler says
    Rejected(String),
    Differs(String),
}

/// The checker explores the whole design, and its slices, with and without symmetry and ranks.
pub fn compare(design: &Design) -> Compared {
    compare_by(design, agree)
}

/// The checker explores slices, in every way that it has.
pub fn compare_slices(design: &Design) -> Compared {
    let compared = compare_by(design, agree_in_slices);
    let set = network::with_a_set(design.clone()).filter(|made| !made.goals.is_empty());
    match (compared, set.map(|made| network::compare_within(&made, STATES_MAX, false))) {
        (Compared::Same(..), Some(network::Compared::Differs(why))) => {
            Compared::Differs(format!("messages as a set: {why}"))
        }
        (compared, _) => compared,
    }
}

type Agree = fn(&Design, &design::model::Design, &[Expected]) -> Result<u64, String>;

/// `agree`: what is compared. It says how many goals had a slice.
fn compare_by(design: &Design, agree: Agree) -> Compared {
    let text = text::text(design);
    let compiled = design::compile("random", &text, &design::NoCatalog);
    let errors: Vec<String> = compiled
        .diagnostics
        .iter()
        .filter(|held| held.is_error())
        .map(|held| format!("{:?} {}", held.code, held.message))
        .collect();
    let Some(lowered) = compiled.design.filter(|_| errors.is_empty()) else {
        return Compared::Rejected(errors.join("; "));
    };
    compare_lowered(design, &lowered, &text, agree)
}

/// What the checker says of a design that uses others, held against the interpreter of the same design by hand.
pub fn compare_composed(made: &Composed) -> Compared {
    match made.compiled() {
        Ok(lowered) => compare_lowered(&made.flat, &lowered, &made.text, agree_in_slices),
        Err(errors) => Compared::Rejected(errors),
    }
}

fn compare_lowered(
    design: &Design,
    lowered: &design::model::Design,
    text: &str,
    agree: Agree,
) -> Compared {
    let mut finer = 1;
    let mut last = String::new();
    // By regions the checker sees more than any number of steps does: finer ones must see it too.
    for _ in 0..2 {
        let all: Option<Vec<Expected>> =
            parts(design).into_iter().map(|part| expect(part, finer)).collect();
        let Some(all) = all else {
            return if last.is_empty() { Compared::TooLarge } else { Compared::Differs(last) };
        };
        match agree(design, lowered, &all) {
            Ok(sliced) => return Compared::Same(Box::new(joined(design, &all)), sliced),
            Err(difference) if difference.starts_with("no world") => {
                return Compared::NoWorld(format!("{difference}\n{text}"));
            }
            Err(difference) => last = difference,
        }
        let by_steps = |one: &Expected| one.part.design.check.time.is_some() || !one.has_time;
        if all.iter().all(by_steps) {
            break;
        }
        finer *= 2;
    }
    Compared::Differs(last)
}

fn plain() -> Options {
    Options {
        symmetry: false,
        normalise: false,
        free: false,
        slices: false,
        threads: 1,
        ..Options::default()
    }
}

fn checked(
    design: &Design,
    lowered: &design::model::Design,
    options: &Options,
) -> Result<Report, String> {
    let report = model_checker::check(lowered, options, &mut |_| ())
        .map_err(|problem| format!("no world: {problem}"))?;
    match report.goals.len() {
        goals if goals == design.goals.len() => Ok(report),
        goals => Err(format!("{goals} goals, not {}", design.goals.len())),
    }
}

/// How many goals were told in less than the whole design.
fn sliced_goals(report: &Report) -> u64 {
    report.goals.iter().filter(|goal| goal.slice.is_some()).count() as u64
}

/// A step that leaves the range of a number and comes back to it may send what lies outside. The checker has no
/// room for it in a message and says so; the interpreter sends any number.
fn carries_too_little(report: &Report, all: &[Expected]) -> bool {
    let worlds = report.worlds.iter().map(|held| &held.world);
    let mut cuts = std::iter::once(&report.world).chain(worlds).flat_map(|world| &world.cut);
    let mut counts = all.iter().enumerate();
    cuts.any(|cut| cut.starts_with("what messages carry"))
        && counts.any(|(number, expected)| states(report, number) < expected.found.states)
}

fn agree(
    design: &Design,
    lowered: &design::model::Design,
    all: &[Expected],
) -> Result<u64, String> {
    let check = |options: &Options| checked(design, lowered, options);
    let report = check(&plain())?;
    if carries_too_little(&report, all) {
        return all.iter().try_for_each(|expected| not_wrong(&report, expected)).map(|()| 0);
    }
    for (number, expected) in all.iter().enumerate() {
        if expected.counts_otherwise(states(&report, number)) {
            let states = states(&report, number);
            return Err(format!("{states} states, not {}", expected.found.states));
        }
        words(&report, expected, true, false)?;
        failures(&report, expected, true)?;
    }
    witnesses(design, &report, &joined(design, all), false)?;
    let sliced = check(&Options { slices: true, at_once: 0, ..plain() })?;
    in_slices(design, &sliced, all).map_err(|why| format!("in slices: {why}"))?;
    let light = |options: Options| Options { failures: false, witnesses: false, ..options };
    let symmetric = check(&light(Options { symmetry: true, threads: 2, ..plain() }))?;
    let ranked = check(&light(Options { symmetry: true, normalise: true, ..plain() }))?;
    for (number, expected) in all.iter().enumerate() {
        if expected.exact && states(&symmetric, number) > expected.found.states {
            return Err(format!("with symmetry: {} states", states(&symmetric, number)));
        }
        words(&symmetric, expected, true, true).map_err(|why| format!("with symmetry: {why}"))?;
        words(&ranked, expected, false, true).map_err(|why| format!("by rank: {why}"))?;
        wider(&ranked, number, expected).map_err(|why| format!("by rank: {why}"))?;
    }
    Ok(sliced_goals(&sliced))
}

fn agree_in_slices(
    design: &Design,
    lowered: &design::model::Design,
    all: &[Expected],
) -> Result<u64, String> {
    let light = |options: Options| Options { failures: false, witnesses: false, ..options };
    let whole = checked(design, lowered, &light(plain()))?;
    let sliced = checked(design, lowered, &Options { slices: true, free: true, ..plain() })?;
    let usual = light(Options { threads: 1, at_once: 0, ..Options::default() });
    let ranked = checked(design, lowered, &usual)?;
    if carries_too_little(&whole, all) {
        for report in [&whole, &sliced, &ranked] {
            all.iter().try_for_each(|expected| not_wrong(report, expected))?;
        }
        return Ok(sliced_goals(&sliced));
    }
    for (number, expected) in all.iter().enumerate() {
        if expected.counts_otherwise(states(&whole, number)) {
            let states = states(&whole, number);
            return Err(format!("{states} states, not {}", expected.found.states));
        }
        words(&whole, expected, true, false)?;
        words(&ranked, expected, false, true).map_err(|why| format!("as users check: {why}"))?;
        // So few states that some goals do with less than their slice, and some do not.
        for share in [2, 8] {
            let max_states = (expected.found.states / share).max(2) as usize;
            let few = Options { open: true, max_states, slices: true, ..plain() };
            let open = checked(design, lowered, &light(few))?;
            not_wrong(&open, expected).map_err(|why| format!("clauses left open: {why}"))?;
        }
        // Of several worlds, another one may need what this one does not.
        if all.len() == 1 {
            free_clauses(&sliced, expected).map_err(|why| format!("free clauses: {why}"))?;
        }
    }
    in_slices(design, &sliced, all).map_err(|why| format!("in slices: {why}"))?;
    Ok(sliced_goals(&sliced))
}
