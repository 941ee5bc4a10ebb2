//! `all`, `any`, `count`, `sum`.

use super::builder::{At, Builder};
use crate::TokenKind;
use crate::tree::{Expr, ExprKind};

impl Builder<'_, '_> {
    pub fn quantified(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Quantifier { var, domain, filter, body, .. } => {
                self.group(|b| {
                    b.expect(TokenKind::Word);
                    b.space();
                    b.solid(var.span);
                    b.space();
                    b.lead("in");
                    b.domain(domain);
                    b.indent(|b| b.filter(filter.as_deref()));
                    b.expect(TokenKind::Colon);
                    false
                });
                self.hanging(body);
            }
            ExprKind::Aggregate { value, var, domain, filter, .. } => {
                self.expect(TokenKind::Word);
                self.group(|b| {
                    b.expect(TokenKind::OpenParen);
                    b.indent(|b| {
                        b.soft_line(At::Open, "");
                        if let Some(value) = value {
                            b.expr(value);
                            b.space();
                            b.lead("of");
                        }
                        if let Some(var) = var {
                            b.solid(var.span);
                            b.space();
                            b.lead("in");
                        }
                        b.domain(domain);
                        b.filter(filter.as_deref());
                    });
                    b.soft_line(At::Close, "");
                    b.expect(TokenKind::CloseParen);
                    false
                });
            }
            _ => self.lost = true,
        }
    }

    /// ` where p`
    pub fn filter(&mut self, filter: Option<&Expr>) {
        if let Some(filter) = filter {
            self.soft_line(At::Between, " ");
            self.lead("where");
            self.expr(filter);
        }
    }
}
