//! A design lowered once, to be evaluated many times.

mod shape;

use design::model::{Design, EventId, OperationId, Protection, StateId, SubjectId};

pub use shape::Shape;

use crate::{Layout, ParamsLayout, StateLayout, Word};

/// A design in the form that [`crate::step`] and [`crate::holds`] evaluate.
#[derive(Debug)]
pub struct Program {
    _empty: (),
}

impl Program {
    pub fn new(design: &Design) -> Program {
        Program::without(design, &[])
    }

    /// The design with these protections taken away. Clauses, `exists`, `fresh` and assignments
    /// are gone from the program; the others are for the caller to act on (`repair_removed` and
    /// its kin).
    ///
    /// Without `exists`, an absent record reads as its defaults (null where there is none) and is
    /// made by the first write; without `fresh`, a record that is there is replaced.
    pub fn without(_design: &Design, _protections: &[Protection]) -> Program {
        Program { _empty: () }
    }

    /// The texts written in the design: the caller's pool starts with them, handles 0, 1, ….
    pub fn texts(&self) -> &[String] {
        &[]
    }

    pub fn layout(&self, _subject: SubjectId) -> &Layout {
        unreachable!("not yet")
    }

    /// Of a cache, an ephemeral or a log.
    pub fn state(&self, _subject: SubjectId, _state: StateId) -> &StateLayout {
        unreachable!("not yet")
    }

    /// A record as it is before anything is assigned: what an implicit subject reads as.
    pub fn defaults(&self, _subject: SubjectId) -> &[Word] {
        unreachable!("not yet")
    }

    pub fn params(&self, _operation: OperationId) -> &ParamsLayout {
        unreachable!("not yet")
    }

    /// The words of a parameter that the caller may leave out.
    pub fn param_default(&self, _operation: OperationId, _param: usize) -> Option<&[Word]> {
        None
    }

    pub fn event(&self, _event: EventId) -> &Shape {
        unreachable!("not yet")
    }

    /// Of a read: its answer. Of an effect: the body of its call.
    pub fn result(&self, _operation: OperationId) -> Option<&Shape> {
        None
    }

    /// The repair is not run.
    pub fn repair_removed(&self, _operation: OperationId) -> bool {
        false
    }

    /// What this operation sends is called right away, outside its commit.
    pub fn outbox_removed(&self, _operation: OperationId) -> bool {
        false
    }

    /// Each attempt of this effect is a new call to the world.
    pub fn key_removed(&self, _operation: OperationId) -> bool {
        false
    }

    /// This read may be answered from any older state.
    pub fn at_least_removed(&self, _operation: OperationId) -> bool {
        false
    }
}
