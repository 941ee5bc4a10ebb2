//! `Member(room, me)`: a record by its key, computed.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn keyed(
        &mut self,
        frame: &mut Frame,
        subject: SubjectId,
        name: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        self.known.refer(name, self.design.subjects[subject.index()].span);
        match self.key_given(frame, subject, name, args) {
            Some(key) => {
                Expr { kind: ExprKind::Keyed { subject, key }, ty: Type::Ref(subject), span }
            }
            None => error_expr(span),
        }
    }

    /// The parts of a key, one expression for each.
    pub(super) fn key_given(
        &mut self,
        frame: &mut Frame,
        id: SubjectId,
        subject: &Name,
        keys: &[tree::Expr],
    ) -> Option<Vec<Expr>> {
        let parts = self.design.subjects[id.index()].keys.clone();
        if parts.len() != keys.len() {
            let names: Vec<String> = parts.iter().map(|key| key.name.clone()).collect();
            let (takes, found) = (parts.len(), keys.len());
            let message = format!("the key of `{}` takes {takes}, not {found}", subject.text);
            self.report(
                Diagnostic::error("E0304", subject.span, message)
                    .help(format!("its parts are {}", suggest::list(&names))),
            );
            return None;
        }
        let mut values = Vec::new();
        for (part, key) in parts.iter().zip(keys) {
            let value = self.expr(frame, key, Some(&part.ty));
            values.push(self.demand(value, &part.ty)?);
        }
        Some(values)
    }
}
