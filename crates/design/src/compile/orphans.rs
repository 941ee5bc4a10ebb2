//! A parent is not deleted while it has children: the design says how it knows that there are none.
//!
//! Children are without number, so a step cannot look for them. It counts them, by a counter that is
//! kept under the parent, or deletes a bounded number of them along with it. In both cases the step
//! keeps the count of *all* children, and the engine refuses to delete a record whose count is not 0
//! in the end: so what is accepted here leaves no orphan, whatever else the step does.

use syntax::{Diagnostic, Span};

use super::Compiler;
use super::rules::names_of_values;
use crate::model::visit::{bodies, each, each_mut, each_statement, same};
use crate::model::*;

/// A `delete`, and what holds where it stands: the guard, and every `if` around it.
struct Deleted<'d> {
    target: &'d Expr,
    span: Span,
    holds: Vec<&'d Expr>,
}

impl Compiler {
    pub(super) fn no_orphans(&mut self, operation: &Operation) {
        let names = names_of_values(operation);
        let guard: Vec<&Expr> = operation.guard.iter().map(|clause| &clause.body).collect();
        let mut deletes = Vec::new();
        for body in bodies(operation) {
            find(body, &guard, &mut deletes);
        }
        let mut problems = Vec::new();
        for deleted in &deletes {
            let Some(parent) = deleted.target.ty.subject() else { continue };
            for (at, child) in self.design.subjects.iter().enumerate() {
                let kind = SubjectId::of(at);
                if child.parent != Some(parent) {
                    continue;
                }
                let counts = Counts { design: &self.design, names: &names, kind, deleted };
                let with_it = deletes_any(operation, kind) && counts.somewhere();
                if !with_it && !deleted.holds.iter().any(|held| counts.none(held, true)) {
                    problems.push(self.orphans(operation, deleted, child));
                }
            }
        }
        self.diagnostics.append(&mut problems);
    }

    fn orphans(&self, operation: &Operation, deleted: &Deleted<'_>, child: &Subject) -> Diagnostic {
        let name = match &deleted.target.kind {
            ExprKind::Local(local) => operation.locals[local.index()].name.clone(),
            _ => "it".to_string(),
        };
        let child_name = &child.name;
        Diagnostic::error(
            "E0430",
            deleted.span,
            format!("`{}` may leave a `{child_name}` without its parent", operation.name),
        )
        .label(format!("nothing here makes sure that there is no `{child_name}` of it"))
        .also(child.span, "a child of what is deleted")
        .help(format!(
            "count them in the guard: `none: count({child_name} of {name}) = 0`; or count them and \
             delete a bounded number of them in the same step"
        ))
    }
}

fn find<'d>(body: &'d [Stmt], holds: &[&'d Expr], found: &mut Vec<Deleted<'d>>) {
    for statement in body {
        match &statement.kind {
            StmtKind::Delete { target } => {
                found.push(Deleted { target, span: statement.span, holds: holds.to_vec() });
            }
            StmtKind::For { body, .. } => find(body, holds, found),
            StmtKind::If { condition, then, otherwise } => {
                let mut inside = holds.to_vec();
                inside.push(condition);
                find(then, &inside, found);
                find(otherwise, holds, found);
            }
            _ => {}
        }
    }
}

fn deletes_any(operation: &Operation, kind: SubjectId) -> bool {
    let mut found = false;
    for body in bodies(operation) {
        each_statement(body, &mut |statement| {
            if let StmtKind::Delete { target } = &statement.kind {
                found |= target.ty.subject() == Some(kind);
            }
        });
    }
    found
}

/// Looks for the count of all children of one kind that the deleted record has.
struct Counts<'d> {
    design: &'d Design,
    names: &'d [(LocalId, Expr)],
    kind: SubjectId,
    deleted: &'d Deleted<'d>,
}

impl Counts<'_> {
    /// Is the count of all of them looked at where the `delete` stands?
    fn somewhere(&self) -> bool {
        let mut found = false;
        for held in &self.deleted.holds {
            each(held, &mut |part| found |= self.is_count(part));
        }
        found
    }

    /// If this is `truth`, are there none?
    fn none(&self, value: &Expr, truth: bool) -> bool {
        match &value.kind {
            ExprKind::And(parts) if truth => parts.iter().any(|part| self.none(part, true)),
            ExprKind::Or(parts) if !truth => parts.iter().any(|part| self.none(part, false)),
            ExprKind::Not(inner) => self.none(inner, !truth),
            ExprKind::Let { body, .. } => self.none(body, truth),
            ExprKind::Local(local) => {
                let named = self.names.iter().find(|(name, _)| name == local);
                named.is_some_and(|(_, value)| self.none(value, truth))
            }
            ExprKind::Compare { op, left, right } => {
                let (op, bound) = if self.is_count(left) {
                    (*op, right)
                } else if self.is_count(right) {
                    (mirrored(*op), left)
                } else {
                    return false;
                };
                let ExprKind::Literal(Const::Int(bound)) = bound.kind else { return false };
                // a count is never below 0
                match (op, truth) {
                    (CompareOp::Equal | CompareOp::LessEqual, true)
                    | (CompareOp::NotEqual | CompareOp::Greater, false) => bound == 0,
                    (CompareOp::Less, true) | (CompareOp::GreaterEqual, false) => bound == 1,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn is_count(&self, value: &Expr) -> bool {
        let ExprKind::Counter { base, counter } = &value.kind else { return false };
        let Some(parent) = base.ty.subject() else { return false };
        let counter = &self.design.subjects[parent.index()].counters[counter.index()];
        counter.child == self.kind
            && counter.value.is_none()
            && counter.filter.as_ref().is_none_or(|filter| always(filter, true))
            && same(&self.resolved(base), &self.resolved(self.deleted.target))
    }

    /// Names replaced by what they stand for.
    fn resolved(&self, value: &Expr) -> Expr {
        let mut value = value.clone();
        each_mut(&mut value, &mut |part| {
            // a name stands for an expression in which only earlier names occur
            while let ExprKind::Local(local) = part.kind
                && let Some((_, meant)) = self.names.iter().find(|(name, _)| *name == local)
            {
                *part = meant.clone();
            }
        });
        value
    }
}

/// A condition that lets all through: `count(Task of job where true)`, `all t in Task of job: false`.
fn always(value: &Expr, truth: bool) -> bool {
    match &value.kind {
        ExprKind::Literal(Const::Bool(held)) => *held == truth,
        ExprKind::Not(inner) => always(inner, !truth),
        _ => false,
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        same => same,
    }
}
