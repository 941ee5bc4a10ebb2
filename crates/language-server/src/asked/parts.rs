//! Finds the parts of a text by what they are called: in the text with everything written out, names are those that
//! the design uses.

use syntax::tree::*;

use crate::snapshot::Snapshot;

pub struct Parts<'s> {
    items: &'s [Item],
    text: &'s str,
}

/// An `invariant`, a `recovers` or a `leads_to`.
pub struct GoalPart<'s> {
    pub word: &'static str,
    pub body: &'s Expr,
}

/// One proof that something is needed: without it, this failure happens.
pub struct Prevented<'s> {
    pub title: &'s str,
    pub breaks: &'s str,
}

impl<'s> Parts<'s> {
    pub fn of(snapshot: &'s Snapshot) -> Parts<'s> {
        Parts { items: snapshot.whole_items(), text: snapshot.whole_text() }
    }

    pub fn text(&self, span: syntax::Span) -> &'s str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn find<T>(&self, look: impl Fn(&'s ItemKind) -> Option<T>) -> Option<T> {
        self.items.iter().find_map(|item| look(&item.kind))
    }

    pub fn operation(&self, name: &str) -> Option<&'s OperationItem> {
        self.find(|kind| match kind {
            ItemKind::Operation(operation) if operation.name.text == name => Some(&**operation),
            _ => None,
        })
    }

    pub fn clause(&self, operation: &str, name: &str) -> Option<&'s Clause> {
        let clauses = &self.operation(operation)?.guard;
        clauses.iter().find(|clause| clause.name.as_ref().is_some_and(|held| held.text == name))
    }

    pub fn actor(&self, name: &str) -> Option<&'s ActorItem> {
        self.find(|kind| match kind {
            ItemKind::Actor(actor) if actor.name.text == name => Some(actor),
            _ => None,
        })
    }

    /// What this actor does.
    pub fn operations_of(&self, actor: &str) -> Vec<&'s OperationItem> {
        let operations = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Operation(operation) if operation.actor.text == actor => Some(&**operation),
            _ => None,
        });
        operations.collect()
    }

    pub fn subject(&self, name: &str) -> Option<&'s SubjectItem> {
        self.find(|kind| match kind {
            ItemKind::Subject(subject) if subject.name.text == name => Some(subject),
            _ => None,
        })
    }

    pub fn state(&self, name: &str) -> Option<(&'s SubjectItem, &'s StateItem)> {
        self.find(|kind| match kind {
            ItemKind::Subject(subject) => {
                let mut states = subject.states.iter();
                states.find(|state| state.name.text == name).map(|state| (subject, state))
            }
            _ => None,
        })
    }

    pub fn attribute(&self, state: &str, name: &str) -> Option<&'s Attribute> {
        self.state(state)?.1.attributes.iter().find(|held| held.name.text == name)
    }

    /// The whole item of something that has one for itself, as it is written.
    pub fn written(&self, word: &str, name: &str) -> Option<&'s str> {
        let item = self.items.iter().find(|item| match &item.kind {
            ItemKind::View(view) => word == "view" && view.name.text == name,
            ItemKind::Define(define) => word == "define" && define.name.text == name,
            ItemKind::Protocol(protocol) => word == "protocol" && protocol.name.text == name,
            ItemKind::Blob { name: held } => word == "blob" && held.text == name,
            ItemKind::Check(check) => {
                let named = check.named.as_ref().is_some_and(|held| held.name.text == name);
                word == "check" && named
            }
            _ => false,
        })?;
        Some(self.text(item.span))
    }

    pub fn goal(&self, name: &str) -> Option<GoalPart<'s>> {
        self.find(|kind| match kind {
            ItemKind::Invariant { name: held, body } if held.text == name => {
                Some(GoalPart { word: "invariant", body })
            }
            ItemKind::Recovers { name: held, body } if held.text == name => {
                Some(GoalPart { word: "recovers", body })
            }
            ItemKind::LeadsTo { name: held, body, .. } if held.text == name => {
                Some(GoalPart { word: "leads_to", body })
            }
            _ => None,
        })
    }

    /// The failures that rest on something, by what their proofs take away.
    pub fn prevented(
        &self,
        needs: impl Fn(&WithoutKind) -> bool,
        goal: Option<&str>,
    ) -> Vec<Prevented<'s>> {
        let mut found: Vec<Prevented<'s>> = Vec::new();
        for item in self.items {
            let ItemKind::Failure(failure) = &item.kind else { continue };
            for proof in &failure.proofs {
                let FailureProofKind::Without { targets, breaks, .. } = &proof.kind else {
                    continue;
                };
                let needed = targets.iter().any(|target| needs(&target.kind));
                let broken = goal.is_none_or(|goal| breaks.text == goal);
                let (title, breaks) = (failure.title.value.as_str(), breaks.text.as_str());
                if needed && broken && !found.iter().any(|held| held.title == title) {
                    found.push(Prevented { title, breaks });
                }
            }
        }
        found
    }

    /// Why a clause is kept that nothing in the small world needs.
    pub fn defence(&self, operation: &str, clause: &str) -> Option<&'s str> {
        self.find(|kind| match kind {
            ItemKind::Defence(held)
                if held.operation.text == operation && held.clause.text == clause =>
            {
                Some(held.reason.value.as_str())
            }
            _ => None,
        })
    }
}

/// The operation that a proof takes something of.
pub fn operation_of(kind: &WithoutKind) -> &str {
    match kind {
        WithoutKind::Clause { operation, .. }
        | WithoutKind::Assignment { operation, .. }
        | WithoutKind::Outbox { operation }
        | WithoutKind::Key { operation }
        | WithoutKind::AtLeast { operation }
        | WithoutKind::Keyed { operation } => &operation.text,
        WithoutKind::Repair { name } => &name.text,
    }
}
