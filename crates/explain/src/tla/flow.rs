//! Which places hold values of one kind: what is compared with, or copied to, each other. Opaque values
//! get their names from this, and callers the literals that they may meet.

use std::collections::{BTreeMap, BTreeSet};

use design::model::{
    ActorId, AssignOp, AttrId, Const, Design, Domain, Expr, ExprKind, LocalId, MemoryId,
    OperationId, OperationKind, StateId, Stmt, StmtKind, SubjectId, Target, Type, visit,
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Attr(SubjectId, AttrId),
    MapValue(SubjectId, AttrId),
    Key(SubjectId, u32),
    LogEnd(SubjectId, StateId),
    Memory(ActorId, MemoryId),
    Local(Scope, LocalId),
    /// who acts, of this actor
    Me(ActorId),
    Inner(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Scope {
    Operation(u32),
    Goal(u32),
    Counter(u32, u32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub places: Vec<Place>,
    /// the literals that a member is compared with
    pub literals: BTreeSet<Const>,
    /// the result of arithmetic flows in
    pub computed: bool,
}

/// What an expression's value is: its class, and the literals that it may be.
#[derive(Clone, Debug, Default)]
struct Value {
    node: Option<usize>,
    literals: Vec<Const>,
}

#[derive(Default)]
pub(super) struct Flow {
    nodes: BTreeMap<Place, usize>,
    up: Vec<usize>,
    classes: Vec<Class>,
    effects: BTreeMap<(Scope, LocalId), OperationId>,
    bound: BTreeMap<(Scope, LocalId), Vec<Const>>,
}

/// The actor whose principals and memory this one has.
pub(super) fn root(design: &Design, actor: ActorId) -> ActorId {
    let mut at = actor;
    while let Some(above) = design.actors[at.index()].continues {
        at = above;
    }
    at
}

impl Flow {
    pub fn of(design: &Design) -> Flow {
        let mut flow = Flow::default();
        for (index, subject) in design.subjects.iter().enumerate() {
            for (at, counter) in subject.counters.iter().enumerate() {
                let scope = Scope::Counter(index as u32, at as u32);
                for expr in counter.filter.iter().chain(&counter.value) {
                    flow.value(design, scope, expr);
                }
            }
        }
        for (index, operation) in design.operations.iter().enumerate() {
            let scope = Scope::Operation(index as u32);
            for clause in &operation.guard {
                flow.value(design, scope, &clause.body);
            }
            match &operation.kind {
                OperationKind::Effect(effect) => {
                    for expr in effect.key.iter().chain(effect.body.iter().map(|(_, e)| e)) {
                        flow.value(design, scope, expr);
                    }
                }
                OperationKind::Read { result } => {
                    flow.value(design, scope, result);
                }
                OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
            }
            for body in visit::bodies(operation) {
                flow.body(design, scope, body);
            }
        }
        for (index, goal) in design.goals().enumerate() {
            flow.value(design, Scope::Goal(index as u32), &goal.body);
        }
        flow
    }

    pub fn class(&self, place: Place) -> Option<&Class> {
        self.nodes.get(&place).map(|node| &self.classes[self.root(*node)])
    }

    pub fn same(&self, one: Place, other: Place) -> bool {
        match (self.nodes.get(&one), self.nodes.get(&other)) {
            (Some(one), Some(other)) => self.root(*one) == self.root(*other),
            _ => false,
        }
    }

    fn node(&mut self, place: Place) -> usize {
        if let Some(node) = self.nodes.get(&place) {
            return *node;
        }
        let node = self.up.len();
        self.nodes.insert(place, node);
        self.up.push(node);
        self.classes.push(Class { places: vec![place], ..Class::default() });
        node
    }

    fn inner(&mut self) -> usize {
        self.node(Place::Inner(self.up.len() as u32))
    }

    fn root(&self, node: usize) -> usize {
        let mut at = node;
        while self.up[at] != at {
            at = self.up[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.up[other] = one;
            let taken = std::mem::take(&mut self.classes[other]);
            let class = &mut self.classes[one];
            class.places.extend(taken.places);
            class.literals.extend(taken.literals);
            class.computed |= taken.computed;
        }
    }

    fn either(&mut self, one: Value, other: Value) -> Value {
        if let (Some(one), Some(other)) = (one.node, other.node) {
            self.join(one, other);
        }
        let literals = one.literals.into_iter().chain(other.literals).collect();
        Value { node: one.node.or(other.node), literals }
    }

    /// They meet: each is told apart from what the other may be.
    fn compare(&mut self, one: Value, other: Value) {
        let both = self.either(one, other);
        if let Some(node) = both.node {
            let root = self.root(node);
            self.classes[root].literals.extend(both.literals);
        }
    }

    fn copy(&mut self, to: Place, value: Value) {
        let node = self.node(to);
        if let Some(from) = value.node {
            self.join(node, from);
        }
    }

    fn computed(&mut self) -> Value {
        let node = self.inner();
        self.classes[node].computed = true;
        Value { node: Some(node), literals: Vec::new() }
    }

    fn of_place(&mut self, place: Place) -> Value {
        Value { node: Some(self.node(place)), literals: Vec::new() }
    }

    fn bind(&mut self, scope: Scope, local: LocalId, value: Value) {
        self.bound.insert((scope, local), value.literals.clone());
        self.copy(Place::Local(scope, local), value);
    }

    fn range_over(&mut self, design: &Design, scope: Scope, local: LocalId, domain: &Domain) {
        match domain {
            Domain::All(_) => {}
            Domain::Children { parent, .. } => {
                self.value(design, scope, parent);
            }
            Domain::Elements(of) => {
                let elements = self.value(design, scope, of);
                self.bind(scope, local, elements);
            }
            Domain::World(effect) => {
                self.effects.insert((scope, local), *effect);
            }
            // refused where they are written
            Domain::Principals(_) | Domain::Messages(_) | Domain::Outbox(_) => {}
        }
    }

    fn all(&mut self, design: &Design, scope: Scope, list: &[Expr]) -> Value {
        list.iter().fold(Value::default(), |all, expr| {
            let value = self.value(design, scope, expr);
            self.either(all, value)
        })
    }

    /// What the value of an expression is; of a collection, what its elements are.
    fn value(&mut self, design: &Design, scope: Scope, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Literal(value) => Value { node: None, literals: scalars(value) },
            ExprKind::Local(local) => {
                let mut value = self.of_place(Place::Local(scope, *local));
                value.literals = self.bound.get(&(scope, *local)).cloned().unwrap_or_default();
                value
            }
            ExprKind::Memory(usage) => match scope {
                Scope::Operation(operation) => {
                    let usage = &design.operations[operation as usize].memory[usage.index()];
                    self.of_place(Place::Memory(usage.actor, usage.field))
                }
                _ => Value::default(),
            },
            ExprKind::Me => match scope {
                Scope::Operation(operation) => {
                    let actor = design.operations[operation as usize].actor;
                    self.of_place(Place::Me(root(design, actor)))
                }
                _ => Value::default(),
            },
            ExprKind::Attr { base, attr } => {
                self.value(design, scope, base);
                match base.ty.subject() {
                    Some(subject) => self.of_place(Place::Attr(subject, *attr)),
                    None => Value::default(),
                }
            }
            ExprKind::KeyPart { base, part } => {
                self.value(design, scope, base);
                match base.ty.subject() {
                    Some(subject) => self.of_place(Place::Key(subject, *part)),
                    None => Value::default(),
                }
            }
            ExprKind::LogEnd { base, log } | ExprKind::LogStart { base, log } => {
                self.value(design, scope, base);
                match base.ty.subject() {
                    Some(subject) => self.of_place(Place::LogEnd(subject, *log)),
                    None => Value::default(),
                }
            }
            ExprKind::WorldArg { local, param } => match self.effects.get(&(scope, *local)) {
                Some(effect) => {
                    let effect = *effect;
                    let local = design.operations[effect.index()].params[*param as usize].local;
                    self.of_place(Place::Local(Scope::Operation(effect.0), local))
                }
                None => Value::default(),
            },
            ExprKind::Compare { left, right, .. }
            | ExprKind::In { item: left, collection: right } => {
                let left = self.value(design, scope, left);
                let right = self.value(design, scope, right);
                self.compare(left, right);
                Value::default()
            }
            ExprKind::Arithmetic { left, right, .. } => {
                self.value(design, scope, left);
                self.value(design, scope, right);
                self.computed()
            }
            ExprKind::Negate(inner) => {
                self.value(design, scope, inner);
                self.computed()
            }
            ExprKind::Min(list)
            | ExprKind::Max(list)
            | ExprKind::Set(list)
            | ExprKind::List(list) => self.all(design, scope, list),
            ExprKind::If { condition, then, otherwise } => {
                self.value(design, scope, condition);
                let then = self.value(design, scope, then);
                let otherwise = self.value(design, scope, otherwise);
                self.either(then, otherwise)
            }
            ExprKind::Let { local, value, body } => {
                let value = self.value(design, scope, value);
                self.bind(scope, *local, value);
                self.value(design, scope, body)
            }
            ExprKind::Quantifier { local, domain, filter, body, .. } => {
                self.range_over(design, scope, *local, domain);
                filter.iter().for_each(|filter| {
                    self.value(design, scope, filter);
                });
                self.value(design, scope, body);
                Value::default()
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                self.range_over(design, scope, *local, domain);
                filter.iter().chain(value).for_each(|part| {
                    self.value(design, scope, part);
                });
                Value::default()
            }
            ExprKind::Index { base, index } => {
                let elements = self.value(design, scope, base);
                let index = self.value(design, scope, index);
                match base.ty.required() {
                    Type::Map { .. } => {
                        self.either(elements, index);
                        match &base.kind {
                            ExprKind::Attr { base, attr } => match base.ty.subject() {
                                Some(subject) => self.of_place(Place::MapValue(subject, *attr)),
                                None => Value::default(),
                            },
                            _ => Value::default(),
                        }
                    }
                    _ => elements,
                }
            }
            ExprKind::Old(inner) => self.value(design, scope, inner),
            _ => {
                visit::children(expr, &mut |child| {
                    self.value(design, scope, child);
                });
                Value::default()
            }
        }
    }

    fn body(&mut self, design: &Design, scope: Scope, body: &[Stmt]) {
        for statement in body {
            self.statement(design, scope, statement);
        }
    }

    fn statement(&mut self, design: &Design, scope: Scope, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign { target, op, value } => {
                let number =
                    matches!(value.ty.required(), Type::Int | Type::Decimal | Type::Money(_));
                let given = self.value(design, scope, value);
                let place = match target {
                    Target::Attr { base, attr } => {
                        self.value(design, scope, base);
                        base.ty.subject().map(|subject| Place::Attr(subject, *attr))
                    }
                    Target::Element { base, attr, key } => {
                        let key = self.value(design, scope, key);
                        base.ty.subject().map(|subject| {
                            self.copy(Place::Attr(subject, *attr), key);
                            Place::MapValue(subject, *attr)
                        })
                    }
                    Target::Memory(usage) => match scope {
                        Scope::Operation(operation) => {
                            let usage =
                                &design.operations[operation as usize].memory[usage.index()];
                            Some(Place::Memory(usage.actor, usage.field))
                        }
                        _ => None,
                    },
                };
                let Some(place) = place else { return };
                let collection = match place {
                    Place::Attr(subject, attr) => {
                        let ty = &design.subjects[subject.index()].attributes[attr.index()].ty;
                        matches!(
                            ty.required(),
                            Type::List { .. } | Type::Set { .. } | Type::Map { .. }
                        )
                    }
                    _ => false,
                };
                if *op != AssignOp::Set && number && !collection {
                    let node = self.node(place);
                    let root = self.root(node);
                    self.classes[root].computed = true;
                } else {
                    self.copy(place, given);
                }
            }
            StmtKind::Let { local, value } => {
                let value = self.value(design, scope, value);
                self.bind(scope, *local, value);
            }
            StmtKind::New { subject, keys, fields } => {
                for (at, key) in keys.iter().enumerate() {
                    let value = self.value(design, scope, key);
                    self.copy(Place::Key(*subject, at as u32), value);
                }
                for (attr, value) in fields {
                    let value = self.value(design, scope, value);
                    self.copy(Place::Attr(*subject, *attr), value);
                }
            }
            StmtKind::Send { operation, args } => {
                let target = &design.operations[operation.index()];
                for (param, arg) in target.params.iter().zip(args) {
                    let value = self.value(design, scope, arg);
                    self.copy(Place::Local(Scope::Operation(operation.0), param.local), value);
                }
            }
            StmtKind::For { local, domain, body } => {
                let elements = self.value(design, scope, domain);
                self.bind(scope, *local, elements);
                self.body(design, scope, body);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.value(design, scope, condition);
                self.body(design, scope, then);
                self.body(design, scope, otherwise);
            }
            StmtKind::Delete { .. } | StmtKind::Append { .. } | StmtKind::Emit { .. } => {
                visit::statement_exprs(statement, &mut |expr| {
                    self.value(design, scope, expr);
                });
            }
        }
    }
}

/// The values that are in a constant.
fn scalars(value: &Const) -> Vec<Const> {
    match value {
        Const::Null => Vec::new(),
        Const::Set(list) | Const::List(list) => list.iter().flat_map(scalars).collect(),
        Const::Map(pairs) => pairs.iter().flat_map(|(key, _)| scalars(key)).collect(),
        value => vec![value.clone()],
    }
}
