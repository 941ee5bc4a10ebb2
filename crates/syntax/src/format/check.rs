//! The small world to check.

use super::builder::{At, Builder};
use super::list::List;
use crate::TokenKind;
use crate::tree::{CheckEntry, CheckItem, CheckKey, CheckValue, Expr, Name};

impl Builder<'_, '_> {
    /// `check { a: 1  b: 2 }`, `check races for one_winner { a: 1 }`
    pub fn check(&mut self, check: &CheckItem) {
        self.lead("check");
        if let Some(named) = &check.named {
            self.solid(named.name.span);
            self.space();
            if !named.goals.is_empty() {
                self.lead("for");
            }
            for (index, goal) in named.goals.iter().enumerate() {
                if index > 0 {
                    self.expect(TokenKind::Comma);
                    self.space();
                }
                self.solid(goal.span);
            }
            if !named.goals.is_empty() {
                self.space();
            }
        }
        self.list(List::BLOCK, &check.entries, Self::check_entry);
    }

    fn check_entry(&mut self, entry: &CheckEntry) {
        match &entry.key {
            CheckKey::Name(names) => {
                for (index, name) in names.iter().enumerate() {
                    if index > 0 {
                        self.expect(TokenKind::Dot);
                    }
                    self.solid(name.span);
                }
            }
            CheckKey::Duration(duration) => self.expr(duration),
        }
        self.expect(TokenKind::Colon);
        self.space();
        match &entry.value {
            CheckValue::Number(number) => self.expr(number),
            CheckValue::Range(from, to) => {
                self.expr(from);
                self.expect(TokenKind::DotDot);
                self.expr(to);
            }
            CheckValue::Values(values) => self.list(List::TIGHT, values, Self::expr),
            CheckValue::Words(words) => self.check_words(words),
            CheckValue::Error => self.lost = true,
        }
    }

    /// `crash, pause 2, lost_reply`
    fn check_words(&mut self, words: &[(Name, Option<Expr>)]) {
        self.group(|b| {
            b.align(0, |b| {
                for (index, (name, budget)) in words.iter().enumerate() {
                    if index > 0 {
                        b.expect(TokenKind::Comma);
                        b.soft_line(At::Between, " ");
                    }
                    b.solid(name.span);
                    if let Some(budget) = budget {
                        b.space();
                        b.expr(budget);
                    }
                }
            });
            false
        });
    }
}
