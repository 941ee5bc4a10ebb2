//! Assignments: to an attribute, a value of a map, a whole state, an actor's memory.

use syntax::tree::{self, FieldValue};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::Found;
use crate::model::visit::each;
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn assign(
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
            if let Some(value) = self.assigned(frame, op, &ty, value) {
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
                // a word alone may be a constant of the type that is not known now
                let unclear = matches!(
                    value.kind,
                    tree::ExprKind::Name(_)
                        | tree::ExprKind::Record(_)
                        | tree::ExprKind::Set(_)
                        | tree::ExprKind::If { .. }
                );
                if !unclear {
                    self.expr(frame, value, None);
                }
            }
            Found::World(_) => {
                self.report(
                    Diagnostic::error("E0409", target.span, "the world outside is not assigned")
                        .help("send it an effect: `send actor.effect(…)`"),
                );
            }
            Found::State { base, subject, state } => {
                self.assign_state(frame, (base, subject, state), op, value, span, body)
            }
            Found::Value(place @ Expr { kind: ExprKind::Attr { .. }, .. })
                if op == AssignOp::Set
                    && matches!(value.kind, tree::ExprKind::Null)
                    && place.ty != Type::Error
                    && !place.ty.is_optional() =>
            {
                let ty = self.type_name(&place.ty);
                let problem = Diagnostic::error(
                    "E0301",
                    value.span,
                    format!("expected `{ty}`, found `null`"),
                )
                .help(format!("an optional one is written `{ty}?`"));
                self.report_never_null(&place, problem);
            }
            Found::Value(Expr { kind: ExprKind::Attr { base, attr }, ty, .. }) => {
                let Some(subject) = base.ty.subject() else {
                    return;
                };
                if !self.may_read_value(frame, &base) {
                    return;
                }
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
                number @ (Type::Int | Type::Decimal | Type::Money(_) | Type::Duration) => {
                    number.clone()
                }
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
                .help(format!(
                    "give each attribute its value: `{} := {{ attribute: value, … }}`",
                    known.name
                )),
            );
            return;
        };
        if op != AssignOp::Set {
            self.report(
                Diagnostic::error("E0303", span, "a whole state is assigned with `:=`")
                    .help("`+=` and `-=` change one value"),
            );
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
    pub(super) fn fields(
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
                self.report(
                    Diagnostic::error(
                        "E0202",
                        field.name.span,
                        format!("`{}` is given twice", field.name.text),
                    )
                    .help("leave one of them out"),
                );
                continue;
            }
            named.push(attr);
            self.known.refer(&field.name, owner.attributes[attr.index()].span);
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

    pub(super) fn unknown_field(&mut self, state: &str, field: &FieldValue, words: &[String]) {
        let mut problem = Diagnostic::error(
            "E0204",
            field.name.span,
            format!("`{state}` has no attribute `{}`", field.name.text),
        );
        problem = match suggest::did_you_mean(&field.name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("its attributes are {}", suggest::list(words))),
        };
        self.report_missing(&field.name.text, problem);
    }

    pub(super) fn field_value(
        &mut self,
        frame: &mut Frame,
        field: &FieldValue,
        ty: &Type,
    ) -> Option<Expr> {
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
