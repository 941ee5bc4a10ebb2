//! Statements.

use syntax::tree::{self, FieldValue};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::Found;
use super::visit::each;
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn block(&mut self, frame: &mut Frame, block: &tree::Block) -> Vec<Stmt> {
        let depth = frame.scope.len();
        let mut body = Vec::new();
        for statement in &block.statements {
            self.statement(frame, statement, &mut body);
        }
        frame.scope.truncate(depth);
        body
    }

    fn statement(&mut self, frame: &mut Frame, written: &tree::Stmt, body: &mut Vec<Stmt>) {
        use tree::StmtKind as T;
        let span = written.span;
        let kind = match &written.kind {
            T::Assign { target, op, value } => {
                return self.assign(frame, target, *op, value, span, body);
            }
            T::Let { name, value } => {
                let value = self.expr(frame, value, None);
                if value.ty == Type::Null {
                    self.report(
                        Diagnostic::error(
                            "E0306",
                            value.span,
                            "nothing says of which type this `null` is",
                        )
                        .help("write `null` where it is used"),
                    );
                }
                self.not_reserved(name);
                let local = frame.bind(&name.text, value.ty.clone());
                StmtKind::Let { local, value }
            }
            T::New { subject, keys, fields } => {
                match self.new_record(frame, subject, keys, fields, span) {
                    Some(kind) => kind,
                    None => return,
                }
            }
            T::Delete { target } => {
                let target = self.expr(frame, target, None);
                match target.ty.required() {
                    Type::Ref(subject) => {
                        let subject = *subject;
                        if !self.made.contains(&subject) {
                            let name = self.design.subjects[subject.index()].name.clone();
                            self.report(
                                Diagnostic::error(
                                    "E0409",
                                    span,
                                    format!("every `{name}` is there from the start, so none can be deleted"),
                                )
                                .help(format!("let a step make it: `x: new {name}`")),
                            );
                        }
                        StmtKind::Delete { target }
                    }
                    Type::Error => return,
                    other => {
                        let ty = self.type_name(other);
                        self.report(
                            Diagnostic::error(
                                "E0409",
                                target.span,
                                format!("`{ty}` is not a record"),
                            )
                            .help("`delete` takes a record; an optional value is set to `null`"),
                        );
                        return;
                    }
                }
            }
            T::Append { log, fields } => match self.append(frame, log, fields, span) {
                Some(kind) => kind,
                None => return,
            },
            T::Emit { event, fields } => {
                let fields = self.record_fields(frame, fields);
                let event = self.event(event, &fields);
                StmtKind::Emit { event, fields }
            }
            T::Send { actor, operation, args } => match self.send(frame, actor, operation, args) {
                Some(kind) => kind,
                None => return,
            },
            T::For { var, domain, body: inner } => {
                let collection = match &domain.parent {
                    Some(parent) => {
                        self.report(
                            Diagnostic::error(
                                "E0403",
                                parent.span,
                                "children are without number, so a step cannot go through them",
                            )
                            .help("let a `repair` on the child do it, one at a time"),
                        );
                        return;
                    }
                    None => self.expr(frame, &domain.of_what, None),
                };
                let of = match &collection.ty {
                    Type::Set { of, .. } | Type::List { of, .. } => (**of).clone(),
                    Type::Map { key, .. } => (**key).clone(),
                    Type::Error => return,
                    other => {
                        let ty = self.type_name(other);
                        self.error("E0305", collection.span, format!("`{ty}` holds no elements"));
                        return;
                    }
                };
                self.not_reserved(var);
                let id = frame.next_statement();
                let depth = frame.scope.len();
                let local = frame.bind(&var.text, of);
                let inner = self.block(frame, inner);
                frame.scope.truncate(depth);
                body.push(Stmt {
                    id,
                    kind: StmtKind::For { local, domain: collection, body: inner },
                    span,
                });
                return;
            }
            T::If { condition, then, otherwise } => {
                let condition = self.condition(frame, condition);
                let id = frame.next_statement();
                let then = self.block(frame, then);
                let otherwise =
                    otherwise.as_ref().map(|block| self.block(frame, block)).unwrap_or_default();
                body.push(Stmt { id, kind: StmtKind::If { condition, then, otherwise }, span });
                return;
            }
            T::Error => return,
        };
        let id = frame.next_statement();
        body.push(Stmt { id, kind, span });
    }

    fn assign(
        &mut self,
        frame: &mut Frame,
        target: &tree::Expr,
        op: tree::AssignOp,
        value: &tree::Expr,
        span: Span,
        body: &mut Vec<Stmt>,
    ) {
        let op = match op {
            tree::AssignOp::Set => AssignOp::Set,
            tree::AssignOp::Add => AssignOp::Add,
            tree::AssignOp::Subtract => AssignOp::Subtract,
        };
        if let Some(used) = self.memory_target(frame, target) {
            let Some(used) = used else { return };
            let memory = &frame.memory[used.index()];
            let ty =
                self.design.actors[memory.actor.index()].memory[memory.field.index()].ty.clone();
            let value = self.expr(frame, value, Some(&ty));
            if let Some(value) = self.demand(value, &ty) {
                let id = frame.next_statement();
                let target = Target::Memory(used);
                body.push(Stmt { id, kind: StmtKind::Assign { target, op, value }, span });
            }
            return;
        }
        if let tree::ExprKind::Index { base, index } = &target.kind {
            return self.assign_element(frame, base, index, op, value, span, body);
        }
        match self.path(frame, target, None) {
            Found::Nothing => {
                self.expr(frame, value, None);
            }
            Found::World(_) => {
                self.error("E0409", target.span, "the world outside is not assigned")
            }
            Found::State { base, subject, state } => {
                self.assign_state(frame, (base, subject, state), op, value, span, body)
            }
            Found::Value(Expr { kind: ExprKind::Attr { base, attr }, ty, .. }) => {
                let Some(subject) = base.ty.subject() else {
                    return;
                };
                self.may_write(frame, subject, attr, target.span);
                if let Some(value) = self.assigned(frame, op, &ty, value) {
                    let id = frame.next_statement();
                    let target = Target::Attr { base: *base, attr };
                    body.push(Stmt { id, kind: StmtKind::Assign { target, op, value }, span });
                }
            }
            Found::Value(other) => {
                if other.ty == Type::Error {
                    return;
                }
                let text = self.text(target.span);
                let (what, help) = match other.kind {
                    ExprKind::KeyPart { .. } => (
                        "part of a key, which never changes",
                        "make a new record under the other key",
                    ),
                    ExprKind::Local(_) => {
                        ("a name for a value, not a place", "assign an attribute of a truth")
                    }
                    ExprKind::LogEnd { .. } | ExprKind::LogStart { .. } => {
                        ("kept by the log itself", "`append` moves its end")
                    }
                    _ => ("not a place", "assign an attribute of a truth"),
                };
                self.report(
                    Diagnostic::error(
                        "E0409",
                        target.span,
                        format!("`{text}` cannot be assigned: it is {what}"),
                    )
                    .help(help),
                );
            }
        }
    }

    /// The right-hand side for an attribute of type `ty`.
    fn assigned(
        &mut self,
        frame: &mut Frame,
        op: AssignOp,
        ty: &Type,
        value: &tree::Expr,
    ) -> Option<Expr> {
        let wanted = match (op, ty) {
            (AssignOp::Set, ty) => ty.clone(),
            (_, Type::Set { of, .. }) => (**of).clone(),
            (AssignOp::Add, Type::List { of, .. }) => (**of).clone(),
            (AssignOp::Subtract, Type::Map { key, .. }) => (**key).clone(),
            (_, ty) => match ty.required() {
                Type::Time => Type::Duration,
                number @ (Type::Int | Type::Decimal | Type::Duration) => number.clone(),
                Type::Error => return None,
                other => {
                    let name = self.type_name(other);
                    let sign = if op == AssignOp::Add { "+=" } else { "-=" };
                    self.report(
                        Diagnostic::error(
                            "E0303",
                            value.span,
                            format!("`{sign}` does not apply to `{name}`"),
                        )
                        .help("`:=` assigns a new value"),
                    );
                    return None;
                }
            },
        };
        let value = self.expr(frame, value, Some(&wanted));
        self.demand(value, &wanted)
    }

    fn memory_target(
        &mut self,
        frame: &mut Frame,
        target: &tree::Expr,
    ) -> Option<Option<MemoryUseId>> {
        match &target.kind {
            tree::ExprKind::Name(name) => {
                let shadowed = frame.visible().any(
                    |entry| matches!(entry, super::frame::Entry::Local { name: known, .. } if *known == name.text),
                );
                if shadowed {
                    return None;
                }
                self.memory_use(frame, name, None, true)
            }
            tree::ExprKind::Field { base, name } => {
                let tree::ExprKind::Name(param) = &base.kind else {
                    return None;
                };
                let local = frame
                    .params
                    .iter()
                    .map(|(local, _)| *local)
                    .find(|local| frame.locals[local.index()].name == param.text)?;
                self.memory_use(frame, name, Some(local), true)
            }
            _ => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one statement")]
    fn assign_element(
        &mut self,
        frame: &mut Frame,
        base: &tree::Expr,
        index: &tree::Expr,
        op: AssignOp,
        value: &tree::Expr,
        span: Span,
        body: &mut Vec<Stmt>,
    ) {
        let place = self.expr(frame, base, None);
        let (Type::Map { key, value: element, .. }, ExprKind::Attr { base, attr }) =
            (place.ty.clone(), place.kind)
        else {
            if place.ty != Type::Error {
                self.report(
                    Diagnostic::error("E0409", span, "only a map's values are assigned one by one")
                        .help("a list grows with `+=`; a set takes an element with `+=`"),
                );
            }
            return;
        };
        if let Some(subject) = base.ty.subject() {
            self.may_write(frame, subject, attr, place.span);
        }
        let key_value = self.expr(frame, index, Some(&key));
        let key_value = self.demand(key_value, &key);
        let value = self.assigned(frame, op, &element, value);
        if let (Some(key), Some(value)) = (key_value, value) {
            let id = frame.next_statement();
            let target = Target::Element { base: *base, attr, key };
            body.push(Stmt { id, kind: StmtKind::Assign { target, op, value }, span });
        }
    }

    /// `State := { a: 1, … }`: every attribute of the state; what is left out takes its default.
    fn assign_state(
        &mut self,
        frame: &mut Frame,
        (base, subject, state): (Expr, SubjectId, StateId),
        op: AssignOp,
        value: &tree::Expr,
        span: Span,
        body: &mut Vec<Stmt>,
    ) {
        let known = self.design.subjects[subject.index()].states[state.index()].clone();
        if matches!(known.kind, StateKind::Log { .. }) {
            self.report(
                Diagnostic::error("E0417", span, format!("the log `{}` only grows", known.name))
                    .help(format!("`append {} {{ … }}`", known.name)),
            );
            return;
        }
        let tree::ExprKind::Record(fields) = &value.kind else {
            self.report(
                Diagnostic::error(
                    "E0301",
                    value.span,
                    format!("`{}` is a whole state and takes a record", known.name),
                )
                .help(format!("`{} := {{ attribute: value, … }}`", known.name)),
            );
            return;
        };
        if op != AssignOp::Set {
            self.error("E0303", span, "a whole state is assigned with `:=`");
            return;
        }
        if let Some(attr) = known.attributes.first() {
            self.may_write(frame, subject, *attr, span);
        }
        let fields = self.fields(frame, subject, &known, fields, span);
        // everything is looked at before anything is written
        let simple = fields.iter().all(|(_, value)| !reads_truth(value));
        let mut values = Vec::new();
        for (attr, value) in fields {
            if simple {
                values.push((attr, value));
                continue;
            }
            let local = frame.slot("", value.ty.clone());
            let held = frame.local(local, value.span);
            let id = frame.next_statement();
            let span = value.span;
            body.push(Stmt { id, kind: StmtKind::Let { local, value }, span });
            values.push((attr, held));
        }
        for (attr, value) in values {
            let id = frame.next_statement();
            body.push(Stmt {
                id,
                kind: StmtKind::Assign {
                    target: Target::Attr { base: base.clone(), attr },
                    op: AssignOp::Set,
                    value,
                },
                span,
            });
        }
    }

    /// The fields of a record for a state, completed by its defaults.
    fn fields(
        &mut self,
        frame: &mut Frame,
        subject: SubjectId,
        state: &State,
        written: &[FieldValue],
        span: Span,
    ) -> Vec<(AttrId, Expr)> {
        let mut given: Vec<(AttrId, Expr)> = Vec::new();
        let mut named: Vec<AttrId> = Vec::new();
        for field in written {
            let owner = &self.design.subjects[subject.index()];
            let attr = state
                .attributes
                .iter()
                .find(|attr| owner.attributes[attr.index()].name == field.name.text)
                .copied();
            let Some(attr) = attr else {
                let words: Vec<String> = state
                    .attributes
                    .iter()
                    .map(|attr| owner.attributes[attr.index()].name.clone())
                    .collect();
                self.unknown_field(&state.name, field, &words);
                continue;
            };
            if named.contains(&attr) {
                self.error(
                    "E0202",
                    field.name.span,
                    format!("`{}` is given twice", field.name.text),
                );
                continue;
            }
            named.push(attr);
            let ty = owner.attributes[attr.index()].ty.clone();
            if let Some(value) = self.field_value(frame, field, &ty) {
                given.push((attr, value));
            }
        }
        for attr in &state.attributes {
            if named.contains(attr) {
                continue;
            }
            let known = self.design.subjects[subject.index()].attributes[attr.index()].clone();
            match known.default {
                Some(default) => given
                    .push((*attr, Expr { kind: ExprKind::Literal(default), ty: known.ty, span })),
                None => self.report(
                    Diagnostic::error(
                        "E0406",
                        span,
                        format!("`{}` is left without a value", known.name),
                    )
                    .also(known.span, "it has no default")
                    .help(format!("add `{}: …`", known.name)),
                ),
            }
        }
        given
    }

    fn unknown_field(&mut self, state: &str, field: &FieldValue, words: &[String]) {
        let mut problem = Diagnostic::error(
            "E0204",
            field.name.span,
            format!("`{state}` has no attribute `{}`", field.name.text),
        );
        problem = match suggest::did_you_mean(&field.name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("its attributes are {}", suggest::list(words))),
        };
        self.report(problem);
    }

    fn field_value(&mut self, frame: &mut Frame, field: &FieldValue, ty: &Type) -> Option<Expr> {
        let value = match &field.value {
            Some(value) => self.expr(frame, value, Some(ty)),
            None => {
                let name = tree::Expr {
                    kind: tree::ExprKind::Name(field.name.clone()),
                    span: field.name.span,
                };
                self.expr(frame, &name, Some(ty))
            }
        };
        self.demand(value, ty)
    }

    fn new_record(
        &mut self,
        frame: &mut Frame,
        subject: &tree::Name,
        keys: &[tree::Expr],
        fields: &[FieldValue],
        span: Span,
    ) -> Option<StmtKind> {
        let id = self.subject_named(subject)?;
        let parts: Vec<Type> =
            self.design.subjects[id.index()].keys.iter().map(|key| key.ty.clone()).collect();
        if parts.len() != keys.len() {
            self.error(
                "E0304",
                subject.span,
                format!(
                    "the key of `{}` has {} parts, not {}",
                    subject.text,
                    parts.len(),
                    keys.len()
                ),
            );
            return None;
        }
        let mut values = Vec::new();
        for (ty, key) in parts.iter().zip(keys) {
            let value = self.expr(frame, key, Some(ty));
            values.push(self.demand(value, ty)?);
        }
        let owner = self.design.subjects[id.index()].clone();
        let mut given: Vec<(AttrId, Expr)> = Vec::new();
        for field in fields {
            let named: Vec<AttrId> = self.names.attribute(id, &field.name.text).to_vec();
            let truth: Vec<AttrId> =
                named.into_iter().filter(|attr| is_truth(&owner, *attr)).collect();
            match truth.as_slice() {
                [attr] => {
                    let ty = owner.attributes[attr.index()].ty.clone();
                    if let Some(value) = self.field_value(frame, field, &ty) {
                        given.push((*attr, value));
                    }
                }
                [] => {
                    let words: Vec<String> =
                        owner.attributes.iter().map(|attr| attr.name.clone()).collect();
                    self.unknown_field(&subject.text, field, &words);
                }
                several => {
                    let choices: Vec<String> = several
                        .iter()
                        .map(|attr| {
                            let state = owner.attributes[attr.index()].state;
                            format!("{}.{}", owner.states[state.index()].name, field.name.text)
                        })
                        .collect();
                    self.ambiguous(field.name.span, &field.name.text, &choices);
                }
            }
        }
        for (at, attr) in owner.attributes.iter().enumerate() {
            let attr_id = AttrId::of(at);
            if is_truth(&owner, attr_id)
                && attr.default.is_none()
                && !given.iter().any(|(known, _)| *known == attr_id)
            {
                self.report(
                    Diagnostic::error(
                        "E0406",
                        span,
                        format!("`{}` is left without a value", attr.name),
                    )
                    .also(attr.span, "it has no default")
                    .help(format!("add `{}: …`", attr.name)),
                );
            }
        }
        Some(StmtKind::New { subject: id, keys: values, fields: given })
    }

    fn append(
        &mut self,
        frame: &mut Frame,
        log: &tree::Expr,
        fields: &[FieldValue],
        span: Span,
    ) -> Option<StmtKind> {
        match self.path(frame, log, None) {
            Found::State { base, subject, state } => {
                let known = self.design.subjects[subject.index()].states[state.index()].clone();
                if !matches!(known.kind, StateKind::Log { .. }) {
                    self.report(
                        Diagnostic::error(
                            "E0417",
                            log.span,
                            format!("`{}` is not a log", known.name),
                        )
                        .also(known.span, "declared here")
                        .help(format!("declare it as `log {} {{ … }}`", known.name)),
                    );
                    return None;
                }
                let fields = self.fields(frame, subject, &known, fields, span);
                Some(StmtKind::Append { base, log: state, fields })
            }
            Found::Nothing => None,
            _ => {
                self.report(
                    Diagnostic::error("E0417", log.span, "`append` takes a log")
                        .help("a list grows with `+=`"),
                );
                None
            }
        }
    }

    /// All emitters of an event agree on its fields.
    fn event(&mut self, name: &tree::Name, fields: &[(String, Expr)]) -> EventId {
        let fields: Vec<(String, Type)> = fields
            .iter()
            .map(|(name, value)| (name.clone(), value.ty.required().clone()))
            .collect();
        if let Some(&known) = self.names.events.get(&name.text) {
            let event = &self.design.events[known.index()];
            let mut first = event.fields.clone();
            let mut here = fields;
            first.sort_by(|a, b| a.0.cmp(&b.0));
            here.sort_by(|a, b| a.0.cmp(&b.0));
            let agree = first.len() == here.len()
                && first.iter().zip(&here).all(|(a, b)| a.0 == b.0 && self.fits(&a.1, &b.1));
            if !agree {
                let words: Vec<String> = first
                    .iter()
                    .map(|(name, ty)| format!("{name}: {}", self.type_name(ty)))
                    .collect();
                let span = event.span;
                self.report(
                    Diagnostic::error(
                        "E0312",
                        name.span,
                        format!("`{}` is emitted with other fields elsewhere", name.text),
                    )
                    .also(span, "first emitted here")
                    .help(format!("there they are {}", suggest::list(&words))),
                );
            }
            return known;
        }
        let id = EventId::of(self.design.events.len());
        self.names.events.insert(name.text.clone(), id);
        self.design.events.push(Event { name: name.text.clone(), fields, span: name.span });
        id
    }

    fn send(
        &mut self,
        frame: &mut Frame,
        actor: &tree::Name,
        operation: &tree::Name,
        args: &[tree::Expr],
    ) -> Option<StmtKind> {
        let actor_id = self.actor_named(actor);
        let id = self.operation_named(operation)?;
        let known = &self.design.operations[id.index()];
        let (params, owner, head) = (known.params.clone(), known.actor, known.head);
        let receives = matches!(known.kind, OperationKind::Effect(_) | OperationKind::Step { .. });
        if actor_id? != owner {
            let owner = self.design.actors[owner.index()].name.clone();
            self.report(
                Diagnostic::error(
                    "E0207",
                    actor.span.to(operation.span),
                    format!("`{}` is an operation of `{owner}`", operation.text),
                )
                .help(format!("`send {owner}.{}(…)`", operation.text)),
            );
            return None;
        }
        if !receives {
            self.report(
                Diagnostic::error(
                    "E0415",
                    operation.span,
                    format!("`{}` is neither an effect nor a step", operation.text),
                )
                .also(head, "it is this")
                .help("an effect goes to the world outside, a step receives a message"),
            );
            return None;
        }
        if params.len() != args.len() {
            self.report(
                Diagnostic::error(
                    "E0304",
                    operation.span,
                    format!("`{}` takes {}, not {}", operation.text, params.len(), args.len()),
                )
                .also(head, "declared here"),
            );
            return None;
        }
        let mut values = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let value = self.expr(frame, arg, Some(&param.ty));
            values.push(self.demand(value, &param.ty)?);
        }
        Some(StmtKind::Send { operation: id, args: values })
    }

    /// A cache is written by the actor in whose memory it is.
    fn may_write(&mut self, frame: &Frame, subject: SubjectId, attr: AttrId, span: Span) {
        let owner = &self.design.subjects[subject.index()];
        let state = &owner.states[owner.attributes[attr.index()].state.index()];
        if let StateKind::Cache { at } = state.kind
            && frame.actor.map(|actor| self.root_actor(actor)) != Some(at)
        {
            let (name, declared) = (state.name.clone(), state.span);
            let at = self.design.actors[at.index()].name.clone();
            self.report(
                Diagnostic::error(
                    "E0411",
                    span,
                    format!("`{name}` is in the memory of `{at}`, which alone can write it"),
                )
                .also(declared, "declared here")
                .help(format!("let a step of `{at}` do it")),
            );
        }
    }
}

pub(super) fn is_truth(subject: &Subject, attr: AttrId) -> bool {
    let state = subject.attributes[attr.index()].state;
    matches!(subject.states[state.index()].kind, StateKind::Truth)
}

fn reads_truth(value: &Expr) -> bool {
    let mut found = false;
    each(value, &mut |part| {
        found |= matches!(
            part.kind,
            ExprKind::Attr { .. }
                | ExprKind::Counter { .. }
                | ExprKind::Exists { .. }
                | ExprKind::LogEnd { .. }
                | ExprKind::LogStart { .. }
        );
    });
    found
}
