//! What a tree declares, found without resolving anything: a mistake elsewhere hides none of it.

use rustc_hash::FxHashSet;
use syntax::Span;
use syntax::tree::*;

use super::{Definition, DefinitionId, DefinitionKind as Kind};

pub(super) fn declared(items: &[Item]) -> Vec<Definition> {
    let mut walk = Walk::default();
    for item in items {
        walk.item(item);
    }
    walk.found
}

#[derive(Default)]
struct Walk<'t> {
    found: Vec<Definition>,
    events: FxHashSet<&'t str>,
}

impl<'t> Walk<'t> {
    /// None: the name could not be read.
    fn define(
        &mut self,
        kind: Kind,
        name: &Name,
        owner: Option<DefinitionId>,
    ) -> Option<DefinitionId> {
        self.define_within(kind, name, owner, None)
    }

    fn define_within(
        &mut self,
        kind: Kind,
        name: &Name,
        owner: Option<DefinitionId>,
        scope: Option<Span>,
    ) -> Option<DefinitionId> {
        if name.text.is_empty() {
            return None;
        }
        let id = DefinitionId::of(self.found.len());
        let (name, span) = (name.text.clone(), name.span);
        self.found.push(Definition { name, kind, span, owner, scope });
        Some(id)
    }

    fn item(&mut self, item: &'t Item) {
        match &item.kind {
            ItemKind::Actor(actor) => {
                let owner = self.define(Kind::Actor, &actor.name, None);
                for field in &actor.memory {
                    let field_id = self.define(Kind::Memory, &field.name, owner);
                    self.constants(&field.ty, field_id);
                }
            }
            ItemKind::Subject(subject) => self.subject(subject),
            ItemKind::Blob { name } => {
                self.define(Kind::Blob, name, None);
            }
            ItemKind::Define(define) => {
                let owner = self.define(Kind::Define, &define.name, None);
                self.params(&define.params, owner, item.span);
                self.expr(&define.body);
            }
            ItemKind::Operation(operation) => self.operation(operation, item.span),
            ItemKind::View(view) => {
                let owner = self.define(Kind::View, &view.name, None);
                self.params(&view.params, owner, item.span);
                self.view_form(&view.form);
                self.exprs(&view.filter);
                view.with.iter().for_each(|shown| self.expr(shown));
            }
            ItemKind::Protocol(protocol) => {
                self.define(Kind::Protocol, &protocol.name, None);
                protocol.paths.iter().for_each(|path| self.path(path));
            }
            ItemKind::Invariant { name, body }
            | ItemKind::Recovers { name, body }
            | ItemKind::LeadsTo { name, body, .. } => {
                self.define(Kind::Goal, name, None);
                self.expr(body);
            }
            ItemKind::Failure(failure) => {
                for proof in &failure.proofs {
                    // what must not compile is no part of the design
                    if let FailureProofKind::Measured { value, above } = &proof.kind {
                        self.expr(value);
                        self.expr(above);
                    }
                }
            }
            ItemKind::Check(check) => {
                if let Some(named) = &check.named {
                    self.define(Kind::World, &named.name, None);
                }
            }
            ItemKind::From(from) => {
                for line in &from.lines {
                    if let FromLineKind::Convert { params, value, .. } = &line.kind {
                        self.params(params, None, line.span);
                        self.expr(value);
                    }
                }
            }
            // names of a test are given where they are first used
            ItemKind::Test(test) => {
                for line in &test.lines {
                    if let TestLineKind::Expect(condition) = &line.kind {
                        self.expr(condition);
                    }
                }
            }
            ItemKind::Design { .. }
            | ItemKind::Archetype { .. }
            | ItemKind::Header { .. }
            | ItemKind::Use(_)
            | ItemKind::Defence(_)
            | ItemKind::Hotspot(_)
            | ItemKind::Error => {}
        }
    }

    fn subject(&mut self, subject: &'t SubjectItem) {
        let owner = self.define(Kind::Subject, &subject.name, None);
        for key in &subject.keys {
            let key_id = self.define(Kind::Key, &key.name, owner);
            self.constants(&key.ty, key_id);
        }
        for state in &subject.states {
            let state_id = self.define(Kind::State, &state.name, owner);
            for attribute in &state.attributes {
                let attribute_id = self.define(Kind::Attribute, &attribute.name, state_id);
                self.constants(&attribute.ty, attribute_id);
            }
            for visible in &state.visible {
                self.exprs(&visible.condition);
            }
        }
    }

    fn operation(&mut self, operation: &'t OperationItem, scope: Span) {
        let owner = self.define(Kind::Operation, &operation.name, None);
        self.params(&operation.params, owner, scope);
        for clause in &operation.guard {
            if let Some(name) = &clause.name {
                self.define(Kind::Clause, name, owner);
            }
            self.expr(&clause.body);
        }
        match &operation.body {
            OperationBody::Statements(block) => self.block(block),
            OperationBody::Effect(effect) => self.effect(effect, owner),
            OperationBody::Read { result, memory, .. } => {
                self.expr(result);
                self.block(memory);
            }
            OperationBody::Missing => {}
        }
    }

    fn effect(&mut self, effect: &'t EffectBody, owner: Option<DefinitionId>) {
        if let Some(call) = &effect.call {
            self.exprs(&call.key);
            call.body.iter().for_each(|fields| self.fields(fields));
        }
        if let Some(sign) = &effect.sign {
            self.expr(&sign.digest);
            self.expr(&sign.key);
        }
        for handler in &effect.answers {
            if let Some(param) = &handler.param {
                let scope = Some(handler.span);
                let id = self.define_within(Kind::Local, &param.name, owner, scope);
                if let Some(ty) = &param.ty {
                    self.constants(ty, id);
                }
            }
            self.block(&handler.body);
        }
    }

    fn params(&mut self, params: &[Param], owner: Option<DefinitionId>, scope: Span) {
        for param in params {
            let id = self.define_within(Kind::Parameter, &param.name, owner, Some(scope));
            self.constants(&param.ty, id);
        }
    }

    /// The words of an enumeration belong to whatever has it as its type.
    fn constants(&mut self, ty: &TypeExpr, owner: Option<DefinitionId>) {
        match &ty.kind {
            TypeKind::Enumeration(names) => {
                for name in names {
                    self.define(Kind::Constant, name, owner);
                }
            }
            TypeKind::Ranged(of, ..)
            | TypeKind::Optional(of)
            | TypeKind::List(of, _)
            | TypeKind::Set(of, _) => self.constants(of, owner),
            TypeKind::Record(fields) => {
                fields.iter().for_each(|(_, ty)| self.constants(ty, owner));
            }
            TypeKind::Map(key, value, _) => {
                self.constants(key, owner);
                self.constants(value, owner);
            }
            TypeKind::Named(_) | TypeKind::Money(_) | TypeKind::AnyOf(..) | TypeKind::Error => {}
        }
    }

    fn view_form(&mut self, form: &'t ViewForm) {
        match form {
            ViewForm::Sum { value }
            | ViewForm::Extreme { value, .. }
            | ViewForm::Average { value } => self.expr(value),
            ViewForm::List { order, .. } => order.iter().for_each(|key| self.expr(&key.value)),
            ViewForm::Rank { by, .. } => self.expr(&by.value),
            ViewForm::Window { value, by, .. } => {
                self.exprs(value);
                self.expr(by);
            }
            ViewForm::Near { first, .. } => self.exprs(first),
            ViewForm::Count | ViewForm::Search { .. } => {}
        }
    }

    fn path(&mut self, path: &'t Path) {
        for clause in path.steps.iter().flat_map(|step| &step.guard) {
            self.expr(&clause.body);
        }
        path.branches.iter().for_each(|branch| self.path(branch));
    }

    fn block(&mut self, block: &'t Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { target, value, .. } => {
                    self.expr(target);
                    self.expr(value);
                }
                StmtKind::Let { name, value } => {
                    self.expr(value);
                    let at = statement.span;
                    let scope = Span::new(at.file, at.end, block.span.end);
                    self.define_within(Kind::Local, name, None, Some(scope));
                }
                StmtKind::New { keys, fields, .. } => {
                    self.exprs(keys);
                    self.fields(fields);
                }
                StmtKind::Delete { target } => self.expr(target),
                StmtKind::Append { log, fields } => {
                    self.expr(log);
                    self.fields(fields);
                }
                StmtKind::Emit { event, fields } => {
                    if self.events.insert(&event.text) {
                        self.define(Kind::Event, event, None);
                    }
                    self.fields(fields);
                }
                StmtKind::Send { each, args, .. } => {
                    if let Some(each) = each {
                        self.domain(&each.domain);
                        self.define_within(Kind::Local, &each.var, None, Some(statement.span));
                        self.exprs(each.filter.as_deref());
                    }
                    self.exprs(args);
                }
                StmtKind::For { var, domain, body } => {
                    self.domain(domain);
                    self.define_within(Kind::Local, var, None, Some(body.span));
                    self.block(body);
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StmtKind::Error => {}
            }
        }
    }

    fn fields(&mut self, fields: &'t [FieldValue]) {
        fields.iter().for_each(|field| self.exprs(&field.value));
    }

    fn domain(&mut self, domain: &'t Domain) {
        self.expr(&domain.of_what);
        self.exprs(domain.parent.as_deref());
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'t Expr) {
        match &expr.kind {
            ExprKind::Let { name, value, body } => {
                self.expr(value);
                self.define_within(Kind::Local, name, None, Some(body.span));
                self.expr(body);
            }
            ExprKind::Quantifier { var, domain, filter, body, .. } => {
                self.domain(domain);
                self.define_within(Kind::Local, var, None, Some(expr.span));
                self.exprs(filter.as_deref());
                self.expr(body);
            }
            ExprKind::Aggregate { value, var, domain, filter, .. } => {
                self.domain(domain);
                if let Some(var) = var {
                    self.define_within(Kind::Local, var, None, Some(expr.span));
                }
                self.exprs(value.as_deref());
                self.exprs(filter.as_deref());
            }
            ExprKind::Field { base: inner, .. }
            | ExprKind::Presence { of: inner, .. }
            | ExprKind::Round { of: inner, .. }
            | ExprKind::Old(inner)
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner) => self.expr(inner),
            ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Call { args: parts, .. }
            | ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Set(parts)
            | ExprKind::List(parts) => self.exprs(parts),
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Record(fields) => self.fields(fields),
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Decimal(_)
            | ExprKind::Text(_)
            | ExprKind::Duration { .. }
            | ExprKind::Now
            | ExprKind::Me
            | ExprKind::Name(_)
            | ExprKind::Error => {}
        }
    }
}
