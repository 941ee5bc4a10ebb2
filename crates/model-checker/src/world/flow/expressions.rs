//! Where the value of an expression comes from.

use super::{Flow, NOTHING, Owner, PlaceOf, Scope, Value};
use crate::world::actors::root_actor;
use crate::world::sizes::{records, room};
use design::model::{ArithmeticOp, Const, Domain, Expr, ExprKind, LocalId, Type, visit};

impl Flow<'_> {
    pub(super) fn range_over(&mut self, scope: Scope, local: LocalId, domain: &Domain) {
        match domain {
            Domain::All(_) => {}
            Domain::Children { parent, .. } => {
                self.value(scope, parent);
            }
            Domain::Elements(expr) => {
                let elements = self.value(scope, expr);
                self.bind(scope, local, elements);
            }
            Domain::World(operation) | Domain::Messages(operation) | Domain::Outbox(operation) => {
                self.effects.insert((scope, local), *operation);
            }
            Domain::Principals(actor) => {
                let principals = self.of_place(PlaceOf::Me(*actor), Owner::Other);
                self.bind(scope, local, principals);
            }
        }
    }

    pub(super) fn joined(&mut self, scope: Scope, list: &[Expr]) -> Value {
        let mut all = NOTHING;
        for expr in list {
            let value = self.value(scope, expr);
            all = self.join(all, value);
        }
        all
    }

    /// What an expression's value is; of a collection, what its elements are.
    pub(super) fn value(&mut self, scope: Scope, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Literal(Const::Null) => NOTHING,
            ExprKind::Literal(value) => {
                let node = self.inner();
                self.source(node, value);
                Value { node: Some(node), owner: Owner::Free }
            }
            ExprKind::Local(local) => self.local(scope, *local),
            ExprKind::Memory(usage) => {
                let Scope::Operation(operation) = scope else { return NOTHING };
                let usage = &self.design.operations[operation as usize].memory[usage.index()];
                let owner = usage.of.map_or(Owner::Other, Owner::Record);
                self.of_place(PlaceOf::Memory(usage.actor, usage.field), owner)
            }
            ExprKind::Attr { base, attr } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return NOTHING };
                self.of_place(PlaceOf::Attr(subject, *attr), Flow::owner_of(base))
            }
            ExprKind::KeyPart { base, part } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return NOTHING };
                self.of_place(PlaceOf::Key(subject, *part), Flow::owner_of(base))
            }
            ExprKind::Keyed { subject, key } => {
                for (part, key) in key.iter().enumerate() {
                    let key = self.value(scope, key);
                    let place = self.of_place(PlaceOf::Key(*subject, part as u32), Owner::Other);
                    self.join(place, key);
                }
                NOTHING
            }
            ExprKind::LogEnd { base, log } | ExprKind::LogStart { base, log } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return NOTHING };
                self.of_place(PlaceOf::LogEnd(subject, *log), Flow::owner_of(base))
            }
            ExprKind::WorldArg { local, param } => {
                let Some(effect) = self.effects.get(&(scope, *local)).copied() else {
                    return NOTHING;
                };
                let local = self.design.operations[effect.index()].params[*param as usize].local;
                self.of_place(PlaceOf::Local(Scope::Operation(effect.0), local), Owner::Other)
            }
            ExprKind::Remembered { principal, actor, field, of } => {
                self.value(scope, principal);
                let owner = match of {
                    Some(of) => {
                        self.value(scope, of);
                        Flow::owner_of(of)
                    }
                    None => Owner::Other,
                };
                self.of_place(PlaceOf::Memory(*actor, *field), owner)
            }
            ExprKind::Compare { left, right, .. }
            | ExprKind::In { item: left, collection: right } => {
                let written = [literals(left), literals(right)].concat();
                let left = self.value(scope, left);
                let right = self.value(scope, right);
                if let Some(node) = self.join(left, right).node {
                    self.class(node).compared.extend(written);
                }
                NOTHING
            }
            ExprKind::Me => {
                let Scope::Operation(operation) = scope else { return NOTHING };
                let actor = self.design.operations[operation as usize].actor;
                self.of_place(PlaceOf::Me(root_actor(self.design, actor)), Owner::Other)
            }
            ExprKind::Arithmetic { left, right, .. } => self.arithmetic(scope, left, right),
            ExprKind::Min(list)
            | ExprKind::Max(list)
            | ExprKind::Set(list)
            | ExprKind::List(list) => self.joined(scope, list),
            ExprKind::If { condition, then, otherwise } => {
                self.value(scope, condition);
                let then = self.value(scope, then);
                let otherwise = self.value(scope, otherwise);
                self.join(then, otherwise)
            }
            ExprKind::Let { local, value, body } => {
                let value = self.value(scope, value);
                self.bind(scope, *local, value);
                self.value(scope, body)
            }
            ExprKind::Quantifier { local, domain, filter, body, .. } => {
                self.range_over(scope, *local, domain);
                if let Some(filter) = filter {
                    self.value(scope, filter);
                }
                self.value(scope, body);
                NOTHING
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                self.range_over(scope, *local, domain);
                if let Some(filter) = filter {
                    self.value(scope, filter);
                }
                if let Some(value) = value {
                    let value = self.value(scope, value);
                    self.measure(value);
                    return self.computed();
                }
                match &**domain {
                    Domain::All(of) | Domain::Children { child: of, .. } => {
                        self.counted(records(self.design, *of))
                    }
                    Domain::Elements(expr) => self.counted(room(&expr.ty)),
                    Domain::World(_) | Domain::Messages(_) | Domain::Outbox(_) => self.computed(),
                    Domain::Principals(_) => {
                        let people = self.design.world.actors.iter().map(|held| i64::from(*held));
                        self.counted(people.sum())
                    }
                }
            }
            ExprKind::Counter { base, counter } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return NOTHING };
                let held = &self.design.subjects[subject.index()].counters[counter.index()];
                match held.value {
                    None => self.counted(records(self.design, held.child)),
                    Some(_) => self.computed(),
                }
            }
            ExprKind::Size(inner) => {
                self.value(scope, inner);
                self.counted(room(&inner.ty))
            }
            ExprKind::Negate(inner) => {
                let value = self.value(scope, inner);
                self.measure(value);
                self.computed()
            }
            ExprKind::Hash(parts) => self.hashed(scope, parts),
            ExprKind::Verified { signature, key, over } => {
                self.verified(scope, signature, key, over)
            }
            ExprKind::Stored(inner) => {
                let digest = self.value(scope, inner);
                // whoever asks asks the one place where content is: their digests are of one kind
                if let Type::Digest(blob) = inner.ty.required() {
                    let content = self.of_place(PlaceOf::Blob(*blob), Owner::Free);
                    self.join(content, digest);
                }
                NOTHING
            }
            ExprKind::Old(inner) => self.value(scope, inner),
            ExprKind::Field { base, field } => self.field(scope, base, *field),
            ExprKind::Record(fields) if matches!(expr.ty, Type::Struct(_)) => {
                self.record(scope, fields)
            }
            ExprKind::Index { base, index } => self.index(scope, base, index),
            _ => {
                let mut inner = Vec::new();
                visit::children(expr, &mut |child| inner.push(child));
                for child in inner {
                    self.value(scope, child);
                }
                NOTHING
            }
        }
    }

    pub(super) fn arithmetic(&mut self, scope: Scope, left: &Expr, right: &Expr) -> Value {
        let value = self.value(scope, left);
        let other = self.value(scope, right);
        self.measure(value);
        self.measure(other);
        self.computed()
    }

    /// The value of an expression that is stored right away: there `x + 1` makes a newest value.
    /// Elsewhere it would be compared, and how far values lie apart would matter.
    pub(super) fn stored(&mut self, scope: Scope, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Arithmetic { op: ArithmeticOp::Add, left, right }
                if is_one(right) && matches!(left.ty.required(), Type::Int) =>
            {
                let value = self.stored(scope, left);
                if let Some(node) = value.node {
                    self.class(node).increments = true;
                }
                value
            }
            ExprKind::If { condition, then, otherwise } => {
                self.value(scope, condition);
                let then = self.stored(scope, then);
                let otherwise = self.stored(scope, otherwise);
                self.join(then, otherwise)
            }
            _ => self.value(scope, expr),
        }
    }

    pub(super) fn index(&mut self, scope: Scope, base: &Expr, index: &Expr) -> Value {
        let elements = self.value(scope, base);
        let index = self.value(scope, index);
        if let Type::Map { .. } = base.ty.required() {
            self.join(elements, index);
            if let ExprKind::Attr { base: of, attr } = &base.kind
                && let Some(subject) = of.ty.subject()
            {
                return self.of_place(PlaceOf::MapValue(subject, *attr), Flow::owner_of(of));
            }
            return self.computed();
        }
        self.measure(index);
        elements
    }
}

/// The constants that an expression is.
pub(super) fn literals(expr: &Expr) -> Vec<Const> {
    match &expr.kind {
        ExprKind::Literal(Const::Null) => Vec::new(),
        ExprKind::Literal(Const::Set(list) | Const::List(list)) => list.clone(),
        ExprKind::Literal(value) => vec![value.clone()],
        ExprKind::Set(list) | ExprKind::List(list) | ExprKind::Min(list) | ExprKind::Max(list) => {
            list.iter().flat_map(literals).collect()
        }
        ExprKind::If { then, otherwise, .. } => [literals(then), literals(otherwise)].concat(),
        ExprKind::Let { value, body, .. } => [literals(value), literals(body)].concat(),
        ExprKind::Old(inner) => literals(inner),
        _ => Vec::new(),
    }
}

pub(super) fn is_one(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Const::Int(1)))
}
