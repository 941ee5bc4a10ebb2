//! A failure that only says its guard once more: the goal breaks in the very step whose clause was taken
//! away, and reads all that the clause reads.

use std::collections::BTreeSet;

use design::model::{
    AttrId, ClauseRef, CounterId, Design, Expr, ExprKind, Goal, Protection, SubjectId, visit,
};

use crate::Trace;
use crate::design_parts::protection_name;

/// Something of truth that an expression reads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Attr(SubjectId, AttrId),
    Counter(SubjectId, CounterId),
}

pub(crate) fn its_guard(
    design: &Design,
    protections: &[Protection],
    goal: Goal,
    trace: &Trace,
) -> bool {
    let goal = match goal {
        Goal::Invariant(at) => &design.invariants[at as usize],
        Goal::Recovery(_) | Goal::LeadsTo(_) => return false,
    };
    let Some(last) = trace.steps.last() else { return false };
    let goal = reads(&goal.body);
    protections.iter().any(|protection| {
        let Protection::Clause { operation, clause: ClauseRef::Named(clause) } = protection else {
            return false;
        };
        let clause = &design.operations[operation.index()].guard[*clause as usize];
        let clause = reads(&clause.body);
        last.would_have_refused.as_ref() == Some(&protection_name(design, protection))
            && !clause.is_empty()
            && clause.is_subset(&goal)
    })
}

fn reads(expr: &Expr) -> BTreeSet<Read> {
    let mut found = BTreeSet::new();
    visit::each(expr, &mut |part| match &part.kind {
        ExprKind::Attr { base, attr } => {
            found.extend(base.ty.subject().map(|subject| Read::Attr(subject, *attr)));
        }
        ExprKind::Counter { base, counter } => {
            found.extend(base.ty.subject().map(|subject| Read::Counter(subject, *counter)));
        }
        _ => {}
    });
    found
}
