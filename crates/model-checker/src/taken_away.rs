//! A design without some of its protections, against all of its goals: which one breaks first.

use std::cell::RefCell;

use design::model::{Design, Goal, Protection};

use crate::alone::Alone;
use crate::clock::Scaled;
use crate::design_parts::{goals, protection_name};
use crate::run::{NOT_REPLAYED, Outcome};
use crate::{Options, Progress, Trace, WorldError};

/// What becomes of the goals without a protection.
#[derive(Clone, PartialEq, Debug)]
pub enum TakenAway {
    /// this goal breaks; the shortest history that shows it
    Breaks { goal: String, trace: Trace },
    /// No goal breaks: within these bounds, or, if there are none, in any state of the world.
    Nothing { within: Vec<String> },
    /// no goal was seen to break, but not everything was looked at
    Unknown(String),
}

/// Explores each world of a design without these protections, goal after goal, up to the first that breaks:
/// invariants before what recovers, and that before what leads to something.
pub fn taken_away(
    design: &Design,
    protections: &[Protection],
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<TakenAway, WorldError> {
    let names: Vec<String> = protections.iter().map(|it| protection_name(design, it)).collect();
    let name = format!("without {}", names.join(", "));
    let worlds: Vec<Design> = match design.worlds.is_empty() {
        true => vec![design.clone()],
        false => design.each_world().into_iter().map(|one| one.design).collect(),
    };
    let (mut within, mut unknown) = (Vec::new(), None);
    for mut world in worlds {
        if let Some(faults) = &options.faults {
            world.world.faults.clone_from(faults);
        }
        let whole = Scaled::of(&world, options.regions);
        for goals in together(&whole.design, options) {
            let searches = RefCell::new(Vec::new());
            let alone = Alone {
                whole: &whole,
                protections,
                name: &name,
                goals: &goals,
                symmetric: true,
                one_is_enough: goals.len() > 1,
                searches: &searches,
            };
            let mut run = alone.answer(options, progress)?.run;
            let untold = |outcome: &Outcome| matches!(outcome, Outcome::Untold);
            // one that cannot be shown in the whole design stands in the way of the others
            if goals.len() > 1 && goals.iter().any(|goal| untold(&run.outcome(*goal))) {
                run = Alone { one_is_enough: false, ..alone }.answer(options, progress)?.run;
            }
            for goal in &goals {
                match run.outcome(*goal) {
                    Outcome::Fails(trace) => {
                        let goal = whole.design.goal(*goal).name.clone();
                        return Ok(TakenAway::Breaks { goal, trace });
                    }
                    Outcome::Holds(bounds) => within.extend(bounds),
                    Outcome::Unknown(why) => unknown = unknown.or(Some(why)),
                    Outcome::Untold => unknown = unknown.or(Some(NOT_REPLAYED.to_string())),
                }
            }
        }
    }
    within.sort_unstable();
    within.dedup();
    Ok(match unknown {
        Some(why) => TakenAway::Unknown(why),
        None => TakenAway::Nothing { within },
    })
}

/// Invariants are looked at by one search, other goals one by one.
fn together(design: &Design, options: &Options) -> Vec<Vec<Goal>> {
    let (states, others): (Vec<Goal>, Vec<Goal>) = goals(design, options.recovery)
        .into_iter()
        .partition(|goal| matches!(goal, Goal::Invariant(_)));
    let others = others.into_iter().map(|goal| vec![goal]);
    Some(states).filter(|states| !states.is_empty()).into_iter().chain(others).collect()
}
