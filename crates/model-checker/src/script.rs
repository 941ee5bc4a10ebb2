//! What a history of a slice, or of messages kept as a set, says of the whole design with its messages one by
//! one: a script for the search in `guided`.

use design::model::{Goal, OperationId, Type};
use engine::Word;
use rustc_hash::FxHashSet;

use crate::guided::End;
use crate::machine::{Machine, Move};
use crate::network::reads_messages;
use crate::world::plan::Network;
use crate::world::sorts::message_targets;
use crate::{StepKind, Trace, TraceStep};

/// One thing that is to happen.
pub(crate) enum Scripted<'a> {
    Step(Told<'a>),
    /// every message under way is lost, but for these
    Lost(Vec<String>),
}

/// One step of the slice's history, as far as it says anything of the whole design.
pub(crate) struct Told<'a> {
    pub(crate) step: &'a TraceStep,
    pub(crate) params: Vec<&'a (String, String)>,
    /// does it matter who acts?
    pub(crate) personal: bool,
    /// what goes wrong in it
    pub(crate) fault: Option<String>,
}

/// What the step is called with which clients fall silent.
pub(crate) const SILENT: &str = "clients are silent";

/// The name under which a state tells of a message that is owed.
pub(crate) const OWED: &str = "message owed";

/// With more messages than this under way a history is not told.
const ROOM_MAX: usize = 64;

/// So many messages have room where a history of this machine is told.
pub(crate) fn room(machine: &Machine) -> Network {
    let rows = machine.plan.sent.iter().map(|plan| plan.rows.len()).sum();
    if machine.is_set() { in_room(machine, rows) } else { Network::OneByOne }
}

/// The same, where the history is known.
pub(crate) fn room_of(machine: &Machine, trace: &Trace) -> Network {
    let changes = trace.steps.iter().flat_map(|step| &step.changes);
    let sent = changes.filter(|change| change.record == "message").count() + 1;
    if machine.is_set() { in_room(machine, sent) } else { Network::OneByOne }
}

fn in_room(machine: &Machine, messages: usize) -> Network {
    // A set does not tell from where a message was sent.
    Network::Room((messages * (machine.places.len() + 1)).clamp(2, ROOM_MAX) as u32)
}

pub(crate) fn script<'a>(slice: &Machine, trace: &'a Trace, end: End<'_>) -> Vec<Scripted<'a>> {
    let counted = |step: &&TraceStep| end.counts(step);
    if !slice.is_set() {
        let told = |step| Scripted::Step(told(slice, step));
        return trace.steps.iter().filter(counted).map(told).collect();
    }
    let on_the_way = trace.cycle_start.unwrap_or(trace.steps.len());
    let (before, cycle) = trace.steps.split_at(on_the_way);
    let targets = message_targets(&slice.design);
    let is_message = |step: &TraceStep| {
        step.kind == StepKind::Delivery && step.operation.is_some_and(|id| targets[id.index()])
    };
    // A message that was refused, or that came to nothing, may as well not have arrived.
    let does_nothing = |step: &TraceStep| {
        is_message(step)
            && step.changes.iter().all(|change| change.after == "none")
            && !step.changes.is_empty()
    };
    let kept: Vec<&TraceStep> = before
        .iter()
        .filter(counted)
        .filter(|step| step.name != SILENT && !does_nothing(step))
        .collect();
    let always = reads(slice, end);
    let mut script: Vec<Scripted<'a>> = Vec::new();
    for (at, step) in kept.iter().enumerate() {
        let mut told = told(slice, step);
        if is_message(step) {
            let same = |other: &&TraceStep| {
                is_message(other)
                    && other.operation == step.operation
                    && other.params == step.params
            };
            let again = always || kept[at + 1..].iter().any(same);
            told.fault = delivered(step.fault.as_deref(), again);
        }
        script.push(Scripted::Step(told));
    }
    if let End::Stuck(_) = end {
        script.push(Scripted::Lost(owed(before)));
        script.extend(cycle.iter().map(|step| Scripted::Step(told(slice, step))));
    }
    script
}

/// A delivery after which the message stays on its way is one that is doubled.
fn delivered(fault: Option<&str>, again: bool) -> Option<String> {
    const DOUBLED: &str = "doubled_message";
    let others = fault.into_iter().flat_map(|fault| fault.split(" and "));
    let mut faults: Vec<&str> = others.filter(|fault| *fault != DOUBLED).collect();
    faults.extend(again.then_some(DOUBLED));
    (!faults.is_empty()).then(|| faults.join(" and "))
}

/// Does the goal look at the messages under way?
fn reads(slice: &Machine, end: End<'_>) -> bool {
    let goal = match end {
        End::Breaks(at) => Goal::Invariant(at),
        End::Stuck(_) | End::Waits { .. } => return false,
    };
    reads_messages(&crate::slice::goal(&slice.design, goal).body)
}

/// The messages that are owed after these steps.
fn owed(steps: &[TraceStep]) -> Vec<String> {
    let mut owed: Vec<String> = Vec::new();
    let changes = steps.iter().flat_map(|step| &step.changes);
    for change in changes.filter(|change| change.record == OWED) {
        owed.retain(|held| *held != change.attribute);
        if change.after != "none" {
            owed.push(change.attribute.clone());
        }
    }
    owed
}

fn told<'a>(slice: &Machine, step: &'a TraceStep) -> Told<'a> {
    let declared = step.operation.map(|id| (id, &slice.design.operations[id.index()]));
    let params = step.params.iter().filter(|(name, _)| {
        declared.is_none_or(|(id, operation)| {
            let param = operation.params.iter().find(|param| param.name == *name);
            param.is_none_or(|param| {
                let by_the_clock = matches!(param.ty.required(), Type::Duration | Type::Time);
                let makes_a_difference = !slice.left.params.contains(&(id, param.local));
                makes_a_difference && !(slice.left.own_clock && by_the_clock)
            })
        })
    });
    let personal = step.operation.is_none_or(|id| {
        let callers: FxHashSet<Word> = slice
            .instances
            .iter()
            .filter(|held| held.operation == id)
            .map(|held| held.me)
            .collect();
        callers.len() > 1
    });
    Told { step, params: params.collect(), personal, fault: step.fault.clone() }
}

impl Machine {
    /// A message with where it is from, which is a number of a place, plus one.
    pub(crate) fn show_from(&self, operation: OperationId, from: Word, args: &[Word]) -> String {
        let message = self.show_message(operation, args);
        if from == 0 { message } else { format!("{message} from place {from}") }
    }

    /// The message that gets lost.
    pub(crate) fn lost(&self, what: Move, words: &[Word]) -> Option<String> {
        let Move::Lose { plan, at } = what else { return None };
        let plan = self.plan.messages.get(plan as usize)?;
        let slot = (plan.first + plan.stride * at) as usize;
        let args = &words[slot + 1..slot + plan.stride as usize];
        Some(self.show_from(plan.operation, words[slot] - 1, args))
    }

    /// The first message under way that is not among these.
    pub(crate) fn first_but(&self, kept: &[String], words: &[Word]) -> Option<String> {
        let plans = 0..self.plan.messages.len() as u32;
        let mut moves = plans.flat_map(|plan| {
            let count = self.plan.messages[plan as usize].count;
            (0..count).map(move |at| (plan, at))
        });
        moves.find_map(|(plan, at)| {
            let held = &self.plan.messages[plan as usize];
            if words[(held.first + held.stride * at) as usize] == 0 {
                return None;
            }
            self.lost(Move::Lose { plan, at }, words).filter(|message| !kept.contains(message))
        })
    }
}
