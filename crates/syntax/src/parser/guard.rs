//! Guards: one expression, or named clauses.

use super::Parser;
use crate::tree::Clause;
use crate::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// `{ expr }`, `{ name: expr  name: expr }`, or nothing
    pub(super) fn guard(&mut self) -> Vec<Clause> {
        if self.lost {
            return Vec::new();
        }
        if !self.at(TokenKind::OpenBrace) {
            return self.unopened_guard();
        }
        let open = self.at;
        self.bump();
        if self.at(TokenKind::CloseBrace) {
            let span = self.pieces[open].span.to(self.span());
            let help = "leave the braces out, or say when the step is legal";
            self.report(Diagnostic::error("E0124", span, "the guard is empty").help(help));
        }
        let clauses = self.bracketed(open, |p| p.clauses(Some(open)));
        if self.lost || self.at(TokenKind::CloseBrace) || self.guard_cut_off(open) {
            self.close(open, "");
        } else {
            self.not_a_guard();
            self.close(open, "");
        }
        clauses
    }

    /// No guard, or one whose brace is missing.
    fn unopened_guard(&mut self) -> Vec<Clause> {
        let follows_head = matches!(
            self.word(0),
            "" | "refused" | "keyed" | "limit" | "after" | "every" | "batch"
        );
        if self.piece(0).line_start && !self.at_label() || follows_head && !self.at_label() {
            return Vec::new();
        }
        let message = format!("expected `{{` before the guard, found {}", self.found());
        let help = "a guard stands in braces: `actor[operation {name: condition}]`";
        self.report(Diagnostic::error("E0124", self.span(), message).help(help));
        let clauses = self.clauses(None);
        self.eat(TokenKind::CloseBrace);
        clauses
    }

    /// The closing brace is missing, rather than something odd standing before it.
    fn guard_cut_off(&self, open: usize) -> bool {
        let ends = matches!(self.kind(), TokenKind::CloseBracket | TokenKind::End);
        ends || self.closer_ahead(open).is_none()
    }

    fn clauses(&mut self, open: Option<usize>) -> Vec<Clause> {
        let mut clauses = Vec::new();
        loop {
            while self.eat(TokenKind::Comma) {}
            let start = self.at;
            let named = self.at_label();
            if !named && !clauses.is_empty() {
                return clauses;
            }
            if self.at_item_start()
                || open.is_some_and(|open| open + 1 == self.at && self.at(TokenKind::CloseBrace))
            {
                return clauses;
            }
            clauses.push(self.clause(named));
            if self.lost {
                if let Some(open) = open {
                    self.resync(open, start, Self::at_label);
                }
                if self.lost {
                    return clauses;
                }
            }
        }
    }

    fn clause(&mut self, named: bool) -> Clause {
        let first = self.span();
        let name = named.then(|| {
            let name = self.take_name();
            self.bump();
            name
        });
        let body = self.expr();
        Clause { name, body, span: self.since(first) }
    }

    fn not_a_guard(&mut self) {
        let found = self.found();
        let message = format!("expected the end of the guard, found {found}");
        let help = "a guard is one expression, or clauses with names: `{ free: …  open: … }`";
        let diagnostic = Diagnostic::error("E0124", self.here(), message);
        self.fail(diagnostic.help(self.operator_hint().unwrap_or(help)));
    }
}
