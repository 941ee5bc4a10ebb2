//! What must be the same on both sides, and where the checker may know more or less.

use model_checker::Report;

use super::ast::*;
use super::expected::{Expected, STATES_MAX, joined};
use super::explore::{Found, Word, explore};
use super::run::Refused;
use super::world::World;

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

/// Where a budget ends, nothing may be known; what is said is so.
pub(super) fn not_wrong(report: &Report, expected: &Expected) -> Result<(), String> {
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
pub(super) fn free_clauses(report: &Report, expected: &Expected) -> Result<(), String> {
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
pub(super) fn states(report: &Report, world: usize) -> u64 {
    match world {
        0 => report.base.states,
        _ => report.worlds[world - 1].base.states,
    }
}

/// How far numbers are followed where the checker knows no bound.
const WIDE: i64 = 4;

/// By rank there is no bound: what breaks within a wider one is not proved, and what breaks in a few
/// steps breaks there too.
pub(super) fn wider(ranked: &Report, world: usize, expected: &Expected) -> Result<(), String> {
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
pub(super) fn words(
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
pub(super) fn witnesses(
    design: &Design,
    report: &Report,
    found: &Found,
    sliced: bool,
) -> Result<(), String> {
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
pub(super) fn in_slices(design: &Design, sliced: &Report, all: &[Expected]) -> Result<(), String> {
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
pub(super) fn failures(report: &Report, expected: &Expected, whole: bool) -> Result<(), String> {
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
