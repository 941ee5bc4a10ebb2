//! `leads_to`: what begins to wait is served.

use syntax::tree::{self, BinaryOp, Name, QuantifierKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::expr::boolean;
use super::frame::{Frame, Mode};
use super::path::error_expr;
use crate::model::*;

impl Compiler {
    pub(super) fn leads_to(&mut self, name: &Name, body: &tree::Expr, by: &[Name]) {
        let named = self.goal_name(name);
        let Some(arrow) = self.arrow_of(body) else { return };
        let mut frame = Frame::new(Mode::LeadsTo, None);
        frame.arrow = Some(arrow);
        let body = self.condition(&mut frame, body);
        self.ranges(&body);
        let by = self.owed(by);
        if named.is_none() {
            return;
        }
        let goal = Invariant {
            name: name.text.clone(),
            body,
            locals: frame.locals,
            uses_old: false,
            family: None,
            span: name.span,
        };
        self.design.leads.push(LeadsTo { goal, by });
    }

    /// Where its `=>` stands: behind nothing but `all … in …:`.
    fn arrow_of(&mut self, body: &tree::Expr) -> Option<Span> {
        let mut inner = body;
        while let tree::ExprKind::Quantifier { kind, body, .. } = &inner.kind {
            if *kind == QuantifierKind::Any && has_arrow(body) {
                self.report(
                    Diagnostic::error("E0616", inner.span, "`=>` does not stand behind `any`")
                        .help("each record is judged by itself: `all x in …: p => q`"),
                );
                return None;
            }
            inner = body;
        }
        match &inner.kind {
            tree::ExprKind::Binary { op: BinaryOp::LeadsTo, .. } => Some(inner.span),
            tree::ExprKind::Error => None,
            _ if has_arrow(inner) => Some(inner.span), // each of them is reported
            _ => {
                self.report(
                    Diagnostic::error("E0615", body.span, "nothing says what this leads to")
                        .help("write `p => q`: whenever `p` holds, `q` holds then or later"),
                );
                None
            }
        }
    }

    /// `p => q`, in a `leads_to`.
    pub(super) fn arrow(
        &mut self,
        frame: &mut Frame,
        left: &tree::Expr,
        right: &tree::Expr,
        span: Span,
    ) -> Expr {
        if frame.arrow != Some(span) {
            self.report(
                Diagnostic::error("E0616", span, "`=>` stands once, behind `all … in …:`")
                    .help("within one state, \"then\" is written `implies`"),
            );
            return error_expr(span);
        }
        let left = Box::new(self.condition(frame, left));
        let right = Box::new(self.condition(frame, right));
        boolean(ExprKind::Implies(left, right), span)
    }

    /// What it ranges over is there from the start, so that it is known who waits.
    fn ranges(&mut self, body: &Expr) {
        let mut body = body;
        while let ExprKind::Quantifier { all: true, domain, body: inner, .. } = &body.kind {
            let what = match **domain {
                Domain::All(_) | Domain::Principals(_) => None,
                Domain::Children { .. } => Some("the children of one record"),
                Domain::Elements(_) => Some("the elements of a collection"),
                Domain::World(_) => Some("what the world outside has done"),
                Domain::Messages(_) => Some("messages under way"),
                Domain::Outbox(_) => Some("open entries of the outbox"),
            };
            if let Some(what) = what {
                let message = format!("a `leads_to` does not range over {what}");
                self.report(
                    Diagnostic::error("E0617", body.span, message)
                        .label("who waits must be a record or a principal")
                        .help(
                            "range over a subject or an actor, and say the rest in `where` or `=>`",
                        ),
                );
                return;
            }
            body = inner;
        }
    }

    /// `by step, step`
    fn owed(&mut self, written: &[Name]) -> Vec<OperationId> {
        let targets = visit::message_targets(&self.design);
        let mut by: Vec<OperationId> = Vec::new();
        for name in written {
            let Some(id) = self.operation_named(name) else { continue };
            let what = match self.design.operations[id.index()].kind {
                OperationKind::Repair { .. } => Some("a repair"),
                OperationKind::Effect(_) => Some("an effect"),
                OperationKind::Step { .. } if targets[id.index()] => Some("called by messages"),
                OperationKind::Step { .. } | OperationKind::Read { .. } => None,
            };
            let problem = match what {
                Some(what) => {
                    let message = format!("`{}` is {what}: it is owed anyway", name.text);
                    Diagnostic::error("E0618", name.span, message)
                        .help("leave it out: after `by` stand steps and reads that clients call")
                }
                // which record it takes is nobody's choice, and `none_left` may come while the view lags
                None if self.design.operations[id.index()].takes().is_some() => {
                    let message = format!("`{}` takes whatever is proposed to it", name.text);
                    Diagnostic::error("E0332", name.span, message)
                        .label("no record is owed that it takes this one")
                        .help("name a step that is given its record, or leave it out")
                }
                None if by.contains(&id) => {
                    let message = format!("`{}` is named twice", name.text);
                    Diagnostic::error("E0618", name.span, message).help("once is enough")
                }
                None => {
                    by.push(id);
                    continue;
                }
            };
            self.report(problem);
        }
        by
    }
}

/// Is there a `=>` in it, outside of everything that has braces of its own?
fn has_arrow(expr: &tree::Expr) -> bool {
    use tree::ExprKind as T;
    match &expr.kind {
        T::Binary { op: BinaryOp::LeadsTo, .. } => true,
        T::Binary { left, right, .. } => has_arrow(left) || has_arrow(right),
        T::And(parts) | T::Or(parts) => parts.iter().any(has_arrow),
        T::Not(inner) | T::Negate(inner) | T::Old(inner) | T::Round { of: inner, .. } => {
            has_arrow(inner)
        }
        T::If { condition, then, otherwise } => {
            has_arrow(condition) || has_arrow(then) || has_arrow(otherwise)
        }
        T::Let { value, body, .. } => has_arrow(value) || has_arrow(body),
        T::Quantifier { body, .. } => has_arrow(body),
        _ => false,
    }
}
