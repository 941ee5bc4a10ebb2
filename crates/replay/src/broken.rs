//! The history of a failure, carried out: without its protection the goal breaks, with it something stands in
//! the way.

use std::sync::Arc;

use design::model::{Design, Fault, Goal, Protection};
use model_checker::sample::Story;

use crate::carrier::{Carrier, Stop};
use crate::judge::Judge;
use crate::line::{Line, add, line};
use crate::settle::settle;

/// What a history came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// the goal is broken in what is stored
    Breaks,
    /// the goal is not kept, and nothing that is still due makes it so
    Stuck,
    /// The state is reached in which the goal is broken for the checker. By what is stored alone that cannot be told:
    /// the goal speaks of records that were never written, or of what no feed has.
    Reached,
    /// this clause refuses the last step
    Refused(String),
    /// the step does not happen: why
    Prevented(String),
    /// everything happened, and the goal is kept
    Kept,
}

/// A history, as far as it went.
#[derive(Clone, Debug)]
pub struct Shown {
    pub lines: Vec<Line>,
    pub end: End,
}

/// What repeats for ever in the checker takes turns that are only sometimes bad; a server that does all that is due
/// comes out of it.
pub const ESCAPES: &str = "it goes wrong for ever only if events keep coming in a bad order";

/// Carries the history out on a design without the protections. Fails if it does not come to what the checker says.
pub fn without(story: &Story, carrier: &mut Carrier) -> Result<Shown, String> {
    let mut judge = Judge::new(story, &carrier.design)?;
    let mut lines = Vec::new();
    let mut before = &story.first;
    let mut broken = false;
    for (number, step) in story.steps.iter().enumerate() {
        let at = |stop: &dyn std::fmt::Display| format!("step {}: {stop}", number + 1);
        carrier.asked = None;
        carrier.carry_out(&step.event, before).map_err(|stop| at(&stop))?;
        add(&mut lines, line(carrier, &step.event), story.tick_ms);
        if let Some(after) = &step.after {
            carrier.compare(after).map_err(|stop| at(&stop))?;
            before = after;
        }
        broken |= judge.look(carrier, Some(&step.event)).map_err(|why| at(&why))?;
    }
    let end = match story.goal {
        Goal::Invariant(_) if broken => End::Breaks,
        Goal::Invariant(_) if is_there(story, carrier) => End::Reached,
        Goal::Invariant(_) => return Err("nothing is broken in what is stored".into()),
        Goal::Recovery(_) | Goal::LeadsTo(_) => {
            let kept = settle(carrier, &mut lines, &mut judge)?;
            match judge.cannot().is_none() && !kept {
                true => End::Stuck,
                false if is_there(story, carrier) => End::Reached,
                false => return Err(ESCAPES.into()),
            }
        }
    };
    Ok(Shown { lines, end })
}

/// Is the runtime in the state that the history ends in?
fn is_there(story: &Story, carrier: &Carrier) -> bool {
    let last = story.steps.last().and_then(|step| step.after.as_ref());
    last.is_some_and(|last| carrier.compare(last).is_ok())
}

/// Tries to carry the same history out with everything in place.
pub fn with(story: &Story, carrier: &mut Carrier) -> Result<Shown, String> {
    let mut judge = Judge::new(story, &carrier.design)?;
    let mut lines = Vec::new();
    let mut before = &story.first;
    let mut end = None;
    let mut broken = false;
    for step in &story.steps {
        carrier.asked = None;
        let carried = carrier.carry_out(&step.event, before);
        // what was refused nobody has heard
        broken |= judge.look(carrier, carried.is_ok().then_some(&step.event))?;
        let mut told = line(carrier, &step.event);
        before = step.after.as_ref().unwrap_or(before);
        match carried {
            Ok(()) => add(&mut lines, told, story.tick_ms),
            Err(Stop::Refused(clause)) => {
                told.then = format!("refused by `{clause}`");
                add(&mut lines, told, story.tick_ms);
                end = Some(End::Refused(clause));
                break;
            }
            Err(stop) => {
                let why = match stop {
                    Stop::NotDue(repair, _) => format!("`{repair}` is not due"),
                    Stop::NotTaken(why) => why,
                    other => other.to_string(),
                };
                told.then = why.clone();
                add(&mut lines, told, story.tick_ms);
                end = Some(End::Prevented(why));
                break;
            }
        }
    }
    if let Goal::Recovery(_) = story.goal {
        let kept = settle(carrier, &mut lines, &mut judge)?;
        broken |= judge.cannot().is_none() && !kept;
    }
    match broken {
        true => Err("with everything in place the goal is broken, too".into()),
        false => Ok(Shown { lines, end: end.unwrap_or(End::Kept) }),
    }
}

/// Is what came of it what taking these away was to show?
pub fn is_prevented(story: &Story, end: &End) -> bool {
    let by_a_clause = |protection: &Protection| matches!(protection, Protection::Clause { .. });
    match end {
        End::Breaks | End::Stuck | End::Reached => false,
        End::Refused(_) | End::Prevented(_) => true,
        // what prevents it is no refusal
        End::Kept => !story.protections.iter().all(by_a_clause),
    }
}

/// A runtime for the design without the protections of a story, or why there can be none.
pub fn weakened(story: &Story) -> Result<Carrier, &'static str> {
    let weak = Arc::new(story.design.without(&story.protections)?);
    Ok(of_a_story(&weak, story))
}

/// A runtime for the design as it is written.
pub fn as_written(story: &Story) -> Carrier {
    of_a_story(&Arc::new(story.design.clone()), story)
}

/// A history may have equal messages under way, of which the checker keeps one, and repairs that are due again as
/// soon as they have run, which a server does a second later.
fn of_a_story(design: &Arc<Design>, story: &Story) -> Carrier {
    let mut carrier = Carrier::new(design, story.tick_ms);
    let faults = &story.design.world.faults;
    carrier.messages_double = faults.iter().any(|held| held.fault == Fault::DoubledMessage);
    carrier.patience_ms = 1_000;
    carrier
}
