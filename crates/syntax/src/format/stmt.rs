//! Statements and blocks.

use super::builder::{At, Builder};
use super::list::List;
use crate::TokenKind;
use crate::tree::{Block, Expr, FieldValue, Name, SendEach, Stmt, StmtKind};

impl Builder<'_, '_> {
    /// `{ statements }`
    pub fn block(&mut self, block: &Block) {
        self.list(List::BLOCK, &block.statements, Self::stmt);
    }

    pub fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, .. } => {
                self.expr(target);
                self.space();
                self.token();
                self.hanging(value);
            }
            StmtKind::Let { name, value } => {
                self.lead("let");
                self.solid(name.span);
                self.space();
                self.expect(TokenKind::Equal);
                self.hanging(value);
            }
            StmtKind::New { subject, keys, fields } => {
                self.lead("new");
                self.solid(subject.span);
                if self.at(TokenKind::OpenParen) {
                    self.list(List::TIGHT, keys, Self::expr);
                }
                self.optional_fields(stmt, fields);
            }
            StmtKind::Delete { target } => {
                self.lead("delete");
                self.expr(target);
            }
            StmtKind::Append { log, fields } => {
                self.lead("append");
                self.expr(log);
                self.optional_fields(stmt, fields);
            }
            StmtKind::Emit { event, fields } => {
                self.lead("emit");
                self.solid(event.span);
                self.optional_fields(stmt, fields);
            }
            StmtKind::Send { each, actor, operation, args } => {
                self.lead("send");
                match each {
                    Some(each) => self.send_each(each, [actor, operation], args),
                    None => self.sent([actor, operation], args),
                }
            }
            StmtKind::For { var, domain, body } => {
                self.lead("for");
                self.solid(var.span);
                self.space();
                self.lead("in");
                self.domain(domain);
                self.space();
                self.block(body);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.lead("if");
                self.group(|b| b.branches(condition, then, otherwise.as_ref()));
            }
            StmtKind::Error => self.lost = true,
        }
    }

    /// `each x in S of e where p: actor.operation(x, …)`
    fn send_each(&mut self, each: &SendEach, names: [&Name; 2], args: &[Expr]) {
        self.group(|b| {
            b.lead("each");
            b.solid(each.var.span);
            b.space();
            b.lead("in");
            b.domain(&each.domain);
            b.indent(|b| b.filter(each.filter.as_deref()));
            b.expect(TokenKind::Colon);
            false
        });
        self.group(|b| {
            b.indent(|b| {
                b.soft_line(At::Between, " ");
                b.sent(names, args);
            });
            false
        });
    }

    /// `actor.operation(e, …)`
    fn sent(&mut self, [actor, operation]: [&Name; 2], args: &[Expr]) {
        self.solid(actor.span);
        self.expect(TokenKind::Dot);
        self.solid(operation.span);
        if self.at(TokenKind::OpenParen) {
            self.list(List::TIGHT, args, Self::expr);
        }
    }

    fn optional_fields(&mut self, stmt: &Stmt, fields: &[FieldValue]) {
        if self.at(TokenKind::OpenBrace) && self.pos < self.end_of(stmt.span) {
            self.space();
            self.fields(fields);
        }
    }

    /// The blocks of an `if`: all on one line, or all broken.
    fn branches(&mut self, condition: &Expr, then: &Block, otherwise: Option<&Block>) -> bool {
        self.expr(condition);
        self.space();
        let mut ended = self.open_list(List::BLOCK, &then.statements, Self::stmt);
        let Some(otherwise) = otherwise else {
            return ended;
        };
        self.space();
        self.lead("else");
        ended |= match self.else_if(otherwise) {
            Some((condition, then, otherwise)) => {
                self.lead("if");
                self.branches(condition, then, otherwise)
            }
            None => self.open_list(List::BLOCK, &otherwise.statements, Self::stmt),
        };
        ended
    }

    fn else_if<'b>(&self, block: &'b Block) -> Option<(&'b Expr, &'b Block, Option<&'b Block>)> {
        match block.statements.as_slice() {
            [Stmt { kind: StmtKind::If { condition, then, otherwise }, .. }]
                if self.at_word("if") =>
            {
                Some((condition, then, otherwise.as_ref()))
            }
            _ => None,
        }
    }
}
