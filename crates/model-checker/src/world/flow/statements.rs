//! What the statements of an operation put where.

use design::model::{AssignOp, Expr, Stmt, StmtKind, Target, Type, visit};

use super::expressions::is_one;
use super::{Flow, Owner, PlaceOf, Scope};

impl Flow<'_> {
    pub(super) fn body(&mut self, scope: Scope, body: &[Stmt]) {
        for stmt in body {
            self.stmt(scope, stmt);
        }
    }

    fn stmt(&mut self, scope: Scope, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, op, value } => self.assign(scope, target, *op, value),
            StmtKind::Let { local, value } => {
                let value = self.stored(scope, value);
                self.bind(scope, *local, value);
            }
            StmtKind::New { subject, keys, fields } => {
                for (part, key) in keys.iter().enumerate() {
                    let key = self.value(scope, key);
                    let place = self.of_place(PlaceOf::Key(*subject, part as u32), Owner::Other);
                    self.join(place, key);
                }
                for (attr, value) in fields {
                    let value = self.stored(scope, value);
                    let place = self.of_place(PlaceOf::Attr(*subject, *attr), Owner::Other);
                    self.join(place, value);
                }
            }
            StmtKind::Send { operation, args } => {
                let target = Scope::Operation(operation.0);
                let params = &self.design.operations[operation.index()].params;
                for (param, arg) in params.iter().zip(args) {
                    let arg = self.stored(scope, arg);
                    let place = self.of_place(PlaceOf::Local(target, param.local), Owner::Other);
                    self.join(place, arg);
                }
            }
            StmtKind::For { local, domain, body } => {
                let elements = self.value(scope, domain);
                if let Some(node) = elements.node
                    && !matches!(domain.ty.required(), Type::List { .. })
                {
                    self.class(node).ordered = true;
                }
                self.bind(scope, *local, elements);
                self.body(scope, body);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.value(scope, condition);
                self.body(scope, then);
                self.body(scope, otherwise);
            }
            // The contents of logs and events are never read back.
            StmtKind::Delete { .. } | StmtKind::Append { .. } | StmtKind::Emit { .. } => {
                visit::statement_exprs(stmt, &mut |expr| {
                    self.value(scope, expr);
                });
            }
        }
    }

    fn assign(&mut self, scope: Scope, target: &Target, op: AssignOp, value: &Expr) {
        let given = self.stored(scope, value);
        let (place, ty) = match target {
            Target::Memory(usage) => {
                let Scope::Operation(operation) = scope else { return };
                let usage = &self.design.operations[operation as usize].memory[usage.index()];
                let owner = usage.of.map_or(Owner::Other, Owner::Record);
                let field = &self.design.actors[usage.actor.index()].memory[usage.field.index()];
                (self.of_place(PlaceOf::Memory(usage.actor, usage.field), owner), &field.ty)
            }
            Target::Attr { base, attr } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return };
                let ty = &self.design.subjects[subject.index()].attributes[attr.index()].ty;
                (self.of_place(PlaceOf::Attr(subject, *attr), Flow::owner_of(base)), ty)
            }
            Target::Element { base, attr, key } => {
                self.value(scope, base);
                let Some(subject) = base.ty.subject() else { return };
                let owner = Flow::owner_of(base);
                let keys = self.of_place(PlaceOf::Attr(subject, *attr), owner);
                let key = self.value(scope, key);
                self.join(keys, key);
                let ty = &self.design.subjects[subject.index()].attributes[attr.index()].ty;
                (self.of_place(PlaceOf::MapValue(subject, *attr), owner), ty)
            }
        };
        let collection =
            matches!(ty.required(), Type::Set { .. } | Type::List { .. } | Type::Map { .. })
                && !matches!(target, Target::Element { .. });
        match op {
            AssignOp::Set => {
                self.join(place, given);
            }
            _ if collection => {
                self.join(place, given);
            }
            AssignOp::Add if is_one(value) && matches!(ty.required(), Type::Int) => {
                if let Some(node) = place.node {
                    self.class(node).increments = true;
                }
            }
            _ => {
                self.measure(given);
                if let Some(node) = place.node {
                    let class = self.class(node);
                    class.computed = true;
                    class.measured = true;
                }
            }
        }
    }
}
