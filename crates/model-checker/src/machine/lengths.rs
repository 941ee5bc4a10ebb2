//! How long durations are, and what they add up to, at most.

use std::cell::Cell;

use design::model::{
    ArithmeticOp, Const, Design, Domain, Expr, ExprKind, LocalId, Operation, Type, Values, visit,
};
use engine::Word;
use rustc_hash::FxHashMap;

use crate::bindings::{Bindings, bindings, each_expr};
use crate::gaps;
use crate::world::flow::{PlaceOf, Scope};
use crate::world::sizes::{records, room, setting};
use crate::world::sorts::{SortDomain, Sorts};

/// In words.
pub(super) struct Lengths<'d> {
    design: &'d Design,
    /// the longest single duration: written, given by a caller, answered or stored
    pub(super) longest: Word,
    /// for each place with a number: the most it is, of whichever sign
    numbers: FxHashMap<PlaceOf, Word>,
    /// what is bound to each local
    bound: Bindings<'d>,
    /// Is there a duration of which it is not known how long it can be?
    unsure: Cell<bool>,
}

impl<'d> Lengths<'d> {
    pub(super) fn of(design: &'d Design, sorts: &Sorts) -> Lengths<'d> {
        let mut numbers = FxHashMap::default();
        for sort in &sorts.list {
            let most = match &sort.domain {
                SortDomain::Finite(values) => values.iter().map(|value| value.abs()).max(),
                SortDomain::Bounded { low, high } => Some(low.abs().max(high.abs())),
                SortDomain::Ranked { .. } | SortDomain::Endless => None,
            };
            let places = sort.places.iter().map(|place| (*place, most.unwrap_or(0)));
            numbers.extend(places.filter(|_| most.is_some()));
        }
        let bound = bindings(design);
        let unsure = Cell::new(false);
        let mut lengths = Lengths { design, longest: 0, numbers, bound, unsure };
        lengths.longest = lengths.single();
        lengths
    }

    pub(super) fn operation(&self, scope: Scope) -> Option<&'d Operation> {
        match scope {
            Scope::Operation(at) => Some(&self.design.operations[at as usize]),
            Scope::Goal(_) | Scope::Counter(..) => None,
        }
    }

    /// Was there a duration of which it is not known how long it can be?
    pub(super) fn is_unsure(&self) -> bool {
        self.unsure.get()
    }

    /// The longest single duration.
    fn single(&self) -> Word {
        let design = self.design;
        let mut longest = gaps::longest(design);
        let mut look = |value: &Const| longest = longest.max(in_const(value));
        each_expr(design, &mut |expr, _| {
            visit::each(expr, &mut |expr| {
                if let ExprKind::Literal(value) = &expr.kind {
                    look(value);
                }
            });
        });
        let attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
        attributes.filter_map(|attribute| attribute.default.as_ref()).for_each(&mut look);
        let params = design.operations.iter().flat_map(|operation| &operation.params);
        params.filter_map(|param| param.default.as_ref()).for_each(&mut look);
        let world = &design.world;
        for values in world.params.iter().flatten().chain(world.answers.iter().flatten()) {
            longest = longest.max(most(values));
        }
        for (index, subject) in design.subjects.iter().enumerate() {
            for (at, attribute) in subject.attributes.iter().enumerate() {
                let id = (design::model::SubjectId::of(index), design::model::AttrId::of(at));
                let bounds = world.bounds.iter().filter(|held| (held.subject, held.attr) == id);
                if *attribute.ty.required() == Type::Duration {
                    let high = bounds.map(|held| held.high.abs().max(held.low.abs())).max();
                    let stored = self.numbers.get(&PlaceOf::Attr(id.0, id.1)).copied();
                    longest = longest.max(high.unwrap_or(0)).max(stored.unwrap_or(0));
                }
            }
        }
        longest
    }

    /// Is a duration compared with one that is written? Then callers give that one, too.
    fn compares_durations(&self) -> bool {
        let mut found = false;
        each_expr(self.design, &mut |expr, _| {
            visit::each(expr, &mut |expr| {
                if let ExprKind::Compare { left, right, .. } = &expr.kind {
                    let written =
                        |side: &Expr| matches!(side.kind, ExprKind::Literal(Const::Duration(_)));
                    found |= written(left) || written(right);
                }
            });
        });
        found
    }

    fn of_param(&self, scope: Scope, local: LocalId) -> Option<Word> {
        let Scope::Operation(index) = scope else { return None };
        let params = &self.design.operations[index as usize].params;
        let at = params.iter().position(|param| param.local == local)?;
        let default = params[at].default.as_ref().map_or(0, in_const);
        let given = most(self.design.world.params.get(index as usize)?.get(at)?);
        (given > 0 && !self.compares_durations()).then_some(given.max(default))
    }

    /// The most that the durations in an expression add up to.
    pub(super) fn total(&self, scope: Scope, expr: &Expr) -> Word {
        let inner = |expr: &Expr| self.total(scope, expr);
        let is_duration = *expr.ty.required() == Type::Duration;
        match &expr.kind {
            ExprKind::Literal(value) => in_const(value),
            ExprKind::Local(local) => match self.bound.get(&(scope, *local)) {
                Some(values) => values.iter().map(|value| inner(value)).max().unwrap_or(0),
                None if is_duration => self.of_param(scope, *local).unwrap_or(self.longest),
                None => 0,
            },
            ExprKind::Arithmetic { op: ArithmeticOp::Multiply, left, right } if is_duration => {
                let (long, factor) = match *left.ty.required() {
                    Type::Duration => (left, right),
                    _ => (right, left),
                };
                inner(long).saturating_mul(self.number(scope, factor))
            }
            ExprKind::Arithmetic { left, right, .. } => inner(left) + inner(right),
            ExprKind::Min(list) | ExprKind::Max(list) | ExprKind::Set(list) => {
                list.iter().map(inner).max().unwrap_or(0)
            }
            ExprKind::If { then, otherwise, .. } => inner(then).max(inner(otherwise)),
            ExprKind::Old(expr) | ExprKind::Negate(expr) => inner(expr),
            ExprKind::Let { body, .. } => inner(body),
            ExprKind::NextOf { after, .. } => gaps::longest(self.design) + inner(after),
            ExprKind::Aggregate { domain, value: Some(value), .. } if is_duration => {
                inner(value).saturating_mul(self.count(domain))
            }
            ExprKind::Counter { base, counter } if is_duration => {
                let counters =
                    base.ty.subject().map(|of| &self.design.subjects[of.index()].counters);
                let child = counters.map(|held| held[counter.index()].child);
                self.longest * child.map_or(1, |child| records(self.design, child))
            }
            _ if is_duration => self.longest,
            _ => 0,
        }
    }

    fn count(&self, domain: &Domain) -> Word {
        match domain {
            Domain::All(of) | Domain::Children { child: of, .. } => records(self.design, *of),
            Domain::Elements(expr) => room(&expr.ty),
            Domain::World(_) | Domain::Principals(_) | Domain::Messages(_) | Domain::Outbox(_) => {
                self.guess()
            }
        }
    }

    fn guess(&self) -> Word {
        self.unsure.set(true);
        2
    }

    /// The most that a number is, of whichever sign.
    fn number(&self, scope: Scope, expr: &Expr) -> Word {
        let inner = |expr: &Expr| self.number(scope, expr);
        let at = |place: PlaceOf| self.numbers.get(&place).copied();
        let known = match &expr.kind {
            ExprKind::Literal(Const::Int(value)) => Some(value.abs()),
            ExprKind::Literal(Const::Null) => Some(0),
            ExprKind::Local(local) => match self.bound.get(&(scope, *local)) {
                Some(values) => values.iter().map(|value| inner(value)).max(),
                None => {
                    at(PlaceOf::Local(scope, *local)).filter(|_| self.operation(scope).is_some())
                }
            },
            ExprKind::Memory(usage) => self.operation(scope).and_then(|operation| {
                let usage = &operation.memory[usage.index()];
                at(PlaceOf::Memory(usage.actor, usage.field))
            }),
            ExprKind::Attr { base, attr } => {
                base.ty.subject().and_then(|subject| at(PlaceOf::Attr(subject, *attr)))
            }
            ExprKind::KeyPart { base, part } => {
                base.ty.subject().and_then(|subject| at(PlaceOf::Key(subject, *part)))
            }
            ExprKind::Arithmetic { op, left, right }
                if *left.ty.required() == Type::Int && *right.ty.required() == Type::Int =>
            {
                match op {
                    ArithmeticOp::Add | ArithmeticOp::Subtract => Some(inner(left) + inner(right)),
                    ArithmeticOp::Multiply => Some(inner(left).saturating_mul(inner(right))),
                    ArithmeticOp::Divide => Some(inner(left)),
                    _ => None,
                }
            }
            ExprKind::Min(list) | ExprKind::Max(list) => list.iter().map(inner).max(),
            ExprKind::If { then, otherwise, .. } => Some(inner(then).max(inner(otherwise))),
            ExprKind::Old(expr) | ExprKind::Negate(expr) => Some(inner(expr)),
            ExprKind::Let { body, .. } => Some(inner(body)),
            ExprKind::Size(of) => Some(room(&of.ty)),
            ExprKind::LogEnd { .. } | ExprKind::LogStart { .. } => {
                Some(setting(self.design, "log", 3))
            }
            ExprKind::Aggregate { domain, value, .. } => {
                let of = value.as_ref().map_or(1, |value| inner(value));
                Some(of.saturating_mul(self.count(domain)))
            }
            ExprKind::Counter { base, counter } => base.ty.subject().and_then(|subject| {
                let held = &self.design.subjects[subject.index()].counters[counter.index()];
                held.value.is_none().then(|| records(self.design, held.child))
            }),
            ExprKind::Index { base, .. } => match (&base.kind, base.ty.required()) {
                (ExprKind::Attr { base, attr }, Type::Map { .. }) => {
                    base.ty.subject().and_then(|subject| at(PlaceOf::MapValue(subject, *attr)))
                }
                (ExprKind::Attr { base, attr }, Type::List { .. }) => {
                    base.ty.subject().and_then(|subject| at(PlaceOf::Attr(subject, *attr)))
                }
                _ => None,
            },
            _ => None,
        };
        known.unwrap_or_else(|| self.guess())
    }
}

fn in_const(value: &Const) -> Word {
    match value {
        Const::Duration(words) => words.abs(),
        Const::Set(list) | Const::List(list) => list.iter().map(in_const).max().unwrap_or(0),
        Const::Map(pairs) => {
            pairs.iter().map(|(key, value)| in_const(key).max(in_const(value))).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The longest duration among these.
fn most(values: &Values) -> Word {
    match values {
        Values::Listed(list) => list.iter().map(in_const).max().unwrap_or(0),
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => most(inner),
        Values::Fields(columns) => columns.iter().map(most).max().unwrap_or(0),
        _ => 0,
    }
}
