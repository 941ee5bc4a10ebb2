//! One arm, explored: the design as written, or without some of its protections.

use std::cell::RefCell;

use design::model::{ClauseRef, Goal, OperationId, Protection};

use crate::arm::{Arm, Findings, Violation};
use crate::clock::Scaled;
use crate::guided::{self, End};
use crate::leads::{self, Led};
use crate::machine::Machine;
use crate::network;
use crate::options::beside;
use crate::recover::{Recovery, recover, settles};
use crate::script;
use crate::search::{Explored, Limits, explore};
use crate::summary::{bounds, name_of_beyond};
use crate::witness::{Watch, name_of_move};
use crate::world::plan::Network;
use crate::{ArmResult, Options, Progress, Stop, Trace, WorldError, lasso, trace_builder};

pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) explored: Explored,
    pub(crate) found: Findings,
    pub(crate) watch: Option<Watch>,
    pub(crate) name: String,
    /// sorts that ranks did not do for
    pub(crate) barred: Vec<usize>,
    /// one of several independent worlds
    pub(crate) island: bool,
    /// for goals that a step elsewhere breaks: the whole design
    together: Vec<(u32, Run)>,
    /// of the goals that break: how, in the whole design; none if that cannot be shown
    traces: Vec<(u32, Option<Trace>)>,
    /// what became of the goals that need fairness, as far as it was asked
    fair: RefCell<Vec<(Goal, Outcome)>>,
    /// of those: goals of which nothing more could be known, since the world had no room
    no_room: RefCell<Vec<u32>>,
    /// the steps of histories of a slice that could not be gone in the whole design
    pub(crate) unshown: Vec<OperationId>,
    /// why messages are not kept as a set, where they could be
    pub(crate) notes: Vec<String>,
    /// of a slice: the design to tell a history in
    whole: Option<Box<Machine>>,
    /// of the memory budget
    bytes_max: usize,
    /// Not all of the world was looked at: what breaks is shown, and nothing is known to hold.
    partial: bool,
}

/// What to explore, and for what.
pub(crate) struct Wanted<'a> {
    pub(crate) name: String,
    pub(crate) protections: &'a [Protection],
    /// numbers of invariants
    pub(crate) invariants: Vec<u32>,
    pub(crate) witnesses: bool,
    pub(crate) one_is_enough: bool,
    pub(crate) symmetric: bool,
    /// tell of violations as soon as they are found
    pub(crate) announce: bool,
    /// one of several independent worlds
    pub(crate) island: bool,
    /// the design of which a part is explored
    pub(crate) whole: &'a Scaled,
    /// how messages are kept, where the world and the goals allow it
    pub(crate) network: Network,
    /// From so many steps on clients are silent and no fault strikes: what breaks is shown, and nothing is
    /// known to hold.
    pub(crate) silent_from: Option<u32>,
    /// The same without one clause that is taken away here, where all goals hold: what was reached there is
    /// reached here too, and the search goes on from it.
    pub(crate) from: Option<&'a Run>,
    /// every search of this check
    pub(crate) searches: &'a RefCell<Vec<ArmResult>>,
}

/// What became of a goal in one arm.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// within these bounds; none: in all of the world
    Holds(Vec<String>),
    Fails(Trace),
    Unknown(String),
    /// a history was found that cannot be gone in the whole design
    Untold,
}

/// What is said of a trace that shows nothing.
pub(crate) const NOT_REPLAYED: &str = "a trace was found and could not be replayed: this is a defect of the \
                            checker, please report the design";

impl Wanted<'_> {
    /// What was reached with the clause, if it can be gone on from there.
    fn reached(&self, machine: &Machine, scaled: &Scaled) -> Option<(&Explored, Vec<bool>)> {
        let from = self.from?;
        let [Protection::Clause { operation, clause: ClauseRef::Named(_) }] = self.protections
        else {
            return None;
        };
        let closed = from.explored.stop.is_none() && !from.partial && self.silent_from.is_none();
        let whole = scaled.design.world.setting("depth").is_none();
        let units = machine.units_of(*operation)?;
        let goes_on = closed && whole && from.machine.protections.is_empty();
        (goes_on && machine.is_like(&from.machine)).then_some((&from.explored, units))
    }
}

impl Run {
    pub(crate) fn new(
        scaled: &Scaled,
        wanted: &Wanted<'_>,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Run, WorldError> {
        // Where ranks did not do with the clause, they do not without it.
        let mut barred = wanted.from.map_or(Vec::new(), |from| from.barred.clone());
        let mut told: Vec<u32> = Vec::new();
        let (mut network, mut why) =
            network::of(&scaled.design, &wanted.invariants, wanted.network, options);
        loop {
            let (protections, symmetric) = (wanted.protections, wanted.symmetric);
            let machine = Machine::new(scaled, protections, options, symmetric, &barred, network)?;
            if let Some(reason) = &machine.plan.no_set {
                why = Some(reason.clone());
                network = Network::OneByOne;
                continue;
            }
            let watch = wanted.witnesses.then(|| Watch::of(&machine));
            let uses_old = |at: &u32| scaled.design.invariants[*at as usize].uses_old;
            let states: Vec<u32> =
                wanted.invariants.iter().copied().filter(|at| !uses_old(at)).collect();
            let arm = Arm {
                machine: &machine,
                states,
                transitions: wanted.invariants.iter().copied().filter(uses_old).collect(),
                watch: watch.as_ref(),
                island: wanted.island || !scaled.left.none,
                one_is_enough: wanted.one_is_enough,
                silent_from: wanted.silent_from,
                reached: wanted.reached(&machine, scaled),
            };
            let goes_on = arm.reached.is_some();
            let limits = Limits {
                states: options.max_states,
                bytes: options.max_memory,
                depth: scaled.design.world.setting("depth").map(|depth| depth as u32),
                threads: options.threads,
            };
            let mut workers = Vec::new();
            let explored = explore(&arm, &mut workers, &limits, &mut |at, known, workers| {
                progress(&Progress { arm: wanted.name.clone(), ..at.clone() });
                // Where ranks do not do, the search begins again.
                let announce =
                    wanted.announce && workers.iter().all(|worker| worker.found.unranked.is_none());
                for (goal, trace) in
                    if announce { news(&machine, known, workers, &mut told) } else { vec![] }
                {
                    let trace = match scaled.left.none && !machine.is_set() {
                        true => Some(trace),
                        false => retold(&machine, wanted, options, goal, &trace),
                    };
                    let Some(trace) = trace else { continue };
                    let name = machine.design.invariants[goal as usize].name.clone();
                    let violated = Some((name, trace));
                    let arm = wanted.name.clone();
                    progress(&Progress { arm, violated, ..at.clone() });
                }
            });
            let mut found = Findings::default();
            found.witnessed =
                workers.first().map_or(Vec::new(), |worker| worker.found.witnessed.clone());
            for worker in workers {
                found.merge(worker.found);
            }
            if let (true, Some(from)) = (goes_on, wanted.from) {
                found.also_beyond(&from.found);
            }
            let again = found.unranked;
            let mut run = Run {
                machine,
                explored,
                found,
                watch,
                name: wanted.name.clone(),
                barred: barred.clone(),
                island: wanted.island,
                together: Vec::new(),
                traces: Vec::new(),
                fair: RefCell::default(),
                no_room: RefCell::default(),
                unshown: Vec::new(),
                notes: why.iter().map(|why| network::note(&scaled.design, why)).collect(),
                whole: None,
                bytes_max: limits.bytes,
                partial: wanted.silent_from.is_some(),
            };
            run.partial |= wanted.one_is_enough && !run.found.violations.is_empty();
            wanted.searches.borrow_mut().push(run.result());
            if let Some(sort) = again {
                barred.push(sort);
                continue;
            }
            run.tell(scaled, wanted, options);
            let goals = run.for_the_whole(scaled);
            let rest = beside(options, run.explored.bytes());
            // What a set of messages does not show, messages one by one must.
            let set = scaled.left.none && run.machine.is_set();
            let network = if set { Network::OneByOne } else { wanted.network };
            let again = Wanted { network, invariants: Vec::new(), name: String::new(), ..*wanted };
            run.together = together(&goals, &again, &wanted.name, &rest, progress)?;
            return Ok(run);
        }
    }

    /// Tells how goals break, in the whole design.
    fn tell(&mut self, scaled: &Scaled, wanted: &Wanted<'_>, options: &Options) {
        let mut goals: Vec<u32> = self.found.violations.iter().map(|held| held.goal).collect();
        goals.sort_unstable();
        goals.dedup();
        for goal in goals {
            let violations: Vec<&Violation> =
                self.found.violations.iter().filter(|held| held.goal == goal).collect();
            let trace = best(&self.machine, &self.explored, &violations);
            let as_it_is = scaled.left.none && !self.machine.is_set();
            let told = match (&trace, as_it_is) {
                (Some(trace), false) => retold(&self.machine, wanted, options, goal, trace),
                _ => trace.clone(),
            };
            if told.is_none() {
                let steps = trace.iter().flat_map(|trace| &trace.steps);
                self.unshown.extend(steps.filter_map(|step| step.operation));
            }
            self.traces.push((goal, told));
        }
        let fair = !scaled.design.recoveries.is_empty() || !scaled.design.leads.is_empty();
        let retells = !scaled.left.none || self.machine.is_set();
        if retells && fair {
            self.whole = whole(&self.machine, wanted, options, script::room(&self.machine));
        }
    }

    /// Goals that the whole design has to be looked at for: one world cannot tell what happens in another,
    /// nor a slice what happens elsewhere. Where the history of a slice cannot be gone in the whole design,
    /// there may be no room for it in the rest.
    fn for_the_whole(&self, scaled: &Scaled) -> Vec<u32> {
        let elsewhere = self.found.violations.iter().filter(|held| held.elsewhere);
        let mut goals: Vec<u32> = elsewhere.map(|held| held.goal).collect();
        if (!scaled.left.none || self.machine.is_set()) && !scaled.left.open {
            let untold = self.traces.iter().filter(|(_, trace)| trace.is_none());
            goals.extend(untold.map(|(goal, _)| goal));
        }
        goals.sort_unstable();
        goals.dedup();
        goals
    }

    pub(crate) fn result(&self) -> ArmResult {
        ArmResult {
            name: self.name.clone(),
            states: self.explored.len() as u64,
            transitions: self.explored.transitions,
            depth: self.explored.depth,
            seconds: self.explored.seconds,
            bytes: self.explored.bytes_max as u64,
            state_bits: self.machine.plan.slots.bits(),
            closed: self.explored.stop.is_none(),
        }
    }

    /// What the world had no room for, in words.
    pub(crate) fn bounds_of_world(&self) -> Vec<String> {
        bounds(&self.machine, &self.found.beyond)
    }

    /// What was left out of this search, in words.
    pub(crate) fn bounds(&self) -> Vec<String> {
        let mut bounds = bounds(&self.machine, &self.found.beyond);
        if self.explored.stop == Some(Stop::Depth) {
            bounds.push(format!("depth: {}", self.explored.depth));
        }
        bounds
    }

    pub(crate) fn outcome(&self, goal: Goal) -> Outcome {
        match goal {
            Goal::Invariant(at) => self.invariant(at),
            Goal::Recovery(_) | Goal::LeadsTo(_) => {
                let told = self.fair.borrow().iter().find(|held| held.0 == goal).cloned();
                let (_, outcome) = told.unwrap_or_else(|| {
                    let outcome = match goal {
                        Goal::LeadsTo(at) => self.leads_to(at),
                        Goal::Recovery(at) | Goal::Invariant(at) => self.recovery(at),
                    };
                    self.fair.borrow_mut().push((goal, outcome.clone()));
                    (goal, outcome)
                });
                outcome
            }
        }
    }

    /// Where this goal was judged: here, or in the whole design.
    pub(crate) fn judged(&self, goal: Goal) -> &Run {
        let together = self.together.iter().find(|(at, _)| goal == Goal::Invariant(*at));
        together.map_or(self, |(_, whole)| whole)
    }

    /// Why nothing can be said that holds, if so.
    fn stopped(&self) -> Option<String> {
        if let Some(stop) = self.explored.stop.filter(|stop| *stop != Stop::Depth) {
            return Some(stop.to_string());
        }
        let unjudged = self.found.unjudged.first()?;
        Some(format!("{} could not be judged", name_of_beyond(&self.machine, *unjudged)))
    }

    /// The same of goals that need every history, to its end.
    fn unfinished(&self) -> Option<String> {
        let depth = self.explored.stop == Some(Stop::Depth);
        self.stopped().or_else(|| depth.then(|| format!("depth: {}", self.explored.depth)))
    }

    fn invariant(&self, at: u32) -> Outcome {
        if let Some((_, whole)) = self.together.iter().find(|(goal, _)| *goal == at) {
            return whole.invariant(at);
        }
        let told = self.traces.iter().find(|(goal, _)| *goal == at);
        match (told, self.stopped()) {
            (Some((_, Some(trace))), _) => Outcome::Fails(trace.clone()),
            (Some((_, None)), _) => Outcome::Untold,
            (None, Some(why)) => Outcome::Unknown(why),
            (None, None) => Outcome::Holds(self.bounds()),
        }
    }

    fn recovery(&self, at: u32) -> Outcome {
        if let Some(why) = self.unfinished() {
            return Outcome::Unknown(why);
        }
        let name = &self.machine.design.recoveries[at as usize].name;
        let left = self.bytes_max.saturating_sub(self.explored.bytes_max);
        let (machine, explored) = (&self.machine, &self.explored);
        let trace = match recover(machine, explored, at, left) {
            Recovery::Holds { .. } if self.partial => {
                return Outcome::Unknown("the search ended before all was seen".into());
            }
            Recovery::Unknown(why) => return Outcome::Unknown(why),
            Recovery::Holds { but: Some((what, beyond)) } => {
                self.no_room.borrow_mut().push(at);
                return Outcome::Unknown(format!(
                    "{} goes beyond {} while `{name}` does not hold",
                    name_of_move(machine, what),
                    name_of_beyond(machine, beyond)
                ));
            }
            Recovery::Holds { but: None }
                if self.island && !settles(machine, explored, at, left) =>
            {
                return Outcome::Unknown("each record recovers, perhaps not all at once".into());
            }
            Recovery::Holds { but: None } => return Outcome::Holds(self.bounds()),
            Recovery::Fails { cycle, dead_end: true } => {
                let ending = match machine.left.some_operation() {
                    true => {
                        format!("nothing more happens to what `{name}` reads, and it does not hold")
                    }
                    false => format!("nothing more happens, and `{name}` does not hold"),
                };
                lasso::dead_end(machine, explored, cycle[0], ending)
            }
            Recovery::Fails { cycle, dead_end: false } => {
                let ending = format!("this goes on for ever, and `{name}` never holds");
                lasso::lasso(machine, explored, &cycle, ending)
            }
        };
        let trace = match &self.whole {
            Some(whole) => {
                trace.and_then(|trace| guided::follow(whole, machine, &trace, End::Stuck(at)))
            }
            None => trace,
        };
        trace.map_or(Outcome::Untold, Outcome::Fails)
    }

    /// Does this `recovers` hold by what was explored here, in which other things may happen and
    /// interchangeable ones stand for each other? None: that cannot be told.
    pub(crate) fn recovers_here(&self, at: u32) -> Option<Outcome> {
        if self.explored.stop.is_some() || self.machine.is_set() || self.machine.left.open {
            return None;
        }
        let outcome = self.outcome(Goal::Recovery(at));
        matches!(outcome, Outcome::Holds(_)).then_some(outcome)
    }

    /// Is it not known of this `recovers` because the world has no room? Then another search in the same world
    /// comes to the same.
    pub(crate) fn lacks_room(&self, goal: Goal) -> bool {
        matches!(goal, Goal::Recovery(at) if self.no_room.borrow().contains(&at))
    }

    fn leads_to(&self, at: u32) -> Outcome {
        if let Some(why) = self.unfinished() {
            return Outcome::Unknown(why);
        }
        let name = &self.machine.design.leads[at as usize].goal.name;
        let left = self.bytes_max.saturating_sub(self.explored.bytes_max);
        let (machine, explored) = (&self.machine, &self.explored);
        let found = match leads::leads_to(machine, explored, at, left) {
            Led::Unknown(why) => return Outcome::Unknown(why),
            Led::Holds { but: Some((what, beyond)) } => {
                return Outcome::Unknown(format!(
                    "{} goes beyond {} while something waits for `{name}`",
                    name_of_move(machine, what),
                    name_of_beyond(machine, beyond)
                ));
            }
            Led::Holds { but: None } => return Outcome::Holds(self.bounds()),
            Led::Fails(found) => found,
        };
        let who = match &leads::told(machine, at, &found.of)[..] {
            [] => "it".into(),
            told => told.join(" with "),
        };
        let since = match found.began {
            0 => "from the start".into(),
            step => format!("since step {step}"),
        };
        let ending = match found.dead_end {
            true => format!(
                "{who} waits {since}, and nothing that is owed ends that: `{name}` is not kept"
            ),
            false => {
                format!("this goes on for ever, and {who} waits {since}: `{name}` is not kept")
            }
        };
        let trace = lasso::waits(machine, explored, &found, ending);
        let trace = match &self.whole {
            Some(whole) => trace.and_then(|trace| {
                let of = leads::same(machine, whole, at, &found.of)?;
                let end = End::Waits { goal: at, of: &of, began: found.began };
                guided::follow(whole, machine, &trace, end)
            }),
            None => trace,
        };
        trace.map_or(Outcome::Untold, Outcome::Fails)
    }
}

/// The whole design, with the same protections gone, as histories are told in it.
fn whole(
    slice: &Machine,
    wanted: &Wanted<'_>,
    options: &Options,
    network: Network,
) -> Option<Box<Machine>> {
    let protections = &slice.protections;
    Machine::new(wanted.whole, protections, options, false, &[], network).ok().map(Box::new)
}

/// A history of a slice, gone in the whole design.
fn retold(
    slice: &Machine,
    wanted: &Wanted<'_>,
    options: &Options,
    goal: u32,
    trace: &Trace,
) -> Option<Trace> {
    let whole = whole(slice, wanted, options, script::room_of(slice, trace))?;
    guided::follow(&whole, slice, trace, End::Breaks(goal))
}

/// Of the shortest histories in which a goal breaks, one with as few faults as can be.
fn best(machine: &Machine, explored: &Explored, violations: &[&Violation]) -> Option<Trace> {
    let traces = violations.iter().filter_map(|violation| {
        let name = &machine.design.invariants[violation.goal as usize].name;
        let ending = match violation.next {
            crate::arm::Next::To(_) => format!("`{name}` does not hold of the last step"),
            _ => format!("`{name}` does not hold"),
        };
        trace_builder::trace(machine, explored, violation, ending)
    });
    traces.min_by_key(|trace| {
        let faults = trace.steps.iter().filter(|step| step.fault.is_some()).count();
        let plain: Vec<String> =
            trace.steps.iter().map(|step| format!("{} {:?}", step.name, step.params)).collect();
        (trace.steps.len(), faults, plain)
    })
}

/// Goals that were not known to break before this level. What breaks by something in another world is
/// looked at later.
fn news(
    machine: &Machine,
    known: &Explored,
    workers: &[crate::arm::ArmWorker],
    told: &mut Vec<u32>,
) -> Vec<(u32, Trace)> {
    let all = || workers.iter().flat_map(|worker| &worker.found.violations);
    let mut goals: Vec<u32> = all().filter(|held| !held.elsewhere).map(|held| held.goal).collect();
    goals.sort_unstable();
    goals.dedup();
    goals.retain(|goal| !told.contains(goal));
    let mut news = Vec::new();
    for goal in goals {
        let violations: Vec<&Violation> =
            all().filter(|held| held.goal == goal && !held.elsewhere).collect();
        if let Some(trace) = best(machine, known, &violations) {
            news.push((goal, trace));
        }
        told.push(goal);
    }
    news
}

/// These goals, in all of the design, up to where they break.
fn together(
    goals: &[u32],
    wanted: &Wanted<'_>,
    name: &str,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<(u32, Run)>, WorldError> {
    let mut runs = Vec::new();
    for goal in goals.iter().copied() {
        let wanted = Wanted {
            name: format!("{name}, all together"),
            invariants: vec![goal],
            witnesses: false,
            one_is_enough: true,
            island: false,
            from: None,
            ..*wanted
        };
        runs.push((goal, Run::new(wanted.whole, &wanted, options, progress)?));
    }
    Ok(runs)
}
