//! Types as they are written.

use super::Parser;
use crate::tree::{Expr, Name, TypeExpr, TypeKind};
use crate::{Diagnostic, MAX_DEPTH, Span, TokenKind};

/// A type and the height of its tree.
type Built = (TypeExpr, usize);

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> TypeExpr {
        self.type_built().0
    }

    fn type_built(&mut self) -> Built {
        if self.lost || !self.enter() {
            return self.error_type();
        }
        let start = self.span();
        let mut built = self.type_operand(start);
        if matches!(built.0.kind, TypeKind::Named(_) | TypeKind::Money(_)) && self.at_range() {
            built = self.ranged(start, built);
        }
        while self.eat(TokenKind::Question) {
            let (inner, height) = built;
            built = self.grown_type(start, TypeKind::Optional(Box::new(inner)), height);
        }
        if matches!(built.0.kind, TypeKind::Optional(_)) && self.at_range() {
            self.range_after_optional(start);
        }
        if self.at(TokenKind::Pipe)
            && !self.lost
            && let TypeKind::Named(first) = &built.0.kind
        {
            let first = first.clone();
            built = self.enumeration(start, first);
        }
        self.leave();
        built
    }

    /// A number on the same line: the lower end of a range.
    fn at_range(&self) -> bool {
        let number = match self.kind() {
            TokenKind::Int | TokenKind::Decimal | TokenKind::Duration => true,
            TokenKind::Minus => {
                matches!(self.nth(1), TokenKind::Int | TokenKind::Decimal | TokenKind::Duration)
            }
            _ => false,
        };
        number && !self.lost && !self.piece(0).line_start
    }

    /// `int 1..64`: the type is read, the lower end stands here.
    fn ranged(&mut self, start: Span, (of, height): Built) -> Built {
        let low = self.signed_number();
        self.expect(TokenKind::DotDot, "..", "and the upper end of the range");
        if self.lost {
            return self.error_type();
        }
        let high = self.signed_number();
        self.grown_type(start, TypeKind::Ranged(Box::new(of), low, high), height)
    }

    /// `int? 1..64`
    fn range_after_optional(&mut self, start: Span) {
        let ty = self.since(start).text(self.source).trim_end_matches('?').to_string();
        let at = self.span();
        self.signed_number();
        if self.eat(TokenKind::DotDot) {
            self.signed_number();
        }
        let range = self.since(at);
        let help = format!("write `{ty} {}?`", range.text(self.source));
        self.report(Diagnostic::error("E0105", range, "a range stands before the `?`").help(help));
    }

    /// `A | B | C`: the first is read, a `|` stands here.
    fn enumeration(&mut self, start: Span, first: Name) -> Built {
        let mut names = vec![first];
        while self.eat(TokenKind::Pipe) {
            names.push(self.name("the next value of the enumeration"));
        }
        let whole = self.since(start);
        let built = self.grown_type(start, TypeKind::Enumeration(names), 0);
        if !self.lost && self.at(TokenKind::Question) && !self.in_unclosed() {
            let mark = self.span();
            self.report(
                Diagnostic::error("E0105", mark, "`?` after one value of an enumeration")
                    .help(format!("write `({})?`", whole.text(self.source))),
            );
            while self.eat(TokenKind::Question) {}
        }
        built
    }

    fn type_operand(&mut self, start: Span) -> Built {
        if self.at(TokenKind::OpenParen) {
            let open = self.at;
            self.bump();
            let (mut inner, height) = self.bracketed(open, Self::type_built);
            self.close(open, "");
            inner.span = self.since(start);
            return (inner, height);
        }
        let state = self.at_state_start();
        if !self.at(TokenKind::Word) || self.at_item_start() || self.at_next_label() || state {
            return self.no_type();
        }
        match self.word(0) {
            "list" if self.type_follows() => {
                self.bump();
                let (of, height) = self.element_built();
                let bound = self.bound();
                self.grown_type(start, TypeKind::List(Box::new(of), bound), height)
            }
            "set" if self.type_follows() => {
                self.bump();
                let (of, height) = self.element_built();
                let bound = self.bound();
                self.grown_type(start, TypeKind::Set(Box::new(of), bound), height)
            }
            "map" if self.type_follows() => {
                self.bump();
                let (key, first) = self.type_built();
                let (value, second) = self.type_built();
                let bound = self.bound();
                // with one type alone nobody knows whether it is of the keys or of the values
                let kind = match value.kind {
                    TypeKind::Error => TypeKind::Error,
                    _ => TypeKind::Map(Box::new(key), Box::new(value), bound),
                };
                self.grown_type(start, kind, first.max(second))
            }
            "money" if self.nth(1) == TokenKind::OpenParen => {
                self.bump();
                let open = self.at;
                self.bump();
                let currency = self.name("a currency, such as `EUR`");
                self.close(open, "");
                self.grown_type(start, TypeKind::Money(currency), 0)
            }
            "any" if self.word(1) == "of" && self.nth(2) == TokenKind::Word => {
                self.bump();
                self.bump();
                let view = self.take_name();
                let at_args = !self.lost && self.at(TokenKind::OpenParen);
                let args = match at_args {
                    true => self.named_list(|p| p.name("a parameter that stands before")),
                    false => Vec::new(),
                };
                self.grown_type(start, TypeKind::AnyOf(view, args), 0)
            }
            _ => {
                let name = self.take_name();
                self.grown_type(start, TypeKind::Named(name), 0)
            }
        }
    }

    /// After `list`, `set` or `map`: what it is of.
    fn type_follows(&self) -> bool {
        let word = self.nth(1) == TokenKind::Word && self.nth(2) != TokenKind::Colon;
        word || matches!(self.nth(1), TokenKind::OpenParen | TokenKind::OpenBrace)
    }

    /// What a list or a set is of: a type, or `{ sku: text, qty: int 1..99 }`.
    fn element_built(&mut self) -> Built {
        if self.lost || !self.at(TokenKind::OpenBrace) {
            return self.type_built();
        }
        if !self.enter() {
            return self.error_type();
        }
        let start = self.span();
        let mut below = 0;
        let fields = self.named_list(|p| {
            let name = p.name("the name of a field");
            p.label_colon();
            let (ty, height) = p.type_built();
            below = below.max(height);
            (name, ty)
        });
        let built = self.grown_type(start, TypeKind::Record(fields), below);
        self.leave();
        built
    }

    /// `max 8`
    fn bound(&mut self) -> Option<Expr> {
        let bounded = !self.lost && self.at_word("max") && self.nth(1) != TokenKind::Colon;
        bounded.then(|| {
            self.bump();
            self.operand_checked()
        })
    }

    /// One operand, counted as a level of its own.
    pub(super) fn operand_checked(&mut self) -> Expr {
        if self.lost || !self.enter() {
            return self.error_expr().0;
        }
        let (operand, _) = self.operand();
        self.leave();
        operand
    }

    fn grown_type(&mut self, start: Span, kind: TypeKind, below: usize) -> Built {
        let height = below + 1;
        if self.depth + height > MAX_DEPTH + 1 {
            self.fail_too_deep();
            return self.error_type();
        }
        let span = self.since(start);
        (TypeExpr { kind, span }, height)
    }

    fn error_type(&self) -> Built {
        let ty = TypeExpr { kind: TypeKind::Error, span: self.before() };
        (ty, 1)
    }

    fn no_type(&mut self) -> Built {
        let found = self.found();
        let diagnostic =
            Diagnostic::error("E0105", self.here(), format!("expected a type, found {found}"))
                .help(
                    "types are `int`, `text`, `time`, `A | B`, `T?`, `list T`, a subject's name …",
                );
        // only the name before the `?` is missing: what follows is read all the same
        if self.at(TokenKind::Question) && !self.lost {
            self.report(diagnostic);
            while self.eat(TokenKind::Question) {}
        } else {
            self.fail(diagnostic);
        }
        self.error_type()
    }
}
