//! `round half_even to 2`: products and quotients of decimals, rounded once. `split`: parts that lose nothing.

use syntax::tree::{self, BinaryOp};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::*;
use crate::suggest;

const DIGITS_MAX: u8 = 6;

type Make = fn(Rounding) -> ArithmeticOp;

impl Compiler {
    pub(super) fn rounded(
        &mut self,
        frame: &mut Frame,
        of: &tree::Expr,
        mode: &tree::Name,
        digits: &tree::Expr,
        span: Span,
    ) -> Expr {
        let rounding = self.rounding(mode, digits);
        let (make, left, right): (Make, Expr, Expr) = match &of.kind {
            tree::ExprKind::Binary { op: BinaryOp::Multiply, left, right } => {
                let left = self.expr(frame, left, None);
                (ArithmeticOp::MultiplyRounded, left, self.expr(frame, right, None))
            }
            tree::ExprKind::Binary { op: BinaryOp::Divide, left, right } => {
                let left = self.expr(frame, left, None);
                (ArithmeticOp::DivideRounded, left, self.expr(frame, right, None))
            }
            // anything else is divided by one
            _ => {
                let one = ExprKind::Literal(Const::Int(1));
                let left = self.expr(frame, of, Some(&Type::Decimal));
                (ArithmeticOp::DivideRounded, left, Expr { kind: one, ty: Type::Int, span })
            }
        };
        if left.ty == Type::Error || right.ty == Type::Error {
            return error_expr(span);
        }
        let sides = [left.ty.required(), right.ty.required()];
        let numbers =
            sides.iter().all(|ty| matches!(ty, Type::Int | Type::Decimal | Type::Money(_)));
        if !numbers || !sides.iter().any(|ty| ty.is_decimal()) {
            let text = self.text(of.span);
            let message = format!("`{text}` is no `decimal`, so it is not rounded");
            let help =
                "a product or a quotient of decimals is rounded, or of a decimal and an `int`";
            self.report(Diagnostic::error("E0303", of.span, message).help(help));
            return error_expr(span);
        }
        let Some(rounding) = rounding else { return error_expr(span) };
        let op = make(rounding);
        let Some(ty) = amount(op, sides) else {
            let (a, b) = (self.type_name(sides[0]), self.type_name(sides[1]));
            let word = if matches!(op, ArithmeticOp::MultiplyRounded(_)) { "times" } else { "by" };
            let message = format!("`{a}` {word} `{b}` is no amount of money");
            let help = "money times a number is money, money divided by a number is money, and an \
                        amount divided by one of the same currency is a `decimal`";
            self.report(Diagnostic::error("E0303", of.span, message).help(help));
            return error_expr(span);
        };
        let (left, right) = (Box::new(left), Box::new(right));
        Expr { kind: ExprKind::Arithmetic { op, left, right }, ty, span }
    }

    /// `split(m, n, k, 2)`: the k-th of n parts of `m`, to 2 decimal places.
    pub(super) fn split(
        &mut self,
        frame: &mut Frame,
        function: &tree::Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let Some([whole, count, place, digits]) = self.arity(function, args) else {
            return error_expr(span);
        };
        let digits = self.places(digits, "split(total, 12, month, 2)");
        let whole = self.expr(frame, whole, Some(&Type::Decimal));
        let whole = match whole.ty.required() {
            Type::Money(_) => Some(whole),
            Type::Decimal => Some(whole),
            _ => self.demand(whole, &Type::Decimal),
        };
        let count = self.of_type(frame, count, &Type::Int);
        let place = self.of_type(frame, place, &Type::Int);
        let (Some(whole), Some(count), Some(place), Some(digits)) = (whole, count, place, digits)
        else {
            return error_expr(span);
        };
        if let ExprKind::Literal(Const::Int(parts)) = count.kind
            && parts < 1
        {
            let message = format!("nothing is split into {parts} parts");
            let problem = Diagnostic::error("E0322", count.span, message);
            self.report(problem.help("there is one part at least"));
            return error_expr(span);
        }
        let op = ArithmeticOp::Place;
        let kind = ExprKind::Arithmetic { op, left: Box::new(count), right: Box::new(place) };
        let right = Box::new(Expr { kind, ty: Type::Int, span });
        let op = ArithmeticOp::Part { digits };
        let ty = whole.ty.required().clone();
        let kind = ExprKind::Arithmetic { op, left: Box::new(whole), right };
        Expr { kind, ty, span }
    }

    /// A value of this type; where it may be null, the call is refused if it is.
    fn of_type(&mut self, frame: &mut Frame, of: &tree::Expr, ty: &Type) -> Option<Expr> {
        let value = self.expr(frame, of, Some(ty));
        if value.ty.required() == ty { Some(value) } else { self.demand(value, ty) }
    }

    pub(super) fn rounding(&mut self, mode: &tree::Name, digits: &tree::Expr) -> Option<Rounding> {
        let known = RoundingMode::named(&mode.text);
        if known.is_none() {
            let words = RoundingMode::ALL.map(|(_, name)| name);
            let message = format!("there is no rounding `{}`", mode.text);
            let problem = Diagnostic::error("E0322", mode.span, message);
            self.report(match suggest::did_you_mean(&mode.text, words) {
                Some(hint) => problem.help(hint),
                None => problem.help("there are `half_even`, `half_up`, `down` and `up`"),
            });
        }
        let places = self.places(digits, "round half_even to 2");
        Some(Rounding { mode: known?, digits: places? })
    }

    /// How many decimal places are kept: 0 to 6, written out.
    fn places(&mut self, digits: &tree::Expr, example: &str) -> Option<u8> {
        let places = match &digits.kind {
            tree::ExprKind::Int(text) => text.parse::<u8>().ok().filter(|held| *held <= DIGITS_MAX),
            tree::ExprKind::Error => return None,
            _ => None,
        };
        if places.is_none() {
            self.report(
                Diagnostic::error("E0322", digits.span, "a decimal has 0 to 6 decimal places")
                    .help(format!("write how many are kept: `{example}`")),
            );
        }
        places
    }
}

/// What a product or a quotient is an amount of.
fn amount(op: ArithmeticOp, [left, right]: [&Type; 2]) -> Option<Type> {
    let divides = matches!(op, ArithmeticOp::DivideRounded(_));
    match (left, right) {
        (Type::Money(one), Type::Money(other)) => {
            (divides && one == other).then_some(Type::Decimal)
        }
        (Type::Money(of), _) => Some(Type::Money(*of)),
        (_, Type::Money(of)) => (!divides).then_some(Type::Money(*of)),
        _ => Some(Type::Decimal),
    }
}
