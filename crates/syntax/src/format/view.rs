//! Views.

use super::builder::{At, Builder};
use crate::TokenKind;
use crate::tree::{Expr, ViewForm, ViewItem};

/// The words of a view before which its line may end.
const PARTS: [&str; 9] =
    ["where", "with", "order", "limit", "top", "keep", "every", "within", "first"];

impl Builder<'_, '_> {
    /// `view N(params) = form`
    pub fn view(&mut self, view: &ViewItem, end: usize) {
        self.lead("view");
        self.solid(view.name.span);
        self.params(&view.params);
        if let Some(of) = &view.of {
            self.space();
            self.word("of");
            self.space();
            self.solid(of.span);
        }
        self.space();
        self.expect(TokenKind::Equal);
        self.space();
        let mut values = values(view);
        values.sort_by_key(|value| value.span.start);
        let mut values = values.into_iter().peekable();
        self.group(|b| {
            b.indent(|b| {
                let mut first = true;
                while b.pos < end && !b.lost {
                    let starts = |value: &&&Expr| b.start_of(value.span) <= b.pos;
                    let value = values.peek().filter(starts).copied();
                    if value.is_none() && !first && PARTS.iter().any(|part| b.at_word(part)) {
                        b.soft_line(At::Between, " ");
                    } else if !first && !b.at(TokenKind::Comma) {
                        b.space();
                    }
                    first = false;
                    match value {
                        Some(value) => {
                            values.next();
                            b.expr(value);
                        }
                        None => b.token(),
                    }
                }
            });
            false
        });
    }
}

/// The expressions that a view is made of.
fn values(view: &ViewItem) -> Vec<&Expr> {
    let mut values: Vec<&Expr> = view.filter.iter().chain(&view.with).collect();
    match &view.form {
        ViewForm::Count | ViewForm::Search { .. } => {}
        ViewForm::Near { first, .. } => values.extend(first),
        ViewForm::Sum { value } | ViewForm::Extreme { value, .. } | ViewForm::Average { value } => {
            values.push(value)
        }
        ViewForm::List { order, limit } => {
            values.extend(order.iter().map(|key| &key.value));
            values.extend(limit);
        }
        ViewForm::Rank { by, top } => {
            values.push(&by.value);
            values.extend(top);
        }
        ViewForm::Window { value, by, every, keep } => {
            values.extend(value);
            values.push(by);
            values.push(every);
            values.extend(keep);
        }
    }
    values
}
