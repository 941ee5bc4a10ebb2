//! Expressions, lowered.

use design::model::{
    ArithmeticOp, AttrId, Const, Domain, Expr, ExprKind, LocalId, Rounding, StateKind, SubjectId,
    Type,
};

use super::lookup::{Column, column, equality};
use super::lower::Lower;
use super::node::{
    Arithmetic, Form, Loop, LoopKind, Node, NodeId, Over, Rounded, Rows, Run, Sides, Slot,
};
use crate::StateLayout;
use crate::layout::width_of;

/// How the words of a value of this type lie.
pub(super) fn form_of(ty: &Type) -> Form {
    match ty.required() {
        Type::List { .. } | Type::Set { .. } | Type::Map { .. } => {
            Form::Block { stride: stride_of(ty) }
        }
        Type::Record(_) | Type::Struct(_) => Form::Record,
        _ => Form::Scalar,
    }
}

/// How many words one element of a collection takes.
pub(super) fn stride_of(ty: &Type) -> u32 {
    match ty.required() {
        Type::Map { .. } => 2,
        Type::List { of, .. } => width_of(of),
        _ => 1,
    }
}

/// How many of them a variable over the collection holds: of a map's, the key alone.
pub(super) fn bound_of(ty: &Type) -> u32 {
    if matches!(ty.required(), Type::Map { .. }) { 1 } else { stride_of(ty) }
}

pub(super) fn is_block(ty: &Type) -> bool {
    matches!(form_of(ty), Form::Block { .. })
}

fn is_decimal(expr: &Expr) -> bool {
    matches!(expr.ty.required(), Type::Decimal | Type::Money(_))
}

fn rounded(divide: bool, left: &Expr, right: &Expr, rounding: Rounding) -> Arithmetic {
    let sides = match (is_decimal(left), is_decimal(right)) {
        (true, true) => Sides::Both,
        (true, false) => Sides::Left,
        (false, _) => Sides::Right,
    };
    Arithmetic::Rounded(Rounded { divide, sides, rounding })
}

impl Lower<'_> {
    /// A value on its way into words of type `ty`.
    pub(super) fn slot(&mut self, expr: &Expr, ty: &Type) -> Slot {
        let node = self.expr(expr);
        match expr.kind {
            ExprKind::View { .. } | ExprKind::LogSlice { .. } => {
                Slot { node, width: 1, form: Form::Scalar, optional: true }
            }
            _ => Slot { node, width: width_of(ty), form: form_of(ty), optional: ty.is_optional() },
        }
    }

    /// The same, where the expression's own type is all that counts.
    pub(super) fn own_slot(&mut self, expr: &Expr) -> Slot {
        let mut slot = self.slot(expr, &expr.ty);
        if let (Form::Record, ExprKind::Record(fields)) = (slot.form, &expr.kind) {
            slot.width = fields.iter().map(|(_, field)| own_width(field)).sum();
        }
        Slot { optional: true, ..slot }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> NodeId {
        let node = self.node(expr);
        self.push(node, expr.span)
    }

    pub(super) fn run(&mut self, exprs: &[Expr]) -> Run {
        let nodes: Vec<NodeId> = exprs.iter().map(|expr| self.expr(expr)).collect();
        self.list(&nodes)
    }

    fn node(&mut self, expr: &Expr) -> Node {
        match &expr.kind {
            ExprKind::Literal(value) => self.literal(value),
            ExprKind::Local(local) => Node::Local { offset: self.offset(*local) },
            ExprKind::Memory(memory) => Node::Memory(*memory),
            ExprKind::Me => Node::Me,
            ExprKind::Now => Node::Now,
            ExprKind::Attr { base, attr } => self.attribute(base, *attr),
            ExprKind::KeyPart { base, part } => {
                self.of_record(base, |base, subject| Node::KeyPart { base, subject, part: *part })
            }
            ExprKind::Keyed { subject, key } => {
                let key: Vec<NodeId> = key.iter().map(|part| self.expr(part)).collect();
                Node::Keyed { subject: *subject, key: self.list(&key) }
            }
            ExprKind::LogEnd { base, log } => {
                let offset = self.layout_of(base).and_then(|layout| layout.log_end(*log));
                self.word_of_record(base, offset)
            }
            ExprKind::LogStart { base, log } => {
                let offset = self.layout_of(base).and_then(|layout| layout.log_start(*log));
                self.word_of_record(base, offset)
            }
            ExprKind::LogSlice { base, log, from, limit } => {
                let slots = [self.own_slot(base), self.own_slot(from), self.own_slot(limit)];
                let parts = self.slots(&slots);
                match base.ty.subject() {
                    Some(subject) => Node::LogSlice { subject, log: *log, parts },
                    None => Node::Unsupported,
                }
            }
            ExprKind::Exists { base, cache } => {
                let cache = *cache;
                self.of_record(base, |base, subject| match cache {
                    None => Node::Exists { base, subject },
                    Some(state) => Node::ExistsCopy { base, subject, state },
                })
            }
            ExprKind::Stored(inner) => match inner.ty.required() {
                Type::Digest(blob) => Node::Stored { base: self.expr(inner), blob: *blob },
                _ => Node::Unsupported,
            },
            ExprKind::Hash(values) => self.hash(values),
            ExprKind::Verified { signature: a, key: b, over: c } => {
                let nodes = [self.expr(a), self.expr(b), self.expr(c)];
                Node::Verified(self.list(&nodes))
            }
            ExprKind::Included { leaf: a, root: b, proof: c } => {
                let nodes = [self.expr(a), self.expr(b), self.expr(c)];
                Node::Included(self.list(&nodes))
            }
            ExprKind::NextOf { schedule, after } => {
                Node::NextOf { schedule: self.expr(schedule), after: self.expr(after) }
            }
            ExprKind::IsNull(inner) => {
                let block = is_block(&inner.ty);
                let inner = self.expr(inner);
                if block { Node::IsNullBlock(inner) } else { Node::IsNull(inner) }
            }
            ExprKind::Not(inner) => Node::Not(self.expr(inner)),
            ExprKind::Negate(inner) => Node::Negate(self.expr(inner)),
            ExprKind::And(parts) => Node::And(self.run(parts)),
            ExprKind::Or(parts) => Node::Or(self.run(parts)),
            ExprKind::Implies(left, right) => Node::Implies(self.expr(left), self.expr(right)),
            ExprKind::Compare { op, left, right } => self.compare(*op, left, right),
            ExprKind::In { item, collection } => self.membership(item, collection),
            ExprKind::Arithmetic { op, left, right } => {
                let decimals = is_decimal(left) && is_decimal(right);
                let op = match op {
                    ArithmeticOp::Add => Arithmetic::Add,
                    ArithmeticOp::Subtract => Arithmetic::Subtract,
                    ArithmeticOp::Multiply if decimals => Arithmetic::MultiplyDecimals,
                    ArithmeticOp::Multiply => Arithmetic::Multiply,
                    ArithmeticOp::Divide if decimals => Arithmetic::DivideDecimals,
                    ArithmeticOp::Divide => Arithmetic::Divide,
                    ArithmeticOp::MultiplyRounded(rounding) => {
                        rounded(false, left, right, *rounding)
                    }
                    ArithmeticOp::DivideRounded(rounding) => rounded(true, left, right, *rounding),
                    ArithmeticOp::Part { digits } => Arithmetic::Part { digits: *digits },
                    ArithmeticOp::Place => Arithmetic::Place,
                };
                Node::Arithmetic { op, left: self.expr(left), right: self.expr(right) }
            }
            ExprKind::Min(parts) => Node::Min(self.run(parts)),
            ExprKind::Max(parts) => Node::Max(self.run(parts)),
            ExprKind::If { condition, then, otherwise } => Node::If {
                condition: self.expr(condition),
                then: self.expr(then),
                otherwise: self.expr(otherwise),
            },
            ExprKind::Let { local, value, body } => {
                let ty = self.local_type(*local);
                let slot = Slot { optional: true, ..self.slot(value, &ty) };
                let slot = self.slots(&[slot]).start;
                Node::Let { slot, offset: self.offset(*local), body: self.expr(body) }
            }
            ExprKind::Quantifier { all, local, domain, filter, body } => {
                self.bind(*local, domain);
                let by = self.looked_up(*local, domain, filter.as_deref(), Some((body, *all)));
                let body = self.expr(body);
                let kind = if *all { LoopKind::All(body) } else { LoopKind::Any(body) };
                self.quantified(kind, (*local, domain), filter.as_deref(), by)
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                self.bind(*local, domain);
                let kind = match value {
                    None => LoopKind::Count,
                    Some(value) => LoopKind::Sum(self.expr(value)),
                };
                let by = self.looked_up(*local, domain, filter.as_deref(), None);
                self.quantified(kind, (*local, domain), filter.as_deref(), by)
            }
            ExprKind::Counter { base, counter } => {
                let offset = self.layout_of(base).map(|layout| layout.counter(*counter));
                match self.word_of_record(base, offset) {
                    Node::Attr { base, subject, offset } => Node::Counter { base, subject, offset },
                    other => other,
                }
            }
            ExprKind::WorldArg { local, param } => self.world_arg(*local, *param),
            ExprKind::Remembered { principal, actor, field, of } => {
                let principal = self.expr(principal);
                let of = of.as_ref().map_or(principal, |of| self.expr(of));
                let memory = (actor.0 as u16, field.0 as u16);
                Node::Remembered { principal, memory, of }
            }
            ExprKind::Old(inner) => Node::Old(self.expr(inner)),
            ExprKind::Set(items) => Node::Set(self.run(items)),
            ExprKind::List(items) => match expr.ty.required() {
                Type::List { of, .. } if matches!(**of, Type::Struct(_)) => {
                    let slots: Vec<Slot> = items.iter().map(|item| self.slot(item, of)).collect();
                    Node::Structs(self.slots(&slots))
                }
                _ => Node::List(self.run(items)),
            },
            ExprKind::Field { base, field } => match base.kind {
                ExprKind::Local(local) => Node::Local { offset: self.offset(local) + field },
                _ => Node::Unsupported,
            },
            ExprKind::Index { base, index } => {
                let map = matches!(base.ty.required(), Type::Map { .. });
                let (block, index) = (self.expr(base), self.expr(index));
                if map { Node::MapIndex { block, index } } else { Node::ListIndex { block, index } }
            }
            ExprKind::Size(inner) => {
                let stride = stride_of(&inner.ty);
                Node::Size { block: self.expr(inner), stride }
            }
            ExprKind::Record(fields) => {
                let slots: Vec<Slot> = match &expr.ty {
                    Type::Struct(of) => {
                        let fields = fields.iter().zip(of);
                        fields.map(|((_, value), field)| self.slot(value, &field.ty)).collect()
                    }
                    _ => fields.iter().map(|(_, field)| self.own_slot(field)).collect(),
                };
                Node::Record(self.slots(&slots))
            }
            ExprKind::View { view, args } => {
                let slots: Vec<Slot> = args.iter().map(|arg| self.own_slot(arg)).collect();
                Node::View { view: *view, args: self.slots(&slots) }
            }
            ExprKind::Error => Node::Unsupported,
        }
    }

    pub(super) fn literal(&mut self, value: &Const) -> Node {
        match value {
            Const::Set(_) | Const::List(_) | Const::Map(_) => {
                let words = self.texts.words(value);
                Node::Block(self.block(&words))
            }
            scalar => Node::Const(self.texts.scalar(scalar)),
        }
    }

    fn of_record(&mut self, base: &Expr, make: impl Fn(NodeId, SubjectId) -> Node) -> Node {
        match base.ty.subject() {
            Some(subject) => make(self.expr(base), subject),
            None => Node::Unsupported,
        }
    }

    fn word_of_record(&mut self, base: &Expr, offset: Option<u32>) -> Node {
        match offset {
            Some(offset) => {
                self.of_record(base, |base, subject| Node::Attr { base, subject, offset })
            }
            None => Node::Unsupported,
        }
    }

    fn attribute(&mut self, base: &Expr, attr: AttrId) -> Node {
        let Some(subject) = base.ty.subject() else { return Node::Unsupported };
        if let Some(field) = self.layouts[subject.index()].attribute(attr) {
            if let ExprKind::Local(local) = base.kind {
                let local = self.offset(local);
                return Node::Field { local, subject, offset: field.offset };
            }
            return Node::Attr { base: self.expr(base), subject, offset: field.offset };
        }
        let declared = &self.design.subjects[subject.index()];
        let Some(attribute) = declared.attributes.get(attr.index()) else {
            return Node::Unsupported;
        };
        let state = attribute.state;
        if !matches!(declared.states[state.index()].kind, StateKind::Cache { .. }) {
            return Node::Unsupported;
        }
        match StateLayout::of(declared, state).attribute(attr) {
            Some(field) => {
                Node::Cache { base: self.expr(base), subject, state, offset: field.offset }
            }
            None => Node::Unsupported,
        }
    }

    /// Remembers which effect a variable ranges over.
    pub(super) fn bind(&mut self, local: LocalId, domain: &Domain) {
        if let Some(effect) = domain.rows_of() {
            self.world_locals.push((local, effect));
        }
    }

    /// By what the records of a loop can be looked up.
    fn looked_up(
        &mut self,
        local: LocalId,
        domain: &Domain,
        filter: Option<&Expr>,
        body: Option<(&Expr, bool)>,
    ) -> Option<(Column, NodeId)> {
        let Domain::All(subject) = domain else { return None };
        let found = equality(local, filter, body)?;
        let column = column(found.own, &self.layouts[subject.index()])?;
        Some((column, self.expr(found.other)))
    }

    fn quantified(
        &mut self,
        kind: LoopKind,
        (local, domain): (LocalId, &Domain),
        filter: Option<&Expr>,
        by: Option<(Column, NodeId)>,
    ) -> Node {
        let over = match domain {
            Domain::All(subject) => Over::All(*subject),
            Domain::Children { child, parent } => {
                Over::Children { child: *child, parent: self.expr(parent) }
            }
            Domain::Elements(collection) => {
                let (stride, bound) = (stride_of(&collection.ty), bound_of(&collection.ty));
                Over::Elements { block: self.expr(collection), stride, bound }
            }
            Domain::World(effect) => Over::Rows(Rows::Done, *effect),
            Domain::Messages(step) => Over::Rows(Rows::UnderWay, *step),
            Domain::Outbox(effect) => Over::Rows(Rows::Waiting, *effect),
            Domain::Principals(actor) => Over::Principals(*actor),
        };
        let filter = filter.map(|filter| self.expr(filter));
        self.loops.push(Loop { kind, local: self.offset(local), over, filter, by });
        Node::Loop(self.loops.len() as u32 - 1)
    }

    fn world_arg(&mut self, local: LocalId, param: u32) -> Node {
        let effect = self.world_locals.iter().rev().find(|(id, _)| *id == local).map(|(_, op)| *op);
        let field = effect
            .and_then(|effect| self.params.get(effect.index()))
            .and_then(|params| params.fields.get(param as usize));
        match field {
            Some(field) => Node::WorldArg { local: self.offset(local), offset: field.offset },
            None => Node::Unsupported,
        }
    }
}

/// The words of a result: like `width_of`, but a query is one word.
pub(super) fn own_width(expr: &Expr) -> u32 {
    match &expr.kind {
        ExprKind::View { .. } | ExprKind::LogSlice { .. } => 1,
        ExprKind::Record(fields) => fields.iter().map(|(_, field)| own_width(field)).sum(),
        _ => width_of(&expr.ty),
    }
}
