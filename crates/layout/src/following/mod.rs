//! From one version of a design to another: what of the new one each stored thing of the old one becomes.
//!
//! Whoever converts what is stored and whoever tells beforehand what a change asks for use the same answers. Things
//! follow by name. Where names differ, the `from` block of the new text says what became of what; and what is used
//! from an archetype now is recognised if only the noun of the `use` was added to its name, and its shape fits.

mod block;
mod flight;
mod mend;
mod pairs;
mod recognise;
mod rule;
mod same;
mod sources;
mod version;

use design::model::*;

pub use flight::{Entry, ParamSource};
pub use rule::Rule;
pub use sources::Source;
pub use version::version;

/// Everything that can be said of two versions without looking at what is stored.
pub struct Following<'d> {
    pub old: &'d Design,
    pub new: &'d Design,
    /// of the old design
    pub version: String,
    /// the block of the new text that is about that version
    pub block: Option<&'d Earlier>,
    /// for each old subject
    pub subjects: Vec<Option<SubjectId>>,
    /// for each old subject, for each of its states
    pub states: Vec<Vec<Option<StateId>>>,
    /// for each old subject, for each of its attributes
    pub attributes: Vec<Vec<Option<AttrId>>>,
    pub actors: Vec<Option<ActorId>>,
    /// for each old actor, for each field of its memory: in the actor that it became
    pub memory: Vec<Vec<Option<MemoryId>>>,
    pub blobs: Vec<Option<BlobId>>,
    pub events: Vec<Option<EventId>>,
    pub operations: Vec<Option<OperationId>>,
    /// for each old operation, for each of its parameters
    pub params: Vec<Vec<Option<usize>>>,
    /// words of enumerations that have another name
    words: Vec<Word>,
    /// what has another name now
    pub named: Vec<Renamed>,
    /// lines of the block that do not fit the stored version
    pub misfits: Vec<Misfit>,
}

/// A word of an enumeration.
struct Word {
    /// none: wherever the word stands
    of: Option<Site>,
    old: String,
    new: String,
}

/// Whose type an enumeration is, in the old design.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Site {
    Attr(SubjectId, AttrId),
    Param(OperationId, usize),
    Elsewhere,
}

/// Something that has another name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// `Booking`, `BookingState.item`
    pub old: String,
    pub new: String,
    /// the `use` by whose noun it was recognised; none: the block says so
    pub used: Option<String>,
}

/// A line that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// `rename Booking as Reservation`
    pub line: String,
    pub why: String,
}

impl<'d> Following<'d> {
    pub fn of(old: &'d Design, new: &'d Design) -> Following<'d> {
        let version = version(old);
        let block = new.earlier.iter().find(|block| version.starts_with(&block.version));
        let mut following = Following {
            old,
            new,
            version,
            block,
            subjects: vec![None; old.subjects.len()],
            states: old.subjects.iter().map(|held| vec![None; held.states.len()]).collect(),
            attributes: old.subjects.iter().map(|held| vec![None; held.attributes.len()]).collect(),
            actors: vec![None; old.actors.len()],
            memory: old.actors.iter().map(|actor| vec![None; actor.memory.len()]).collect(),
            blobs: vec![None; old.blobs.len()],
            events: vec![None; old.events.len()],
            operations: vec![None; old.operations.len()],
            params: old.operations.iter().map(|op| vec![None; op.params.len()]).collect(),
            words: Vec::new(),
            named: Vec::new(),
            misfits: Vec::new(),
        };
        following.pair();
        following.look_at_renames();
        following.look_at_values();
        following.look_at_version();
        following
    }

    pub fn subject(&self, old: SubjectId) -> Option<SubjectId> {
        self.subjects.get(old.index()).copied().flatten()
    }

    pub fn operation(&self, old: OperationId) -> Option<OperationId> {
        self.operations.get(old.index()).copied().flatten()
    }

    pub fn state(&self, subject: SubjectId, state: StateId) -> Option<StateId> {
        self.states.get(subject.index())?.get(state.index()).copied().flatten()
    }

    /// The actor's name in the new design.
    pub fn actor_named(&self, old: &str) -> Option<&'d str> {
        let at = self.old.actors.iter().position(|actor| actor.name == old)?;
        self.actors[at].map(|id| self.new.actors[id.index()].name.as_str())
    }

    /// The old subject that became this one.
    pub fn before(&self, new: SubjectId) -> Option<SubjectId> {
        self.subjects.iter().position(|held| *held == Some(new)).map(SubjectId::of)
    }

    /// The old operation that became this one.
    pub fn operation_before(&self, new: OperationId) -> Option<OperationId> {
        self.operations.iter().position(|held| *held == Some(new)).map(OperationId::of)
    }
}

/// `ItemState.note`
pub fn attribute_path(subject: &Subject, attr: AttrId) -> String {
    let attribute = &subject.attributes[attr.index()];
    format!("{}.{}", subject.states[attribute.state.index()].name, attribute.name)
}

/// `keeper[show]`
pub fn operation_path(design: &Design, id: OperationId) -> String {
    let operation = &design.operations[id.index()];
    format!("{}[{}]", design.actors[operation.actor.index()].name, operation.name)
}
