//! Items: each goes to the file of its construct.

use super::builder::Builder;
use crate::TokenKind;
use crate::tree::{DefineItem, Expr, Item, ItemKind, Name, Text};

impl Builder<'_, '_> {
    pub fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Design { name, title } => {
                self.lead("design");
                self.solid(name.span);
                self.title(title.as_ref());
            }
            ItemKind::Archetype { id, name, title } => {
                self.lead("archetype");
                self.solid(id.span);
                self.space();
                self.solid(name.span);
                self.title(title.as_ref());
            }
            ItemKind::Header { values, .. } => {
                self.expect(TokenKind::Word);
                self.space();
                self.row(values, Self::header_value);
            }
            ItemKind::Use(used) => self.used(used),
            ItemKind::From(from) => self.earlier_version(from),
            ItemKind::Actor(actor) => self.actor(actor),
            ItemKind::Subject(subject) => self.subject(subject),
            ItemKind::Blob { name } => {
                self.lead("blob");
                self.solid(name.span);
            }
            ItemKind::Define(define) => self.define(define),
            ItemKind::Operation(operation) => self.operation(operation),
            ItemKind::View(view) => self.view(view, self.end_of(item.span)),
            ItemKind::Protocol(protocol) => self.protocol(protocol),
            ItemKind::Invariant { name, body } | ItemKind::Recovers { name, body } => {
                self.property(name, body);
            }
            ItemKind::LeadsTo { name, body, by } => {
                self.property(name, body);
                if !by.is_empty() {
                    self.space();
                    self.lead("by");
                    self.row(by, |b, name| b.solid(name.span));
                }
            }
            ItemKind::Failure(failure) => self.failure(failure),
            ItemKind::Defence(defence) => self.defence(defence),
            ItemKind::Hotspot(hotspot) => self.hotspot(hotspot),
            ItemKind::Check(check) => self.check(check),
            ItemKind::Test(test) => self.test(test),
            ItemKind::Error => self.lost = true,
        }
    }

    fn title(&mut self, title: Option<&Text>) {
        if let Some(title) = title {
            self.space();
            self.solid(title.span);
        }
    }

    /// `define p(a: T, …) = expr`
    fn define(&mut self, define: &DefineItem) {
        self.lead("define");
        self.solid(define.name.span);
        self.params(&define.params);
        self.space();
        self.expect(TokenKind::Equal);
        self.hanging(&define.body);
    }

    /// `invariant n: expr`
    fn property(&mut self, name: &Name, body: &Expr) {
        self.expect(TokenKind::Word);
        self.space();
        self.solid(name.span);
        self.expect(TokenKind::Colon);
        self.hanging(body);
    }
}
