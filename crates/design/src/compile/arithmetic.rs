//! `+ - * /` over numbers, money, times and durations.

use syntax::tree::{self, BinaryOp};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::*;

impl Compiler {
    pub(super) fn arithmetic(
        &mut self,
        frame: &mut Frame,
        op: BinaryOp,
        left: &tree::Expr,
        right: &tree::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let (left, right) = match op {
            // `amount * 2`: the 2 stays a whole number
            BinaryOp::Multiply | BinaryOp::Divide => {
                (self.expr(frame, left, None), self.expr(frame, right, None))
            }
            _ => {
                let money = expected.is_some_and(|ty| ty.required().is_decimal());
                if money {
                    (self.expr(frame, left, expected), self.expr(frame, right, expected))
                } else {
                    self.sides(frame, left, right)
                }
            }
        };
        if left.ty == Type::Error || right.ty == Type::Error {
            return error_expr(span);
        }
        let (op, sign) = match op {
            BinaryOp::Add => (ArithmeticOp::Add, "+"),
            BinaryOp::Subtract => (ArithmeticOp::Subtract, "-"),
            BinaryOp::Multiply => (ArithmeticOp::Multiply, "*"),
            _ => (ArithmeticOp::Divide, "/"),
        };
        let Some(ty) = result(op, left.ty.required(), right.ty.required()) else {
            let (a, b) = (self.type_name(&left.ty), self.type_name(&right.ty));
            let mut problem = Diagnostic::error(
                "E0303",
                span,
                format!("`{sign}` does not apply to `{a}` and `{b}`"),
            );
            problem = match (op, left.ty.required(), right.ty.required()) {
                (ArithmeticOp::Add, Type::Time, Type::Time) => {
                    problem.help("a time plus a duration is a time; two times have a difference")
                }
                (_, Type::Money(one), Type::Money(other)) if one != other => problem.help(format!(
                    "amounts of {one} and of {other} do not add up: keep one for each currency"
                )),
                (
                    ArithmeticOp::Add | ArithmeticOp::Subtract,
                    Type::Money(of),
                    Type::Int | Type::Decimal,
                )
                | (
                    ArithmeticOp::Add | ArithmeticOp::Subtract,
                    Type::Int | Type::Decimal,
                    Type::Money(of),
                ) => problem.help(format!("declare the other side as `money({of})`, too")),
                (
                    ArithmeticOp::Multiply | ArithmeticOp::Divide,
                    Type::Int | Type::Decimal | Type::Money(_),
                    Type::Int | Type::Decimal | Type::Money(_),
                ) => {
                    let text = self.text(span);
                    problem.help(format!(
                        "money is kept exact: say how to round, `{text} round half_even to 2`"
                    ))
                }
                (_, Type::Time | Type::Duration, Type::Int)
                | (_, Type::Int, Type::Time | Type::Duration) => {
                    problem.help("a duration has a unit: `30s`, `10m`")
                }
                (ArithmeticOp::Add, Type::Set { .. }, _) => {
                    problem.help("put an element into a set with `s += e`")
                }
                _ => problem.help(
                    "`int` and `decimal` are added, subtracted and multiplied; so are durations",
                ),
            };
            self.report(problem);
            return error_expr(span);
        };
        Expr {
            kind: ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) },
            ty,
            span,
        }
    }
}

/// Which arithmetic there is.
fn result(op: ArithmeticOp, left: &Type, right: &Type) -> Option<Type> {
    use ArithmeticOp::{Add, Divide, Multiply, Subtract};
    use Type::{Decimal, Duration, Int, Money, Time};
    Some(match (op, left, right) {
        (_, Int, Int) => Int,
        (Add | Subtract, Decimal, Decimal) => Decimal,
        (Add | Subtract, Money(one), Money(other)) if one == other => Money(*one),
        (Multiply, Decimal, Int) | (Multiply, Int, Decimal) => Decimal,
        (Multiply, Money(of), Int) | (Multiply, Int, Money(of)) => Money(*of),
        (Add | Subtract, Time, Duration) | (Add, Duration, Time) => Time,
        (Subtract, Time, Time) => Duration,
        (Add | Subtract, Duration, Duration) => Duration,
        (Multiply, Duration, Int) | (Multiply, Int, Duration) => Duration,
        (Divide, Duration, Int) => Duration,
        (Divide, Duration, Duration) => Int,
        _ => return None,
    })
}
