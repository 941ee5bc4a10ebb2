//! Expressions: operators by precedence.
//!
//! Each function returns the height of what it built, so that chains which grow to the left
//! (`a + b + c`, `a.b.c`) are bounded like those that nest to the right.

use super::Parser;
use crate::lexer::shorten;
use crate::tree::{BinaryOp, Expr, ExprKind};
use crate::{Diagnostic, MAX_DEPTH, Span, TokenKind};

/// An expression and the height of its tree.
pub(super) type Built = (Expr, usize);

/// How tightly operators bind, loosest first.
pub(super) mod level {
    pub const LEADS_TO: u8 = 1;
    pub const IMPLIES: u8 = 2;
    pub const OR: u8 = 3;
    pub const AND: u8 = 4;
    pub const NOT: u8 = 5;
    pub const COMPARE: u8 = 6;
    pub const ADD: u8 = 7;
    pub const MULTIPLY: u8 = 8;
    pub const NEGATE: u8 = 9;
}

/// What joins two operands.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    And,
    Or,
    Binary(BinaryOp),
    /// stands after the one operand that it has
    Round,
}

/// The words after `round`, so that it is known from anything else of that name.
const ROUNDING_MODES: [&str; 4] = ["half_even", "half_up", "down", "up"];

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Expr {
        self.binary(level::LEADS_TO).0
    }

    /// An expression that is the whole text.
    pub(crate) fn whole_expression(&mut self) -> Expr {
        let expr = self.expr();
        if !self.lost && !self.at(TokenKind::End) {
            let found = self.found();
            let message = format!("expected the end of the expression, found {found}");
            self.fail(Diagnostic::error("E0107", self.span(), message));
        }
        expr
    }

    /// An expression without comparisons and `and`, `or`, `implies`.
    pub(super) fn sum_level(&mut self) -> Expr {
        self.binary(level::ADD).0
    }

    pub(super) fn boxed(&mut self) -> (Box<Expr>, usize) {
        let (expr, height) = self.binary(level::LEADS_TO);
        (Box::new(expr), height)
    }

    pub(super) fn error_expr(&self) -> Built {
        let expr = Expr { kind: ExprKind::Error, span: self.before() };
        (expr, 1)
    }

    /// Operators that bind at least as tightly as `loosest`.
    pub(super) fn binary(&mut self, loosest: u8) -> Built {
        if self.lost || !self.enter() {
            return self.error_expr();
        }
        let start = self.span();
        let mut left = self.prefix(loosest);
        let mut compared = false;
        while !self.lost {
            let Some((level, joint)) = self.joint().filter(|(level, _)| *level >= loosest) else {
                break;
            };
            left = match joint {
                Joint::And | Joint::Or => self.flat(start, left, level, joint),
                Joint::Round => self.round(start, left),
                Joint::Binary(op) => {
                    let chained = compared && level == level::COMPARE;
                    compared = level == level::COMPARE;
                    if chained {
                        self.chained(start, &left.0)
                    } else {
                        self.pair(start, left, level, op)
                    }
                }
            };
        }
        self.leave();
        left
    }

    fn joint(&self) -> Option<(u8, Joint)> {
        let op = match self.kind() {
            TokenKind::Equal => BinaryOp::Equal,
            TokenKind::NotEqual => BinaryOp::NotEqual,
            TokenKind::Less => BinaryOp::Less,
            TokenKind::LessEqual => BinaryOp::LessEqual,
            TokenKind::Greater => BinaryOp::Greater,
            TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
            TokenKind::Plus => return Some((level::ADD, Joint::Binary(BinaryOp::Add))),
            TokenKind::Minus => return Some((level::ADD, Joint::Binary(BinaryOp::Subtract))),
            TokenKind::Star => return Some((level::MULTIPLY, Joint::Binary(BinaryOp::Multiply))),
            TokenKind::Slash => return Some((level::MULTIPLY, Joint::Binary(BinaryOp::Divide))),
            TokenKind::FatArrow if self.leads => {
                return Some((level::LEADS_TO, Joint::Binary(BinaryOp::LeadsTo)));
            }
            TokenKind::Word if self.nth(1) != TokenKind::Colon => match self.word(0) {
                "implies" => return Some((level::IMPLIES, Joint::Binary(BinaryOp::Implies))),
                "or" => return Some((level::OR, Joint::Or)),
                "and" => return Some((level::AND, Joint::And)),
                "in" if !self.in_ends => BinaryOp::In,
                "round" if self.at_rounding() => return Some((level::MULTIPLY, Joint::Round)),
                _ => return None,
            },
            _ => return None,
        };
        Some((level::COMPARE, Joint::Binary(op)))
    }

    fn at_rounding(&self) -> bool {
        let mode = self.nth(1) == TokenKind::Word;
        mode && (ROUNDING_MODES.contains(&self.word(1)) || self.word(2) == "to")
    }

    /// `a * b round half_even to 2`
    fn round(&mut self, start: Span, of: Built) -> Built {
        self.bump();
        let mode = self.name("how it is rounded");
        self.expect_word("to", "and so many decimal places after how it is rounded");
        let digits = Box::new(self.operand_checked());
        let (of, height) = of;
        let kind = ExprKind::Round { of: Box::new(of), mode, digits };
        self.grown(start, kind, height)
    }

    /// `a and b and c`, `a or b or c`: one node, however many.
    fn flat(&mut self, start: Span, first: Built, level: u8, joint: Joint) -> Built {
        let (first, mut height) = first;
        let mut operands = vec![first];
        while !self.lost && self.joint() == Some((level, joint)) {
            self.bump();
            let (operand, its_height) = self.binary(level + 1);
            operands.push(operand);
            height = height.max(its_height);
        }
        let kind = match joint {
            Joint::And => ExprKind::And(operands),
            _ => ExprKind::Or(operands),
        };
        self.grown(start, kind, height)
    }

    fn pair(&mut self, start: Span, left: Built, level: u8, op: BinaryOp) -> Built {
        self.bump();
        let (left, left_height) = left;
        let right_level = if op == BinaryOp::Implies { level } else { level + 1 };
        let (right, right_height) = self.binary(right_level);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = ExprKind::Binary { op, left, right };
        self.grown(start, kind, left_height.max(right_height))
    }

    /// A node over what was built so far, unless that makes the tree too high.
    pub(super) fn grown(&mut self, start: Span, kind: ExprKind, below: usize) -> Built {
        let height = below + 1;
        if self.depth + height > MAX_DEPTH + 1 {
            self.fail_too_deep();
            return self.error_expr();
        }
        let span = self.since(start);
        (Expr { kind, span }, height)
    }

    /// `a < b < c`: the operator of the second comparison stands here.
    fn chained(&mut self, start: Span, left: &Expr) -> Built {
        let operator = self.span();
        let middle = match &left.kind {
            ExprKind::Binary { right, .. } => right.span.text(self.source),
            _ => "",
        };
        let first = shorten(left.span.text(self.source));
        let middle = shorten(middle);
        self.bump();
        let (right, _) = self.binary(level::ADD);
        if !self.lost && !self.in_unclosed() {
            let second = shorten(right.span.text(self.source));
            let sign = operator.text(self.source);
            self.diagnostics.push(
                Diagnostic::error("E0111", operator, "comparisons cannot be chained")
                    .help(format!("write `{first} and {middle} {sign} {second}`")),
            );
        }
        // the rest of the chain is part of the same mistake
        while !self.lost && matches!(self.joint(), Some((level::COMPARE, _))) {
            self.bump();
            self.binary(level::ADD);
        }
        let (_, height) = self.error_expr();
        let span = self.since(start);
        let kind = ExprKind::Error;
        (Expr { kind, span }, height)
    }
}
