//! Statements, lowered, and the values that they put into records.

use design::model::{EventId, MemoryUseId, OperationId, StateId, SubjectId};

use super::node::{NodeId, Run};

/// A value on its way into a record, an argument or a result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Slot {
    pub node: NodeId,
    /// in words
    pub width: u32,
    pub form: Form,
    pub optional: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Scalar,
    /// a collection; a map's elements take two words
    Block {
        stride: u32,
    },
    Record,
}

/// Words of a record that a value goes to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Placed {
    /// into the record, from its first word
    pub offset: u32,
    pub slot: Slot,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct StmtNode {
    pub kind: StmtOp,
    /// whose span is the statement's
    pub at: NodeId,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum StmtOp {
    Assign {
        place: Destination,
        change: AssignKind,
        value: Slot,
    },
    Memory {
        memory: MemoryUseId,
        change: AssignKind,
        value: Slot,
    },
    Let {
        offset: u32,
        value: Slot,
    },
    /// `keys`: slots; `fields`: placed
    New {
        subject: SubjectId,
        keys: Run,
        fields: Run,
    },
    Delete {
        subject: SubjectId,
        target: NodeId,
    },
    /// `entry`: slots, one for each attribute of the log
    Append {
        subject: SubjectId,
        base: NodeId,
        log: StateId,
        keep: Option<u64>,
        entry: Run,
    },
    Emit {
        event: EventId,
        fields: Run,
    },
    Send {
        operation: OperationId,
        args: Run,
    },
    For {
        offset: u32,
        block: NodeId,
        stride: u32,
        bound: u32,
        body: Run,
    },
    If {
        condition: NodeId,
        then: Run,
        otherwise: Run,
    },
}

/// An attribute of the record that `base` refers to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Destination {
    pub base: NodeId,
    pub subject: SubjectId,
    pub store: Store,
    pub attr: u32,
    pub offset: u32,
    pub width: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Truth,
    Cache(StateId),
    Ephemeral(StateId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AssignKind {
    Set,
    Add,
    Subtract,
    Insert,
    Remove,
    Push,
    RemoveKey,
    /// `map[key] := value` and its kin
    PutSet {
        key: NodeId,
    },
    PutAdd {
        key: NodeId,
    },
    PutSubtract {
        key: NodeId,
    },
    Unsupported,
}
