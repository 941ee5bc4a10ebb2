//! `all`, `any`, `count`, `sum`: what ranges over a domain.

use super::Parser;
use super::expr::{Built, level};
use crate::tree::{AggregateKind, Domain, Expr, ExprKind, Name, QuantifierKind};
use crate::{Span, TokenKind};

impl Parser<'_> {
    /// `all x in D where p: body`
    pub(super) fn quantifier(&mut self, start: Span) -> Built {
        let kind = match self.word(0) {
            "all" => QuantifierKind::All,
            _ => QuantifierKind::Any,
        };
        self.bump();
        let var = self.take_name();
        self.bump();
        let (domain, mut below) = self.domain();
        let outside = std::mem::replace(&mut self.colon_ends, true);
        let filter = self.filter(&mut below);
        self.colon_ends = outside;
        self.expect(TokenKind::Colon, ":", "before what holds for each of them");
        let (body, its_height) = self.boxed();
        let kind = ExprKind::Quantifier { kind, var, domain, filter, body };
        self.grown(start, kind, below.max(its_height))
    }

    /// `count(x in D where p)`, `sum(e of x in D where p)`
    pub(super) fn aggregate(&mut self, start: Span) -> Built {
        let kind = match self.word(0) {
            "count" => AggregateKind::Count,
            _ => AggregateKind::Sum,
        };
        self.bump();
        let open = self.at;
        self.bump();
        let mut below = 0;
        let (value, var, domain, filter) = self.bracketed(open, |p| {
            let value = match kind {
                AggregateKind::Count => None,
                AggregateKind::Sum => {
                    let value = Box::new(p.measured(&mut below));
                    p.expect_word("of", "after what is summed");
                    Some(value)
                }
            };
            let var = p.range_variable();
            let (domain, height) = p.domain();
            below = below.max(height);
            let filter = p.filter(&mut below);
            p.close(open, "`where` or ");
            (value, var, domain, filter)
        });
        let kind = ExprKind::Aggregate { kind, value, var, domain, filter };
        self.grown(start, kind, below)
    }

    /// `x in`
    fn range_variable(&mut self) -> Option<Name> {
        let named = !self.lost && self.at(TokenKind::Word) && self.word(1) == "in";
        named.then(|| {
            let name = self.take_name();
            self.bump();
            name
        })
    }

    /// `Task of stage`, `StageState.dependencies`, `Resource`; with the height of its tree
    pub(super) fn domain(&mut self) -> (Domain, usize) {
        let (of_what, first) = self.binary(level::ADD);
        let mut below = first;
        let parent = self.eat_word("of").then(|| {
            let (parent, second) = self.binary(level::ADD);
            below = below.max(second);
            Box::new(parent)
        });
        let of_what = Box::new(of_what);
        (Domain { of_what, parent }, below)
    }

    pub(super) fn filter(&mut self, below: &mut usize) -> Option<Box<Expr>> {
        self.eat_word("where").then(|| Box::new(self.measured(below)))
    }
}
