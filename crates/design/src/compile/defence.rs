//! Clauses that are kept although nothing in the small world needs them.

use syntax::Diagnostic;
use syntax::tree::{Item, ItemKind};

use super::Compiler;
use crate::model::*;

impl Compiler {
    /// `defence commit.once "…"`
    pub(super) fn defences(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Defence(written) = &item.kind else {
                continue;
            };
            if written.operation.text.is_empty() || written.clause.text.is_empty() {
                continue; // it could not be read
            }
            let Some(operation) = self.operation_named(&written.operation) else {
                continue;
            };
            let Some(clause) = self.clause_of(operation, &written.clause, "E0613") else {
                continue;
            };
            let place = written.operation.span.to(written.clause.span);
            let earlier = self
                .design
                .defences
                .iter()
                .find(|known| known.operation == operation && known.clause == clause)
                .map(|known| known.span);
            if let Some(earlier) = earlier {
                let (step, clause) = (&written.operation.text, &written.clause.text);
                self.report(
                    Diagnostic::error("E0202", place, format!("`{step}.{clause}` is kept twice"))
                        .also(earlier, "first said here")
                        .help("one reason is enough; leave the other out"),
                );
                continue;
            }
            if written.reason.value.trim().is_empty() {
                self.report(
                    Diagnostic::error(
                        "E0614",
                        written.reason.span,
                        "a clause that is kept has a reason",
                    )
                    .help("say what it guards against that the small world does not have"),
                );
                continue;
            }
            self.design.defences.push(Defence {
                operation,
                clause,
                reason: written.reason.value.clone(),
                span: place,
            });
        }
    }
}
