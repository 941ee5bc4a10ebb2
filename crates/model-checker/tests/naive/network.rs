//! The network as a set, held against messages that are kept one by one: each of them is there or is not,
//! gets lost, or is delivered and stays. The interpreter has room for so many; the checker has room for all.
//! So words are compared, not counts.

use model_checker::{Options, Report, Verdict, check};

use super::ast::*;
use super::explore::{Found, Word, explore};
use super::text;
use super::world::World;

/// More states than this are not explored.
const STATES_MAX: usize = 20_000;

/// The interpreter has room for so many messages on their way.
const ROOM: usize = 5;

/// The same design with messages that are lost and doubled without end. None: it has no messages.
pub fn with_a_set(mut design: Design) -> Option<Design> {
    let heard = design.ops.iter().any(|op| op.kind == Kind::Heard);
    if !heard || design.events || design.other.is_some() {
        return None;
    }
    let check = &mut design.check;
    check.faults.retain(|(fault, _)| {
        !matches!(fault, Fault::LostMessage | Fault::DoubledMessage | Fault::ClockStep)
    });
    check.faults.push((Fault::LostMessage, None));
    check.faults.push((Fault::DoubledMessage, None));
    check.messages = ROOM;
    // What counts messages is judged with messages one by one.
    let counts = |goal: &Goal| {
        let body = format!("{:?}", goal.body);
        body.contains("Total") && body.contains("Message(")
    };
    let kept: Vec<usize> = (0..design.goals.len())
        // Messages are one by one for `leads_to`.
        .filter(|at| !counts(&design.goals[*at]) && design.goals[*at].leads.is_none())
        .collect();
    let failures = design.failures.iter().filter_map(|held| {
        let breaks = kept.iter().position(|at| *at == held.breaks)?;
        Some(Failure { without: held.without.clone(), breaks })
    });
    design.failures = failures.collect();
    design.goals = kept.iter().map(|at| design.goals[*at].clone()).collect();
    Some(design)
}

/// What was said of one goal, as written or in an arm, by the interpreter and by the checker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    Holds,
    Violated,
    NotKnown,
}

/// What came of one design.
pub enum Compared {
    /// each goal with whether it is `recovers`, and what both say
    Same(Vec<(bool, Told)>),
    TooLarge,
    Differs(String),
}

fn told(word: Word) -> Told {
    match word {
        Word::Proved | Word::HoldsWithin => Told::Holds,
        Word::Violated(_) => Told::Violated,
        Word::NotKnown => Told::NotKnown,
    }
}

fn said(verdict: &Verdict) -> Told {
    match verdict {
        Verdict::Proved | Verdict::Holds(_) => Told::Holds,
        Verdict::Violated(_) => Told::Violated,
        Verdict::Unknown(_) => Told::NotKnown,
    }
}

/// Does the checker say what the interpreter found? Where that had no room for a message, more may happen than it has
/// seen.
fn agrees(found: &Found, word: Word, verdict: &Verdict) -> bool {
    let crowded = found.seen.cuts.contains("a message");
    match (told(word), said(verdict)) {
        (Told::Violated, said) => said == Told::Violated,
        // In a slice less is cut, never more.
        (Told::Holds, Told::Holds) => {
            !found.seen.cuts.is_empty() || matches!(verdict, Verdict::Proved)
        }
        (Told::Holds, _) => crowded,
        (Told::NotKnown, Told::Violated) => crowded,
        (Told::NotKnown, _) => true,
    }
}

/// The checker's text says nothing of how many messages there may be.
fn text_of(design: &Design) -> String {
    let room = format!("messages: {ROOM}\n");
    let text = text::text(design);
    assert!(text.contains(&room), "the room stands in the text");
    text.replacen(&room, "\n", 1)
}

pub fn compare(design: &Design) -> Compared {
    compare_within(design, STATES_MAX, true)
}

/// `max`: so many states are explored. `ranks`: the checker may keep numbers by rank, without a bound.
pub fn compare_within(design: &Design, max: usize, ranks: bool) -> Compared {
    let world = World::new(design, 1, None);
    if world.has_time {
        return Compared::TooLarge;
    }
    let Some(found) = explore(&world, max) else { return Compared::TooLarge };
    let text = text_of(design);
    let Some(lowered) = design::compile("random", &text, &design::NoCatalog).design else {
        return Compared::Differs(format!("not compiled:\n{text}"));
    };
    let plain = Options { free: false, threads: 1, normalise: ranks, ..Options::default() };
    let ways = [
        ("", plain.clone()),
        ("whole: ", Options { slices: false, ..plain.clone() }),
        ("without symmetry: ", Options { symmetry: false, failures: false, ..plain }),
    ];
    let mut all = Vec::new();
    for (way, options) in ways {
        let report = match check(&lowered, &options, &mut |_| ()) {
            Ok(report) => report,
            Err(_) => return Compared::TooLarge,
        };
        let set = report.world.settings.iter().any(|line| line.contains("way: any number"));
        if !set {
            return Compared::Differs(format!("{way}not a set: {:?}\n{text}", report.world.notes));
        }
        if let Err(why) = words(design, &found, &report) {
            return Compared::Differs(format!("{way}{why}\n{text}"));
        }
        if options.failures
            && let Err(why) = arms(design, &found, &report)
        {
            return Compared::Differs(format!("{way}{why}\n{text}"));
        }
        all = design
            .goals
            .iter()
            .zip(&report.goals)
            .map(|(goal, held)| (goal.recovers, said(&held.verdict)))
            .collect();
    }
    Compared::Same(all)
}

fn words(design: &Design, found: &Found, report: &Report) -> Result<(), String> {
    for (goal, word) in design.goals.iter().zip(&found.words) {
        let held = report.goal(&goal.name).ok_or_else(|| format!("no goal `{}`", goal.name))?;
        if !agrees(found, *word, &held.verdict) {
            let shown: String = format!("{:?}", held.verdict).chars().take(200).collect();
            return Err(format!(
                "`{}` is {shown}, and not {word:?}; cut: {:?}",
                goal.name, found.seen.cuts
            ));
        }
    }
    Ok(())
}

/// Without a protection the goal breaks in both or in neither.
fn arms(design: &Design, found: &Found, report: &Report) -> Result<(), String> {
    for (number, failure) in design.failures.iter().enumerate() {
        if told(found.words[failure.breaks]) != Told::Holds {
            continue;
        }
        let world = World::new(design, 1, Some(failure.without.clone()));
        let Some(arm) = explore(&world, STATES_MAX) else { continue };
        let title = format!("f{number}");
        let held = report.failure(&title).ok_or_else(|| format!("no failure `{title}`"))?;
        let shown = format!("{:?}", held.status);
        let breaks = shown.starts_with("LoadBearing");
        let crowded = [found, &arm].iter().any(|held| held.seen.cuts.contains("a message"));
        let same = match arm.words[failure.breaks] {
            // As written it may be violated with more messages.
            Word::Violated(_) => breaks || crowded,
            Word::Proved | Word::HoldsWithin | Word::NotKnown => !breaks || crowded,
        };
        if !same {
            let shown: String = shown.chars().take(100).collect();
            return Err(format!("{title} is {shown}: {:?}", arm.words[failure.breaks]));
        }
    }
    Ok(())
}
