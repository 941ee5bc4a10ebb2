//! What is written and never looked at takes no room in a state.

use design::model::{AssignOp, AttrId, Design, ExprKind, StmtKind, SubjectId, Target, Type, visit};
use rustc_hash::FxHashSet;

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
