//! Actors that are never the same person.

use syntax::Diagnostic;
use syntax::tree::{Item, ItemKind};

use super::Compiler;
use crate::model::*;

impl Compiler {
    /// `actor approver apart from author`: noted in both directions, for all actors of both chains.
    pub(super) fn apart_actors(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Actor(actor) = &item.kind else {
                continue;
            };
            let Some(&id) = self.names.actors.get(&actor.name.text) else {
                continue;
            };
            if self.design.actors[id.index()].span != actor.name.span {
                continue; // a double, reported already
            }
            for (at, other) in actor.apart.iter().enumerate() {
                if other.text.is_empty() {
                    continue; // it could not be read
                }
                if actor.apart[..at].iter().any(|earlier| earlier.text == other.text) {
                    self.report(
                        Diagnostic::error(
                            "E0202",
                            other.span,
                            format!("`{}` is named twice", other.text),
                        )
                        .help("leave one of them out"),
                    );
                    continue;
                }
                let other_id = self.actor_named(other);
                if self.root_actor(id) == self.root_actor(other_id) {
                    self.one_person(id, other_id, other.span);
                    continue;
                }
                self.set_apart(self.root_actor(id), self.root_actor(other_id));
            }
        }
    }

    fn one_person(&mut self, id: ActorId, other: ActorId, span: syntax::Span) {
        let name = &self.design.actors[id.index()].name;
        let other_name = &self.design.actors[other.index()].name;
        let message = if id == other {
            format!("`{name}` cannot be apart from itself")
        } else {
            format!("`{name}` and `{other_name}` are the same principals, so they are not apart")
        };
        self.report(Diagnostic::error("E0506", span, message).help(
            "`continues` says that they are the same persons, `apart from` that they never are",
        ));
    }

    fn set_apart(&mut self, one: ActorId, other: ActorId) {
        let chain = |root: ActorId| -> Vec<ActorId> {
            let all = (0..self.design.actors.len()).map(ActorId::of);
            all.filter(|id| self.root_actor(*id) == root).collect()
        };
        let (ours, theirs) = (chain(one), chain(other));
        for (mine, yours) in [(&ours, &theirs), (&theirs, &ours)] {
            for id in mine {
                let apart = &mut self.design.actors[id.index()].apart;
                apart.extend(yours);
                apart.sort_unstable();
                apart.dedup();
            }
        }
    }
}
