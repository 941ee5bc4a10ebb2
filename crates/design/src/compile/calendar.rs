//! Schedules, `next(schedule, after)`, and times that callers give.

use calendar::Schedule;
use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use super::path::error_expr;
use crate::model::*;

impl Compiler {
    /// A schedule that is written in the design, as it is stored.
    pub(super) fn schedule(&mut self, text: &str, span: Span) -> Option<String> {
        match Schedule::parse(text) {
            Ok(schedule) => Some(schedule.text().to_owned()),
            Err(wrong) => {
                // A text with escapes is longer in the design than it is.
                let plain = (span.end - span.start) as usize == text.len() + 2;
                let at = match plain {
                    true => {
                        let start = span.start + 1 + wrong.at.start as u32;
                        let end = span.start + 1 + wrong.at.end as u32;
                        Span::new(span.file, start, end.max(start + 1).min(span.end))
                    }
                    false => span,
                };
                self.report(Diagnostic::error("E0340", at, wrong.message).help(wrong.help));
                None
            }
        }
    }

    /// `next(JobState.plan, JobState.due)`
    pub(super) fn next_of(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let Some([schedule, after]) = self.arity(function, args) else {
            return error_expr(span);
        };
        if frame.mode != Mode::Effect {
            self.report(
                Diagnostic::error("E0341", span, "`next` stands in a statement")
                    .label("what is due is stored, so that a repair knows when, and nothing moves it later")
                    .help("keep it: `JobState.due := next(JobState.plan, now)`, and look at `JobState.due`"),
            );
            return error_expr(span);
        }
        let schedule = self.expr(frame, schedule, Some(&Type::Schedule));
        let schedule = self.demand(schedule, &Type::Schedule);
        let after = self.expr(frame, after, Some(&Type::Time));
        let after = self.demand(after, &Type::Time);
        let (Some(schedule), Some(after)) = (schedule, after) else { return error_expr(span) };
        let kind = ExprKind::NextOf { schedule: Box::new(schedule), after: Box::new(after) };
        Expr { kind, ty: Type::Optional(Box::new(Type::Time)), span }
    }

    /// A time that a caller gives says so, and nothing else does.
    pub(super) fn times_of_callers(&mut self, items: &[tree::Item]) {
        if self.something_is_missing() {
            return; // perhaps the step that sends it
        }
        let targets = visit::message_targets(&self.design);
        let mut problems = Vec::new();
        for (operation, sent) in self.design.operations.iter().zip(targets) {
            let called = match operation.kind {
                OperationKind::Step { .. } => !sent && operation.hears.is_none(),
                OperationKind::Read { .. } => true,
                OperationKind::Repair { .. } | OperationKind::Effect(_) => false,
            };
            for param in &operation.params {
                problems.extend(claimed(operation, param, called));
            }
        }
        for item in items {
            let params = match &item.kind {
                tree::ItemKind::Define(define) => &define.params,
                tree::ItemKind::View(view) => &view.params,
                _ => continue,
            };
            for at in params.iter().filter_map(|param| param.from_caller) {
                problems.push(
                    Diagnostic::error("E0342", at, "nobody calls this")
                        .help("leave `from caller` out"),
                );
            }
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }
}

/// What is wrong with where a parameter says that its time is from.
fn claimed(operation: &Operation, param: &Param, called: bool) -> Option<Diagnostic> {
    let timed = has_time(&param.ty);
    let name = &param.name;
    if param.ty == Type::Error || timed && called == param.from_caller {
        return None;
    }
    if timed && called {
        let message = format!("`{name}` is a time that a caller gives");
        return Some(
            Diagnostic::error("E0342", param.span, message)
                .label("it may be any, and is not the engine's clock")
                .help(format!("write `{name}: … from caller`, or take `now` instead")),
        );
    }
    if !param.from_caller {
        return None;
    }
    let (message, help) = match called {
        true => (
            format!("`{name}` is no time"),
            "every parameter is from the caller; only a time has to say so".to_string(),
        ),
        false => (
            format!("no caller gives `{name}`: `{}` is not called from outside", operation.name),
            "leave `from caller` out: the time comes from a step of this design".to_string(),
        ),
    };
    Some(Diagnostic::error("E0342", param.span, message).help(help))
}

fn has_time(ty: &Type) -> bool {
    match ty {
        Type::Time => true,
        Type::Optional(of) | Type::List { of, .. } | Type::Set { of, .. } => has_time(of),
        Type::Map { key, value, .. } => has_time(key) || has_time(value),
        _ => false,
    }
}
