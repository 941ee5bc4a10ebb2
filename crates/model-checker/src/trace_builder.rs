//! A path through the states becomes a history that can be read.

use design::model::{ClauseRef, Fault, Goal, OperationId, Protection, Span};
use engine::{AnswerKind, Command, NULL, Outcome, Program, Scratch, Word};

use crate::arm::{Next, Violation, breaks};
use crate::machine::{Beyond, How, InstanceKind, Machine, Move, NOW, Sink, Step, View, Worker};
use crate::script::SILENT;
use crate::search::Explored;
use crate::witness::{clause_name, clause_of};
use crate::world::plan::SlotName;
use crate::{ChangeLine, StateLine, StepKind, Trace, TraceStep};

/// Which transition comes next in a history.
pub(crate) enum Wanted<'a> {
    /// the one that leads to this state, and breaks this goal about transitions
    To(&'a [u64], Option<u32>),
    /// one that leads to this state without a fault
    Calm(&'a [u64]),
    /// one that the world has no room for, and that breaks this goal
    Beyond(u32),
}

/// Looks for it.
struct Finder<'a> {
    wanted: Wanted<'a>,
    scratch: Scratch,
    found: Option<(Move, Vec<Word>, Vec<StateLine>)>,
}

impl Sink for Finder<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let (state, goal) = match self.wanted {
            Wanted::To(state, goal) => (state, goal),
            Wanted::Calm(state) if step.what.is_calm() => (state, None),
            Wanted::Calm(_) | Wanted::Beyond(_) => return,
        };
        if self.found.is_none()
            && step.packed == state
            && goal.is_none_or(|goal| breaks(machine, goal, step, &mut self.scratch))
        {
            self.found = Some((step.what, step.next(machine), Vec::new()));
        }
    }

    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, _what: Beyond) {
        let Wanted::Beyond(goal) = self.wanted else { return };
        if self.found.is_none() && breaks(machine, goal, step, &mut self.scratch) {
            // Times are told as they are, without making them fit.
            let extras = machine.extra_lines(step.extras);
            self.found = Some((step.what, step.after.to_vec(), extras));
        }
    }
}

/// Replays packed states from the first on, with real numbers and names.
pub(crate) struct Replay<'a> {
    pub(crate) machine: &'a Machine,
    /// the design with everything in place, to ask what would have refused
    whole: Program,
    worker: Worker,
    pub(crate) words: Vec<Word>,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Replay<'a> {
        Replay {
            machine,
            whole: Program::new(&machine.design),
            worker: machine.worker(),
            words: machine.initial(),
        }
    }

    /// One step on, if there is one as wanted.
    pub(crate) fn step(&mut self, wanted: Wanted<'_>, recovery: bool) -> Option<TraceStep> {
        let machine = self.machine;
        machine.load_words(&mut self.worker, &self.words).ok()?;
        let mut finder = Finder { wanted, scratch: Scratch::new(), found: None };
        machine.expand(&mut self.worker, &mut finder, recovery);
        let (what, after, extras) = finder.found?;
        let mut step = self.explain(what, &after);
        step.changes.extend(extras.into_iter().map(|line| ChangeLine {
            record: line.record,
            attribute: line.attribute,
            before: "absent".into(),
            after: line.value,
        }));
        self.words = after;
        Some(step)
    }

    fn explain(&mut self, what: Move, after: &[Word]) -> TraceStep {
        let machine = self.machine;
        let mut step = machine.describe(what, &self.words);
        step.changes = machine.changes(&self.words, after);
        step.memory = machine.beliefs(after);
        if let Some((operation, me, params, memory)) = machine.command_of(what, &self.words) {
            let shift = machine.times.unit
                * match what {
                    Move::Call { how, .. }
                    | Move::Repair { how, .. }
                    | Move::Land { how, .. }
                    | Move::Answer { how, .. }
                    | Move::Deliver { how, .. } => how.shift(),
                    _ => 0,
                };
            let held = &machine.design.operations[operation.index()];
            step.params = machine.show_params(operation, &params);
            step.remembered = held
                .memory
                .iter()
                .zip(&memory)
                .filter(|(usage, _)| usage.read)
                .map(|(usage, word)| {
                    let field =
                        &machine.design.actors[usage.actor.index()].memory[usage.field.index()];
                    (field.name.clone(), machine.show(&field.ty, &[*word]))
                })
                .collect();
            let view = View::new(machine, &self.words, NOW + shift);
            let answer = match what {
                Move::Answer { kind, .. } => Some((kind, NULL)),
                _ => None,
            };
            let command = Command {
                operation,
                params: &params,
                memory: &memory,
                me,
                now: NOW + shift,
                answer,
            };
            let mut scratch = Scratch::new();
            if let Move::Call { how, .. } = what
                && how.has(How::OLDER)
            {
                step.would_have_refused = Some(format!("at_least of {}", held.name));
            } else if let Move::Land { refused: false, .. } = what
                && machine.lost_key(operation)
                && !machine.settings.on(Fault::Late)
            {
                // Where calls come late, one that lands may be the first.
                step.would_have_refused = Some(format!("keyed of {}", held.name));
            } else if let Outcome::Refused(refusal) =
                engine::guard(&self.whole, &view, &command, &mut scratch)
                && let Some(clause) = clause_of(refusal.reason)
            {
                let name = format!("{}.{}", held.name, clause_name(held, clause));
                if machine.took_away(operation, clause) {
                    step.would_have_refused = Some(name);
                } else {
                    step.refused = Some(name);
                }
            }
        }
        step
    }
}

/// How a trace calls a call that is repeated without its key.
const RETRY: &str = "retry_without_key";

impl Machine {
    /// Was it taken away that a repetition of this call is answered as the first?
    fn lost_key(&self, operation: OperationId) -> bool {
        self.program.keyed_removed(operation) && !self.answers_again(operation)
    }

    fn took_away(&self, operation: OperationId, clause: ClauseRef) -> bool {
        self.protections.iter().any(|protection| {
            matches!(protection, Protection::Clause { operation: o, clause: c }
                if *o == operation && *c == clause)
        })
    }

    /// The call behind a transition: operation, principal, arguments, memory.
    fn command_of(
        &self,
        what: Move,
        words: &[Word],
    ) -> Option<(OperationId, Word, Vec<Word>, Vec<Word>)> {
        let of_instance = |number: u32, memory: Vec<Word>| {
            let instance = &self.instances[number as usize];
            (instance.operation, instance.me, instance.params.to_vec(), memory)
        };
        Some(match what {
            Move::Call { instance, how } | Move::Repair { instance, how } => {
                let memory = self.instances[instance as usize]
                    .memory
                    .iter()
                    .map(|slots| {
                        let stale = slots.stale.map_or(NULL, |slot| words[slot as usize]);
                        match how {
                            _ if how.has(How::STALE) && stale != NULL => stale,
                            _ => words[slots.slot as usize],
                        }
                    })
                    .collect();
                of_instance(instance, memory)
            }
            Move::Leave { instance } => {
                let slots = &self.instances[instance as usize].memory;
                of_instance(instance, slots.iter().map(|s| words[s.slot as usize]).collect())
            }
            Move::Land { call, .. } | Move::Drop { call } => {
                let slot = (self.plan.calls.first + self.plan.calls.stride * call) as usize;
                let number = words[slot] as u32 - 1;
                let slots = &self.instances[number as usize].memory;
                let memory = slots.iter().map(|s| words[slot + s.in_call as usize]).collect();
                of_instance(number, memory)
            }
            Move::Deliver { plan, at, principal, .. } => {
                let target = self.target(plan);
                let memory = vec![NULL; self.design.operations[target.index()].memory.len()];
                (target, Word::from(principal), self.carried(plan, at, words), memory)
            }
            Move::Answer { effect, key, .. } | Move::Attempt { effect, key } => {
                let plan = self.plan.effects[effect.index()].as_ref()?;
                (effect, 0, words[plan.args(key as usize)].to_vec(), vec![])
            }
            Move::Decide { effect, key, .. } | Move::Again { effect, key } => {
                let plan = self.plan.effects[effect.index()].as_ref()?;
                (effect, 0, words[plan.world_args(key as usize)].to_vec(), vec![])
            }
            _ => return None,
        })
    }

    /// Who does what with which arguments.
    pub(crate) fn told(&self, what: Move, words: &[Word]) -> TraceStep {
        let mut step = self.describe(what, words);
        if let Some((operation, _, params, _)) = self.command_of(what, words) {
            step.params = self.show_params(operation, &params);
        }
        step
    }

    /// Who does what, without what comes of it.
    fn describe(&self, what: Move, words: &[Word]) -> TraceStep {
        let mut step = TraceStep {
            kind: StepKind::Step,
            actor: String::new(),
            principal: None,
            operation: None,
            name: String::new(),
            params: Vec::new(),
            remembered: Vec::new(),
            fault: fault_names(what),
            changes: Vec::new(),
            memory: Vec::new(),
            refused: None,
            would_have_refused: None,
            span: None,
        };
        if let Some((operation, me, _, _)) = self.command_of(what, words) {
            let held = &self.design.operations[operation.index()];
            step.actor = self.design.actors[held.actor.index()].name.clone();
            step.operation = Some(operation);
            step.name = held.name.clone();
            step.span = Some(Span::clone(&held.span));
            step.principal = Some(self.show_principal(me));
        }
        let named = |step: &mut TraceStep, kind: StepKind, name: &str| {
            step.kind = kind;
            name.clone_into(&mut step.name);
        };
        match what {
            Move::Call { instance, how } => {
                if how.has(How::OLDER) {
                    step.fault = Some("older_state".into());
                }
                if how == How::DUPLICATE && step.operation.is_some_and(|id| self.lost_key(id)) {
                    step.fault = Some(RETRY.into());
                }
                if self.instances[instance as usize].kind == InstanceKind::World {
                    step.kind = StepKind::World;
                }
            }
            Move::Repair { .. } => step.kind = StepKind::Repair,
            Move::Leave { .. } => step.kind = StepKind::Fault,
            Move::Land { .. } | Move::Drop { .. } | Move::Deliver { .. } => {
                step.kind = StepKind::Delivery;
                if let Move::Deliver { how, .. } = what
                    && how.has(How::PASSED)
                {
                    step.fault = Some("passed_over".into());
                }
                if let Move::Drop { .. } = what {
                    step.refused = Some("dropped".into());
                }
            }
            Move::Attempt { .. } => step.kind = StepKind::Effect,
            Move::Decide { yes, .. } => {
                let name = format!("{} {}", step.name, if yes { "is done" } else { "is refused" });
                named(&mut step, StepKind::Effect, &name);
                step.actor = "world".into();
                step.principal = None;
            }
            Move::Again { .. } => {
                let name = format!("{} is done again", step.name);
                named(&mut step, StepKind::Effect, &name);
                step.actor = "world".into();
                step.principal = None;
            }
            Move::Answer { kind, .. } => {
                let answer = match kind {
                    AnswerKind::Ok => "ok",
                    AnswerKind::Refused => "refused",
                    AnswerKind::Unknown => "unknown",
                };
                let name = format!("{} answers {answer}", step.name);
                named(&mut step, StepKind::Answer, &name);
                step.principal = None;
            }
            Move::Lose { plan, .. } => {
                let id = self.target(plan);
                let name = format!("{} is lost", self.design.operations[id.index()].name);
                named(&mut step, StepKind::Fault, &name);
            }
            Move::Tick => named(&mut step, StepKind::Tick, "tick"),
            Move::Crash { principal } => {
                named(&mut step, StepKind::Fault, "crash");
                let actor = self.universe.principals[principal as usize].actor;
                step.actor = self.design.actors[actor.index()].name.clone();
                step.principal = Some(self.show_principal(Word::from(principal)));
            }
            Move::Down { place } => {
                named(&mut step, StepKind::Fault, "place down");
                step.params = vec![("place".into(), format!("place {}", place + 1))];
            }
            Move::Evict { principal, cache, key } => {
                named(&mut step, StepKind::Fault, "evict");
                let subject = self.plan.caches[cache as usize].subject;
                step.params = vec![("key".into(), self.show_key(subject, Word::from(key)))];
                step.principal = Some(self.show_principal(Word::from(principal)));
            }
            Move::Cut { .. } => named(&mut step, StepKind::Fault, "partition"),
            Move::Silence => named(&mut step, StepKind::World, SILENT),
            Move::Heal => named(&mut step, StepKind::Delivery, "partition heals"),
            Move::Forget { start } => {
                named(&mut step, StepKind::World, "forget");
                if let SlotName::Log { subject, key, log, .. } = self.plan.names[start as usize] {
                    let declared = &self.design.subjects[subject.index()];
                    step.name = format!("forget {}", declared.states[log.index()].name);
                    let shown = self.show_key(subject, Word::from(key));
                    step.params = vec![(declared.name.to_lowercase(), shown)];
                }
            }
            Move::Put { blob, .. } => {
                let name = format!("put {}", self.design.blobs[blob.index()].name);
                named(&mut step, StepKind::World, &name);
            }
        }
        if step.actor.is_empty() {
            step.actor = match step.kind {
                StepKind::Tick => "clock".into(),
                StepKind::Fault => step.fault.clone().unwrap_or_default(),
                _ => "world".into(),
            };
        }
        step
    }
}

/// `lost_reply and duplicate`
fn fault_names(what: Move) -> Option<String> {
    let names: Vec<&str> = what.faults().into_iter().map(Fault::name).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

/// The history in which a goal breaks, step by step. None if it cannot be gone again, or the goal does not
/// break at its end: then it shows nothing.
pub(crate) fn trace(
    machine: &Machine,
    explored: &Explored,
    violation: &Violation,
    ending: String,
) -> Option<Trace> {
    let mut replay = Replay::new(machine);
    let mut trace = replay.follow(explored, &explored.path(violation.state), ending)?;
    let goal = violation.goal;
    let last = match &violation.next {
        Next::Here => {
            let view = View::new(machine, &replay.words, NOW);
            let goal = Goal::Invariant(goal);
            // One that breaks by what happens elsewhere is of transitions.
            let uses_old = violation.elsewhere;
            let old = uses_old.then_some(&view);
            let mut scratch = Scratch::new();
            let holds = match old {
                Some(old) => engine::holds(&machine.program, goal, &view, Some(old), &mut scratch),
                None => engine::holds(&machine.program, goal, &view, None, &mut scratch),
            };
            return (holds != Ok(true)).then_some(trace);
        }
        Next::To(state) => replay.step(Wanted::To(state, Some(goal)), false)?,
        Next::Beyond => replay.step(Wanted::Beyond(goal), false)?,
    };
    trace.steps.push(last);
    Some(trace)
}
