//! Statements.

use syntax::tree::{self, FieldValue};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::Found;
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
                let local = self.bind(frame, name, value.ty.clone());
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
                            let problem = Diagnostic::error(
                                "E0409",
                                span,
                                format!(
                                    "every `{name}` is there from the start, so none can be deleted"
                                ),
                            );
                            let help = format!("let a step make it: `x: new {name}`");
                            self.report_once(problem.help(help));
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
                for (name, value) in fields.iter().filter(|(_, value)| value.ty == Type::Null) {
                    self.report(
                        Diagnostic::error(
                            "E0306",
                            value.span,
                            format!("nothing says of which type `{name}` is"),
                        )
                        .help("leave the field out, or give it a value that may be null"),
                    );
                }
                let event = self.event(event, &fields);
                StmtKind::Emit { event, fields }
            }
            T::Send { each, actor, operation, args } => {
                let sent = match each {
                    Some(each) => self.send_each(frame, each, (actor, operation), args, span),
                    None => self.send(frame, actor, operation, args),
                };
                match sent {
                    Some(kind) => kind,
                    None => return,
                }
            }
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
                        self.report(
                            Diagnostic::error(
                                "E0305",
                                collection.span,
                                format!("`{ty}` holds no elements"),
                            )
                            .help("`for` goes through a set, a list or the keys of a map"),
                        );
                        return;
                    }
                };
                self.not_reserved(var);
                let id = frame.next_statement();
                let depth = frame.scope.len();
                let local = self.bind(frame, var, of);
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

    fn new_record(
        &mut self,
        frame: &mut Frame,
        subject: &tree::Name,
        keys: &[tree::Expr],
        fields: &[FieldValue],
        span: Span,
    ) -> Option<StmtKind> {
        let id = self.subject_named(subject)?;
        let values = self.key_given(frame, id, subject, keys)?;
        let owner = self.design.subjects[id.index()].clone();
        let mut given: Vec<(AttrId, Expr)> = Vec::new();
        let mut named: Vec<AttrId> = Vec::new();
        for field in fields {
            let having: Vec<AttrId> = self.names.attribute(id, &field.name.text).to_vec();
            let truth: Vec<AttrId> =
                having.into_iter().filter(|attr| is_truth(&owner, *attr)).collect();
            match truth.as_slice() {
                [attr] if named.contains(attr) => self.report(
                    Diagnostic::error(
                        "E0202",
                        field.name.span,
                        format!("`{}` is given twice", field.name.text),
                    )
                    .help("leave one of them out"),
                ),
                [attr] => {
                    named.push(*attr);
                    self.known.refer(&field.name, owner.attributes[attr.index()].span);
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
                && attr.ty != Type::Error
                && !named.contains(&attr_id)
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
            Found::State { base, .. } if !self.may_read_value(frame, &base) => None,
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
        self.known.refer_to_event(name);
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
        let (id, params) = self.sent_to(actor, operation, args.len())?;
        let mut values = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let value = self.expr(frame, arg, Some(&param.ty));
            values.push(self.demand(value, &param.ty)?);
        }
        Some(StmtKind::Send { operation: id, args: values })
    }

    /// What is sent to, and what it takes.
    pub(super) fn sent_to(
        &mut self,
        actor: &tree::Name,
        operation: &tree::Name,
        args: usize,
    ) -> Option<(OperationId, Vec<Param>)> {
        let actor_id = self.actor_named(actor);
        let id = self.operation_named(operation)?;
        let known = &self.design.operations[id.index()];
        let (params, owner, head) = (known.params.clone(), known.actor, known.head);
        let receives = matches!(known.kind, OperationKind::Effect(_) | OperationKind::Step { .. });
        if actor_id != owner && !self.is_invented(actor_id) {
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
        if params.len() != args {
            self.report(
                Diagnostic::error(
                    "E0304",
                    operation.span,
                    format!("`{}` takes {}, not {args}", operation.text, params.len()),
                )
                .also(head, "declared here")
                .help("a message gives a value for each parameter"),
            );
            return None;
        }
        Some((id, params))
    }
}

pub(super) fn is_truth(subject: &Subject, attr: AttrId) -> bool {
    let state = subject.attributes[attr.index()].state;
    matches!(subject.states[state.index()].kind, StateKind::Truth)
}
