//! One history that the checker has told, as events that can be carried out somewhere else.

use design::model::{Design, FailureProof, Generated, Goal, OperationId, Protection, Type};
use engine::{Scratch, Word};
use rustc_hash::FxHashMap;

use super::value::Reader;
use super::{Event, State, TICK_MS};
use crate::arm::breaks;
use crate::clock::Scaled;
use crate::design_parts::protection_name;
use crate::guided::{End, Path, search};
use crate::machine::{Beyond, Machine, Move, Sink, Step};
use crate::script::{SILENT, Scripted, Told};
use crate::slice::LeftOut;
use crate::world::plan::Network;
use crate::{Options, StepKind, Trace, TraceStep};

/// A claim of a design: without these protections this goal breaks.
#[derive(Clone, Debug)]
pub struct Claim {
    pub title: String,
    /// `without claim.free breaks no_steal`, or the name of a goal that breaks as written
    pub claim: String,
    pub protections: Vec<Protection>,
    pub goal: Goal,
    /// the design with the world, and the goals, that the claim is judged in
    pub design: Design,
}

/// A history that breaks a goal.
#[derive(Clone, Debug)]
pub struct Story {
    /// The design to run, with everything in place: each duration is as many ticks as the checker took it for.
    pub design: Design,
    /// so long a tick is; where durations have a common measure they are as they are written
    pub tick_ms: i64,
    pub protections: Vec<Protection>,
    pub goal: Goal,
    pub first: State,
    pub steps: Vec<StoryStep>,
}

#[derive(Clone, Debug)]
pub struct StoryStep {
    pub event: Event,
    /// None: there is no room for it in the small world, so that it cannot be told whole.
    pub after: Option<State>,
}

/// Every claim of a design about what happens without some of its protections.
pub fn claims(design: &Design) -> Vec<Claim> {
    let mut claims = Vec::new();
    for world in design.each_world() {
        for failure in &world.design.failures {
            for proof in &failure.proofs {
                let FailureProof::Without { protections, breaks, .. } = proof else { continue };
                let names: Vec<String> =
                    protections.iter().map(|held| protection_name(&world.design, held)).collect();
                let goal = &world.design.goal(*breaks).name;
                claims.push(Claim {
                    title: failure.title.clone(),
                    claim: format!("without {} breaks {goal}", names.join(", ")),
                    protections: protections.clone(),
                    goal: *breaks,
                    design: world.design.clone(),
                });
            }
        }
    }
    claims
}

/// A goal that breaks as written.
pub fn goal_claim(design: &Design, name: &str) -> Option<Claim> {
    design.each_world().into_iter().find_map(|world| {
        let goal = crate::design_parts::goals(&world.design, true)
            .into_iter()
            .find(|goal| world.design.goal(*goal).name == name)?;
        Some(Claim {
            title: name.to_string(),
            claim: name.to_string(),
            protections: Vec::new(),
            goal,
            design: world.design,
        })
    })
}

/// Goes the history of a claim again, where times are as they are. Says why, where this cannot be done.
pub fn story(claim: &Claim, trace: &Trace) -> Result<Story, String> {
    let whole = Scaled::of(&claim.design, false);
    let options = Options { regions: false, symmetry: false, ..Options::default() };
    let end = match claim.goal {
        Goal::Invariant(goal) => End::Breaks(goal),
        Goal::Recovery(goal) => End::Stuck(goal),
        Goal::LeadsTo(_) => {
            return Err("somebody waits for ever, which no history that ends can show".into());
        }
    };
    let mut why = String::from("the history was not found again");
    for network in [Network::OneByOne, Network::Room(ROOM)] {
        let machine = Machine::new(&whole, &claim.protections, &options, false, &[], network)
            .map_err(|error| error.to_string())?;
        for (looseness, others) in
            [(Exactly::All, false), (Exactly::NoTimes, false), (Exactly::NoTimes, true)]
        {
            let script = script(&machine, trace, end, looseness);
            let found = search(&machine, &LeftOut::nothing(), &script, end, others);
            let Some(path) = found else { continue };
            match events(&machine, &path, claim.goal) {
                Ok((first, steps)) => {
                    let tick_ms = whole.clock.tick_ms().unwrap_or(TICK_MS);
                    return Ok(Story {
                        design: runnable(&claim.design, tick_ms),
                        tick_ms,
                        protections: claim.protections.clone(),
                        goal: claim.goal,
                        first,
                        steps,
                    });
                }
                Err(untold) => why = untold,
            }
        }
    }
    Err(why)
}

/// The design to carry a history out with. What a server takes from a view, or makes up, is named by the caller:
/// the history says which.
fn runnable(design: &Design, tick_ms: i64) -> Design {
    let mut design = Scaled::in_steps_of(design, tick_ms).design;
    for param in design.operations.iter_mut().flat_map(|operation| &mut operation.params) {
        if let Some(Generated::Id | Generated::Next(_)) = param.generated {
            param.generated = None;
        }
    }
    design
}

/// Room for so many messages, where that of `check` does not do: the history may have been found with messages
/// kept as a set.
const ROOM: u32 = 24;

/// What of a step is to be the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exactly {
    All,
    /// times and durations may be others: another clock tells others apart
    NoTimes,
}

/// The steps of the history. The clock ticks in between as often as it must.
fn script<'t>(
    machine: &Machine,
    trace: &'t Trace,
    end: End<'_>,
    exactly: Exactly,
) -> Vec<Scripted<'t>> {
    // what repeats for ever begins at the cycle; where it begins the goal is not kept
    let before = match end {
        End::Stuck(_) => trace.cycle_start.unwrap_or(trace.steps.len()),
        _ => trace.steps.len(),
    };
    let counts = |step: &&TraceStep| step.kind != StepKind::Tick && step.name != SILENT;
    let told = |step: &'t TraceStep| Told {
        step,
        params: step
            .params
            .iter()
            .filter(|(name, _)| exactly == Exactly::All || !is_timed(machine, step.operation, name))
            .collect(),
        personal: true,
        fault: step.fault.clone(),
    };
    trace.steps[..before].iter().filter(counts).map(told).map(Scripted::Step).collect()
}

fn is_timed(machine: &Machine, operation: Option<OperationId>, name: &str) -> bool {
    let Some(operation) = operation else { return false };
    let params = &machine.design.operations[operation.index()].params;
    let param = params.iter().find(|param| param.name == name);
    param.is_some_and(|param| matches!(param.ty.required(), Type::Duration | Type::Time))
}

/// What a transition comes to where times are as they are.
struct Real {
    found: FxHashMap<Move, (Vec<Word>, bool)>,
    /// this goal is watched
    goal: Option<u32>,
    scratch: Scratch,
}

impl Sink for Real {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let broken = self.goal.is_some_and(|goal| breaks(machine, goal, step, &mut self.scratch));
        self.found.entry(step.what).or_insert_with(|| (step.next_as_it_is().to_vec(), broken));
    }

    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, _what: Beyond) {
        self.moved(machine, step);
    }
}

fn events(machine: &Machine, path: &Path, goal: Goal) -> Result<(State, Vec<StoryStep>), String> {
    let mut worker = machine.worker();
    let mut words = machine.initial();
    let mut ticks = 0;
    let first = Reader { machine, ticks }.state(&words);
    let mut steps = Vec::new();
    let watched = match goal {
        Goal::Invariant(goal) => Some(goal),
        _ => None,
    };
    let moves = path.steps.iter().map(|(what, _)| (*what, true));
    let mut broken = false;
    for (what, room) in moves.chain(path.beyond.map(|what| (what, false))) {
        let mut real = Real { found: FxHashMap::default(), goal: watched, scratch: Scratch::new() };
        machine.load_as_it_is(&mut worker, &words);
        machine.expand(&mut worker, &mut real, false);
        let told = machine.told(what, &words);
        let cannot = || match &told.fault {
            Some(fault) => format!("`{fault}` cannot be brought about from outside"),
            None => format!("`{}` cannot be brought about from outside", told.name),
        };
        let (next, breaks) = real.found.remove(&what).ok_or_else(cannot)?;
        let event = Reader { machine, ticks }.event(what, &words).ok_or_else(cannot)?;
        ticks += i64::from(event == Event::Tick);
        let after = room.then(|| Reader { machine, ticks }.state(&next));
        steps.push(StoryStep { event, after });
        words = next;
        broken = breaks;
    }
    match watched {
        Some(_) if !broken => Err("where times are as they are, nothing breaks".into()),
        _ => Ok((first, steps)),
    }
}
