//! What things were called by earlier versions: what callers hold under an old name counts under the new one.

use std::sync::Arc;

use design::model::{ActorId, Design, MemoryId, OperationId, SubjectId};
use layout::Following;

use super::schema::Schema;

/// Versions that are looked back to. What callers hold is forgotten much sooner.
const VERSIONS_MAX: usize = 32;

/// The names of each thing in earlier versions, the newest first, without the one that it has now.
#[derive(Debug, Default)]
pub struct Former {
    /// for each operation: its actor and its name
    operations: Vec<Vec<(String, String)>>,
    /// for each operation: what it was called first
    first: Vec<String>,
    /// for each actor, for each field of its memory: the actor and the field
    memory: Vec<Vec<Vec<(String, String)>>>,
    subjects: Vec<Vec<String>>,
    /// for each earlier version, the newest first: which of its subjects each subject is
    subjects_then: Vec<Vec<Option<SubjectId>>>,
}

impl Former {
    pub fn of(design: &Design, older: &[Arc<Schema>]) -> Former {
        let mut former = Former {
            operations: vec![Vec::new(); design.operations.len()],
            first: design.operations.iter().map(|operation| operation.name.clone()).collect(),
            memory: design
                .actors
                .iter()
                .map(|actor| vec![Vec::new(); actor.memory.len()])
                .collect(),
            subjects: vec![Vec::new(); design.subjects.len()],
            subjects_then: Vec::new(),
        };
        // where each thing of the design stands in the version that is looked at
        let mut operations: Vec<Option<OperationId>> =
            (0..design.operations.len()).map(OperationId::of).map(Some).collect();
        let mut subjects: Vec<Option<SubjectId>> =
            (0..design.subjects.len()).map(SubjectId::of).map(Some).collect();
        let memory = |(at, actor): (usize, &design::model::Actor)| {
            let fields = (0..actor.memory.len()).map(MemoryId::of);
            fields.map(|field| Some((ActorId::of(at), field))).collect::<Vec<_>>()
        };
        let mut fields: Vec<Vec<Option<(ActorId, MemoryId)>>> =
            design.actors.iter().enumerate().map(memory).collect();
        let mut newer = design;
        for schema in older.iter().rev().take(VERSIONS_MAX) {
            let old = &schema.design;
            let following = Following::of(old, newer);
            for (at, held) in operations.iter_mut().enumerate() {
                *held = held.and_then(|id| following.operation_before(id));
                if let Some(id) = held {
                    let operation = &old.operations[id.index()];
                    let actor = old.actors[operation.actor.index()].name.clone();
                    former.first[at].clone_from(&operation.name);
                    former.operations[at].push((actor, operation.name.clone()));
                }
            }
            for (at, held) in subjects.iter_mut().enumerate() {
                *held = held.and_then(|id| following.before(id));
                if let Some(id) = held {
                    former.subjects[at].push(old.subjects[id.index()].name.clone());
                }
            }
            former.subjects_then.push(subjects.clone());
            for (actor, held) in fields.iter_mut().enumerate() {
                for (at, held) in held.iter_mut().enumerate() {
                    *held = held.and_then(|field| memory_before(&following, field));
                    if let Some((owner, field)) = *held {
                        let owner = &old.actors[owner.index()];
                        let name = owner.memory[field.index()].name.clone();
                        former.memory[actor][at].push((owner.name.clone(), name));
                    }
                }
            }
            newer = old;
        }
        former.without_present(design);
        former
    }

    fn without_present(&mut self, design: &Design) {
        for (at, names) in self.operations.iter_mut().enumerate() {
            let operation = &design.operations[at];
            let now = (&design.actors[operation.actor.index()].name, &operation.name);
            names.retain(|(actor, name)| (actor, name) != now);
            names.dedup();
        }
        for (at, names) in self.subjects.iter_mut().enumerate() {
            names.retain(|name| *name != design.subjects[at].name);
            names.dedup();
        }
        for (at, fields) in self.memory.iter_mut().enumerate() {
            let actor = &design.actors[at];
            for (field, names) in fields.iter_mut().enumerate() {
                let now = (&actor.name, &actor.memory[field].name);
                names.retain(|(owner, name)| (owner, name) != now);
                names.dedup();
            }
        }
    }

    /// What each operation was called first, as far back as is looked.
    pub fn first_names(&self) -> &[String] {
        &self.first
    }

    pub fn operation(&self, id: OperationId) -> &[(String, String)] {
        &self.operations[id.index()]
    }

    /// What a subject was called by earlier versions.
    pub fn subject(&self, id: SubjectId) -> &[String] {
        &self.subjects[id.index()]
    }

    /// Which subject it is in an earlier version: 0 is the newest of them.
    pub fn subject_then(&self, id: SubjectId, version: usize) -> Option<SubjectId> {
        *self.subjects_then.get(version)?.get(id.index())?
    }

    /// Every actor, subject and field that a memory may have been handed out for.
    pub fn memory(
        &self,
        (actor, field): (ActorId, MemoryId),
        now: (&str, &str),
        subject: Option<(SubjectId, &str)>,
    ) -> Vec<(String, String, String)> {
        let owners = &self.memory[actor.index()][field.index()];
        let before = subject.map_or(&[][..], |(id, _)| &self.subjects[id.index()][..]);
        if owners.is_empty() && before.is_empty() {
            return Vec::new();
        }
        let own = (now.0.to_string(), now.1.to_string());
        let owners: Vec<&(String, String)> = std::iter::once(&own).chain(owners).collect();
        let here = subject.map_or(String::new(), |(_, name)| name.to_string());
        let subjects: Vec<&String> = std::iter::once(&here).chain(before).collect();
        let each = owners.iter().flat_map(|(actor, field)| {
            let of = |subject: &&String| (actor.clone(), (*subject).clone(), field.clone());
            subjects.iter().map(of).collect::<Vec<_>>()
        });
        // the first is what it is called now
        each.skip(1).collect()
    }
}

fn memory_before(
    following: &Following<'_>,
    (actor, field): (ActorId, MemoryId),
) -> Option<(ActorId, MemoryId)> {
    let owner = following.actors.iter().position(|held| *held == Some(actor))?;
    let before = following.memory[owner].iter().position(|held| *held == Some(field))?;
    Some((ActorId::of(owner), MemoryId::of(before)))
}
