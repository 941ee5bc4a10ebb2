//! Literals, and values that must be known when a design is compiled.

use syntax::tree::{DurationUnit, Expr, ExprKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use crate::model::{self, Const, Type};

impl Compiler {
    pub(super) fn int(&mut self, digits: &str, span: Span) -> Option<i64> {
        match digits.parse::<i64>() {
            Ok(value) if value != i64::MAX => Some(value),
            _ => {
                self.report(
                    Diagnostic::error(
                        "E0307",
                        span,
                        format!("`{digits}` does not fit into 64 bits"),
                    )
                    .help("an `int` reaches from -9223372036854775807 to 9223372036854775806"),
                );
                None
            }
        }
    }

    /// In millionths.
    pub(super) fn decimal(&mut self, written: &str, span: Span) -> Option<i64> {
        let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
        if fraction.len() > 6 {
            self.report(
                Diagnostic::error("E0307", span, "a `decimal` has at most six decimal places")
                    .help("it is kept exactly, as a whole number of millionths"),
            );
            return None;
        }
        let whole = whole.parse::<i64>().ok();
        let fraction = format!("{fraction:0<6}").parse::<i64>().ok();
        let value = whole
            .and_then(|whole| whole.checked_mul(1_000_000))
            .zip(fraction)
            .and_then(|(whole, fraction)| whole.checked_add(fraction));
        if value.is_none() {
            self.report(
                Diagnostic::error("E0307", span, format!("`{written}` is too large"))
                    .help("a `decimal` reaches to about nine million million"),
            );
        }
        value
    }

    /// In milliseconds.
    pub(super) fn duration(&mut self, number: &str, unit: DurationUnit, span: Span) -> Option<i64> {
        let factor = match unit {
            DurationUnit::Millisecond => 1,
            DurationUnit::Second => 1_000,
            DurationUnit::Minute => 60_000,
            DurationUnit::Hour => 3_600_000,
            DurationUnit::Day => 86_400_000,
        };
        let value = number
            .parse::<i64>()
            .ok()
            .and_then(|number| number.checked_mul(factor))
            .filter(|ms| *ms < 1 << 50);
        if value.is_none() {
            self.report(
                Diagnostic::error("E0307", span, "this duration is too long to be counted")
                    .help("durations reach to about thirty thousand years"),
            );
        }
        value
    }

    /// A duration written as a setting, such as `every 30s`.
    pub(super) fn duration_setting(&mut self, written: &Expr) -> Option<i64> {
        match &written.kind {
            ExprKind::Duration { number, unit } => self.duration(number, *unit, written.span),
            _ => {
                self.report(
                    Diagnostic::error("E0301", written.span, "a duration is expected here")
                        .help("for example `30s`, `100ms` or `7d`"),
                );
                None
            }
        }
    }

    /// A whole number written as a setting, such as `batch 100`.
    pub(super) fn number_setting(&mut self, written: &Expr) -> Option<u32> {
        let value = match &written.kind {
            ExprKind::Int(digits) => digits.parse::<u32>().ok().filter(|value| *value > 0),
            _ => None,
        };
        if value.is_none() {
            self.report(
                Diagnostic::error("E0301", written.span, "a whole number above 0 is expected here")
                    .help("for example `100`"),
            );
        }
        value
    }

    /// A default: a constant of the given type.
    pub(super) fn constant(&mut self, written: &Expr, ty: &Type) -> Option<Const> {
        let mut frame = Frame::new(Mode::Constant, None);
        let value = self.expr(&mut frame, written, Some(ty));
        let value = self.demand(value, ty)?;
        match fold(&value) {
            Some(constant) => {
                if constant == Const::Null && !ty.is_optional() {
                    return None; // reported by `demand`
                }
                Some(self.shape(constant, ty))
            }
            None => {
                self.report(
                    Diagnostic::error(
                        "E0310",
                        written.span,
                        "a default is a constant: a literal or one of the enumeration's words",
                    )
                    .help("give the value in the step that makes the record instead"),
                );
                None
            }
        }
    }

    /// `{}` may be an empty set, list or map: the type says which.
    fn shape(&self, constant: Const, ty: &Type) -> Const {
        match (constant, ty) {
            (Const::Set(items), Type::Map { .. }) if items.is_empty() => Const::Map(Vec::new()),
            (Const::Set(items), Type::List { .. }) if items.is_empty() => Const::List(Vec::new()),
            (constant, _) => constant,
        }
    }
}

/// The value of an expression that needs nothing to be evaluated.
pub(super) fn fold(value: &model::Expr) -> Option<Const> {
    match &value.kind {
        model::ExprKind::Literal(constant) => Some(constant.clone()),
        model::ExprKind::Negate(inner) => match fold(inner)? {
            Const::Int(value) => value.checked_neg().map(Const::Int),
            Const::Decimal(value) => value.checked_neg().map(Const::Decimal),
            Const::Duration(value) => value.checked_neg().map(Const::Duration),
            _ => None,
        },
        model::ExprKind::Set(items) => {
            let mut items: Vec<Const> = items.iter().map(fold).collect::<Option<_>>()?;
            items.sort();
            items.dedup();
            Some(Const::Set(items))
        }
        model::ExprKind::List(items) => {
            let items: Vec<Const> = items.iter().map(fold).collect::<Option<_>>()?;
            Some(Const::List(items))
        }
        _ => None,
    }
}
