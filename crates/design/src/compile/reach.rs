//! What goals alone can speak of: what principals remember, messages under way, the open outbox, and in
//! `recovers` also views.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::visit::{each_mut, message_targets};
use crate::model::*;
use crate::suggest;

impl Compiler {
    /// `candidate`, `messages of STEP`, `outbox of EFFECT`. None: it is something else. Some(None): it is
    /// one of these, and wrong (reported).
    pub(super) fn goal_domain(
        &mut self,
        frame: &mut Frame,
        written: &tree::Domain,
    ) -> Option<Option<Domain>> {
        let tree::ExprKind::Name(name) = &written.of_what.kind else { return None };
        if self.variable(frame, name).is_some() {
            return None;
        }
        let span = written.of_what.span;
        match (&written.parent, name.text.as_str()) {
            (None, _) => {
                let actor = *self.names.actors.get(&name.text)?;
                let known = &self.design.actors[actor.index()];
                self.known.refer(name, known.span);
                if known.is_world {
                    let message = "the environment has no principals";
                    self.report(
                        Diagnostic::error("E0305", span, message)
                            .help("range over an actor that calls"),
                    );
                    return Some(None);
                }
                let what = format!("who acts as `{}` is known to goals only", name.text);
                let root = self.root_actor(actor);
                Some(self.in_a_goal(frame, span, what).then_some(Domain::Principals(root)))
            }
            (Some(parent), "messages") => {
                let tree::ExprKind::Name(step) = &parent.kind else { return None };
                let Some(step) = self.operation_named(step) else { return Some(None) };
                let what = "which messages are under way is known to goals only".to_string();
                if !self.in_a_goal(frame, span.to(parent.span), what) {
                    return Some(None);
                }
                let operation = &self.design.operations[step.index()];
                if !message_targets(&self.design)[step.index()] {
                    let message = format!("no step sends messages to `{}`", operation.name);
                    if !self.something_is_missing() {
                        self.report(
                            Diagnostic::error("E0305", parent.span, message)
                                .help("name a step that another one sends to: `send STEP(…)`"),
                        );
                    }
                    return Some(None);
                }
                Some(Some(Domain::Messages(step)))
            }
            (Some(parent), "outbox") => {
                let tree::ExprKind::Name(effect) = &parent.kind else { return None };
                let Some(effect) = self.operation_named(effect) else { return Some(None) };
                let what = "what waits in the outbox is known to goals only".to_string();
                if !self.in_a_goal(frame, span.to(parent.span), what) {
                    return Some(None);
                }
                let operation = &self.design.operations[effect.index()];
                if !matches!(operation.kind, OperationKind::Effect(_)) {
                    let message = format!("`{}` is not an effect", operation.name);
                    self.report(
                        Diagnostic::error("E0305", parent.span, message)
                            .help("calls of effects wait in the outbox: `outbox of EFFECT`"),
                    );
                    return Some(None);
                }
                Some(Some(Domain::Outbox(effect)))
            }
            _ => None,
        }
    }

    fn in_a_goal(&mut self, frame: &Frame, span: Span, message: String) -> bool {
        let goal = frame.mode.is_goal();
        if !goal {
            self.report(
                Diagnostic::error("E0425", span, message)
                    .label("a guard, an effect, a read or a view sees truth alone")
                    .help("keep in truth what is decided upon"),
            );
        }
        goal
    }

    /// `c.believes_leader`, where `c` ranges over the principals of an actor; with an index, of one record.
    pub(super) fn remembered(
        &mut self,
        principal: Expr,
        actor: ActorId,
        name: &Name,
        of: Option<Expr>,
        span: Span,
    ) -> Expr {
        let Some(field) = self.names.memory_of(actor, &name.text) else {
            if self.is_invented(actor) {
                return error_expr(span);
            }
            let known = &self.design.actors[actor.index()];
            let words: Vec<String> = known.memory.iter().map(|held| held.name.clone()).collect();
            let message = format!("`{}` does not remember `{}`", known.name, name.text);
            let problem = Diagnostic::error("E0204", name.span, message);
            let problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str))
            {
                Some(hint) => problem.help(hint),
                None if words.is_empty() => problem.help("it remembers nothing at all"),
                None => problem.help(format!("it remembers {}", suggest::list(&words))),
            };
            self.report_missing(&name.text, problem);
            return error_expr(span);
        };
        let memory = self.design.actors[actor.index()].memory[field.index()].clone();
        self.known.refer(name, memory.span);
        if self.is_of_nothing(actor, field) {
            return error_expr(span);
        }
        let of = match (memory.of, of) {
            (None, None) => None,
            (Some(subject), Some(of)) => match self.demand(of, &Type::Ref(subject)) {
                Some(of) => Some(Box::new(of)),
                None => return error_expr(span),
            },
            (Some(subject), None) => {
                let subject = &self.design.subjects[subject.index()].name;
                let message = format!("`{}` is remembered of each `{subject}`", name.text);
                let text = self.text(span);
                self.report(
                    Diagnostic::error("E0426", span, message)
                        .help(format!("say of which: `{text}[{}]`", subject.to_lowercase())),
                );
                return error_expr(span);
            }
            (None, Some(of)) => {
                let message = format!("`{}` is remembered once, not of each record", name.text);
                self.report(Diagnostic::error("E0426", of.span, message).help("leave this out"));
                return error_expr(span);
            }
        };
        let principal = Box::new(principal);
        Expr { kind: ExprKind::Remembered { principal, actor, field, of }, ty: memory.ty, span }
    }

    /// `c.my_epoch[r]`: what a principal remembers of one record.
    pub(super) fn remembered_of(
        &mut self,
        frame: &mut Frame,
        base: &tree::Expr,
        index: &tree::Expr,
        span: Span,
    ) -> Option<Expr> {
        let tree::ExprKind::Field { base, name } = &base.kind else { return None };
        let tree::ExprKind::Name(variable) = &base.kind else { return None };
        let found = self.variable(frame, variable);
        let Some(super::path::Found::Value(principal)) = found else { return None };
        let ExprKind::Local(id) = principal.kind else { return None };
        let actor = frame.principal(id)?;
        let of = self.expr(frame, index, None);
        if of.ty == Type::Error {
            return Some(error_expr(span));
        }
        Some(self.remembered(principal, actor, name, Some(of), span))
    }

    /// A view in `recovers`: clients are silent, so it catches up, and says what the truth says.
    pub(super) fn caught_up(
        &mut self,
        frame: &mut Frame,
        view: ViewId,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let view = self.design.views[view.index()].clone();
        if let Some(caller) = &view.caller {
            let of = &self.design.actors[caller.actor.index()].name;
            let message = format!("`{}` has rows of each `{of}`, and nobody asks here", view.name);
            self.report(
                Diagnostic::error("E0427", span, message)
                    .also(view.span, "derived here")
                    .help("say it over the records: `all x in S: …`"),
            );
            return error_expr(span);
        }
        let value = match &view.form {
            ViewForm::Count => None,
            ViewForm::Sum { value } => Some(value.clone()),
            ViewForm::Extreme { .. } | ViewForm::Average { .. } => {
                let message = format!("`{}` may be of no row, and is no number then", view.name);
                self.report(
                    Diagnostic::error("E0427", span, message)
                        .also(view.span, "derived here")
                        .help("say it over the records: `all x in S: x.price <= 10`"),
                );
                return error_expr(span);
            }
            ViewForm::List { .. }
            | ViewForm::Rank { .. }
            | ViewForm::Search { .. }
            | ViewForm::Near { .. }
            | ViewForm::Window { .. } => {
                let message = format!("`{}` is rows, not a number", view.name);
                self.report(
                    Diagnostic::error("E0427", span, message)
                        .also(view.span, "derived here")
                        .help("in `recovers` a view that counts or sums can be compared"),
                );
                return error_expr(span);
            }
        };
        // The locals of the view get slots of their own in the goal.
        let slots: Vec<LocalId> =
            view.locals.iter().map(|local| frame.slot(&local.name, local.ty.clone())).collect();
        let moved = |expr: &Expr| {
            let mut expr = expr.clone();
            each_mut(&mut expr, &mut |part| match &mut part.kind {
                ExprKind::Local(local)
                | ExprKind::Let { local, .. }
                | ExprKind::Quantifier { local, .. }
                | ExprKind::Aggregate { local, .. } => *local = slots[local.index()],
                _ => {}
            });
            expr
        };
        let mut filters: Vec<Expr> = Vec::new();
        for (param, of_row) in &view.group {
            let (param, of_row) = (frame.local(slots[param.index()], span), moved(of_row));
            let kind = ExprKind::Compare {
                op: CompareOp::Equal,
                left: Box::new(of_row),
                right: Box::new(param),
            };
            filters.push(Expr { kind, ty: Type::Bool, span });
        }
        filters.extend(view.filter.as_ref().map(moved));
        let filter = match filters.len() {
            0 => None,
            1 => filters.pop().map(Box::new),
            _ => Some(Box::new(Expr { kind: ExprKind::And(filters), ty: Type::Bool, span })),
        };
        let ty = match &value {
            Some(value) => value.ty.required().clone(),
            None => Type::Int,
        };
        let kind = ExprKind::Aggregate {
            local: slots[0],
            domain: Box::new(Domain::All(view.subject)),
            filter,
            value: value.as_ref().map(moved).map(Box::new),
        };
        let mut whole = Expr { kind, ty: ty.clone(), span };
        for (param, arg) in view.params.iter().zip(args).rev() {
            let kind = ExprKind::Let {
                local: slots[param.local.index()],
                value: Box::new(arg),
                body: Box::new(whole),
            };
            whole = Expr { kind, ty: ty.clone(), span };
        }
        whole
    }
}
