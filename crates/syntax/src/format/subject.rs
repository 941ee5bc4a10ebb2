//! Actors, subjects, and the states that subjects keep.

use super::builder::{At, Builder};
use super::list::List;
use crate::TokenKind;
use crate::tree::{ActorItem, Attribute, Expr, StateItem, StateKind, SubjectItem, Visible};

impl Builder<'_, '_> {
    /// `actor holder continues claimant apart from author { my_epoch: int? of Resource }`
    pub fn actor(&mut self, actor: &ActorItem) {
        self.lead("actor");
        self.solid(actor.name.span);
        if let Some(continues) = &actor.continues {
            self.space();
            self.lead("continues");
            self.solid(continues.span);
        }
        if !actor.apart.is_empty() {
            self.space();
            self.lead("apart");
            self.lead("from");
            self.row(&actor.apart, |b, name| b.solid(name.span));
        }
        if self.at(TokenKind::OpenBrace) {
            self.space();
            self.list(List::FIELDS, &actor.memory, |b, field| {
                b.typed(&field.name, &field.ty);
                if let Some(of) = &field.of {
                    b.space();
                    b.lead("of");
                    b.solid(of.span);
                }
            });
        }
    }

    /// `subject S(key: type, …) at node { … }`
    pub fn subject(&mut self, subject: &SubjectItem) {
        self.lead("subject");
        self.solid(subject.name.span);
        if self.at(TokenKind::OpenParen) {
            self.list(List::TIGHT, &subject.keys, |b, key| b.typed(&key.name, &key.ty));
        }
        if let Some(at) = &subject.at {
            self.space();
            self.lead("at");
            self.solid(at.span);
        }
        if self.at(TokenKind::OpenBrace) {
            self.space();
            self.list(List::BLOCK, &subject.states, Self::state);
        }
    }

    pub fn state(&mut self, state: &StateItem) {
        self.expect(TokenKind::Word);
        self.space();
        self.solid(state.name.span);
        match &state.kind {
            StateKind::Cache { at } => {
                self.space();
                self.lead("at");
                self.solid(at.span);
            }
            StateKind::Ephemeral { ttl: Some(ttl) } => self.labelled("ttl", ttl),
            StateKind::Truth
            | StateKind::Volatile
            | StateKind::Log { .. }
            | StateKind::Ephemeral { ttl: None } => {}
        }
        if self.at(TokenKind::OpenBrace) {
            self.space();
            self.list(List::FIELDS, &state.attributes, Self::attribute);
        }
        let mut visible = state.visible.iter();
        let end = self.end_of(state.span);
        while self.pos < end && !self.lost {
            match &state.kind {
                StateKind::Log { retain: Some(retain) } if self.at_word("retain") => {
                    self.labelled("retain", retain);
                }
                _ => match visible.next() {
                    Some(visible) => self.visible(visible),
                    None => self.lost = true,
                },
            }
        }
    }

    /// ` ttl 30s`
    fn labelled(&mut self, word: &str, value: &Expr) {
        self.space();
        self.lead(word);
        self.expr(value);
    }

    fn attribute(&mut self, attribute: &Attribute) {
        self.typed(&attribute.name, &attribute.ty);
        self.default_value(attribute.default.as_ref());
    }

    /// `visible to a, b where condition`: after the state, or on a line below it
    fn visible(&mut self, visible: &Visible) {
        self.group(|b| {
            let mut ended = false;
            b.indent(|b| {
                ended = b.soft_line(At::Between, " ");
                b.lead("visible");
                b.lead("to");
                b.row(&visible.to, |b, name| b.solid(name.span));
                if let Some(condition) = &visible.condition {
                    b.space();
                    b.lead("where");
                    b.expr(condition);
                }
            });
            ended
        });
    }
}
