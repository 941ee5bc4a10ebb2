//! Logs that keep their entries for a time: the first entry goes whenever it likes.
//!
//! No age is counted, so whatever holds here holds however long entries are kept, and however late
//! they are forgotten. Where nothing looks at the beginning of a log, that it moves changes nothing.

use std::collections::BTreeSet;

use design::model::{Design, Expr, ExprKind, Retention, StateId, StateKind, SubjectId, visit};

use super::{Machine, Move, NOW, Sink, Worker};
use crate::world::plan::{Plan, SlotName};

/// The slots with the start of such logs, where the design looks at it.
pub(super) fn starts(design: &Design, plan: &Plan) -> Vec<u32> {
    let looked_at = looked_at(design);
    let by_age = |subject: SubjectId, log: StateId| {
        let kind = design.subjects[subject.index()].states[log.index()].kind;
        matches!(kind, StateKind::Log { retain: Retention::Age(_) })
    };
    let slots = plan.names.iter().enumerate().filter(|(_, name)| match name {
        SlotName::Log { subject, log, end: false, .. } => {
            by_age(*subject, *log) && looked_at.contains(&(subject.0, log.0))
        }
        _ => false,
    });
    slots.map(|(slot, _)| slot as u32).collect()
}

/// The logs whose start is mentioned anywhere.
fn looked_at(design: &Design) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    // every expression of the design is visited in this way only
    visit::design_exprs_mut(&mut design.clone(), &mut |expr: &mut Expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::LogStart { base, log } = &part.kind
                && let Some(subject) = base.ty.subject()
            {
                found.insert((subject.0, log.0));
            }
        });
    });
    found
}

impl Machine {
    pub(super) fn forget<S: Sink>(&self, worker: &mut Worker, sink: &mut S, start: u32) {
        let at = start as usize;
        let (first, end) = (worker.before[at], worker.before[at + 1]);
        if first < end {
            self.set(worker, start, first + 1);
            self.emit(worker, sink, Move::Forget { start }, NOW);
        }
    }
}
