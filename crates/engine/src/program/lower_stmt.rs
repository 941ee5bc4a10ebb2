//! Statements, lowered.

use design::model::{
    AssignOp, AttrId, EventId, Expr, OperationId, Retention, StateId, StateKind, Stmt, StmtKind,
    SubjectId, Target, Type,
};

use super::lower::Lower;
use super::lower_expr::{bound_of, form_of, is_block, stride_of};
use super::node::{
    AssignKind, Destination, Form, Node, Placed, Run, Slot, StmtNode, StmtOp, Store,
};
use crate::StateLayout;
use crate::layout::width_of;

impl Lower<'_> {
    pub(super) fn body(&mut self, stmts: &[Stmt]) -> Run {
        let mut nodes = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            if self.removed.contains(&stmt.id) {
                continue;
            }
            let at = self.push(Node::Unsupported, stmt.span);
            let kind = self.stmt(stmt);
            nodes.push(StmtNode { kind, at });
        }
        self.stmts(&nodes)
    }

    fn stmt(&mut self, stmt: &Stmt) -> StmtOp {
        match &stmt.kind {
            StmtKind::Assign { target, op, value } => self.assign(target, *op, value),
            StmtKind::Let { local, value } => {
                let ty = self.local_type(*local);
                let value = Slot { optional: true, ..self.slot(value, &ty) };
                StmtOp::Let { offset: self.offset(*local), value }
            }
            StmtKind::New { subject, keys, fields } => {
                let keys: Vec<Slot> = keys
                    .iter()
                    .enumerate()
                    .map(|(part, key)| {
                        let ty = self.key_type(*subject, part).unwrap_or(key.ty.clone());
                        self.slot(key, &ty)
                    })
                    .collect();
                let keys = self.slots(&keys);
                let fields: Vec<Placed> = fields
                    .iter()
                    .filter_map(|(attr, value)| self.field(*subject, *attr, value))
                    .collect();
                StmtOp::New { subject: *subject, keys, fields: self.placed(&fields) }
            }
            StmtKind::Delete { target } => match target.ty.subject() {
                Some(subject) => StmtOp::Delete { subject, target: self.expr(target) },
                None => self.unsupported(),
            },
            StmtKind::Append { base, log, fields } => self.append(base, *log, fields),
            StmtKind::Emit { event, fields } => self.emit(*event, fields),
            StmtKind::Send { operation, args } => self.send(*operation, args),
            StmtKind::For { local, domain, body } => {
                let block = self.expr(domain);
                let offset = self.offset(*local);
                let (stride, bound) = (stride_of(&domain.ty), bound_of(&domain.ty));
                StmtOp::For { offset, block, stride, bound, body: self.body(body) }
            }
            StmtKind::If { condition, then, otherwise } => StmtOp::If {
                condition: self.expr(condition),
                then: self.body(then),
                otherwise: self.body(otherwise),
            },
        }
    }

    /// A statement that is always refused: nothing that compiled comes here.
    fn unsupported(&mut self) -> StmtOp {
        let condition = self.push(Node::Unsupported, self.design.span);
        StmtOp::If { condition, then: Run::default(), otherwise: Run::default() }
    }

    fn key_type(&self, subject: SubjectId, part: usize) -> Option<Type> {
        Some(self.design.subjects.get(subject.index())?.keys.get(part)?.ty.clone())
    }

    /// A value for an attribute of a new record.
    fn field(&mut self, subject: SubjectId, attr: AttrId, value: &Expr) -> Option<Placed> {
        let offset = self.layouts[subject.index()].attribute(attr)?.offset;
        let ty = self.design.subjects[subject.index()].attributes[attr.index()].ty.clone();
        Some(Placed { offset, slot: self.slot(value, &ty) })
    }

    fn assign(&mut self, target: &Target, op: AssignOp, value: &Expr) -> StmtOp {
        match target {
            Target::Memory(memory) => {
                let change = scalar_change(op);
                let value =
                    Slot { node: self.expr(value), width: 1, form: Form::Scalar, optional: true };
                StmtOp::Memory { memory: *memory, change, value }
            }
            Target::Attr { base, attr } => {
                let Some((place, ty)) = self.destination(base, *attr) else {
                    return self.unsupported();
                };
                let (change, value) = match (ty.required(), op) {
                    (_, AssignOp::Set) => (AssignKind::Set, self.slot(value, &ty)),
                    (Type::Set { of, .. }, op) => {
                        let kind = match op {
                            AssignOp::Subtract => AssignKind::Remove,
                            _ => AssignKind::Insert,
                        };
                        let ty = if is_block(&value.ty) { &value.ty } else { &**of };
                        (kind, self.slot(value, ty))
                    }
                    (Type::List { of, .. }, AssignOp::Add) => {
                        let ty = if is_block(&value.ty) { &value.ty } else { &**of };
                        (AssignKind::Push, self.slot(value, ty))
                    }
                    (Type::Map { key, .. }, AssignOp::Subtract) => {
                        (AssignKind::RemoveKey, self.slot(value, key))
                    }
                    (Type::List { .. } | Type::Map { .. }, _) => {
                        (AssignKind::Unsupported, self.own_slot(value))
                    }
                    (_, op) => (scalar_change(op), self.slot(value, &ty)),
                };
                StmtOp::Assign { place, change, value }
            }
            Target::Element { base, attr, key } => {
                let Some((place, ty)) = self.destination(base, *attr) else {
                    return self.unsupported();
                };
                let Type::Map { value: of, .. } = ty.required() else {
                    return self.unsupported();
                };
                let key = self.expr(key);
                let change = match op {
                    AssignOp::Set => AssignKind::PutSet { key },
                    AssignOp::Add => AssignKind::PutAdd { key },
                    AssignOp::Subtract => AssignKind::PutSubtract { key },
                };
                StmtOp::Assign { place, change, value: self.slot(value, of) }
            }
        }
    }

    fn destination(&mut self, base: &Expr, attr: AttrId) -> Option<(Destination, Type)> {
        let subject = base.ty.subject()?;
        let declared = &self.design.subjects[subject.index()];
        let attribute = declared.attributes.get(attr.index())?;
        let state = attribute.state;
        let ty = attribute.ty.clone();
        let (store, field) = match declared.states[state.index()].kind {
            StateKind::Truth => (Store::Truth, self.layouts[subject.index()].attribute(attr)?),
            StateKind::Cache { .. } => {
                (Store::Cache(state), StateLayout::of(declared, state).attribute(attr)?)
            }
            StateKind::Ephemeral { .. } => {
                (Store::Ephemeral(state), StateLayout::of(declared, state).attribute(attr)?)
            }
            StateKind::Log { .. } => return None,
        };
        let base = self.expr(base);
        let (offset, width) = (field.offset, field.width);
        Some((Destination { base, subject, store, attr: attr.0, offset, width }, ty))
    }

    fn append(&mut self, base: &Expr, log: StateId, fields: &[(AttrId, Expr)]) -> StmtOp {
        let Some(subject) = base.ty.subject() else { return self.unsupported() };
        let declared = &self.design.subjects[subject.index()];
        let keep = match declared.states[log.index()].kind {
            StateKind::Log { retain: Retention::Entries(entries) } => Some(entries),
            _ => None,
        };
        let base = self.expr(base);
        let entry: Vec<Slot> = StateLayout::of(declared, log)
            .fields
            .iter()
            .map(|(attr, _)| {
                let attribute = &declared.attributes[attr.index()];
                match fields.iter().find(|(id, _)| id == attr) {
                    Some((_, value)) => self.slot(value, &attribute.ty),
                    None => {
                        let default = attribute.default.clone();
                        self.constant_slot(default.as_ref(), &attribute.ty, attribute.span)
                    }
                }
            })
            .collect();
        StmtOp::Append { subject, base, log, keep, entry: self.slots(&entry) }
    }

    /// A constant, or null if there is none.
    pub(super) fn constant_slot(
        &mut self,
        value: Option<&design::model::Const>,
        ty: &Type,
        span: design::model::Span,
    ) -> Slot {
        let node = match value {
            Some(value) if is_block(ty) => {
                let words = self.texts.words(value);
                Node::Block(self.block(&words))
            }
            Some(value) => Node::Const(self.texts.scalar(value)),
            None => Node::Const(crate::NULL),
        };
        let node = self.push(node, span);
        Slot { node, width: width_of(ty), form: form_of(ty), optional: ty.is_optional() }
    }

    fn emit(&mut self, event: EventId, fields: &[(String, Expr)]) -> StmtOp {
        let declared = &self.design.events[event.index()].fields;
        let slots: Vec<Slot> = declared
            .iter()
            .map(|(name, ty)| match fields.iter().find(|(field, _)| field == name) {
                Some((_, value)) => Slot { optional: true, ..self.slot(value, ty) },
                None => self.constant_slot(
                    None,
                    &Type::Optional(Box::new(ty.clone())),
                    self.design.span,
                ),
            })
            .collect();
        StmtOp::Emit { event, fields: self.slots(&slots) }
    }

    fn send(&mut self, operation: OperationId, args: &[Expr]) -> StmtOp {
        let target = &self.design.operations[operation.index()];
        let params = &target.params;
        let slots: Vec<Slot> = params
            .iter()
            .enumerate()
            .map(|(index, param)| match args.get(index) {
                // which record it is for is said when its turn comes
                Some(arg) if index == 0 && target.each.is_some() => {
                    Slot { optional: true, ..self.slot(arg, &param.ty) }
                }
                Some(arg) => self.slot(arg, &param.ty),
                None => self.constant_slot(param.default.as_ref(), &param.ty, param.span),
            })
            .collect();
        StmtOp::Send { operation, args: self.slots(&slots) }
    }
}

fn scalar_change(op: AssignOp) -> AssignKind {
    match op {
        AssignOp::Set => AssignKind::Set,
        AssignOp::Add => AssignKind::Add,
        AssignOp::Subtract => AssignKind::Subtract,
    }
}
