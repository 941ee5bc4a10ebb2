//! What the checker says of a design's text, held against what the interpreter found.

use model_checker::{Options, Report};

use super::ast::*;
use super::composed::Composed;
use super::explore::{Found, Word, explore};
use super::run::Refused;
use super::world::World;
use super::{network, text};

/// More states than this are not explored.
const STATES_MAX: usize = 3_000;

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

/// What the interpreter found in one world: as written, and without each failure's protection.
struct Expected {
    /// with the goals and failures of this world alone
    part: Part,
    found: Found,
    arms: Vec<Option<Found>>,
    /// times are kept in the same steps on both sides, so states and lengths are the same
    exact: bool,
    has_time: bool,
}

impl Expected {
    /// Are these other states than there are? A clock that is set back takes off its budget in the checker also where
    /// nobody looks at the times that are there: two states for one.
    fn counts_otherwise(&self, states: u64) -> bool {
        let more = states > self.found.states && self.part.design.has(Fault::ClockStep);
        self.exact && !more && states != self.found.states
    }
}

/// A design as it is in one of its worlds.
#[derive(Clone)]
struct Part {
    design: Design,
    /// the number of each failure in the whole design
    failures: Vec<usize>,
}

/// Each goal, and each failure that breaks it, belongs to one world.
fn parts(design: &Design) -> Vec<Part> {
    let part = |whole: Design, here: &dyn Fn(usize) -> bool| {
        let numbers: Vec<usize> = (0..whole.goals.len()).filter(|goal| here(*goal)).collect();
        let failures: Vec<usize> =
            (0..whole.failures.len()).filter(|at| here(whole.failures[*at].breaks)).collect();
        let mut own = whole.clone();
        own.other = None;
        own.goals = numbers.iter().map(|goal| whole.goals[*goal].clone()).collect();
        own.failures = failures
            .iter()
            .map(|at| {
                let held = &whole.failures[*at];
                let breaks = numbers.iter().position(|goal| *goal == held.breaks);
                Failure { without: held.without.clone(), breaks: breaks.expect("it is here") }
            })
            .collect();
        Part { design: own, failures }
    };
    match &design.other {
        None => vec![part(design.clone(), &|_| true)],
        Some(other) => vec![
            part(design.clone(), &|goal| !other.goals.contains(&goal)),
            part(design.in_other(other), &|goal| other.goals.contains(&goal)),
        ],
    }
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

/// What was found in all worlds together. What is seen in any world is seen.
fn joined(design: &Design, all: &[Expected]) -> Found {
    let mut found = all[0].found.clone();
    for one in &all[1..] {
        found.seen.add(&one.found.seen);
    }
    let word = |goal: &Goal| {
        let of = |one: &Expected| {
            let at = one.part.design.goals.iter().position(|held| held.name == goal.name)?;
            Some(one.found.words[at])
        };
        all.iter().find_map(of).expect("each goal has a world")
    };
    found.words = design.goals.iter().map(word).collect();
    found
}

fn expect(part: Part, finer: i64) -> Option<Expected> {
    let design = &part.design;
    let fine = match design.check.time {
        Some(steps) => steps,
        None => (World::new(design, 1, None).stored_times() as i64 + 1) * finer,
    };
    let world = World::new(design, fine, None);
    let found = explore(&world, STATES_MAX)?;
    let arms = design.failures.iter().map(|failure| {
        explore(&World::new(design, fine, Some(failure.without.clone())), STATES_MAX)
    });
    let arms = arms.collect();
    // A counter of children stands in the record of their parent. Whoever moves it reads and writes that
    // record, and a clock that was set back is then not before it; the interpreter knows no counters.
    let counts = (0..design.subjects.len()).any(|subject| world.counts_children(subject));
    let steps_back = design.has(Fault::ClockStep);
    let exact = !(counts && steps_back)
        && (!world.has_time || design.check.time.is_some() && !world.times_meet);
    let has_time = world.has_time;
    Some(Expected { found, arms, exact, has_time, part })
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

/// The checker's words, without the details.
fn said(report: &Report) -> Vec<(String, String, usize)> {
    let word = |goal: &model_checker::GoalVerdict| {
        let shown = format!("{:?}", goal.verdict);
        let length = match &goal.verdict {
            model_checker::Verdict::Violated(trace) => trace.steps.len(),
            _ => 0,
        };
        (goal.name.clone(), shown, length)
    };
    report.goals.iter().map(word).collect()
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

/// Where a budget ends, nothing may be known; what is said is so.
fn not_wrong(report: &Report, expected: &Expected) -> Result<(), String> {
    for (goal, wanted) in expected.part.design.goals.iter().zip(&expected.found.words) {
        let Some((_, shown, _)) = said(report).into_iter().find(|held| held.0 == goal.name) else {
            return Err(format!("no goal `{}`", goal.name));
        };
        let same = match shown.split(['(', ' ']).next() {
            // What is owed and cut may be no part of the slice.
            Some("Violated") => matches!(wanted, Word::Violated(_) | Word::NotKnown),
            Some("Unknown") => true,
            _ => !matches!(wanted, Word::Violated(_)),
        };
        if !same {
            let shown: String = shown.chars().take(100).collect();
            return Err(format!("{} is {shown}, not {wanted:?}", goal.name));
        }
    }
    Ok(())
}

/// Without a clause that is listed as free every goal that held holds, and without one that is not some goal
/// breaks.
fn free_clauses(report: &Report, expected: &Expected) -> Result<(), String> {
    let design = &expected.part.design;
    let holds = |word: &Word| matches!(word, Word::Proved | Word::HoldsWithin);
    if !expected.found.words.iter().any(holds) {
        return Ok(());
    }
    for (number, op) in design.ops.iter().enumerate() {
        for clause in 0..op.guard.len() {
            let without = Without::Clause(number, clause);
            let named = design.failures.iter().any(|failure| failure.without == without);
            if op.kind == Kind::Repair || named {
                continue;
            }
            let Some(arm) = without_clause(expected, without) else { continue };
            let name = format!("{}.{}", op.name, op.guard[clause].0);
            let listed = report.free.iter().find(|held| held.clause == name);
            let words = || expected.found.words.iter().zip(&arm.words);
            let breaks =
                words().any(|(before, after)| holds(before) && matches!(after, Word::Violated(_)));
            let proved = words().all(|(before, after)| !holds(before) || *after == Word::Proved);
            let same = match listed {
                Some(held) => !held.known || !breaks,
                None => !proved || expected.has_time,
            };
            if !same {
                return Err(format!("{name} is {listed:?}: without it {:?}", arm.words));
            }
        }
    }
    Ok(())
}

fn without_clause(expected: &Expected, without: Without) -> Option<Found> {
    let design = &expected.part.design;
    let fine = design.check.time.unwrap_or(1);
    if expected.has_time && design.check.time.is_none() {
        return None;
    }
    explore(&World::new(design, fine, Some(without)), STATES_MAX)
}

/// How many states the checker saw in a world, the default one first.
fn states(report: &Report, world: usize) -> u64 {
    match world {
        0 => report.base.states,
        _ => report.worlds[world - 1].base.states,
    }
}

/// How far numbers are followed where the checker knows no bound.
const WIDE: i64 = 4;

/// By rank there is no bound: what breaks within a wider one is not proved, and what breaks in a few
/// steps breaks there too.
fn wider(ranked: &Report, world: usize, expected: &Expected) -> Result<(), String> {
    let design = &expected.part.design;
    if !expected.exact || !expected.found.seen.cuts.contains("a number") {
        return Ok(());
    }
    let mut wide = design.clone();
    wide.check.bound.1 = WIDE;
    let fine = design.check.time.unwrap_or(1);
    let Some(found) = explore(&World::new(&wide, fine, None), STATES_MAX) else { return Ok(()) };
    // Where ranks do not do there is a bound after all, and histories end at it.
    let summary = match world {
        0 => &ranked.world,
        _ => &ranked.worlds[world - 1].world,
    };
    let bounded = summary.cut.iter().any(|cut| cut.contains('.'));
    let said = said(ranked);
    for (goal, word) in design.goals.iter().zip(&found.words) {
        let Some((name, shown, length)) = said.iter().find(|held| held.0 == goal.name) else {
            continue;
        };
        let broken = matches!(word, Word::Violated(_));
        let soon = !bounded
            && shown.starts_with("Violated")
            && *length < WIDE as usize
            && !goal.of_histories();
        let other = Word::Violated(*length);
        if broken && shown.starts_with("Proved") || soon && *word != other {
            return Err(format!("{name} is {shown:.80} ({length} steps), not {word:?} to {WIDE}"));
        }
    }
    Ok(())
}

/// Every goal has the same word on both sides. By rank there are fewer cuts, so what holds within
/// bounds may be known. Where one of several independent records stands for all, what is cut of the others
/// does not meet the one that waits.
fn words(
    report: &Report,
    expected: &Expected,
    bounded: bool,
    independent: bool,
) -> Result<(), String> {
    let all = said(report);
    let design = &expected.part.design;
    for (number, goal) in design.goals.iter().enumerate() {
        let Some((_, shown, length)) = all.iter().find(|held| held.0 == goal.name) else {
            return Err(format!("no goal `{}`", goal.name));
        };
        let wanted = expected.found.words[number];
        let only_time = expected.has_time && shown.starts_with("Holds") && only_time(shown);
        let same = match wanted {
            Word::Proved => shown.starts_with("Proved") || only_time,
            Word::HoldsWithin => {
                shown.starts_with("Holds") || !bounded && !shown.starts_with("Unknown")
            }
            Word::Violated(steps) => {
                let as_long = if bounded { *length == steps } else { *length <= steps };
                shown.starts_with("Violated") && (goal.of_histories() || !expected.exact || as_long)
            }
            Word::NotKnown => {
                let alone = independent && goal.leads.is_some() && shown.starts_with("Holds");
                shown.starts_with("Unknown") || !bounded || alone
            }
        };
        if !same {
            let shown: String = shown.chars().take(100).collect();
            let cuts = &expected.found.seen.cuts;
            return Err(format!(
                "{} is {shown} ({length} steps), not {wanted:?}; cuts {cuts:?}",
                goal.name
            ));
        }
    }
    Ok(())
}

/// Are all the bounds about time?
fn only_time(shown: &str) -> bool {
    let mut bounds = shown.split('"').skip(1).step_by(2);
    bounds.all(|bound| {
        bound.starts_with("time") || bound.starts_with("horizon") || bound.starts_with("schedules")
    })
}

/// Steps that were accepted, and clauses that were the first to refuse. `sliced`: a slice goes on where
/// the whole design is cut by something that is no part of it, and may see more.
fn witnesses(design: &Design, report: &Report, found: &Found, sliced: bool) -> Result<(), String> {
    let may_see_more = sliced && !found.seen.cuts.is_empty();
    for (number, op) in design.ops.iter().enumerate() {
        if op.kind == Kind::Repair {
            continue;
        }
        let never = |what: &str| report.unwitnessed.iter().any(|held| held == what);
        // what hears an event acts for nobody
        let heard = design.events && op.kind == Kind::Heard;
        let actor = if heard { "event" } else { design.actors[op.actor].name };
        let accepted = format!("{actor}[{}] accepted", op.name);
        let seen = found.seen.accepted.contains(&number);
        if never(&accepted) == seen && (seen || !may_see_more) {
            return Err(format!("`{accepted}` is seen by one side alone"));
        }
        for (at, (name, _)) in op.guard.iter().enumerate() {
            let refuses = format!("{}.{name} refuses", op.name);
            let sure = found.seen.refused.contains(&(number, Refused::Clause(at)));
            let perhaps = found.seen.refused.contains(&(number, Refused::Missing(at)));
            let only_there = !sure && !perhaps && !never(&refuses);
            if sure && never(&refuses) || only_there && !may_see_more {
                return Err(format!("`{refuses}` is seen by one side alone"));
            }
        }
    }
    Ok(())
}

/// In its slice a goal has the word that it has in the whole design, unless that is bounded by something
/// which the goal does not read.
fn in_slices(design: &Design, sliced: &Report, all: &[Expected]) -> Result<(), String> {
    let told = said(sliced);
    for expected in all {
        for (goal, wanted) in expected.part.design.goals.iter().zip(&expected.found.words) {
            let Some((_, shown, length)) = told.iter().find(|held| held.0 == goal.name) else {
                return Err(format!("no goal `{}`", goal.name));
            };
            let is = |word: &str| shown.starts_with(word);
            let only_time = expected.has_time && is("Holds") && only_time(shown);
            let same = match *wanted {
                Word::Proved => is("Proved") || only_time,
                Word::HoldsWithin => is("Holds") || is("Proved"),
                Word::Violated(steps) => {
                    is("Violated") && (goal.of_histories() || !expected.exact || *length == steps)
                }
                // What is cut may be no part of the slice.
                Word::NotKnown => true,
            };
            if !same {
                let shown: String = shown.chars().take(100).collect();
                return Err(format!("{} is {shown} ({length} steps), not {wanted:?}", goal.name));
            }
        }
        failures(sliced, expected, false)?;
    }
    witnesses(design, sliced, &joined(design, all), true)
}

/// `whole`: also as many states.
fn failures(report: &Report, expected: &Expected, whole: bool) -> Result<(), String> {
    let design = &expected.part.design;
    for (number, failure) in design.failures.iter().enumerate() {
        let Some(arm) = &expected.arms[number] else { continue };
        let title = format!("f{}", expected.part.failures[number]);
        let Some(verdict) = report.failure(&title) else {
            return Err(format!("no failure `{title}`"));
        };
        let shown = format!("{:?}", verdict.status);
        let is = |word: &str| shown.starts_with(word);
        let holds = |word: Word| matches!(word, Word::Proved | Word::HoldsWithin);
        let (before, after) = (expected.found.words[failure.breaks], arm.words[failure.breaks]);
        let never_refused = match failure.without {
            Without::Clause(op, clause) => {
                let refused = &expected.found.seen.refused;
                !refused.contains(&(op, Refused::Clause(clause)))
                    && !refused.contains(&(op, Refused::Missing(clause)))
            }
            _ => false,
        };
        let same = match after {
            _ if !holds(before) => !is("LoadBearing"),
            Word::Violated(_) => is("LoadBearing"),
            Word::Proved if never_refused && !expected.has_time => is("Vacuous"),
            Word::Proved if expected.has_time => is("Vacuous") || is("Redundant") || is("Unknown"),
            Word::Proved => is("Vacuous") || is("Redundant"),
            Word::HoldsWithin | Word::NotKnown if whole => is("Vacuous") || is("Unknown"),
            // What is owed and cut may be no part of the slice.
            Word::NotKnown if design.goals[failure.breaks].of_histories() => true,
            Word::HoldsWithin | Word::NotKnown => !is("LoadBearing"),
        };
        if !same {
            let shown: String = shown.chars().take(100).collect();
            return Err(format!("{title} is {shown}: as written {before:?}, without it {after:?}"));
        }
        let states = verdict.arm.as_ref().map(|arm| arm.states);
        let closed = verdict.arm.as_ref().is_some_and(|arm| arm.closed);
        if whole && expected.exact && closed && holds(after) && states != Some(arm.states) {
            return Err(format!("{title} has {states:?} states, not {}", arm.states));
        }
    }
    Ok(())
}
