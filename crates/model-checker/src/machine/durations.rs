//! How far back and ahead a design looks at times, and where they come from.

use std::collections::BTreeSet;

use design::model::{
    ActorId, ArithmeticOp, AssignOp, AttrId, Design, Expr, ExprKind, MemoryId, Operation, StmtKind,
    SubjectId, Target, Type, visit,
};
use engine::Word;

use super::lengths::Lengths;
use crate::bindings::each_expr;
use crate::world::flow::Scope;
use crate::world::sizes::holds_times;

/// In words.
pub(super) struct Durations {
    /// how far back times are told apart
    pub(super) compared: Word,
    /// how far ahead they are set
    pub(super) given: Word,
    /// is a stored time ever moved on?
    pub(super) moves_on: bool,
    /// is it used how far a time lies back, not only compared with a duration?
    pub(super) measures: bool,
}

/// Where a time comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Source {
    Attr(SubjectId, AttrId),
    Memory(ActorId, MemoryId),
    /// a local: it may be any
    Other,
}

pub(super) fn is_time(expr: &Expr) -> bool {
    *expr.ty.required() == Type::Time
}

pub(super) fn mentions_now(expr: &Expr) -> bool {
    let mut found = false;
    visit::each(expr, &mut |part| found |= matches!(part.kind, ExprKind::Now));
    found
}

impl Durations {
    /// `is_whole`: is nothing compared but whole durations, and how far one time lies from another?
    pub(super) fn of(design: &Design, lengths: &Lengths<'_>, is_whole: bool) -> Durations {
        let longest = lengths.longest;
        let moves_on = moved_on(design).iter().any(|sources| !sources.is_empty());
        let mut found = Durations { compared: 0, given: longest, moves_on, measures: false };
        each_expr(design, &mut |expr, scope| found.look(lengths, scope, expr, false));
        for (index, operation) in design.operations.iter().enumerate() {
            let total = |expr: &Expr| lengths.total(Scope::Operation(index as u32), expr);
            for body in visit::bodies(operation) {
                visit::each_statement(body, &mut |stmt| match &stmt.kind {
                    // What is put into a collection is compared with what is in there.
                    StmtKind::Assign { value, op: AssignOp::Add | AssignOp::Subtract, .. }
                        if is_time(value) =>
                    {
                        found.compared = found.compared.max(total(value));
                    }
                    StmtKind::Assign { target: Target::Element { key, .. }, .. }
                        if is_time(key) =>
                    {
                        found.compared = found.compared.max(total(key));
                    }
                    _ => {}
                });
            }
        }
        found.measures |= lengths.is_unsure() || !is_whole;
        found
    }

    /// `compared`: the value of this expression is compared with another.
    fn look(&mut self, lengths: &Lengths<'_>, scope: Scope, expr: &Expr, compared: bool) {
        let total = |expr: &Expr| lengths.total(scope, expr);
        let mut inside = false;
        match &expr.kind {
            ExprKind::Compare { left, right, .. } => {
                inside = true;
                let times = is_time(left) || is_time(right);
                if times || *left.ty.required() == Type::Duration {
                    self.compared = self.compared.max(total(left) + total(right));
                }
            }
            // It is compared with each of those it is among.
            ExprKind::In { item, .. } | ExprKind::Index { index: item, .. } if is_time(item) => {
                self.compared = self.compared.max(total(item));
            }
            ExprKind::Set(list) | ExprKind::Min(list) | ExprKind::Max(list)
                if list.iter().any(is_time) =>
            {
                let most = list.iter().map(total).max().unwrap_or(0);
                self.compared = self.compared.max(most);
            }
            ExprKind::NextOf { after, .. } => {
                self.given = self.given.max(total(expr));
                // What is late is moved on from where it was due.
                if !mentions_now(after) {
                    self.compared = self.compared.max(total(expr));
                }
            }
            ExprKind::Arithmetic { op, left, right } if is_time(left) => {
                if is_time(right) {
                    self.compared = self.compared.max(lengths.longest);
                    self.measures |= !compared;
                } else if *op == ArithmeticOp::Add || *op == ArithmeticOp::Subtract {
                    self.given = self.given.max(total(right));
                }
            }
            // Durations that are added up and then compared.
            ExprKind::Arithmetic { op: ArithmeticOp::Add | ArithmeticOp::Subtract, .. }
                if *expr.ty.required() == Type::Duration =>
            {
                inside = compared;
            }
            ExprKind::Old(_) => inside = compared,
            _ => {}
        }
        visit::children(expr, &mut |child| {
            self.look(lengths, scope, child, inside);
        });
    }
}

/// Where the times in an expression come from.
pub(super) fn sources(operation: Option<&Operation>, expr: &Expr, found: &mut BTreeSet<Source>) {
    if let ExprKind::Attr { base, attr } = &expr.kind
        && holds_times(&expr.ty)
    {
        found.extend(base.ty.subject().map(|subject| Source::Attr(subject, *attr)));
        return;
    }
    match &expr.kind {
        ExprKind::Memory(usage) if holds_times(&expr.ty) => {
            let usage = operation.map(|operation| &operation.memory[usage.index()]);
            found.insert(usage.map_or(Source::Other, |u| Source::Memory(u.actor, u.field)));
        }
        ExprKind::Local(_) if holds_times(&expr.ty) => {
            found.insert(Source::Other);
        }
        ExprKind::Remembered { actor, field, .. } if holds_times(&expr.ty) => {
            found.insert(Source::Memory(*actor, *field));
        }
        ExprKind::WorldArg { .. } if is_time(expr) => {
            found.insert(Source::Other);
        }
        _ => visit::children(expr, &mut |child| sources(operation, child, found)),
    }
}

/// For each operation, the times that it moves on: a stored time plus or minus a duration is stored.
pub(super) fn moved_on(design: &Design) -> Vec<BTreeSet<Source>> {
    let of_operation = |operation: &Operation| {
        let mut found = BTreeSet::new();
        let mut value = |expr: &Expr| {
            visit::each(expr, &mut |part| {
                if let ExprKind::Arithmetic { left, right, .. } = &part.kind
                    && is_time(part)
                    && is_time(left)
                    && !is_time(right)
                {
                    sources(Some(operation), left, &mut found);
                }
                if let ExprKind::NextOf { after, .. } = &part.kind {
                    sources(Some(operation), after, &mut found);
                }
            });
        };
        let mut added = Vec::new();
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                if let StmtKind::Assign { target, op: AssignOp::Add | AssignOp::Subtract, value } =
                    &stmt.kind
                    && *value.ty.required() == Type::Duration
                {
                    added.extend(target_of(operation, target));
                }
                // What a condition compares is not stored.
                if !matches!(stmt.kind, StmtKind::If { .. }) {
                    visit::statement_exprs(stmt, &mut value);
                }
            });
        }
        found.extend(added.into_iter().filter(|source| match source {
            Source::Attr(subject, attr) => {
                holds_times(&design.subjects[subject.index()].attributes[attr.index()].ty)
            }
            Source::Memory(actor, field) => {
                holds_times(&design.actors[actor.index()].memory[field.index()].ty)
            }
            Source::Other => true,
        }));
        found
    };
    design.operations.iter().map(of_operation).collect()
}

/// The place that is assigned to.
fn target_of(operation: &Operation, target: &Target) -> Option<Source> {
    match target {
        Target::Attr { base, attr } | Target::Element { base, attr, .. } => {
            base.ty.subject().map(|subject| Source::Attr(subject, *attr))
        }
        Target::Memory(usage) => {
            let usage = &operation.memory[usage.index()];
            Some(Source::Memory(usage.actor, usage.field))
        }
    }
}
