//! A step that something sends to is called by messages, and a message has no principal.

use syntax::{Diagnostic, Span};

use super::Compiler;
use crate::model::visit::{bodies, each, each_statement, message_targets, operation_exprs};
use crate::model::*;

impl Compiler {
    pub(super) fn messages_have_no_principal(&mut self) {
        if self.something_is_missing() {
            return;
        }
        let mut problems = Vec::new();
        let targets = message_targets(&self.design);
        for (operation, sent) in self.design.operations.iter().zip(targets) {
            let by = match (&operation.hears, sent) {
                (Some(_), _) => "an event",
                (None, true) => "messages",
                (None, false) => continue,
            };
            let Some((span, what)) = personal(&self.design, operation) else { continue };
            problems.push(
                Diagnostic::error(
                    "E0504",
                    span,
                    format!("`{}` is called by {by}, so there is {what}", operation.name),
                )
                .help("give along what it needs as a parameter, or let another step do it"),
            );
        }
        self.diagnostics.append(&mut problems);
    }
}

/// The first place where it matters who calls, and what is not there.
fn personal(design: &Design, operation: &Operation) -> Option<(Span, &'static str)> {
    const NO_MEMORY: &str = "nobody's memory";
    const NO_COPY: &str = "nobody's copy in a cache";
    let mut found: Option<(Span, &'static str)> = None;
    let mut see = |span: Span, what| {
        if found.is_none_or(|(first, _)| span.start < first.start) {
            found = Some((span, what));
        }
    };
    let is_copy = |base: &Expr, attr: AttrId| {
        base.ty.subject().is_some_and(|subject| {
            let subject = &design.subjects[subject.index()];
            let state = subject.attributes[attr.index()].state;
            matches!(subject.states[state.index()].kind, StateKind::Cache { .. })
        })
    };
    operation_exprs(operation, &mut |expr| {
        each(expr, &mut |part| match &part.kind {
            ExprKind::Me => see(part.span, "no `me`"),
            ExprKind::Memory(_) => see(part.span, NO_MEMORY),
            ExprKind::Exists { cache: Some(_), .. } => see(part.span, NO_COPY),
            ExprKind::Attr { base, attr } if is_copy(base, *attr) => see(part.span, NO_COPY),
            _ => {}
        });
    });
    for body in bodies(operation) {
        each_statement(body, &mut |statement| {
            let StmtKind::Assign { target, .. } = &statement.kind else { return };
            match target {
                Target::Memory(_) => see(statement.span, NO_MEMORY),
                Target::Attr { base, attr } | Target::Element { base, attr, .. }
                    if is_copy(base, *attr) =>
                {
                    see(statement.span, NO_COPY);
                }
                _ => {}
            }
        });
    }
    found
}
