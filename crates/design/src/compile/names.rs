//! What each name of the design stands for.

use rustc_hash::FxHashMap;
use syntax::Span;

use crate::model::*;

#[derive(Default)]
pub struct Names {
    pub actors: FxHashMap<String, ActorId>,
    pub subjects: FxHashMap<String, SubjectId>,
    pub blobs: FxHashMap<String, BlobId>,
    pub operations: FxHashMap<String, OperationId>,
    pub views: FxHashMap<String, ViewId>,
    pub events: FxHashMap<String, EventId>,
    /// into `Compiler::defines`
    pub defines: FxHashMap<String, usize>,
    /// goals of every kind share one room of names
    pub goals: FxHashMap<String, Span>,
    /// every state name with the subjects that have it
    pub states: FxHashMap<String, Vec<(SubjectId, StateId)>>,
    /// every memory field by its name, with the root actors that have it
    pub memory: FxHashMap<String, Vec<(ActorId, MemoryId)>>,
    /// for each subject: attribute name to attributes (one for each state that has the name)
    pub attributes: Vec<FxHashMap<String, Vec<AttrId>>>,
}

impl Names {
    pub fn state(&self, subject: SubjectId, name: &str) -> Option<StateId> {
        self.states.get(name)?.iter().find(|(of, _)| *of == subject).map(|(_, state)| *state)
    }

    pub fn memory_of(&self, actor: ActorId, name: &str) -> Option<MemoryId> {
        self.memory.get(name)?.iter().find(|(of, _)| *of == actor).map(|(_, field)| *field)
    }

    pub fn attribute(&self, subject: SubjectId, name: &str) -> &[AttrId] {
        self.attributes
            .get(subject.index())
            .and_then(|by_name| by_name.get(name))
            .map_or(&[], Vec::as_slice)
    }
}

/// Words that mean something in an expression and so cannot name a thing that stands in one.
pub const RESERVED: [&str; 17] = [
    "and", "or", "not", "implies", "in", "if", "then", "else", "let", "true", "false", "null",
    "now", "me", "old", "where", "of",
];
