//! The values that each thing takes in the small world.

use syntax::tree::{self, CheckValue, ExprKind as T};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::check::Entry;
use super::frame::{Frame, Mode};
use super::literal::fold;
use crate::model::*;

/// A range with so many values is explored whole unless `check` says otherwise.
const WHOLE_MAX: u64 = 16;

impl Compiler {
    /// `range` is what the values lie in; an `int` that has only few is explored whole.
    pub(super) fn domain_of(
        &mut self,
        (ty, range): (&Type, Option<Range>),
        name: &str,
        declared: Span,
        entry: Option<&mut Entry>,
        looked: bool,
        check: Span,
        default: Option<&Const>,
    ) -> Values {
        match ty {
            Type::Optional(inner) => {
                let inner = (&**inner, range);
                let inner = self.domain_of(inner, name, declared, entry, looked, check, default);
                Values::OrNull(Box::new(inner))
            }
            Type::Ref(subject) => Values::Refs(*subject),
            Type::Bool | Type::Enum(_) => match entry {
                Some(entry) => self.values(entry, ty, None),
                None => Values::Whole,
            },
            Type::Actor => match entry {
                Some(entry) => self.principals(entry),
                None => Values::Principals,
            },
            // what there is of them comes about in the small world itself
            Type::Hash | Type::Signature | Type::Proof => Values::Whole,
            Type::Duration => match entry {
                Some(entry) => self.values(entry, ty, range),
                None => match default {
                    Some(Const::Duration(ms)) => Values::Listed(vec![Const::Duration(*ms)]),
                    _ if !looked => Values::Irrelevant,
                    _ => {
                        self.no_domain(check, name, declared, &format!("{name}: 2"));
                        Values::Irrelevant
                    }
                },
            },
            Type::Set { of, max } => match &**of {
                Type::List { .. } | Type::Set { .. } | Type::Map { .. } => Values::Irrelevant,
                of => {
                    let of = (of, None);
                    let inner = self.domain_of(of, name, declared, entry, looked, check, None);
                    Values::SetOf(Box::new(inner), *max)
                }
            },
            Type::List { of, max } => match &**of {
                Type::List { .. } | Type::Set { .. } | Type::Map { .. } => Values::Irrelevant,
                of => {
                    let of = (of, None);
                    let inner = self.domain_of(of, name, declared, entry, looked, check, None);
                    Values::ListOf(Box::new(inner), *max)
                }
            },
            Type::Error => Values::Irrelevant,
            _ => match entry {
                Some(entry) => self.values(entry, ty, range),
                None if !looked => Values::Irrelevant,
                None if *ty == Type::Int && range.is_some_and(|r| r.count() <= WHOLE_MAX) => {
                    range.map_or(Values::Irrelevant, |r| Values::Range(r.low, r.high))
                }
                None => {
                    let example = match ty {
                        Type::Int => format!("{name}: 0..3"),
                        Type::Decimal | Type::Money(_) => format!("{name}: {{1, 5}}"),
                        _ => format!("{name}: 2"),
                    };
                    self.no_domain(check, name, declared, &example);
                    Values::Irrelevant
                }
            },
        }
    }

    /// The values that an entry gives to something of this type; all of them lie in the range.
    pub(super) fn values(&mut self, entry: &mut Entry, ty: &Type, range: Option<Range>) -> Values {
        let span = entry.span;
        let values = self.values_said(entry, ty, range);
        self.values_within(&values, ty, range, span);
        values
    }

    fn values_said(&mut self, entry: &mut Entry, ty: &Type, range: Option<Range>) -> Values {
        let span = entry.span;
        let value = entry.value.clone();
        match (&value, ty) {
            (CheckValue::Number(number), Type::Int) => {
                let n = i64::from(self.at_least_one(number));
                let low = range.map_or(0, |range| range.low);
                Values::Range(low, low.saturating_add(n - 1))
            }
            (CheckValue::Number(number), Type::Duration) => {
                let n = self.count(number).unwrap_or(1);
                Values::Units(n, n)
            }
            (CheckValue::Range(low, high), Type::Duration) => {
                match (self.count(low), self.count(high)) {
                    (Some(low), Some(high)) if low <= high => Values::Units(low, high),
                    (Some(_), Some(_)) => {
                        self.wrong_value(span, "the smaller number first");
                        Values::Irrelevant
                    }
                    _ => Values::Irrelevant,
                }
            }
            (CheckValue::Number(number), Type::Time) => {
                let n = i64::from(self.count(number).unwrap_or(1));
                Values::Range(n, n)
            }
            (CheckValue::Number(_), Type::Decimal | Type::Money(_)) => {
                self.wrong_value(span, "values, as in `{1, 5}`, or a range");
                Values::Irrelevant
            }
            (CheckValue::Number(number), Type::Bool | Type::Enum(_)) => {
                let span = number.span;
                self.wrong_value(span, "some of its constants, as in `{A, B}`");
                Values::Whole
            }
            (CheckValue::Number(number), _) => Values::Opaque(self.at_least_one(number)),
            (
                CheckValue::Range(low, high),
                Type::Int | Type::Decimal | Type::Money(_) | Type::Time,
            ) => {
                let ty = if *ty == Type::Time { &Type::Int } else { ty };
                match (self.whole(low, ty), self.whole(high, ty)) {
                    (Some(low), Some(high)) if low <= high => Values::Range(low, high),
                    (Some(_), Some(_)) => {
                        self.wrong_value(span, "the smaller number first");
                        Values::Irrelevant
                    }
                    _ => Values::Irrelevant,
                }
            }
            (CheckValue::Values(written), _) => {
                let mut frame = Frame::new(Mode::Constant, None);
                let mut constants = Vec::new();
                for item in written {
                    let value = self.expr(&mut frame, item, Some(ty));
                    if let Some(value) = self.demand(value, ty) {
                        match fold(&value) {
                            Some(constant) => constants.push(constant),
                            None => self.report(
                                Diagnostic::error(
                                    "E0310",
                                    value.span,
                                    "a value here is a constant",
                                )
                                .help("a literal, or one of the enumeration's words"),
                            ),
                        }
                    }
                }
                constants.sort();
                constants.dedup();
                Values::Listed(constants)
            }
            _ => {
                let name = self.type_name(ty);
                self.wrong_value(span, &format!("values of type `{name}`"));
                Values::Irrelevant
            }
        }
    }

    /// The actors whose principals a parameter that is an `actor` may be: `to: {buyer, seller}`.
    fn principals(&mut self, entry: &mut Entry) -> Values {
        let span = entry.span;
        let CheckValue::Values(written) = entry.value.clone() else {
            self.wrong_value(span, "actors by name, as in `{buyer, seller}`");
            return Values::Principals;
        };
        let mut actors = Vec::new();
        for item in &written {
            let name = match &item.kind {
                T::Name(name) => name.text.clone(),
                _ => String::new(),
            };
            match self.names.actors.get(&name) {
                Some(actor) => actors.push(*actor),
                None => {
                    let known: Vec<String> =
                        self.design.actors.iter().map(|actor| actor.name.clone()).collect();
                    let known = known.iter().map(String::as_str);
                    let help = crate::suggest::did_you_mean(&name, known)
                        .unwrap_or_else(|| "name actors of the design".into());
                    self.report(
                        Diagnostic::error("E0703", item.span, "expected the name of an actor")
                            .help(help),
                    );
                }
            }
        }
        actors.sort_unstable();
        actors.dedup();
        Values::PrincipalsOf(actors)
    }

    /// How many steps deep to look.
    pub(super) fn depth(&mut self, written: &tree::Expr) -> Option<u32> {
        let value = match &written.kind {
            T::Int(digits) => digits.parse::<u32>().ok().filter(|n| (1..=10_000).contains(n)),
            _ => None,
        };
        if value.is_none() {
            self.report(
                Diagnostic::error("E0703", written.span, "expected a number from 1 to 10000")
                    .help("so many steps from the first state are looked at"),
            );
        }
        value
    }

    pub(super) fn no_domain(&mut self, check: Span, name: &str, declared: Span, example: &str) {
        let already = self.diagnostics.iter().any(|d| {
            d.code == "E0701" && d.primary.span == check && d.message.contains(&format!("`{name}`"))
        });
        if already {
            return;
        }
        self.report(
            Diagnostic::error(
                "E0701",
                check,
                format!("the small world does not say how many values `{name}` has"),
            )
            .also(declared, "declared here")
            .help(format!("add `{example}` to `check`")),
        );
    }

    pub(super) fn wrong_value(&mut self, span: Span, wanted: &str) {
        self.report(
            Diagnostic::error("E0703", span, format!("expected {wanted}"))
                .help("a size is a number, a range `0..3`, values `{A, B}`, or words for `faults`"),
        );
    }

    /// How many there are of something that there must be.
    pub(super) fn at_least_one(&mut self, written: &tree::Expr) -> u32 {
        let value = self.count(written).unwrap_or(1);
        if value == 0 {
            self.report(
                Diagnostic::error("E0703", written.span, "expected at least 1")
                    .help("in a world with none of them nothing can go wrong"),
            );
            return 1;
        }
        value
    }

    /// A count: at most 64.
    pub(super) fn count(&mut self, written: &tree::Expr) -> Option<u32> {
        let value = match &written.kind {
            T::Int(digits) => digits.parse::<u32>().ok().filter(|n| *n <= 64),
            _ => None,
        };
        if value.is_none() {
            self.report(
                Diagnostic::error("E0703", written.span, "expected a number up to 64")
                    .help("a small world is small: two or three of each usually show everything"),
            );
        }
        value
    }

    /// A whole number, or a decimal in millionths.
    pub(super) fn whole(&mut self, written: &tree::Expr, ty: &Type) -> Option<i64> {
        let mut frame = Frame::new(Mode::Constant, None);
        let value = self.expr(&mut frame, written, Some(ty));
        let value = self.demand(value, ty)?;
        match fold(&value) {
            Some(Const::Int(value) | Const::Decimal(value)) => Some(value),
            _ => {
                self.report(
                    Diagnostic::error("E0310", written.span, "a bound is a constant")
                        .help("for example `0..5`"),
                );
                None
            }
        }
    }
}
