//! `use`, and what its block changes.

use super::builder::Builder;
use super::list::List;
use crate::TokenKind;
use crate::tree::{UseChange, UseChangeKind, UseItem};

impl Builder<'_, '_> {
    /// `use A08 as Seat { … }`
    pub fn used(&mut self, used: &UseItem) {
        self.lead("use");
        self.solid(used.archetype.span);
        self.space();
        self.lead("as");
        self.solid(used.noun.span);
        if self.at(TokenKind::OpenBrace) {
            self.space();
            self.list(List::BLOCK, &used.changes, Self::change);
        }
    }

    fn change(&mut self, change: &UseChange) {
        match &change.kind {
            UseChangeKind::Actor { name, is } | UseChangeKind::Subject { name, is } => {
                self.expect(TokenKind::Word);
                self.space();
                self.solid(name.span);
                self.space();
                self.lead("is");
                self.solid(is.span);
            }
            UseChangeKind::States { subject, states } => {
                self.solid(subject.span);
                self.space();
                self.lead("also");
                self.list(List::BLOCK, states, Self::state);
            }
            UseChangeKind::Clauses { operation, clauses } => {
                self.solid(operation.span);
                self.space();
                self.word("also");
                self.guard(clauses);
            }
            UseChangeKind::Effects(more) => {
                self.solid(more.operation.span);
                self.space();
                self.lead("also");
                if more.into {
                    self.lead("into");
                }
                if more.on.is_some() {
                    self.lead("on");
                    self.expect(TokenKind::Word);
                    self.space();
                }
                self.block(&more.body);
            }
            UseChangeKind::Rename { owner, name, to } => {
                if let Some(owner) = owner {
                    self.solid(owner.span);
                    self.expect(TokenKind::Dot);
                }
                self.solid(name.span);
                self.space();
                self.lead("as");
                self.solid(to.span);
            }
            UseChangeKind::Hide { operation } => {
                self.lead("hide");
                self.solid(operation.span);
            }
            UseChangeKind::Instead { operation, items } => {
                self.solid(operation.span);
                self.space();
                self.lead("instead");
                self.list(List::BLOCK, items, Self::item);
            }
            UseChangeKind::WithoutGoal { goal, because } => {
                self.lead("without");
                self.lead("goal");
                self.solid(goal.span);
                self.space();
                self.lead("because");
                self.solid(because.span);
            }
            UseChangeKind::Error => self.lost = true,
        }
    }
}
