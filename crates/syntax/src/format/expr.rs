//! Expressions.

use super::builder::{At, Builder};
use super::doc::Stay;
use super::list::List;
use crate::TokenKind;
use crate::tree::{BinaryOp, Domain, Expr, ExprKind, FieldValue};

impl Builder<'_, '_> {
    /// An expression after a `:`, a `:=` or an `=`, with the space between.
    pub fn hanging(&mut self, expr: &Expr) {
        let stay = match &expr.kind {
            _ if self.wrapped(expr) => Stay::Never,
            ExprKind::And(_) | ExprKind::Or(_) | ExprKind::If { .. } | ExprKind::Let { .. } => {
                Stay::Aligned
            }
            ExprKind::Binary { op: BinaryOp::Implies | BinaryOp::LeadsTo, .. } => Stay::Aligned,
            ExprKind::Quantifier { .. } => Stay::Head,
            ExprKind::Record(_) | ExprKind::Set(_) | ExprKind::List(_) => Stay::FirstLine,
            ExprKind::Call { .. } | ExprKind::Aggregate { .. } => Stay::Helpless,
            _ => Stay::Never,
        };
        self.space();
        self.hang(stay, |b| b.whole(expr));
    }

    /// An expression that is no part of another: its `or` may stand left of its operands.
    fn whole(&mut self, expr: &Expr) {
        if self.wrapped(expr) {
            return self.expr(expr);
        }
        match &expr.kind {
            ExprKind::And(parts) => self.logical("and ", parts, true),
            ExprKind::Or(parts) => self.logical("or ", parts, true),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                self.implies(left, right, true);
            }
            ExprKind::Binary { op: BinaryOp::LeadsTo, left, right } => {
                self.leads_to(left, right, true);
            }
            _ => self.expr(expr),
        }
    }

    /// Whether the next token is a parenthesis around the whole of this expression.
    fn wrapped(&self, expr: &Expr) -> bool {
        self.wrapper(self.end_of(expr.span)).is_some()
    }

    /// If the next token is a parenthesis around everything before `end`: the closing one.
    pub fn wrapper(&self, end: usize) -> Option<usize> {
        let open = self.peek().filter(|sig| sig.kind == TokenKind::OpenParen)?;
        open.partner.filter(|close| close + 1 >= end)
    }

    pub fn expr(&mut self, expr: &Expr) {
        if self.lost {
            return;
        }
        let mut end = self.end_of(expr.span);
        let mut closers = 0;
        while let Some(close) = self.wrapper(end) {
            self.token();
            end = close;
            closers += 1;
        }
        self.bare(expr);
        for _ in 0..closers {
            self.expect(TokenKind::CloseParen);
        }
    }

    /// An expression after its parentheses.
    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Decimal(_)
            | ExprKind::Text(_)
            | ExprKind::Duration { .. }
            | ExprKind::Now
            | ExprKind::Me
            | ExprKind::Name(_) => self.token(),
            ExprKind::Field { base, name } => {
                self.expr(base);
                self.expect(TokenKind::Dot);
                self.solid(name.span);
            }
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.list(List::SINGLE, &[index], |b, index| b.expr(index));
            }
            ExprKind::Call { function, args } => {
                self.solid(function.span);
                self.list(List::TIGHT, args, |b, arg| {
                    // `by key`: the word before the argument is not in the tree
                    while b.pos < b.start_of(arg.span) && !b.lost {
                        b.token();
                        b.space();
                    }
                    b.expr(arg);
                });
            }
            ExprKind::Old(inner) => {
                self.word("old");
                self.list(List::SINGLE, &[inner], |b, inner| b.expr(inner));
            }
            ExprKind::Not(inner) => {
                self.lead("not");
                self.expr(inner);
            }
            ExprKind::Negate(inner) => {
                self.expect(TokenKind::Minus);
                self.expr(inner);
            }
            ExprKind::And(parts) => self.logical("and ", parts, false),
            ExprKind::Or(parts) => self.logical("or ", parts, false),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                self.implies(left, right, false);
            }
            ExprKind::Binary { op: BinaryOp::LeadsTo, left, right } => {
                self.leads_to(left, right, false);
            }
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::Round { of, mode, digits } => {
                self.expr(of);
                self.space();
                self.lead("round");
                self.solid(mode.span);
                self.space();
                self.lead("to");
                self.expr(digits);
            }
            ExprKind::Presence { of, .. } => {
                self.expr(of);
                self.space();
                self.expect(TokenKind::Word);
            }
            ExprKind::If { condition, then, otherwise } => {
                self.choice(condition, then, otherwise);
            }
            ExprKind::Let { name, value, body } => self.group(|b| {
                b.align(0, |b| {
                    b.lead("let");
                    b.solid(name.span);
                    b.space();
                    b.expect(TokenKind::Equal);
                    b.space();
                    b.expr(value);
                    b.space();
                    b.word("in");
                    b.soft_line(At::Between, " ");
                    b.expr(body);
                });
                false
            }),
            ExprKind::Quantifier { .. } | ExprKind::Aggregate { .. } => self.quantified(expr),
            ExprKind::Set(elements) | ExprKind::List(elements) => {
                self.list(List::TIGHT, elements, Self::expr);
            }
            ExprKind::Record(fields) => self.fields(fields),
            ExprKind::Error => self.lost = true,
        }
    }

    /// `a or b or c`: on one line, or one operand on each.
    fn logical(&mut self, op: &'static str, parts: &[Expr], whole: bool) {
        let back = if whole { op.len() } else { 0 };
        self.group(|b| {
            b.align(back, |b| {
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        b.soft_line(At::Between, " ");
                        b.lead(op.trim_end());
                    }
                    b.expr(part);
                }
            });
            false
        });
    }

    fn implies(&mut self, left: &Expr, right: &Expr, whole: bool) {
        let back = if whole { "implies ".len() } else { 0 };
        self.group(|b| {
            b.align(back, |b| {
                b.expr(left);
                b.soft_line(At::Between, " ");
                b.lead("implies");
                b.expr(right);
            });
            false
        });
    }

    fn leads_to(&mut self, left: &Expr, right: &Expr, whole: bool) {
        let back = if whole { "=> ".len() } else { 0 };
        self.group(|b| {
            b.align(back, |b| {
                b.expr(left);
                b.soft_line(At::Between, " ");
                b.expect(TokenKind::FatArrow);
                b.space();
                b.expr(right);
            });
            false
        });
    }

    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) {
        self.group(|b| {
            b.align(0, |b| {
                for (index, (word, part)) in
                    [("if", condition), ("then", then), ("else", otherwise)].iter().enumerate()
                {
                    if index > 0 {
                        b.soft_line(At::Between, " ");
                    }
                    b.lead(word);
                    b.expr(part);
                }
            });
            false
        });
    }

    /// `a + b - c`: operators of one level are one chain.
    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let mut parts = vec![right];
        let mut first = left;
        while let ExprKind::Binary { op: inner, left, right } = &first.kind
            && level(*inner) == level(op)
            && level(op) > 0
            && !self.wrapped(first)
        {
            parts.push(right);
            first = left;
        }
        self.group(|b| {
            b.expr(first);
            b.indent(|b| {
                for part in parts.iter().rev() {
                    b.soft_line(At::Between, " ");
                    b.token();
                    b.space();
                    b.expr(part);
                }
            });
            false
        });
    }

    /// `Task of stage`
    pub fn domain(&mut self, domain: &Domain) {
        self.expr(&domain.of_what);
        if let Some(parent) = &domain.parent {
            self.space();
            self.lead("of");
            self.expr(parent);
        }
    }

    /// `{ a: 1, b }`
    pub fn fields(&mut self, fields: &[FieldValue]) {
        self.list(List::FIELDS, fields, |b, field| {
            b.solid(field.name.span);
            if let Some(value) = &field.value {
                b.expect(TokenKind::Colon);
                b.hanging(value);
            }
        });
    }
}

/// Operators that are read from left to right in one go; comparisons stand alone.
fn level(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Multiply | BinaryOp::Divide => 2,
        BinaryOp::Add | BinaryOp::Subtract => 1,
        _ => 0,
    }
}
