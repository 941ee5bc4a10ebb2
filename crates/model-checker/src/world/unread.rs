//! What is written and never looked at takes no room in a state.

use design::model::{AssignOp, AttrId, Design, ExprKind, StmtKind, SubjectId, Target, Type, visit};
use rustc_hash::FxHashSet;

use super::sizes::holds_times;

/// Times that are written and never looked at.
pub(super) fn unread_times(design: &Design) -> FxHashSet<(SubjectId, AttrId)> {
    let mut unread = FxHashSet::default();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (at, attribute) in subject.attributes.iter().enumerate() {
            if *attribute.ty.required() == Type::Time {
                unread.insert((SubjectId::of(index), AttrId::of(at)));
            }
        }
    }
    // every expression of the design is visited in this way only
    visit::design_exprs_mut(&mut design.clone(), &mut |expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Attr { base, attr } = &part.kind
                && let Some(subject) = base.ty.subject()
            {
                unread.remove(&(subject, *attr));
            }
        });
    });
    for operation in &design.operations {
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                if let StmtKind::Assign { target: Target::Attr { base, attr }, op, .. } = &stmt.kind
                    && *op != AssignOp::Set
                    && let Some(subject) = base.ty.subject()
                {
                    unread.remove(&(subject, *attr));
                }
            });
        }
    }
    unread
}

/// Is there a time that somebody looks at: in truth, in a memory, in a call?
pub(super) fn reads_times(design: &Design, unread: &FxHashSet<(SubjectId, AttrId)>) -> bool {
    let is_time = holds_times;
    let truth = design.subjects.iter().enumerate().any(|(index, subject)| {
        subject.attributes.iter().enumerate().any(|(at, attribute)| {
            is_time(&attribute.ty) && !unread.contains(&(SubjectId::of(index), AttrId::of(at)))
        })
    });
    let mut memory = design.actors.iter().flat_map(|actor| &actor.memory);
    let mut params = design.operations.iter().flat_map(|operation| &operation.params);
    truth || memory.any(|held| is_time(&held.ty)) || params.any(|param| is_time(&param.ty))
}
