//! Events that call something: an `emit` also sends to the handler of its event.

use syntax::Diagnostic;
use syntax::tree::{self, EVENT_ACTOR, Item, ItemKind};

use super::Compiler;
use crate::model::visit::{bodies, bodies_mut, each_statement};
use crate::model::*;
use crate::suggest;

impl Compiler {
    /// Handlers act for an actor that nobody declares.
    pub(super) fn declare_event_actor(&mut self, items: &[Item]) {
        let handler = items.iter().find_map(|item| match &item.kind {
            ItemKind::Operation(held) if matches!(held.kind, tree::OperationKind::Event { .. }) => {
                Some(held.actor.span)
            }
            _ => None,
        });
        let Some(span) = handler else { return };
        if let Some(declared) = self.names.actors.get(EVENT_ACTOR) {
            let declared = self.design.actors[declared.index()].span;
            self.report(
                Diagnostic::error(
                    "E0213",
                    declared,
                    format!("`{EVENT_ACTOR}` is the actor of whatever is called by an event"),
                )
                .also(span, "called by an event")
                .help("choose another name for this one"),
            );
            return;
        }
        let id = ActorId::of(self.design.actors.len());
        self.names.actors.insert(EVENT_ACTOR.into(), id);
        self.design.actors.push(Actor {
            name: EVENT_ACTOR.into(),
            continues: None,
            apart: Vec::new(),
            memory: Vec::new(),
            is_world: true,
            span,
        });
    }

    /// What a handler hears. One that names its own design hears an event of its own.
    pub(super) fn hears(&self, kind: &tree::OperationKind) -> Option<Hears> {
        let tree::OperationKind::Event { of, event } = kind else { return None };
        let of = of.as_ref().map(|of| of.text.clone());
        let design = of.filter(|of| *of != self.design.name);
        Some(Hears { design, event: event.text.clone() })
    }

    pub(super) fn events_call_their_handlers(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Operation(written) = &item.kind else { continue };
            let tree::OperationKind::Event { event, .. } = &written.kind else { continue };
            let Some(&id) = self.names.operations.get(&written.name.text) else { continue };
            let handler = &self.design.operations[id.index()];
            let own = handler.hears.as_ref().is_some_and(|hears| hears.design.is_none());
            if !own || handler.head != written.head {
                continue;
            }
            self.known.refer_to_event(event);
            let Some(&heard) = self.names.events.get(&event.text) else {
                self.nothing_emits(event);
                continue;
            };
            if self.takes_fields(id, heard, &written.params) {
                self.send_to_handler(heard, id);
            }
        }
    }

    fn nothing_emits(&mut self, event: &tree::Name) {
        let words: Vec<String> =
            self.design.events.iter().map(|event| event.name.clone()).collect();
        let problem = Diagnostic::error(
            "E0901",
            event.span,
            format!("nothing in this design emits `{}`", event.text),
        );
        let help = match suggest::did_you_mean(&event.text, words.iter().map(String::as_str)) {
            Some(hint) => hint,
            None => format!(
                "emit it: `emit {0} {{ … }}`; an event of another design is written with its name: \
                 `on DESIGN.{0}(…)`",
                event.text
            ),
        };
        self.report_missing(&event.text, problem.help(help));
    }

    /// Is every parameter a field of the event, of its type?
    fn takes_fields(&mut self, id: OperationId, event: EventId, written: &[tree::Param]) -> bool {
        let params = self.design.operations[id.index()].params.clone();
        let event = self.design.events[event.index()].clone();
        let mut fine = params.len() == written.len();
        for (param, written) in params.iter().zip(written) {
            let field = event.fields.iter().find(|(name, _)| *name == param.name);
            let Some((_, ty)) = field else {
                let fields: Vec<String> =
                    event.fields.iter().map(|(name, _)| name.clone()).collect();
                let names = fields.iter().map(String::as_str);
                let help = match suggest::did_you_mean(&param.name, names) {
                    Some(hint) => hint,
                    None if fields.is_empty() => "it has no fields".into(),
                    None => format!("its fields are {}", suggest::list(&fields)),
                };
                self.report(
                    Diagnostic::error(
                        "E0902",
                        written.name.span,
                        format!("`{}` has no field `{}`", event.name, param.name),
                    )
                    .also(event.span, "emitted here")
                    .help(help),
                );
                fine = false;
                continue;
            };
            let dummy = Expr { kind: ExprKind::Error, ty: ty.clone(), span: event.span };
            if self.told_as(dummy, &param.ty).is_none() {
                let (is, says) = (self.type_name(ty), self.type_name(&param.ty));
                self.report(
                    Diagnostic::error(
                        "E0903",
                        written.ty.span,
                        format!("`{}` of `{}` is `{is}`, not `{says}`", param.name, event.name),
                    )
                    .also(event.span, "emitted here")
                    .help(format!("write `{}: {is}`", param.name)),
                );
                fine = false;
            }
        }
        fine
    }

    /// What a field tells, as a parameter takes it: a record may be told by its key.
    fn told_as(&self, value: Expr, want: &Type) -> Option<Expr> {
        if self.fits(&value.ty, want) {
            return Some(value);
        }
        let span = value.span;
        let only_key = |subject: SubjectId| match &self.design.subjects[subject.index()].keys[..] {
            [key] => Some(key.ty.clone()),
            _ => None,
        };
        if matches!(value.ty, Type::Optional(_)) {
            let condition =
                Expr { kind: ExprKind::IsNull(Box::new(value.clone())), ty: Type::Bool, span };
            let required = Expr { ty: value.ty.required().clone(), ..value };
            let told = self.told_as(required, want.required())?;
            let ty = Type::Optional(Box::new(told.ty.clone()));
            let null = Expr { kind: ExprKind::Literal(Const::Null), ty: ty.clone(), span };
            let kind = ExprKind::If {
                condition: Box::new(condition),
                then: Box::new(null),
                otherwise: Box::new(told),
            };
            return Some(Expr { kind, ty, span });
        }
        if let Type::Ref(subject) = value.ty {
            let ty = only_key(subject)?;
            let kind = ExprKind::KeyPart { base: Box::new(value), part: 0 };
            return self.told_as(Expr { kind, ty, span }, want);
        }
        let Type::Ref(subject) = *want.required() else { return None };
        let key = self.told_as(value, &only_key(subject)?)?;
        let kind = ExprKind::Keyed { subject, key: vec![key] };
        Some(Expr { kind, ty: Type::Ref(subject), span })
    }

    /// Whatever emits the event sends to its handler, in the same commit.
    fn send_to_handler(&mut self, event: EventId, handler: OperationId) {
        let params: Vec<(String, Type)> = self.design.operations[handler.index()]
            .params
            .iter()
            .map(|param| (param.name.clone(), param.ty.clone()))
            .collect();
        let args = |fields: &[(String, Expr)]| -> Option<Vec<Expr>> {
            let args = params.iter().map(|(param, ty)| {
                let (_, value) = fields.iter().find(|(name, _)| name == param)?;
                self.told_as(value.clone(), ty)
            });
            args.collect()
        };
        let mut operations = self.design.operations.clone();
        for operation in &mut operations {
            let mut last = 0;
            for body in bodies(operation) {
                each_statement(body, &mut |statement| last = last.max(statement.id.0));
            }
            for body in bodies_mut(operation) {
                send_after_emit(body, event, handler, &args, &mut last);
            }
        }
        self.design.operations = operations;
    }
}

/// The arguments that a handler takes of the fields of an event.
type Args<'a> = dyn Fn(&[(String, Expr)]) -> Option<Vec<Expr>> + 'a;

fn send_after_emit(
    body: &mut Vec<Stmt>,
    event: EventId,
    handler: OperationId,
    args: &Args<'_>,
    last: &mut u32,
) {
    let mut at = 0;
    while at < body.len() {
        let span = body[at].span;
        let mut send = None;
        match &mut body[at].kind {
            StmtKind::Emit { event: emitted, fields } if *emitted == event => send = args(fields),
            StmtKind::For { body, .. } => send_after_emit(body, event, handler, args, last),
            StmtKind::If { then, otherwise, .. } => {
                send_after_emit(then, event, handler, args, last);
                send_after_emit(otherwise, event, handler, args, last);
            }
            _ => {}
        }
        if let Some(args) = send {
            *last += 1;
            let kind = StmtKind::Send { operation: handler, args };
            body.insert(at + 1, Stmt { id: StmtId(*last), kind, span });
            at += 1;
        }
        at += 1;
    }
}
