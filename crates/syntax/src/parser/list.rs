//! Things in brackets, divided by commas.

use super::Parser;
use super::recover::closing;
use crate::TokenKind;
use crate::tree::{Expr, ExprKind, FieldValue};

impl Parser<'_> {
    /// `(a, b)`: the opening bracket stands here. A comma may follow the last one.
    pub(super) fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let open = self.at;
        let close = closing(self.bump().kind);
        self.bracketed(open, |p| {
            let all = p.elements(close, |_| false, &mut one);
            p.close(open, "`,` or ");
            all
        })
    }

    /// `{ a: …, b: … }`: where `name:` begins a line, the comma before it may be left out.
    pub(super) fn named_list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let open = self.at;
        let close = closing(self.bump().kind);
        self.bracketed(open, |p| {
            let all = p.elements(close, Self::at_next_label, &mut one);
            p.close(open, "`,` or ");
            all
        })
    }

    /// The same where the opening brace is missing, which was said.
    pub(super) fn unopened_list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let close = TokenKind::CloseBrace;
        let all = self.elements(close, Self::at_next_label, &mut one);
        self.eat(close);
        all
    }

    fn elements<T>(
        &mut self,
        close: TokenKind,
        next_without_comma: impl Fn(&Self) -> bool,
        one: &mut impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let mut all = Vec::new();
        while !self.at(close) && !self.at(TokenKind::End) && !self.at_item_start() {
            all.push(one(self));
            let another = !self.lost && (self.eat(TokenKind::Comma) || next_without_comma(self));
            if !another {
                break;
            }
        }
        all
    }

    /// `name:` at the beginning of a line
    pub(super) fn at_next_label(&self) -> bool {
        self.piece(0).line_start && self.at_label()
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
        if !self.lost && self.at(TokenKind::OpenBrace) {
            return self.measured_fields(&mut 0);
        }
        let field = self.at(TokenKind::Word)
            && matches!(self.nth(1), TokenKind::Colon | TokenKind::Comma | TokenKind::CloseBrace);
        let opened = field && !self.piece(0).line_start && !self.lost;
        self.expect(TokenKind::OpenBrace, "{", place);
        if !opened {
            return Vec::new();
        }
        self.lost = false;
        self.unopened_list(|p| p.field(&mut 0))
    }

    /// An expression; or a record whose brace is missing.
    pub(super) fn value(&mut self) -> Expr {
        if !self.lost && self.at_next_assignment() {
            return self.no_operand().0;
        }
        if self.lost || !self.at_label() || self.piece(0).line_start {
            return self.expr();
        }
        let start = self.span();
        let fields = self.fields("before the record");
        Expr { kind: ExprKind::Record(fields), span: self.since(start) }
    }

    /// The fields of a record, adding their height to the greatest so far.
    pub(super) fn measured_fields(&mut self, greatest: &mut usize) -> Vec<FieldValue> {
        self.named_list(|p| p.field(greatest))
    }

    fn field(&mut self, greatest: &mut usize) -> FieldValue {
        let start = self.span();
        let name = self.name("the name of an attribute");
        let value = self.eat(TokenKind::Colon).then(|| self.measured(greatest));
        FieldValue { name, value, span: self.since(start) }
    }
}
