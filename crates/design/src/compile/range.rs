//! Ranges: `slots: int 1..64`.

use syntax::tree::{Expr, ExprKind, TypeExpr, TypeKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use crate::model::*;

impl Compiler {
    /// A type where a range may stand: of an attribute, a parameter, a part of a key, an answer.
    pub(super) fn ranged_type(&mut self, written: &TypeExpr, owner: &str) -> (Type, Option<Range>) {
        match &written.kind {
            TypeKind::Ranged(of, low, high) => {
                let ty = self.type_of(of, owner);
                let range = self.range(&ty, low, high);
                (ty, range)
            }
            TypeKind::Optional(inner) if matches!(inner.kind, TypeKind::Ranged(..)) => {
                match self.ranged_type(inner, owner) {
                    (Type::Error, _) => (Type::Error, None),
                    (ty, range) => (Type::Optional(Box::new(ty)), range),
                }
            }
            _ => (self.type_of(written, owner), None),
        }
    }

    /// A range where none may stand; the type without it.
    pub(super) fn range_out_of_place(&mut self, span: Span) {
        self.report(
            Diagnostic::error("E0316", span, "a range does not stand here").help(
                "attributes, parameters of operations, parts of keys and answers have ranges",
            ),
        );
    }

    fn range(&mut self, ty: &Type, low: &Expr, high: &Expr) -> Option<Range> {
        if *ty == Type::Error {
            return None;
        }
        let span = Span::new(low.span.file, low.span.start, high.span.end);
        if !matches!(ty, Type::Int | Type::Decimal | Type::Money(_) | Type::Duration) {
            let name = self.type_name(ty);
            self.report(
                Diagnostic::error("E0316", span, format!("`{name}` has no range"))
                    .help("an `int`, a `decimal` and a `duration` may have one"),
            );
            return None;
        }
        let (low, high) = (self.range_end(ty, low)?, self.range_end(ty, high)?);
        if low > high {
            self.report(
                Diagnostic::error("E0316", span, "no value lies in this range")
                    .help("the smaller end stands first, and both ends belong to it"),
            );
            return None;
        }
        Some(Range { low, high })
    }

    fn range_end(&mut self, ty: &Type, written: &Expr) -> Option<i64> {
        let span = written.span;
        let value = match (&written.kind, ty) {
            (ExprKind::Negate(inner), _) => return self.range_end(ty, inner)?.checked_neg(),
            (ExprKind::Int(digits), Type::Int) => return self.int(digits, span),
            (ExprKind::Int(digits) | ExprKind::Decimal(digits), Type::Decimal | Type::Money(_)) => {
                return self.decimal(digits, span);
            }
            (ExprKind::Duration { number, unit }, Type::Duration) => {
                return self.duration(number, *unit, span);
            }
            (ExprKind::Error, _) => None,
            _ => Some(()),
        };
        if value.is_some() {
            let (name, text) = (self.type_name(ty), self.text(span));
            let example = match ty {
                Type::Duration => "duration 1s..10m",
                Type::Decimal | Type::Money(_) => "decimal 0..99.50",
                _ => "int 1..64",
            };
            self.report(
                Diagnostic::error("E0316", span, format!("`{text}` is no `{name}`"))
                    .help(format!("for example `{example}`")),
            );
        }
        None
    }

    /// Does a constant lie in the range? Says so if not.
    pub(super) fn within(
        &mut self,
        constant: &Const,
        ty: &Type,
        range: Option<Range>,
        span: Span,
    ) -> bool {
        let (Const::Int(value) | Const::Decimal(value) | Const::Duration(value)) = constant else {
            return true;
        };
        let Some(range) = range.filter(|range| !range.contains(*value)) else { return true };
        let (value, range) = (quantity_text(ty, *value), range.text(ty));
        self.report(
            Diagnostic::error("E0317", span, format!("`{value}` lies outside `{range}`"))
                .help("give a value that lies in the range, or make the range wider"),
        );
        false
    }

    /// Do the values of the small world lie in the range?
    pub(super) fn values_within(
        &mut self,
        values: &Values,
        ty: &Type,
        range: Option<Range>,
        span: Span,
    ) {
        match values {
            Values::Range(low, high) => {
                let _ = self.within(&Const::Int(*low), ty, range, span)
                    && self.within(&Const::Int(*high), ty, range, span);
            }
            Values::Listed(constants) => {
                for constant in constants {
                    if !self.within(constant, ty, range, span) {
                        return;
                    }
                }
            }
            Values::OrNull(inner) => self.values_within(inner, ty, range, span),
            _ => {}
        }
    }
}
