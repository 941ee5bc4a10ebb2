//! What is computed of times and durations. Regions tell a time from another by a whole number of units: that is exact
//! as long as what is compared is a duration, or how far one time lies from another. Sums, parts and multiples of such
//! distances are not.

use design::model::{
    ArithmeticOp, Const, Design, Expr, ExprKind, OperationKind, StmtKind, Type, visit,
};

use crate::bindings::{Bindings, bindings};
use crate::world::flow::Scope;

/// What a duration or a time is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Made {
    /// a duration: whole units
    Whole,
    /// one that was divided, and is of whole units all the same
    Part,
    /// a time, moved by whole units or not at all
    Moment,
    /// how far a time lies from another, and whole units
    Distance,
    Other,
}

/// Is everything that is computed of times compared by whole units?
///
/// `divided`: is a duration of this design still whole where it is divided, once?
pub(crate) fn are_whole(design: &Design, divided: bool) -> bool {
    let of = Of { bound: bindings(design), divided };
    let mut whole = true;
    for (index, operation) in design.operations.iter().enumerate() {
        let scope = Scope::Operation(index as u32);
        let mut look = |expr: &Expr| whole &= of.is_whole(scope, expr);
        operation.guard.iter().for_each(|clause| look(&clause.body));
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| match stmt.kind {
                // What is bound is looked at where it is used; what a log holds is never read back.
                StmtKind::Let { .. } | StmtKind::Append { .. } => {}
                _ => visit::statement_exprs(stmt, &mut look),
            });
        }
        if let OperationKind::Effect(effect) = &operation.kind {
            effect.key.iter().for_each(&mut look);
        }
    }
    for (index, goal) in design.goals().enumerate() {
        whole &= of.is_whole(Scope::Goal(index as u32), &goal.body);
    }
    whole
}

struct Of<'d> {
    bound: Bindings<'d>,
    divided: bool,
}

impl Of<'_> {
    fn is_whole(&self, scope: Scope, expr: &Expr) -> bool {
        let made = |expr: &Expr| self.made(scope, expr);
        let mut whole = made(expr) != Made::Other;
        visit::each(expr, &mut |part| {
            let pair = match &part.kind {
                ExprKind::Compare { left, right, .. } => (made(left), made(right)),
                ExprKind::In { item, .. } => (made(item), Made::Whole),
                // how often one fits into the other
                ExprKind::Arithmetic { op: ArithmeticOp::Divide, left, right }
                    if *part.ty.required() == Type::Int =>
                {
                    (made(left), made(right))
                }
                ExprKind::Min(list) | ExprKind::Max(list) => {
                    let far = |expr: &&Expr| made(expr) >= Made::Distance;
                    whole &= list.iter().filter(far).count() < 2;
                    (made(part), Made::Whole)
                }
                ExprKind::Arithmetic { .. } if is_timed(part) => match made(part) {
                    // Where it is bound it may be used or not.
                    Made::Other => (Made::Other, Made::Other),
                    _ => return,
                },
                _ => return,
            };
            whole &= !matches!(
                pair,
                (Made::Other, _) | (_, Made::Other) | (Made::Distance, Made::Distance)
            );
        });
        whole
    }

    fn made(&self, scope: Scope, expr: &Expr) -> Made {
        let inner = |expr: &Expr| self.made(scope, expr);
        let all = |list: &[&Expr]| list.iter().map(|expr| inner(expr)).max();
        let otherwise = match *expr.ty.required() {
            Type::Time => Made::Moment,
            _ => Made::Whole,
        };
        if !is_timed(expr) {
            return otherwise;
        }
        match &expr.kind {
            ExprKind::Local(local) => {
                let values = self.bound.get(&(scope, *local));
                let made = values.and_then(|list| list.iter().map(|expr| inner(expr)).max());
                made.unwrap_or(otherwise)
            }
            ExprKind::Let { body, .. } => inner(body),
            ExprKind::Old(of) | ExprKind::Negate(of) => inner(of),
            ExprKind::Min(list) | ExprKind::Max(list) => {
                list.iter().map(inner).max().unwrap_or(otherwise)
            }
            ExprKind::If { then, otherwise: other, .. } => all(&[then, other]).unwrap_or(otherwise),
            ExprKind::Arithmetic { op, left, right } => match (op, inner(left), inner(right)) {
                (_, Made::Other, _) | (_, _, Made::Other) => Made::Other,
                (ArithmeticOp::Add | ArithmeticOp::Subtract, Made::Moment, Made::Moment) => {
                    Made::Distance
                }
                (ArithmeticOp::Add | ArithmeticOp::Subtract, left, right)
                    if left.min(right) <= Made::Part =>
                {
                    left.max(right)
                }
                (ArithmeticOp::Multiply, left, right) if left.max(right) <= Made::Part => {
                    left.max(right)
                }
                (ArithmeticOp::Divide, Made::Whole, Made::Whole)
                    if self.divided && matches!(right.kind, ExprKind::Literal(_)) =>
                {
                    Made::Part
                }
                _ => Made::Other,
            },
            _ => otherwise,
        }
    }
}

fn is_timed(expr: &Expr) -> bool {
    matches!(expr.ty.required(), Type::Time | Type::Duration)
}

/// Durations that are computed of written ones become written ones.
pub(crate) fn fold(expr: &mut Expr) {
    visit::children_mut(expr, &mut fold);
    let ExprKind::Arithmetic { op, left, right } = &expr.kind else { return };
    let (ExprKind::Literal(left), ExprKind::Literal(right)) = (&left.kind, &right.kind) else {
        return;
    };
    let folded = match (op, left, right) {
        (ArithmeticOp::Add, Const::Duration(a), Const::Duration(b)) => a.checked_add(*b),
        (ArithmeticOp::Subtract, Const::Duration(a), Const::Duration(b)) => a.checked_sub(*b),
        (ArithmeticOp::Multiply, Const::Duration(a), Const::Int(b))
        | (ArithmeticOp::Multiply, Const::Int(a), Const::Duration(b)) => a.checked_mul(*b),
        (ArithmeticOp::Divide, Const::Duration(a), Const::Int(b)) => a.checked_div(*b),
        _ => None,
    };
    if let Some(folded) = folded {
        expr.kind = ExprKind::Literal(Const::Duration(folded));
    }
}
