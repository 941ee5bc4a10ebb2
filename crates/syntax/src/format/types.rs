//! Types, parameters and fields that have one.

use super::builder::{At, Builder};
use crate::TokenKind;
use crate::tree::{Expr, Name, Param, TypeExpr, TypeKind};

impl Builder<'_, '_> {
    pub fn type_expr(&mut self, ty: &TypeExpr) {
        if self.lost {
            return;
        }
        let mut end = self.end_of(ty.span);
        let mut closers = 0;
        while let Some(close) = self.wrapper(end) {
            self.token();
            end = close;
            closers += 1;
        }
        match &ty.kind {
            TypeKind::Named(_) => self.token(),
            TypeKind::Money(currency) => {
                self.expect(TokenKind::Word);
                self.expect(TokenKind::OpenParen);
                self.solid(currency.span);
                self.expect(TokenKind::CloseParen);
            }
            TypeKind::Enumeration(names) => self.enumeration(names),
            TypeKind::Ranged(of, low, high) => {
                self.type_expr(of);
                self.space();
                self.expr(low);
                self.expect(TokenKind::DotDot);
                self.expr(high);
            }
            TypeKind::Optional(inner) => {
                self.type_expr(inner);
                self.expect(TokenKind::Question);
            }
            TypeKind::List(element, max) | TypeKind::Set(element, max) => {
                self.expect(TokenKind::Word);
                self.space();
                self.type_expr(element);
                self.max(max.as_ref());
            }
            TypeKind::Map(key, value, max) => {
                self.expect(TokenKind::Word);
                self.space();
                self.type_expr(key);
                self.space();
                self.type_expr(value);
                self.max(max.as_ref());
            }
            TypeKind::Record(fields) => {
                self.list(super::list::List::FIELDS, fields, |b, (name, ty)| b.typed(name, ty));
            }
            TypeKind::AnyOf(view, args) => {
                self.lead("any");
                self.lead("of");
                self.solid(view.span);
                if self.at(TokenKind::OpenParen) {
                    self.list(super::list::List::TIGHT, args, |b, name| b.solid(name.span));
                }
            }
            TypeKind::Error => self.lost = true,
        }
        for _ in 0..closers {
            self.expect(TokenKind::CloseParen);
        }
    }

    fn enumeration(&mut self, names: &[Name]) {
        self.group(|b| {
            b.indent(|b| {
                for (index, name) in names.iter().enumerate() {
                    if index > 0 {
                        b.soft_line(At::Between, " ");
                        b.expect(TokenKind::Pipe);
                        b.space();
                    }
                    b.solid(name.span);
                }
            });
            false
        });
    }

    fn max(&mut self, max: Option<&Expr>) {
        if let Some(max) = max {
            self.space();
            self.lead("max");
            self.expr(max);
        }
    }

    /// `name: type`
    pub fn typed(&mut self, name: &Name, ty: &TypeExpr) {
        self.solid(name.span);
        self.expect(TokenKind::Colon);
        self.space();
        self.type_expr(ty);
    }

    /// ` = default`
    pub fn default_value(&mut self, default: Option<&Expr>) {
        if let Some(default) = default {
            self.space();
            self.expect(TokenKind::Equal);
            self.space();
            self.expr(default);
        }
    }

    /// `name: new Type = default`
    pub fn param(&mut self, param: &Param) {
        self.solid(param.name.span);
        self.expect(TokenKind::Colon);
        self.space();
        if param.new {
            self.lead("new");
        }
        self.type_expr(&param.ty);
        if param.from_caller.is_some() {
            self.space();
            self.lead("from");
            self.expect(TokenKind::Word);
        }
        self.default_value(param.default.as_ref());
        if let Some(generated) = &param.generated {
            self.space();
            self.expect(TokenKind::Equal);
            self.space();
            self.lead("new");
            self.solid(generated.kind.span);
            if let Some(size) = &generated.size {
                self.expect(TokenKind::OpenParen);
                self.expr(size);
                self.expect(TokenKind::CloseParen);
            }
        }
    }

    /// `(a: T, b: U)`, if it was written
    pub fn params(&mut self, params: &[Param]) {
        if self.at(TokenKind::OpenParen) {
            self.list(super::list::List::TIGHT, params, Self::param);
        }
    }
}
