//! What a guard tests, in a form that can be recognised.

use design::model::*;

use super::walk::place;
use super::{Facts, Unit};

pub struct Test {
    pub place: usize,
    pub attr: AttrId,
    pub kind: TestKind,
    /// into the guard
    pub clause: usize,
    /// under an `or`: it need not hold
    pub alternative: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestKind {
    /// what the caller remembers: whoever remembers something older is refused
    Memory(MemoryUseId),
    /// the caller is the one that is named there
    Me,
    /// a time that is over
    Past,
    /// a time that is not over
    Live,
    IsNull,
    NotNull,
    /// one of these constants
    OneOf(Vec<u32>),
    /// none of these
    NoneOf(Vec<u32>),
    Flag(bool),
    /// equal to a parameter or another attribute
    Same,
    /// smaller than something else: `top` says that the attribute is the upper side
    Ordered {
        top: bool,
    },
}

pub fn run<'a>(unit: &Unit<'a>, facts: &mut Facts<'a>) {
    for (clause, body) in unit.operation.guard.iter().enumerate() {
        Walk { unit: *unit, facts, clause }.expr(&body.body, false, true);
    }
}

struct Walk<'a, 'f> {
    unit: Unit<'a>,
    facts: &'f mut Facts<'a>,
    clause: usize,
}

impl<'a> Walk<'a, '_> {
    fn expr(&mut self, expr: &'a Expr, alternative: bool, holds: bool) {
        match &expr.kind {
            ExprKind::And(parts) => {
                parts.iter().for_each(|part| self.expr(part, alternative || !holds, holds));
            }
            ExprKind::Or(parts) => {
                parts.iter().for_each(|part| self.expr(part, alternative || holds, holds));
            }
            ExprKind::Implies(left, right) => {
                self.expr(left, true, !holds);
                self.expr(right, true, holds);
            }
            ExprKind::Not(inner) => self.expr(inner, alternative, !holds),
            ExprKind::Let { value, body, local } => {
                self.facts.lets.insert(*local, value);
                self.expr(body, alternative, holds);
            }
            ExprKind::IsNull(value) => {
                let kind = if holds { TestKind::IsNull } else { TestKind::NotNull };
                self.found(value, kind, alternative);
            }
            ExprKind::Attr { .. } => self.found(expr, TestKind::Flag(holds), alternative),
            ExprKind::In { item, collection } => {
                if let Some(constants) = constants(collection) {
                    let kind = if holds {
                        TestKind::OneOf(constants)
                    } else {
                        TestKind::NoneOf(constants)
                    };
                    self.found(item, kind, alternative);
                }
            }
            ExprKind::Compare { op, left, right } => {
                self.compare(*op, left, right, alternative, holds);
                self.compare(flip(*op), right, left, alternative, holds);
            }
            _ => {}
        }
    }

    fn compare(
        &mut self,
        op: CompareOp,
        left: &'a Expr,
        right: &'a Expr,
        alternative: bool,
        holds: bool,
    ) {
        let op = if holds { op } else { negate(op) };
        let equal = op == CompareOp::Equal;
        let right = self.facts.resolve(right);
        let kind = match (&right.kind, op) {
            (ExprKind::Memory(memory), CompareOp::Equal) => TestKind::Memory(*memory),
            (ExprKind::Me, CompareOp::Equal) => TestKind::Me,
            (ExprKind::Literal(Const::Null), CompareOp::Equal) => TestKind::IsNull,
            (ExprKind::Literal(Const::Null), CompareOp::NotEqual) => TestKind::NotNull,
            (ExprKind::Literal(Const::Enum(_, which)), CompareOp::Equal) => {
                TestKind::OneOf(vec![*which])
            }
            (ExprKind::Literal(Const::Enum(_, which)), CompareOp::NotEqual) => {
                TestKind::NoneOf(vec![*which])
            }
            (ExprKind::Literal(Const::Bool(value)), CompareOp::Equal | CompareOp::NotEqual) => {
                TestKind::Flag(*value == equal)
            }
            (_, CompareOp::Less | CompareOp::LessEqual) if mentions_now(right) => TestKind::Past,
            (_, CompareOp::Greater | CompareOp::GreaterEqual) if mentions_now(right) => {
                TestKind::Live
            }
            (_, CompareOp::Less | CompareOp::LessEqual) => TestKind::Ordered { top: false },
            (_, CompareOp::Greater | CompareOp::GreaterEqual) => TestKind::Ordered { top: true },
            (
                ExprKind::Local(_) | ExprKind::Attr { .. } | ExprKind::KeyPart { .. },
                CompareOp::Equal,
            ) => TestKind::Same,
            _ => return,
        };
        self.found(left, kind, alternative);
    }

    fn found(&mut self, attr: &'a Expr, kind: TestKind, alternative: bool) {
        let mut inner = self.facts.resolve(attr);
        // `expires_at + grace < now` is still about `expires_at`.
        while let ExprKind::Arithmetic { left, .. } = &inner.kind {
            inner = left;
        }
        let ExprKind::Attr { base, attr } = &inner.kind else { return };
        let Some(place) = place(&self.unit, self.facts, base) else { return };
        self.facts.tests.push(Test { place, attr: *attr, kind, clause: self.clause, alternative });
    }
}

fn constants(collection: &Expr) -> Option<Vec<u32>> {
    let which = |value: &Const| match value {
        Const::Enum(_, which) => Some(*which),
        _ => None,
    };
    match &collection.kind {
        ExprKind::Literal(Const::Set(items) | Const::List(items)) => {
            items.iter().map(which).collect()
        }
        ExprKind::Set(items) | ExprKind::List(items) => items
            .iter()
            .map(|item| match &item.kind {
                ExprKind::Literal(value) => which(value),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// Is it `now`, or `now` and a duration?
pub fn mentions_now(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Now => true,
        ExprKind::Arithmetic { left, right, .. } => mentions_now(left) || mentions_now(right),
        ExprKind::Min(list) | ExprKind::Max(list) => list.iter().any(mentions_now),
        _ => false,
    }
}

fn flip(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        same => same,
    }
}

fn negate(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
    }
}
