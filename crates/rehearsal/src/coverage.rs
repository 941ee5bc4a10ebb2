//! What the tests of a design have made happen, and what they have not.

use std::collections::BTreeSet;

use design::model::{Design, OperationKind};

use crate::stage::Stage;

/// One operation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Covered {
    pub operation: String,
    /// `step`, `repair`, `effect`, `read`
    pub kind: &'static str,
    pub done: u64,
    /// each clause of its guard, and whether it has refused something
    pub clauses: Vec<(String, bool)>,
    /// of an effect: each answer that the design handles, and whether it was given
    pub answers: Vec<(String, bool)>,
}

impl Covered {
    /// Is there something of it that no test made happen?
    pub fn lacks(&self) -> bool {
        self.done == 0 || self.clauses.iter().chain(&self.answers).any(|(_, happened)| !happened)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    pub operations: Vec<Covered>,
}

impl Coverage {
    /// Nothing has happened yet.
    pub(crate) fn of(design: &Design) -> Coverage {
        let operations = design.operations.iter().map(|operation| {
            let (kind, answers) = match &operation.kind {
                OperationKind::Step { .. } => ("step", Vec::new()),
                OperationKind::Repair { .. } => ("repair", Vec::new()),
                OperationKind::Read { .. } => ("read", Vec::new()),
                OperationKind::Effect(effect) => {
                    let all = [
                        ("ok", &effect.on_ok),
                        ("refused", &effect.on_refused),
                        ("unknown", &effect.on_unknown),
                    ];
                    let written = all.into_iter().filter(|(_, answer)| answer.written);
                    ("effect", written.map(|(name, _)| (name.to_string(), false)).collect())
                }
            };
            // the guard of a repair or an effect is no refusal that anybody is told
            let refuses = matches!(kind, "step" | "read");
            let clauses = operation.guard.iter().filter(|_| refuses);
            Covered {
                operation: operation.name.clone(),
                kind,
                done: 0,
                clauses: clauses.map(|clause| (clause.name.clone(), false)).collect(),
                answers,
            }
        });
        Coverage { operations: operations.collect() }
    }

    pub(crate) fn add(&mut self, design: &Design, stage: &Stage<'_>) {
        let counted = stage.runtime.counters().all();
        let answered: &BTreeSet<(usize, &'static str)> = &stage.answered;
        for (at, (covered, (_, done, refused))) in
            self.operations.iter_mut().zip(counted).enumerate()
        {
            debug_assert_eq!(covered.operation, design.operations[at].name);
            covered.done += done;
            for (clause, happened) in &mut covered.clauses {
                *happened |= refused.contains_key(clause);
            }
            for (answer, happened) in &mut covered.answers {
                *happened |= answered.contains(&(at, answer.as_str()));
            }
        }
    }

    /// (done or refused at least once, all there is): operations, clauses and answers.
    pub fn counted(&self) -> (usize, usize) {
        let mut counted = (0, 0);
        for covered in &self.operations {
            let parts = covered.clauses.iter().chain(&covered.answers).map(|(_, it)| *it);
            for happened in parts.chain([covered.done > 0]) {
                counted.0 += usize::from(happened);
                counted.1 += 1;
            }
        }
        counted
    }
}
