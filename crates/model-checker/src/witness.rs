//! What should be seen to happen at least once.

use design::model::{ClauseRef, Design, Fault, Operation, OperationId, OperationKind};
use engine::{AnswerKind, Reason};

use crate::machine::{How, Machine, Move, is_implied};
use crate::report::WitnessKind;

/// Numbers for everything that can be witnessed.
pub(crate) struct Watch {
    /// with the number of the operation that it is of
    pub(crate) list: Vec<(WitnessKind, String, u32)>,
    accepted: Vec<Option<u32>>,
    /// for each operation: `exists`, `fresh`, then its clauses
    refused: Vec<Vec<Option<u32>>>,
    answers: Vec<[Option<u32>; 3]>,
    faults: Vec<(Fault, u32)>,
    /// what need not be seen: the design says why
    pub(crate) defended: Vec<String>,
}

pub(crate) fn operation_name(design: &Design, id: OperationId) -> String {
    let operation = &design.operations[id.index()];
    format!("{}[{}]", design.actors[operation.actor.index()].name, operation.name)
}

/// What happens, for a reader.
pub(crate) fn name_of_move(machine: &Machine, what: Move) -> String {
    let design = &machine.design;
    match what {
        Move::Repair { instance, .. } | Move::Call { instance, .. } => {
            operation_name(design, machine.instances[instance as usize].operation)
        }
        Move::Land { operation, .. } => operation_name(design, operation),
        Move::Deliver { plan, .. } => operation_name(design, machine.target(plan)),
        Move::Answer { effect, .. } => format!("an answer of {}", operation_name(design, effect)),
        Move::Tick => "the clock".into(),
        _ => "something".into(),
    }
}

pub(crate) fn clause_name(operation: &Operation, clause: ClauseRef) -> String {
    match clause {
        ClauseRef::Exists => "exists".into(),
        ClauseRef::Fresh => "fresh".into(),
        ClauseRef::Named(at) => {
            operation.guard.get(at as usize).map_or(String::new(), |clause| clause.name.clone())
        }
    }
}

pub(crate) fn clause_of(reason: Reason) -> Option<ClauseRef> {
    Some(match reason {
        Reason::Exists(_) | Reason::NoParent => ClauseRef::Exists,
        Reason::Fresh(_) => ClauseRef::Fresh,
        Reason::Clause(at) => ClauseRef::Named(at),
        _ => return None,
    })
}

fn index(clause: ClauseRef) -> usize {
    match clause {
        ClauseRef::Exists => 0,
        ClauseRef::Fresh => 1,
        ClauseRef::Named(at) => at as usize + 2,
    }
}

impl Watch {
    pub(crate) fn of(machine: &Machine) -> Watch {
        let design = &machine.design;
        let mut watch = Watch {
            list: Vec::new(),
            accepted: Vec::new(),
            refused: Vec::new(),
            answers: Vec::new(),
            faults: Vec::new(),
            defended: Vec::new(),
        };
        for (at, operation) in design.operations.iter().enumerate() {
            let id = OperationId::of(at);
            let name = operation_name(design, id);
            let of = at as u32;
            watch.answers.push([None; 3]);
            if machine.left.operation(id) {
                watch.accepted.push(None);
                watch.refused.push(Vec::new());
                continue;
            }
            let mut accepted = None;
            match &operation.kind {
                OperationKind::Effect(effect) => {
                    let kinds = [
                        (AnswerKind::Ok, "ok", true),
                        (AnswerKind::Refused, "refused", effect.on_refused.written),
                        (
                            AnswerKind::Unknown,
                            "unknown",
                            effect.on_unknown.written && machine.settings.unknowns,
                        ),
                    ];
                    for (number, (_, word, expected)) in kinds.into_iter().enumerate() {
                        if expected {
                            let number_in_list = watch.add(
                                WitnessKind::Answer,
                                format!("{name} answers {word}"),
                                of,
                            );
                            watch.answers[at][number] = Some(number_in_list);
                        }
                    }
                }
                OperationKind::Repair { .. } => {
                    accepted = Some(watch.add(WitnessKind::Repair, format!("{name} runs"), of));
                }
                OperationKind::Step { .. } | OperationKind::Read { .. } => {
                    accepted =
                        Some(watch.add(WitnessKind::Accepted, format!("{name} accepted"), of));
                }
            }
            watch.accepted.push(accepted);
            let mut refused = Vec::new();
            for clause in clauses(design, operation) {
                refused.push(clause.map(|clause| {
                    let clause = clause_name(operation, clause);
                    let what = format!("{}.{clause} refuses", operation.name);
                    watch.add(WitnessKind::Refused, what, of)
                }));
            }
            watch.refused.push(refused);
        }
        for held in &design.defences {
            let operation = &design.operations[held.operation.index()];
            let clause = clause_name(operation, held.clause);
            watch.defended.push(format!("{}.{clause} refuses", operation.name));
        }
        for (fault, budget) in &machine.settings.faults {
            if *budget != Some(0) && !is_implied(design, *fault) {
                let what = format!("{} strikes", fault.name());
                let number = watch.add(WitnessKind::Fault, what, u32::MAX);
                watch.faults.push((*fault, number));
            }
        }
        watch
    }

    fn add(&mut self, kind: WitnessKind, what: String, of: u32) -> u32 {
        self.list.push((kind, what, of));
        self.list.len() as u32 - 1
    }

    pub(crate) fn refused(&self, operation: OperationId, reason: Reason) -> Option<u32> {
        let clause = clause_of(reason)?;
        self.refused[operation.index()].get(index(clause)).copied().flatten()
    }

    pub(crate) fn fault(&self, fault: Fault) -> Option<u32> {
        self.faults.iter().find(|(held, _)| *held == fault).map(|(_, number)| *number)
    }

    /// What this transition shows: what happened in it, with faults or without, and which struck.
    pub(crate) fn moved(&self, machine: &Machine, what: Move, seen: &mut dyn FnMut(u32)) {
        let happened = match what {
            Move::Call { instance, .. } | Move::Repair { instance, .. } => {
                self.accepted[machine.instances[instance as usize].operation.index()]
            }
            Move::Deliver { plan, how, .. } if !how.has(How::REFUSED.and(How::PASSED)) => {
                self.accepted[machine.target(plan).index()]
            }
            Move::Land { operation, refused: false, .. } => self.accepted[operation.index()],
            Move::Answer { effect, kind, dropped: false, .. } => {
                self.answers[effect.index()][match kind {
                    AnswerKind::Ok => 0,
                    AnswerKind::Refused => 1,
                    AnswerKind::Unknown => 2,
                }]
            }
            _ => None,
        };
        happened.into_iter().for_each(&mut *seen);
        what.faults().into_iter().filter_map(|fault| self.fault(fault)).for_each(seen);
    }
}

/// `exists` and `fresh` where they can refuse, then every clause that is written.
fn clauses(design: &Design, operation: &Operation) -> Vec<Option<ClauseRef>> {
    let asks = operation.params.iter().any(|param| design.asks_for_presence(param));
    let makes = operation.params.iter().any(|param| param.new);
    let effect = matches!(operation.kind, OperationKind::Effect(_));
    let repair = matches!(operation.kind, OperationKind::Repair { .. });
    // an event of the design speaks of what was there when it was emitted
    let own_event = operation.hears.as_ref().is_some_and(|hears| hears.design.is_none());
    let called = !effect && !repair && !own_event && operation.each.is_none();
    let mut list =
        vec![(asks && called).then_some(ClauseRef::Exists), makes.then_some(ClauseRef::Fresh)];
    list.extend((0..operation.guard.len()).map(|at| Some(ClauseRef::Named(at as u32))));
    list
}
