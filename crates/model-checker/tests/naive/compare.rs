//! What the checker says of a design's text, held against what the interpreter found.

use model_checker::{Options, Report};

use super::ast::*;
use super::explore::{Found, Word, explore};
use super::run::Refused;
use super::text;
use super::world::World;

/// More states than this are not explored.
const STATES_MAX: usize = 3_000;

/// What became of one design.
#[derive(Clone, Debug)]
pub enum Compared {
    Same(Box<Found>),
    TooLarge,
    /// the checker finds no finite world
    NoWorld,
    /// what the compiler says
    Rejected(String),
    Differs(String),
}

/// What the interpreter found: as written, and without each failure's protection.
struct Expected {
    found: Found,
    arms: Vec<Option<Found>>,
    /// times are kept in the same steps on both sides, so states and lengths are the same
    exact: bool,
    has_time: bool,
}

pub fn compare(design: &Design) -> Compared {
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
    let by_steps = design.check.time;
    let mut fine =
        by_steps.unwrap_or_else(|| World::new(design, 1, None).stored_times() as i64 + 1);
    let mut last = String::new();
    // By regions the checker sees more than any number of steps does: finer ones must see it too.
    for _ in 0..2 {
        let Some(expected) = expect(design, fine) else {
            return if last.is_empty() { Compared::TooLarge } else { Compared::Differs(last) };
        };
        match agree(design, &lowered, &expected) {
            Ok(()) => return Compared::Same(Box::new(expected.found)),
            Err(difference) if difference.starts_with("no world") => return Compared::NoWorld,
            Err(difference) => last = difference,
        }
        if by_steps.is_some() || !expected.has_time {
            break;
        }
        fine *= 2;
    }
    Compared::Differs(last)
}

fn expect(design: &Design, fine: i64) -> Option<Expected> {
    let world = World::new(design, fine, None);
    let found = explore(&world, STATES_MAX)?;
    let arms = design.failures.iter().map(|failure| {
        explore(&World::new(design, fine, Some(failure.without.clone())), STATES_MAX)
    });
    let arms = arms.collect();
    let exact = !world.has_time || design.check.time.is_some() && !world.times_meet;
    Some(Expected { found, arms, exact, has_time: world.has_time })
}

fn plain() -> Options {
    Options { symmetry: false, normalise: false, free: false, threads: 1, ..Options::default() }
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

fn agree(
    design: &Design,
    lowered: &design::model::Design,
    expected: &Expected,
) -> Result<(), String> {
    let found = &expected.found;
    let check = |options: &Options| {
        model_checker::check(lowered, options, &mut |_| ())
            .map_err(|problem| format!("no world: {problem}"))
    };
    let report = check(&plain())?;
    if expected.exact && report.base.states != found.states {
        return Err(format!("{} states, not {}", report.base.states, found.states));
    }
    words(design, &report, expected, true)?;
    witnesses(design, &report, found)?;
    failures(design, &report, expected)?;
    let light = |options: Options| Options { failures: false, witnesses: false, ..options };
    let asked = check(&light(Options { memo: false, ..plain() }))?;
    if asked.base.states != report.base.states {
        let states = asked.base.states;
        return Err(format!("with the engine asked for every step: {states} states"));
    }
    words(design, &asked, expected, true).map_err(|why| format!("without memo: {why}"))?;
    let symmetric = check(&light(Options { symmetry: true, threads: 2, ..plain() }))?;
    if expected.exact && symmetric.base.states > found.states {
        return Err(format!("with symmetry: {} states", symmetric.base.states));
    }
    words(design, &symmetric, expected, true).map_err(|why| format!("with symmetry: {why}"))?;
    let ranked = check(&light(Options { symmetry: true, normalise: true, ..plain() }))?;
    words(design, &ranked, expected, false).map_err(|why| format!("by rank: {why}"))?;
    wider(design, &ranked, expected).map_err(|why| format!("by rank: {why}"))
}

/// How far numbers are followed where the checker knows no bound.
const WIDE: i64 = 4;

/// By rank there is no bound: what breaks within a wider one is not proved, and what breaks in a few
/// steps breaks there too.
fn wider(design: &Design, ranked: &Report, expected: &Expected) -> Result<(), String> {
    if !expected.exact || !expected.found.seen.cuts.contains("a number") {
        return Ok(());
    }
    let mut wide = design.clone();
    wide.check.bound.1 = WIDE;
    let fine = design.check.time.unwrap_or(1);
    let Some(found) = explore(&World::new(&wide, fine, None), STATES_MAX) else { return Ok(()) };
    // Where ranks do not do there is a bound after all, and histories end at it.
    let bounded = ranked.world.cut.iter().any(|cut| cut.contains('.'));
    for ((name, shown, length), (goal, word)) in
        said(ranked).iter().zip(design.goals.iter().zip(&found.words))
    {
        let broken = matches!(word, Word::Violated(_));
        let soon =
            !bounded && shown.starts_with("Violated") && *length < WIDE as usize && !goal.recovers;
        let other = Word::Violated(*length);
        if broken && shown.starts_with("Proved") || soon && *word != other {
            return Err(format!("{name} is {shown:.80} ({length} steps), not {word:?} to {WIDE}"));
        }
    }
    Ok(())
}

/// Every goal has the same word on both sides. By rank there are fewer cuts, so what holds within
/// bounds may be known.
fn words(
    design: &Design,
    report: &Report,
    expected: &Expected,
    bounded: bool,
) -> Result<(), String> {
    let all = said(report);
    if all.len() != design.goals.len() {
        return Err(format!("{} goals, not {}", all.len(), design.goals.len()));
    }
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
                shown.starts_with("Violated") && (goal.recovers || !expected.exact || as_long)
            }
            Word::NotKnown => shown.starts_with("Unknown") || !bounded,
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
    bounds.all(|bound| bound.starts_with("time") || bound.starts_with("horizon"))
}

/// Steps that were accepted, and clauses that were the first to refuse.
fn witnesses(design: &Design, report: &Report, found: &Found) -> Result<(), String> {
    for (number, op) in design.ops.iter().enumerate() {
        if op.kind == Kind::Repair {
            continue;
        }
        let never = |what: &str| report.unwitnessed.iter().any(|held| held == what);
        let accepted = format!("{}[{}] accepted", design.actors[op.actor].name, op.name);
        if never(&accepted) == found.seen.accepted.contains(&number) {
            return Err(format!("`{accepted}` is seen by one side alone"));
        }
        for (at, (name, _)) in op.guard.iter().enumerate() {
            let refuses = format!("{}.{name} refuses", op.name);
            let sure = found.seen.refused.contains(&(number, Refused::Clause(at)));
            let perhaps = found.seen.refused.contains(&(number, Refused::Missing(at)));
            if sure && never(&refuses) || !sure && !perhaps && !never(&refuses) {
                return Err(format!("`{refuses}` is seen by one side alone"));
            }
        }
    }
    Ok(())
}

fn failures(design: &Design, report: &Report, expected: &Expected) -> Result<(), String> {
    for (number, failure) in design.failures.iter().enumerate() {
        let Some(arm) = &expected.arms[number] else { continue };
        let title = format!("f{number}");
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
            Word::HoldsWithin | Word::NotKnown => is("Vacuous") || is("Unknown"),
        };
        if !same {
            let shown: String = shown.chars().take(100).collect();
            return Err(format!("{title} is {shown}: as written {before:?}, without it {after:?}"));
        }
        let states = verdict.arm.as_ref().map(|arm| arm.states);
        let whole = verdict.arm.as_ref().is_some_and(|arm| arm.closed);
        if expected.exact && whole && holds(after) && states != Some(arm.states) {
            return Err(format!("{title} has {states:?} states, not {}", arm.states));
        }
    }
    Ok(())
}
