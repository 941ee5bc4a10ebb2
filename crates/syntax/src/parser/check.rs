//! The small world to explore.

use super::Parser;
use crate::tree::{
    CheckEntry, CheckItem, CheckKey, CheckName, CheckValue, Expr, ExprKind, ItemKind, Name,
};
use crate::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// `check { … }`, `check NAME for GOAL, GOAL { … }`
    pub(super) fn check(&mut self) -> ItemKind {
        self.bump();
        let named = self.check_name();
        let open = self.at;
        let mut entries = Vec::new();
        if self.open_body("the small world to explore", Self::at_check_key) {
            self.check_entries(open, &mut entries);
            self.close_body(open);
        }
        ItemKind::Check(CheckItem { named, entries })
    }

    /// `races for one_winner, in_time`
    fn check_name(&mut self) -> Option<CheckName> {
        let scoped = self.world_name_ends(self.at).is_some();
        if !self.at(TokenKind::Word) || self.at_check_key() && !scoped || self.at_item_start() {
            return None;
        }
        // `check for one_winner { … }`: the name is missing, not `for`
        let nameless =
            self.at_word("for") && self.nth(1) == TokenKind::Word && self.word(1) != "for";
        let name = if nameless {
            let message = "expected the name of this world, found `for`";
            let help = "name it: `check races for one_winner { … }`";
            self.report(Diagnostic::error("E0106", self.here(), message).help(help));
            self.missing_name()
        } else {
            self.scoped_name("`{` or the name of a world")
        };
        let mut goals = Vec::new();
        if self.eat_word("for") {
            loop {
                goals.push(self.scoped_name("the name of a goal"));
                if self.lost || !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        Some(CheckName { name, goals })
    }

    /// `seat.races for` or `seat.races {`: where the name of a world that stands here ends.
    pub(super) fn world_name_ends(&self, index: usize) -> Option<usize> {
        let kind = |at: usize| self.pieces.get(at).map_or(TokenKind::End, |piece| piece.kind);
        let mut at = index + 1;
        while kind(at) == TokenKind::Dot && kind(at + 1) == TokenKind::Word {
            at += 2;
        }
        let leads_on = match kind(at) {
            TokenKind::OpenBrace => true,
            TokenKind::Word => self.text_of(&self.pieces[at]) == "for",
            _ => false,
        };
        (kind(index) == TokenKind::Word && leads_on).then_some(at)
    }

    fn check_entries(&mut self, open: usize, entries: &mut Vec<CheckEntry>) {
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let start = self.at;
            entries.extend(self.check_entry());
            if self.lost {
                self.resync(open, start, Self::at_check_key);
                if self.lost {
                    return;
                }
            }
        }
    }

    /// `seat:`, `OwnerEpoch.current:`, `10m:`
    fn at_check_key(&self) -> bool {
        self.check_key_ahead(0)
    }

    fn check_key_ahead(&self, ahead: usize) -> bool {
        match self.nth(ahead) {
            TokenKind::Duration => self.nth(ahead + 1) == TokenKind::Colon,
            TokenKind::Word => matches!(self.nth(ahead + 1), TokenKind::Colon | TokenKind::Dot),
            _ => false,
        }
    }

    fn check_entry(&mut self) -> Option<CheckEntry> {
        let first = self.span();
        let key = match self.kind() {
            TokenKind::Duration => CheckKey::Duration(self.operand_checked()),
            TokenKind::Word => {
                let mut names = vec![self.take_name()];
                while self.eat(TokenKind::Dot) {
                    names.push(self.name("a name after `.`"));
                }
                CheckKey::Name(names)
            }
            _ => {
                let found = self.found();
                let message = format!("expected what the small world has, found {found}");
                let help = "write `seat: 2`, `ttl: {5s, 10m}` or `faults: crash, lost_reply`";
                self.fail(Diagnostic::error("E0121", self.here(), message).help(help));
                return None;
            }
        };
        if !self.eat(TokenKind::Colon) {
            let found = self.found();
            let message = format!("expected `:` and a value, found {found}");
            let help = "write `seat: 2`, `ttl: {5s, 10m}` or `faults: crash, lost_reply`";
            self.fail(Diagnostic::error("E0121", self.here(), message).help(help));
        }
        let value = self.check_value();
        Some(CheckEntry { key, value, span: self.since(first) })
    }

    fn check_value(&mut self) -> CheckValue {
        if self.lost {
            return CheckValue::Error;
        }
        match self.kind() {
            TokenKind::OpenBrace => CheckValue::Values(self.check_values()),
            TokenKind::Word if !self.check_key_ahead(0) => CheckValue::Words(self.check_words()),
            TokenKind::Int | TokenKind::Decimal | TokenKind::Duration | TokenKind::Minus => {
                let from = self.signed_number();
                if self.eat(TokenKind::DotDot) {
                    CheckValue::Range(from, self.signed_number())
                } else {
                    CheckValue::Number(from)
                }
            }
            _ => {
                let found = self.found();
                let message = format!("expected a value, found {found}");
                let help = "a value is a number `2`, a range `0..3`, a set `{1, 5}` \
                            or words `crash, pause 2`";
                self.fail(Diagnostic::error("E0121", self.here(), message).help(help));
                CheckValue::Error
            }
        }
    }

    /// `{1, 5}`: the next key ends it if the brace does not.
    fn check_values(&mut self) -> Vec<Expr> {
        let open = self.at;
        self.bump();
        self.bracketed(open, |p| {
            let mut values = Vec::new();
            while !p.at(TokenKind::CloseBrace) && !p.at(TokenKind::End) && !p.at_item_start() {
                if p.at_check_key() && p.nth(1) == TokenKind::Colon {
                    p.unclosed(open);
                    return values;
                }
                values.push(p.expr());
                if !p.eat(TokenKind::Comma) {
                    break;
                }
            }
            p.close(open, "`,` or ");
            values
        })
    }

    /// A number with an optional sign.
    pub(super) fn signed_number(&mut self) -> Expr {
        let first = self.span();
        if self.eat(TokenKind::Minus) {
            let inner = Box::new(self.operand_checked());
            return Expr { kind: ExprKind::Negate(inner), span: self.since(first) };
        }
        self.operand_checked()
    }

    /// `crash, pause 2, lost_reply`: a comma before the next key ends the list.
    fn check_words(&mut self) -> Vec<(Name, Option<Expr>)> {
        let mut words = Vec::new();
        loop {
            let word = self.name("a word");
            let budget = !self.lost && self.at(TokenKind::Int) && self.nth(1) != TokenKind::Colon;
            let budget = budget.then(|| self.operand_checked());
            words.push((word, budget));
            let more = !self.lost
                && self.at(TokenKind::Comma)
                && self.nth(1) == TokenKind::Word
                && !self.check_key_ahead(1);
            if !more {
                return words;
            }
            self.bump();
        }
    }
}
