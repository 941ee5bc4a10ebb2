//! Views: derived, rebuildable answers.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{Expr, ExprKind, ItemKind, Name, OrderKey, ViewForm, ViewItem};
use crate::{Diagnostic, Span, TokenKind};

const FORMS: &[&str] =
    &["count", "sum", "max", "min", "avg", "list", "rank", "search", "near", "window"];

/// Half the way round the earth, rounded up.
const FARTHEST_M: u32 = 20_100_000;

/// What may follow the subject, in any order; each form takes its own.
#[derive(Default)]
struct Parts {
    filter: Option<Expr>,
    order: Vec<OrderKey>,
    by: Option<OrderKey>,
    on: Vec<Name>,
    limit: Option<Expr>,
    every: Option<Expr>,
    with: Vec<Expr>,
    from: Option<Name>,
    within_m: Option<u32>,
}

impl Parser<'_> {
    /// `view N(params) of actor = form`
    pub(super) fn view(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the view");
        let params = self.optional_params();
        let of = self.eat_word("of").then(|| self.name("the actor whose rows they are"));
        self.expect(TokenKind::Equal, "=", "and the form of the view");
        match self.view_form() {
            Some((form, subject, filter, with)) => {
                ItemKind::View(Box::new(ViewItem { name, params, of, form, subject, filter, with }))
            }
            None => ItemKind::Error,
        }
    }

    fn view_form(&mut self) -> Option<(ViewForm, Name, Option<Expr>, Vec<Expr>)> {
        if self.lost {
            return None;
        }
        let word = self.view_form_word()?;
        self.bump();
        let counted = word == "window" && self.eat_word("count");
        let summed = matches!(word, "sum" | "max" | "min" | "avg")
            || word == "window" && !counted && self.eat_word("sum");
        if word == "window" && !counted && !summed {
            self.expect_word("count", "or `sum` after `window`");
        }
        let value = summed.then(|| self.sum_level());
        if summed || counted {
            self.expect_word("of", "and the subject whose records are the rows");
        }
        let subject = self.name("the subject whose records are the rows");
        let parts = self.view_parts(word);
        let Parts { filter, order, by, mut on, limit, every, with, from, within_m } = parts;
        let form = match word {
            "count" => ViewForm::Count,
            "sum" => ViewForm::Sum { value: self.part(value, "what is summed") },
            "max" | "min" => {
                let value = self.part(value, "what the rows are compared by");
                ViewForm::Extreme { greatest: word == "max", value }
            }
            "avg" => ViewForm::Average { value: self.part(value, "what the average is of") },
            "list" => ViewForm::List { order, limit },
            "rank" => {
                let by = by.unwrap_or_else(|| self.missing_order());
                ViewForm::Rank { by, top: limit }
            }
            "search" => {
                if on.is_empty() {
                    self.missing_part("`on` and the attributes to search");
                }
                ViewForm::Search { on }
            }
            "near" => {
                if on.is_empty() {
                    self.missing_part("`on` and the attribute that is a point");
                }
                let on = if on.is_empty() { self.missing_name() } else { on.remove(0) };
                let from = from.unwrap_or_else(|| {
                    self.missing_part("`from` and the parameter that says from where");
                    self.missing_name()
                });
                ViewForm::Near { on, from, within_m, first: limit }
            }
            _ => {
                let by = by.map(|key| key.value);
                let by = self.part(by, "`by` and the attribute that says when");
                let every = self.part(every, "`every` and the length of a window");
                ViewForm::Window { value, by, every, keep: limit }
            }
        };
        Some((form, subject, filter, with))
    }

    fn view_form_word(&mut self) -> Option<&'static str> {
        let written = self.word(0);
        if let Some(form) = FORMS.iter().find(|form| **form == written) {
            return Some(form);
        }
        let found = self.found();
        let message = format!("expected the form of the view, found {found}");
        let diagnostic = Diagnostic::error("E0120", self.here(), message);
        let meant = nearest(written, FORMS);
        match meant {
            Some(meant) => self.report(diagnostic.help(format!("did you mean `{meant}`?"))),
            None => self.fail(diagnostic.help(format!("the forms are {}", FORMS.join(", ")))),
        }
        meant
    }

    fn view_parts(&mut self, form: &str) -> Parts {
        let mut parts = Parts::default();
        while !self.lost && !self.at_item_start() {
            let here = self.span();
            let twice = match (self.word(0), form) {
                ("where", _) => {
                    self.bump();
                    parts.filter.replace(self.expr()).is_some()
                }
                ("order", "list") => {
                    self.bump();
                    self.expect_word("by", "after `order`");
                    let order = self.order_keys();
                    !std::mem::replace(&mut parts.order, order).is_empty()
                }
                ("with", "list" | "rank" | "near") => {
                    self.bump();
                    let mut with = vec![self.sum_level()];
                    while self.eat(TokenKind::Comma) {
                        with.push(self.sum_level());
                    }
                    !std::mem::replace(&mut parts.with, with).is_empty()
                }
                ("by", "rank" | "window") => {
                    self.bump();
                    parts.by.replace(self.order_key()).is_some()
                }
                ("on", "search" | "near") => {
                    self.bump();
                    let on = self.attribute_names(form == "search");
                    !std::mem::replace(&mut parts.on, on).is_empty()
                }
                ("from", "near") => {
                    self.bump();
                    let from = self.name("the parameter that says from where");
                    parts.from.replace(from).is_some()
                }
                ("within", "near") => {
                    self.bump();
                    let within_m = self.length();
                    parts.within_m.replace(within_m).is_some()
                }
                ("limit", "list") | ("top", "rank") | ("keep", "window") | ("first", "near") => {
                    self.bump();
                    parts.limit.replace(self.sum_level()).is_some()
                }
                ("every", "window") => {
                    self.bump();
                    parts.every.replace(self.sum_level()).is_some()
                }
                _ => break,
            };
            if twice {
                let message = "this part of the view is given twice";
                self.report(Diagnostic::error("E0120", here, message));
            }
        }
        parts
    }

    /// `500m`, `5km`, in metres. What is cut out as a duration of minutes is one of metres here.
    fn length(&mut self) -> u32 {
        let piece = *self.piece(0);
        let written = self.text_of(&piece).replace('_', "");
        let number = written.strip_suffix('m').and_then(|number| match piece.kind {
            TokenKind::Length => Some((number.strip_suffix('k')?, 1_000)),
            TokenKind::Duration => Some((number, 1)),
            _ => None,
        });
        let metres =
            number.and_then(|(number, unit)| number.parse::<u32>().ok()?.checked_mul(unit));
        let message = match metres {
            Some(metres) if (1..=FARTHEST_M).contains(&metres) => {
                self.bump();
                return metres;
            }
            None if number.is_none() => format!("expected a length, found {}", self.found()),
            _ => "no place on the earth is that far, or that near, from another".to_string(),
        };
        let help =
            "a length is whole metres or kilometres, up to half the way round: `500m`, `5km`";
        self.fail(Diagnostic::error("E0120", piece.span, message).help(help));
        0
    }

    fn attribute_names(&mut self, several: bool) -> Vec<Name> {
        let mut names = vec![self.name("an attribute")];
        while several && self.eat(TokenKind::Comma) {
            names.push(self.name("an attribute"));
        }
        names
    }

    fn order_keys(&mut self) -> Vec<OrderKey> {
        let mut keys = vec![self.order_key()];
        while self.eat(TokenKind::Comma) {
            keys.push(self.order_key());
        }
        keys
    }

    /// `e`, `e desc`
    fn order_key(&mut self) -> OrderKey {
        let first = self.span();
        let value = self.sum_level();
        let descending = self.eat_word("desc");
        if !descending {
            self.eat_word("asc");
        }
        OrderKey { value, descending, span: self.since(first) }
    }

    fn missing_part(&mut self, what: &str) {
        let found = self.found();
        let message = format!("expected {what}, found {found}");
        self.fail(Diagnostic::error("E0120", self.here(), message));
    }

    fn part(&mut self, part: Option<Expr>, what: &str) -> Expr {
        part.unwrap_or_else(|| {
            self.missing_part(what);
            self.nothing(self.before())
        })
    }

    fn missing_order(&mut self) -> OrderKey {
        self.missing_part("`by` and what the rank is by");
        let span = self.before();
        OrderKey { value: self.nothing(span), descending: false, span }
    }

    fn nothing(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Error, span }
    }
}
