//! Whether a condition can hold when one attribute has one constant, whatever the rest is.

use design::model::*;

use super::walk::place;
use super::{Facts, Unit};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Holds,
    Fails,
    Depends,
}

impl Verdict {
    fn not(self) -> Verdict {
        match self {
            Verdict::Holds => Verdict::Fails,
            Verdict::Fails => Verdict::Holds,
            Verdict::Depends => Verdict::Depends,
        }
    }

    fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

/// What `condition` says when the attribute at `at` is `value`.
pub fn possible<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    condition: &'a Expr,
    at: (usize, AttrId),
    value: &Const,
) -> Verdict {
    let mut go = |expr: &'a Expr| possible(unit, facts, expr, at, value);
    match &condition.kind {
        ExprKind::Literal(Const::Bool(value)) => Verdict::of(*value),
        ExprKind::Not(inner) => go(inner).not(),
        ExprKind::And(parts) => all(parts.iter().map(go)),
        ExprKind::Or(parts) => all(parts.iter().map(|part| go(part).not())).not(),
        ExprKind::Implies(left, right) => all([go(left), go(right).not()].into_iter()).not(),
        ExprKind::Let { body, .. } => go(body),
        ExprKind::IsNull(inner) => match known(unit, facts, inner, at, value) {
            Some(known) => Verdict::of(known == Const::Null),
            None => Verdict::Depends,
        },
        ExprKind::Compare { op, left, right } => {
            let left = known(unit, facts, left, at, value);
            let right = known(unit, facts, right, at, value);
            match (left, right, op) {
                (Some(left), Some(right), CompareOp::Equal) => Verdict::of(left == right),
                (Some(left), Some(right), CompareOp::NotEqual) => Verdict::of(left != right),
                _ => Verdict::Depends,
            }
        }
        ExprKind::In { item, collection } => {
            let Some(item) = known(unit, facts, item, at, value) else { return Verdict::Depends };
            match &collection.kind {
                ExprKind::Literal(Const::Set(items) | Const::List(items)) => {
                    Verdict::of(items.contains(&item))
                }
                ExprKind::Set(items) | ExprKind::List(items) => {
                    let literal = |e: &Expr| match &e.kind {
                        ExprKind::Literal(value) => Some(value.clone()),
                        _ => None,
                    };
                    match items.iter().map(literal).collect::<Option<Vec<Const>>>() {
                        Some(items) => Verdict::of(items.contains(&item)),
                        None => Verdict::Depends,
                    }
                }
                _ => Verdict::Depends,
            }
        }
        ExprKind::Attr { .. } => match known(unit, facts, condition, at, value) {
            Some(Const::Bool(value)) => Verdict::of(value),
            _ => Verdict::Depends,
        },
        _ => Verdict::Depends,
    }
}

fn all(parts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut verdict = Verdict::Holds;
    for part in parts {
        match part {
            Verdict::Fails => return Verdict::Fails,
            Verdict::Depends => verdict = Verdict::Depends,
            Verdict::Holds => {}
        }
    }
    verdict
}

fn known<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    expr: &'a Expr,
    at: (usize, AttrId),
    value: &Const,
) -> Option<Const> {
    match &facts.resolve(expr).kind {
        ExprKind::Literal(literal) => Some(literal.clone()),
        ExprKind::Attr { base, attr } if *attr == at.1 => {
            (place(unit, facts, base) == Some(at.0)).then(|| value.clone())
        }
        _ => None,
    }
}
