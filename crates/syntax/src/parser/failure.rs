//! Failures and hotspots.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{
    DefenceItem, ExprKind, FailureItem, FailureProof, FailureProofKind, HotspotItem, ItemKind,
    Name, WithoutKind, WithoutTarget,
};
use crate::{Diagnostic, TokenKind};

const PROOFS: &[&str] = &["without", "refused", "measured"];

impl Parser<'_> {
    /// `failure "…" { … }`
    pub(super) fn failure(&mut self) -> ItemKind {
        self.bump();
        let title = self.text("the name of the failure");
        let open = self.at;
        let mut proofs = Vec::new();
        if self.open_body("how it is proven", |p| PROOFS.contains(&p.word(0))) {
            self.proofs(open, &mut proofs);
            self.close_body(open);
        }
        ItemKind::Failure(FailureItem { title, proofs })
    }

    fn proofs(&mut self, open: usize, proofs: &mut Vec<FailureProof>) {
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let (start, first) = (self.at, self.span());
            let kind = self.proof();
            let span = self.since(first);
            proofs.push(FailureProof { kind, span });
            if self.lost {
                self.resync(open, start, |p| PROOFS.contains(&p.word(0)));
                if self.lost {
                    return;
                }
            }
        }
    }

    fn proof(&mut self) -> FailureProofKind {
        let written = self.word(0);
        let mut meant = PROOFS.iter().copied().find(|word| *word == written);
        if meant.is_none() {
            let found = self.found();
            let message = format!("expected how the failure is proven, found {found}");
            let diagnostic = Diagnostic::error("E0119", self.here(), message);
            meant = nearest(written, PROOFS);
            match meant {
                Some(meant) => self.report(diagnostic.help(format!("did you mean `{meant}`?"))),
                None => self.fail(diagnostic.help(
                    "write `without CLAUSE breaks INVARIANT`, `refused by compiler CODE { … }` \
                     or `measured by EXPRESSION above N`",
                )),
            }
        }
        match meant {
            Some("without") => self.without(),
            Some("refused") => self.refused_by_compiler(),
            Some(_) => self.measured_by(),
            None => FailureProofKind::Error,
        }
    }

    /// `without T, T breaks NAME in depth`
    fn without(&mut self) -> FailureProofKind {
        self.bump();
        let mut targets = vec![self.without_target()];
        while self.eat(TokenKind::Comma) {
            targets.push(self.without_target());
        }
        self.expect_word("breaks", "and an invariant after what is taken away");
        let breaks = self.scoped_name("the invariant that breaks");
        let in_depth = !self.lost && self.at_word("in") && self.word(1) == "depth";
        if in_depth {
            self.bump();
            self.bump();
        }
        FailureProofKind::Without { targets, breaks, in_depth }
    }

    fn without_target(&mut self) -> WithoutTarget {
        let first = self.span();
        let word = self.word(0);
        let followed_by_name = self.nth(1) == TokenKind::Word;
        let kind = match word {
            "repair" if followed_by_name => {
                self.bump();
                WithoutKind::Repair { name: self.name("the repair") }
            }
            "assignment" if followed_by_name => {
                self.bump();
                let operation = self.name("the step");
                self.expect(TokenKind::Dot, ".", "between the step and what it assigns");
                WithoutKind::Assignment { operation, target: self.operand_checked() }
            }
            "outbox" | "key" | "at_least" | "keyed" if followed_by_name => {
                self.bump();
                self.expect_word("of", &format!("after `{word}`"));
                let operation = self.name("the operation");
                match word {
                    "outbox" => WithoutKind::Outbox { operation },
                    "key" => WithoutKind::Key { operation },
                    "keyed" => WithoutKind::Keyed { operation },
                    _ => WithoutKind::AtLeast { operation },
                }
            }
            _ => {
                let operation = self.name("what is taken away");
                if !self.lost && !self.at(TokenKind::Dot) {
                    self.no_clause(&operation);
                }
                self.eat(TokenKind::Dot);
                let clause = self.name("the clause of the guard");
                WithoutKind::Clause { operation, clause }
            }
        };
        WithoutTarget { kind, span: self.since(first) }
    }

    fn no_clause(&mut self, operation: &Name) {
        let found = self.found();
        let operation = &operation.text;
        let message = format!("expected `.` and a clause after `{operation}`, found {found}");
        let help = format!(
            "name what is taken away: `{operation}.CLAUSE`, `repair {operation}`, \
             `outbox of {operation}`, `key of {operation}` or `keyed of {operation}`"
        );
        self.fail(Diagnostic::error("E0119", self.here(), message).help(help));
    }

    /// `refused by compiler CODE { items }`
    fn refused_by_compiler(&mut self) -> FailureProofKind {
        self.bump();
        self.expect_word("by", "after `refused`");
        self.expect_word("compiler", "after `refused by`");
        let code = self.name("the code of the message");
        let mut items = Vec::new();
        let unopened = self.at_item_start() && self.column() > 0;
        if !self.lost && (self.at(TokenKind::OpenBrace) || unopened) && self.enter() {
            let open = self.at;
            if self.open_items() {
                items = self.items(Some(open));
                self.close_body(open);
            }
            self.leave();
        }
        FailureProofKind::Compiler { code, items }
    }

    fn open_items(&mut self) -> bool {
        if self.eat(TokenKind::OpenBrace) {
            return true;
        }
        let message = "expected `{` and the items that must not compile";
        self.report(Diagnostic::error("E0109", self.here(), message));
        !self.lost
    }

    /// `measured by e above n`
    fn measured_by(&mut self) -> FailureProofKind {
        self.bump();
        self.expect_word("by", "after `measured`");
        let value = self.sum_level();
        self.expect_word("above", "and a threshold after what is measured");
        let above = self.sum_level();
        FailureProofKind::Measured { value, above }
    }

    /// `defence commit.once "…"`
    pub(super) fn defence(&mut self) -> ItemKind {
        self.bump();
        let operation = self.name("the step whose clause is kept");
        if !self.lost && !self.at(TokenKind::Dot) {
            let found = self.found();
            let message =
                format!("expected `.` and a clause after `{}`, found {found}", operation.text);
            let help = format!("name the clause: `defence {}.CLAUSE \"…\"`", operation.text);
            self.fail(Diagnostic::error("E0119", self.here(), message).help(help));
        }
        self.eat(TokenKind::Dot);
        let clause = self.name("the clause of the guard");
        let reason = self.text("the reason why it is kept");
        ItemKind::Defence(DefenceItem { operation, clause, reason })
    }

    /// `hotspot "…" on Seat { mitigate shard, "…" }`
    pub(super) fn hotspot(&mut self) -> ItemKind {
        self.bump();
        let title = self.text("the name of the hotspot");
        self.expect_word("on", "and what gets hot");
        let on = self.operand_checked();
        let mut mitigate = Vec::new();
        if !self.lost && (self.at(TokenKind::OpenBrace) || self.at_word("mitigate")) {
            let open = self.at;
            self.open_body("what helps", |p| p.at_word("mitigate"));
            while !self.lost && !self.at(TokenKind::CloseBrace) && !self.at_item_start() {
                self.expect_word("mitigate", "and what helps");
                mitigate.extend(self.header_values());
            }
            self.close_body(open);
        }
        if self.lost && matches!(on.kind, ExprKind::Error) {
            return ItemKind::Error;
        }
        ItemKind::Hotspot(HotspotItem { title, on, mitigate })
    }
}
