//! Actors: who continues whom, and what each remembers.

use syntax::Diagnostic;
use syntax::tree::{Item, ItemKind, Name};

use super::Compiler;
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn actors(&mut self, items: &[Item]) {
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
            if let Some(base) = &actor.continues {
                let base_id = self.actor_named(base);
                self.design.actors[id.index()].continues = Some(base_id);
                if self.chain_has_a_cycle(id) {
                    self.design.actors[id.index()].continues = None;
                    self.report(
                        Diagnostic::error(
                            "E0503",
                            base.span,
                            format!("`{}` would continue itself", actor.name.text),
                        )
                        .help("one of them must be the first"),
                    );
                }
            }
        }
        // memory belongs to the root, so all chains must be known first
        for item in items {
            let ItemKind::Actor(actor) = &item.kind else {
                continue;
            };
            let Some(&id) = self.names.actors.get(&actor.name.text) else {
                continue;
            };
            if self.design.actors[id.index()].span != actor.name.span {
                for field in &actor.memory {
                    self.forgive(&field.name.text);
                }
                continue;
            }
            let root = self.root_actor(id);
            for field in &actor.memory {
                let earlier = self
                    .names
                    .memory_of(root, &field.name.text)
                    .map(|known| self.design.actors[root.index()].memory[known.index()].span);
                if !self.free("memory", &field.name, earlier) {
                    continue;
                }
                let ty = match self.type_of(&field.ty, &field.name.text) {
                    optional @ Type::Optional(_) => optional,
                    Type::Error => Type::Error,
                    required => Type::Optional(Box::new(required)),
                };
                if matches!(ty.required(), Type::List { .. } | Type::Set { .. } | Type::Map { .. })
                {
                    self.report(
                        Diagnostic::error(
                            "E0308",
                            field.ty.span,
                            "memory is one value, not a collection",
                        )
                        .help("remember a version or a reference, and read the rest again"),
                    );
                }
                self.known.has_type(field.name.span, &ty);
                let of = field.of.as_ref().and_then(|name| self.subject_named(name));
                let id = MemoryId::of(self.design.actors[root.index()].memory.len());
                if field.of.is_some() && of.is_none() {
                    self.remember_of_nothing(root, id);
                }
                let named = self.names.memory.entry(field.name.text.clone());
                named.or_default().push((root, id));
                self.design.actors[root.index()].memory.push(Memory {
                    name: field.name.text.clone(),
                    ty,
                    of,
                    span: field.name.span,
                });
            }
        }
    }

    /// The actor whose memory this one shares.
    pub(super) fn root_actor(&self, mut id: ActorId) -> ActorId {
        while let Some(base) = self.design.actors[id.index()].continues {
            id = base;
        }
        id
    }

    fn chain_has_a_cycle(&self, start: ActorId) -> bool {
        let mut id = start;
        for _ in 0..=self.design.actors.len() {
            match self.design.actors[id.index()].continues {
                None => return false,
                Some(base) => id = base,
            }
        }
        true
    }

    /// The actor of this name; one that nobody declared is reported and then taken as given.
    pub(super) fn actor_named(&mut self, name: &Name) -> ActorId {
        if let Some(id) = self.names.actors.get(&name.text) {
            self.known.refer(name, self.design.actors[id.index()].span);
            return *id;
        }
        let known: Vec<String> = self.design.actors.iter().map(|a| a.name.clone()).collect();
        let mut problem =
            Diagnostic::error("E0205", name.span, format!("no actor `{}`", name.text));
        problem = match suggest::did_you_mean(&name.text, known.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("declare it: `actor {}`", name.text)),
        };
        self.report_missing(&name.text, problem);
        self.invent_actor(&name.text, name.span)
    }

    pub(super) fn subject_named(&mut self, name: &Name) -> Option<SubjectId> {
        if let Some(id) = self.names.subjects.get(&name.text) {
            self.known.refer(name, self.design.subjects[id.index()].span);
            return Some(*id);
        }
        let known: Vec<String> = self.design.subjects.iter().map(|s| s.name.clone()).collect();
        let mut problem =
            Diagnostic::error("E0208", name.span, format!("no subject `{}`", name.text));
        problem = match suggest::did_you_mean(&name.text, known.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("the subjects are {}", suggest::list(&known))),
        };
        self.report_missing(&name.text, problem);
        None
    }
}
