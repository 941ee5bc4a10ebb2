//! Walks a whole tree, recursively, as any user of it may.

use syntax::Span;
use syntax::tree::*;

#[derive(Default)]
pub struct Walked {
    pub spans: Vec<Span>,
    pub errors: usize,
    /// the deepest nesting of expressions, types, blocks and items in items
    pub depth: usize,
    now: usize,
}

pub fn file(file: &File) -> Walked {
    let mut walked = Walked::default();
    walked.spans.push(file.span);
    walked.items(&file.items);
    walked
}

impl Walked {
    fn deeper(&mut self, inside: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.depth = self.depth.max(self.now);
        inside(self);
        self.now -= 1;
    }

    fn name(&mut self, name: &Name) {
        self.spans.push(name.span);
    }

    fn names(&mut self, names: &[Name]) {
        names.iter().for_each(|name| self.name(name));
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.spans.push(item.span);
            self.item(&item.kind);
        }
    }

    fn item(&mut self, item: &ItemKind) {
        match item {
            ItemKind::Design { name, title } => {
                self.name(name);
                self.spans.extend(title.as_ref().map(|text| text.span));
            }
            ItemKind::Archetype { id, name, title } => {
                self.name(id);
                self.name(name);
                self.spans.extend(title.as_ref().map(|text| text.span));
            }
            ItemKind::Header { values, .. } => self.values(values),
            ItemKind::Use(used) => {
                self.name(&used.archetype);
                self.name(&used.noun);
                used.changes.iter().for_each(|change| self.change(change));
            }
            ItemKind::Actor(actor) => {
                self.name(&actor.name);
                self.names(&actor.apart);
                for field in &actor.memory {
                    self.name(&field.name);
                    self.ty(&field.ty);
                }
            }
            ItemKind::Subject(subject) => {
                self.name(&subject.name);
                for key in &subject.keys {
                    self.name(&key.name);
                    self.ty(&key.ty);
                }
                subject.states.iter().for_each(|state| self.state(state));
            }
            ItemKind::From(from) => {
                self.spans.push(from.version.span);
                from.lines.iter().for_each(|line| self.earlier_line(line));
            }
            ItemKind::Blob { name } => self.name(name),
            ItemKind::Define(define) => {
                self.params(&define.params);
                self.expr(&define.body);
            }
            ItemKind::Operation(operation) => self.operation(operation),
            ItemKind::View(view) => self.view(view),
            ItemKind::Protocol(protocol) => {
                protocol.paths.iter().for_each(|path| self.path(path));
            }
            ItemKind::Invariant { name, body } | ItemKind::Recovers { name, body } => {
                self.name(name);
                self.expr(body);
            }
            ItemKind::LeadsTo { name, body, by } => {
                self.name(name);
                self.expr(body);
                by.iter().for_each(|step| self.name(step));
            }
            ItemKind::Failure(failure) => {
                self.spans.push(failure.title.span);
                failure.proofs.iter().for_each(|proof| self.proof(proof));
            }
            ItemKind::Defence(defence) => {
                self.name(&defence.operation);
                self.name(&defence.clause);
                self.spans.push(defence.reason.span);
            }
            ItemKind::Hotspot(hotspot) => {
                self.expr(&hotspot.on);
                self.values(&hotspot.mitigate);
            }
            ItemKind::Check(check) => check.entries.iter().for_each(|entry| self.entry(entry)),
            ItemKind::Test(test) => {
                self.spans.push(test.title.span);
                test.lines.iter().for_each(|line| self.test_line(line));
            }
            ItemKind::Error => self.errors += 1,
        }
    }

    fn test_line(&mut self, line: &TestLine) {
        self.spans.push(line.span);
        match &line.kind {
            TestLineKind::Call { actor, principal, call, key, outcome } => {
                self.name(actor);
                self.spans.push(principal.span());
                self.test_call(call);
                self.spans.extend(key.as_ref().map(TestWord::span));
                match outcome {
                    TestOutcome::Refused(clause) => self.name(clause),
                    TestOutcome::Gives(value) => self.expr(value),
                    TestOutcome::Error => self.errors += 1,
                    _ => {}
                }
            }
            TestLineKind::After(value) | TestLineKind::Expect(value) => self.expr(value),
            TestLineKind::Crash { actor, principal } => {
                self.name(actor);
                self.spans.push(principal.span());
            }
            TestLineKind::Answer { call, answer } => {
                self.test_call(call);
                match answer {
                    TestAnswer::Ok(Some(value)) => self.expr(value),
                    TestAnswer::Error => self.errors += 1,
                    _ => {}
                }
            }
            TestLineKind::Deliver { call, .. } | TestLineKind::Lose(call) => self.test_call(call),
            TestLineKind::View { call, gives } => {
                self.test_call(call);
                self.expr(gives);
            }
            TestLineKind::Error => self.errors += 1,
        }
    }

    fn test_call(&mut self, call: &TestCall) {
        self.spans.push(call.span);
        self.name(&call.name);
        for arg in &call.args {
            self.spans.push(arg.span);
            arg.name.iter().for_each(|name| self.name(name));
            self.expr(&arg.value);
        }
    }

    fn earlier_line(&mut self, line: &FromLine) {
        self.spans.push(line.span);
        match &line.kind {
            FromLineKind::Rename { path, to } => {
                path.iter().for_each(|name| self.name(name));
                self.name(to);
            }
            FromLineKind::Default { path, value } => {
                path.iter().for_each(|name| self.name(name));
                self.expr(value);
            }
            FromLineKind::Convert { path, params, value } => {
                path.iter().for_each(|name| self.name(name));
                self.params(params);
                self.expr(value);
            }
            FromLineKind::Error => self.errors += 1,
        }
    }

    fn change(&mut self, change: &UseChange) {
        self.spans.push(change.span);
        match &change.kind {
            UseChangeKind::Actor { name, is } | UseChangeKind::Subject { name, is } => {
                self.name(name);
                self.name(is);
            }
            UseChangeKind::States { subject, states } => {
                self.name(subject);
                states.iter().for_each(|state| self.state(state));
            }
            UseChangeKind::Clauses { operation, clauses } => {
                self.name(operation);
                self.clauses(clauses);
            }
            UseChangeKind::Effects(more) => {
                self.name(&more.operation);
                self.block(&more.body);
            }
            UseChangeKind::Rename { owner, name, to } => {
                owner.iter().for_each(|owner| self.name(owner));
                self.name(name);
                self.name(to);
            }
            UseChangeKind::Hide { operation } => self.name(operation),
            UseChangeKind::Instead { operation, items } => {
                self.name(operation);
                self.deeper(|walked| walked.items(items));
            }
            UseChangeKind::WithoutGoal { goal, because } => {
                self.name(goal);
                self.spans.push(because.span);
            }
            UseChangeKind::Error => self.errors += 1,
        }
    }

    fn values(&mut self, values: &[HeaderValue]) {
        for value in values {
            match value {
                HeaderValue::Word(name) => self.name(name),
                HeaderValue::Text(text) => self.spans.push(text.span),
            }
        }
    }

    fn state(&mut self, state: &StateItem) {
        self.spans.push(state.span);
        match &state.kind {
            StateKind::Log { retain: Some(e) } | StateKind::Ephemeral { ttl: Some(e) } => {
                self.expr(e);
            }
            StateKind::Cache { at } => self.name(at),
            _ => {}
        }
        for attribute in &state.attributes {
            self.spans.push(attribute.span);
            self.ty(&attribute.ty);
            attribute.default.iter().for_each(|e| self.expr(e));
        }
        for visible in &state.visible {
            self.spans.push(visible.span);
            self.names(&visible.to);
            visible.condition.iter().for_each(|e| self.expr(e));
        }
    }

    fn params(&mut self, params: &[Param]) {
        for param in params {
            self.spans.push(param.span);
            self.ty(&param.ty);
            self.spans.extend(param.from_caller);
            param.default.iter().for_each(|e| self.expr(e));
            if let Some(generated) = &param.generated {
                self.spans.push(generated.span);
                self.name(&generated.kind);
                generated.size.iter().for_each(|e| self.expr(e));
            }
        }
    }

    fn clauses(&mut self, clauses: &[Clause]) {
        for clause in clauses {
            self.spans.push(clause.span);
            self.expr(&clause.body);
        }
    }

    fn operation(&mut self, operation: &OperationItem) {
        self.spans.push(operation.head);
        self.params(&operation.params);
        self.clauses(&operation.guard);
        if let OperationKind::Repair { after, every, batch } = &operation.kind {
            [after, every, batch].into_iter().flatten().for_each(|e| self.expr(e));
        }
        match &operation.body {
            OperationBody::Statements(block) => self.block(block),
            OperationBody::Effect(effect) => {
                self.spans.push(effect.span);
                if let Some(call) = &effect.call {
                    self.spans.push(call.span);
                    call.key.iter().for_each(|e| self.expr(e));
                    call.body.iter().for_each(|fields| self.fields(fields));
                }
                if let Some(sign) = &effect.sign {
                    self.spans.push(sign.span);
                    self.expr(&sign.digest);
                    self.expr(&sign.key);
                }
                for answer in &effect.answers {
                    self.spans.push(answer.span);
                    self.block(&answer.body);
                }
            }
            OperationBody::Read { result, memory, .. } => {
                self.expr(result);
                self.block(memory);
            }
            OperationBody::Missing => self.errors += 1,
        }
    }

    fn view(&mut self, view: &ViewItem) {
        self.name(&view.subject);
        self.params(&view.params);
        view.of.iter().for_each(|of| self.name(of));
        view.filter.iter().chain(&view.with).for_each(|e| self.expr(e));
        match &view.form {
            ViewForm::Count => {}
            ViewForm::Sum { value }
            | ViewForm::Extreme { value, .. }
            | ViewForm::Average { value } => self.expr(value),
            ViewForm::List { order, limit } => {
                order.iter().for_each(|key| self.expr(&key.value));
                limit.iter().for_each(|e| self.expr(e));
            }
            ViewForm::Rank { by, top } => {
                self.expr(&by.value);
                top.iter().for_each(|e| self.expr(e));
            }
            ViewForm::Search { on } => self.names(on),
            ViewForm::Near { on, from, within_m: _, first } => {
                self.name(on);
                self.name(from);
                first.iter().for_each(|e| self.expr(e));
            }
            ViewForm::Window { value, by, every, keep } => {
                [value, keep].into_iter().flatten().for_each(|e| self.expr(e));
                self.expr(by);
                self.expr(every);
            }
        }
    }

    fn path(&mut self, path: &Path) {
        self.spans.push(path.span);
        for step in &path.steps {
            self.spans.push(step.span);
            self.clauses(&step.guard);
        }
        path.branches.iter().for_each(|branch| self.path(branch));
    }

    fn proof(&mut self, proof: &FailureProof) {
        self.spans.push(proof.span);
        match &proof.kind {
            FailureProofKind::Without { targets, breaks, .. } => {
                self.name(breaks);
                for target in targets {
                    self.spans.push(target.span);
                    if let WithoutKind::Assignment { target, .. } = &target.kind {
                        self.expr(target);
                    }
                }
            }
            FailureProofKind::Compiler { items, .. } => self.deeper(|w| w.items(items)),
            FailureProofKind::Measured { value, above } => {
                self.expr(value);
                self.expr(above);
            }
            FailureProofKind::Error => self.errors += 1,
        }
    }

    fn entry(&mut self, entry: &CheckEntry) {
        self.spans.push(entry.span);
        match &entry.key {
            CheckKey::Name(names) => self.names(names),
            CheckKey::Duration(e) => self.expr(e),
        }
        match &entry.value {
            CheckValue::Number(e) => self.expr(e),
            CheckValue::Range(from, to) => {
                self.expr(from);
                self.expr(to);
            }
            CheckValue::Values(values) => values.iter().for_each(|e| self.expr(e)),
            CheckValue::Words(words) => {
                for (word, budget) in words {
                    self.name(word);
                    budget.iter().for_each(|e| self.expr(e));
                }
            }
            CheckValue::Error => self.errors += 1,
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        self.spans.push(ty.span);
        self.deeper(|w| match &ty.kind {
            TypeKind::Named(name) | TypeKind::Money(name) => w.name(name),
            TypeKind::Enumeration(names) => w.names(names),
            TypeKind::Ranged(inner, low, high) => {
                w.ty(inner);
                w.expr(low);
                w.expr(high);
            }
            TypeKind::Optional(inner) => w.ty(inner),
            TypeKind::List(inner, bound) | TypeKind::Set(inner, bound) => {
                w.ty(inner);
                bound.iter().for_each(|e| w.expr(e));
            }
            TypeKind::Map(key, value, bound) => {
                w.ty(key);
                w.ty(value);
                bound.iter().for_each(|e| w.expr(e));
            }
            TypeKind::Record(fields) => fields.iter().for_each(|(name, ty)| {
                w.name(name);
                w.ty(ty);
            }),
            TypeKind::AnyOf(view, args) => {
                w.name(view);
                w.names(args);
            }
            TypeKind::Error => w.errors += 1,
        });
    }

    fn block(&mut self, block: &Block) {
        self.spans.push(block.span);
        self.deeper(|w| {
            for stmt in &block.statements {
                w.spans.push(stmt.span);
                w.stmt(&stmt.kind);
            }
        });
    }

    fn stmt(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::Let { name, value } => {
                self.name(name);
                self.expr(value);
            }
            StmtKind::New { keys, fields, .. } => {
                keys.iter().for_each(|e| self.expr(e));
                self.fields(fields);
            }
            StmtKind::Delete { target } => self.expr(target),
            StmtKind::Append { log, fields } => {
                self.expr(log);
                self.fields(fields);
            }
            StmtKind::Emit { event, fields } => {
                self.name(event);
                self.fields(fields);
            }
            StmtKind::Send { each, args, .. } => {
                if let Some(each) = each {
                    self.name(&each.var);
                    self.domain(&each.domain);
                    each.filter.iter().for_each(|e| self.expr(e));
                }
                args.iter().for_each(|e| self.expr(e));
            }
            StmtKind::For { domain, body, .. } => {
                self.domain(domain);
                self.block(body);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StmtKind::Error => self.errors += 1,
        }
    }

    fn fields(&mut self, fields: &[FieldValue]) {
        for field in fields {
            self.spans.push(field.span);
            field.value.iter().for_each(|e| self.expr(e));
        }
    }

    fn domain(&mut self, domain: &Domain) {
        self.expr(&domain.of_what);
        domain.parent.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, expr: &Expr) {
        self.spans.push(expr.span);
        self.deeper(|w| w.expr_kind(&expr.kind));
    }

    fn expr_kind(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Field { base, name } => {
                self.expr(base);
                self.name(name);
            }
            ExprKind::Index { base: a, index: b } | ExprKind::Binary { left: a, right: b, .. } => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Call { args: all, .. }
            | ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Set(all)
            | ExprKind::List(all) => all.iter().for_each(|e| self.expr(e)),
            ExprKind::Old(inner)
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Presence { of: inner, .. } => self.expr(inner),
            ExprKind::Round { of, mode, digits } => {
                self.expr(of);
                self.name(mode);
                self.expr(digits);
            }
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|e| self.expr(e));
            }
            ExprKind::Let { value, body, .. } => {
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantifier { domain, filter, body, .. } => {
                self.domain(domain);
                filter.iter().for_each(|e| self.expr(e));
                self.expr(body);
            }
            ExprKind::Aggregate { value, domain, filter, .. } => {
                self.domain(domain);
                [value, filter].into_iter().flatten().for_each(|e| self.expr(e));
            }
            ExprKind::Record(fields) => self.fields(fields),
            ExprKind::Error => self.errors += 1,
            _ => {}
        }
    }
}
