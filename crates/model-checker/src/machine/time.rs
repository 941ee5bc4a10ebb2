//! The clock: each time is kept as its distance from now, so a tick moves them all.

use design::model::{
    ArithmeticOp, AssignOp, Const, Design, Expr, ExprKind, OperationId, StmtKind, Type, Values,
    visit,
};
use engine::{HashPart, NULL, Word};

use super::{Machine, Move, NOW, Sink, Worker};

impl Machine {
    pub(super) fn tick<S: Sink>(&self, worker: &mut Worker, sink: &mut S) {
        if !self.has_time() {
            return;
        }
        for slot in &self.plan.times {
            let word = worker.before[*slot as usize];
            if word != NULL {
                self.set(worker, *slot, word - 1);
            }
        }
        let oldest = NOW - self.settings.horizon - 1;
        for slot in &self.aging {
            let word = worker.before[*slot as usize];
            if word != NULL {
                let older = self.terms.changed(word, &|part, word| match part {
                    HashPart::Time => (word - 1).max(oldest),
                    _ => word,
                });
                self.set(worker, *slot, older);
            }
        }
        self.emit(worker, sink, Move::Tick, NOW + 1);
    }
}

/// Does any digest have a time in it?
pub(super) fn is_hashed(design: &Design) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| {
        visit::each(expr, &mut |expr| {
            if let ExprKind::Hash(parts) = &expr.kind {
                found |= parts.iter().any(|part| *part.ty.required() == Type::Time);
            }
        });
    };
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut look);
    }
    found
}

/// Does the design compare stored times with each other, or measure how far they lie apart? Beyond
/// the horizon that is not exact: all times there are one.
pub(crate) fn compares_times(design: &Design) -> bool {
    let mut found = is_hashed(design);
    let mut look = |expr: &Expr| {
        visit::each(expr, &mut |expr| {
            let (left, right) = match &expr.kind {
                ExprKind::Compare { left, right, .. } => (left, right),
                ExprKind::Arithmetic { op: ArithmeticOp::Subtract, left, right }
                    if *right.ty.required() == Type::Time =>
                {
                    found = true;
                    return;
                }
                _ => return,
            };
            let times = *left.ty.required() == Type::Time && *right.ty.required() == Type::Time;
            found |= times && !mentions_now(left) && !mentions_now(right);
        });
    };
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut look);
    }
    for goal in design.invariants.iter().chain(&design.recoveries) {
        look(&goal.body);
    }
    found
}

fn mentions_now(expr: &Expr) -> bool {
    let mut found = false;
    visit::each(expr, &mut |part| found |= matches!(part.kind, ExprKind::Now));
    found
}

/// How far back times are told apart, how far ahead they are set, and whether a stored time is
/// ever moved on.
pub(super) fn durations(design: &Design) -> (Word, Word, bool) {
    let longest = longest(design);
    let mut compared = 0;
    let mut given = longest;
    let mut extends = false;
    let mut moved_on = false;
    let mut look = |expr: &Expr, operation: Option<OperationId>| {
        visit::each(expr, &mut |expr| match &expr.kind {
            ExprKind::Compare { left, right, .. }
                if *left.ty.required() == Type::Time || *right.ty.required() == Type::Time =>
            {
                let total = total(design, operation, left, longest)
                    + total(design, operation, right, longest);
                compared = compared.max(total);
            }
            ExprKind::Arithmetic { op, left, right } if *left.ty.required() == Type::Time => {
                if *right.ty.required() == Type::Time {
                    compared = compared.max(longest);
                } else {
                    given = given.max(total(design, operation, right, longest));
                    extends |= *op == ArithmeticOp::Add && !matches!(left.kind, ExprKind::Now);
                }
            }
            _ => {}
        });
    };
    for (index, operation) in design.operations.iter().enumerate() {
        let id = Some(OperationId::of(index));
        visit::operation_exprs(operation, &mut |expr| look(expr, id));
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                if let StmtKind::Assign { op: AssignOp::Add, value, .. } = &stmt.kind
                    && *value.ty.required() == Type::Duration
                {
                    moved_on = true;
                }
            });
        }
    }
    let mut look = |expr: &Expr| {
        visit::each(expr, &mut |expr| {
            if let ExprKind::Compare { left, right, .. } = &expr.kind
                && (*left.ty.required() == Type::Time || *right.ty.required() == Type::Time)
            {
                let total =
                    total(design, None, left, longest) + total(design, None, right, longest);
                compared = compared.max(total);
            }
        });
    };
    for goal in design.invariants.iter().chain(&design.recoveries) {
        look(&goal.body);
    }
    (compared, given, extends || moved_on)
}

/// The longest single duration: written, or given by a caller.
fn longest(design: &Design) -> Word {
    let mut longest = 0;
    let mut look = |value: &Const| {
        if let Const::Duration(ticks) = value {
            longest = longest.max(ticks.abs());
        }
    };
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut |expr| {
            visit::each(expr, &mut |expr| {
                if let ExprKind::Literal(value) = &expr.kind {
                    look(value);
                }
            });
        });
    }
    for goal in design.invariants.iter().chain(&design.recoveries) {
        visit::each(&goal.body, &mut |expr| {
            if let ExprKind::Literal(value) = &expr.kind {
                look(value);
            }
        });
    }
    for subject in &design.subjects {
        for attribute in &subject.attributes {
            if let Some(value) = &attribute.default {
                look(value);
            }
        }
    }
    for params in &design.world.params {
        for values in params {
            longest = longest.max(most(values));
        }
    }
    longest
}

fn most(values: &Values) -> Word {
    match values {
        Values::Ticks(ticks) => Word::from(*ticks),
        Values::Listed(list) => list
            .iter()
            .map(|value| if let Const::Duration(ticks) = value { ticks.abs() } else { 0 })
            .max()
            .unwrap_or(0),
        Values::OrNull(inner) => most(inner),
        _ => 0,
    }
}

/// The most that the durations in an expression add up to.
fn total(design: &Design, operation: Option<OperationId>, expr: &Expr, longest: Word) -> Word {
    match &expr.kind {
        ExprKind::Literal(Const::Duration(ticks)) => ticks.abs(),
        ExprKind::Local(local) if *expr.ty.required() == Type::Duration => {
            let params = operation.and_then(|id| {
                let at = design.operations[id.index()]
                    .params
                    .iter()
                    .position(|param| param.local == *local)?;
                design.world.params.get(id.index())?.get(at).map(most)
            });
            params.unwrap_or(longest)
        }
        ExprKind::Arithmetic { op: ArithmeticOp::Multiply, left, right } => {
            let factor = [left, right].iter().find_map(|side| match side.kind {
                ExprKind::Literal(Const::Int(factor)) => Some(factor.abs()),
                _ => None,
            });
            let sides =
                total(design, operation, left, longest) + total(design, operation, right, longest);
            sides * factor.unwrap_or(2)
        }
        ExprKind::Arithmetic { left, right, .. } => {
            total(design, operation, left, longest) + total(design, operation, right, longest)
        }
        _ if *expr.ty.required() == Type::Duration => longest,
        ExprKind::Min(list) | ExprKind::Max(list) => {
            list.iter().map(|expr| total(design, operation, expr, longest)).max().unwrap_or(0)
        }
        ExprKind::If { then, otherwise, .. } => total(design, operation, then, longest)
            .max(total(design, operation, otherwise, longest)),
        ExprKind::Old(inner) => total(design, operation, inner, longest),
        _ => 0,
    }
}
