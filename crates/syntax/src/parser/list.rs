//! Things in brackets, divided by commas.

use super::Parser;
use crate::TokenKind;
use crate::tree::{Expr, FieldValue};

impl Parser<'_> {
    /// `(a, b)`: the opening bracket stands here. A comma may follow the last one.
    pub(super) fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        self.list_with(|_| false, &mut one)
    }

    /// `{ a: …, b: … }`: where `name:` begins a line, the comma before it may be left out.
    pub(super) fn named_list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let next_line = |p: &Self| p.piece(0).line_start && p.at_label();
        self.list_with(next_line, &mut one)
    }

    fn list_with<T>(
        &mut self,
        next_without_comma: impl Fn(&Self) -> bool,
        one: &mut impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let open = self.at;
        let close = super::recover::closing(self.bump().kind);
        let mut all = Vec::new();
        self.bracketed(|p| {
            while !p.at(close) && !p.at(TokenKind::End) && !p.at_item_start() {
                all.push(one(p));
                let another = !p.lost && (p.eat(TokenKind::Comma) || next_without_comma(p));
                if !another {
                    break;
                }
            }
            p.close(open, "`,` or ");
        });
        all
    }

    /// `name:`
    pub(super) fn at_label(&self) -> bool {
        self.at(TokenKind::Word) && self.nth(1) == TokenKind::Colon
    }

    /// `(e, …)`
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        self.list(Self::expr)
    }

    /// `{ name: e, name }`: the brace must stand here.
    pub(super) fn fields(&mut self, place: &str) -> Vec<FieldValue> {
        if self.lost || !self.at(TokenKind::OpenBrace) {
            self.expect(TokenKind::OpenBrace, "{", place);
            return Vec::new();
        }
        self.measured_fields(&mut 0)
    }

    /// The fields of a record, adding their height to the greatest so far.
    pub(super) fn measured_fields(&mut self, greatest: &mut usize) -> Vec<FieldValue> {
        self.named_list(|p| {
            let start = p.span();
            let name = p.name("the name of an attribute");
            let value = p.eat(TokenKind::Colon).then(|| p.measured(greatest));
            FieldValue { name, value, span: p.since(start) }
        })
    }
}
