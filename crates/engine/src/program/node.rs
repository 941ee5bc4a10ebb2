//! The lowered form: flat lists, everything refers to everything else by number.

use super::lookup::Column;
use design::model::{
    ActorId, BlobId, CompareOp, MemoryUseId, OperationId, Rounding, StateId, SubjectId, ViewId,
};

pub(crate) use super::stmt_node::{
    AssignKind, Destination, Form, Placed, Slot, StmtNode, StmtOp, Store,
};
use crate::Word;

/// Into `Program::nodes` and `Program::spans`.
pub(crate) type NodeId = u32;

/// Some neighbours in one of the program's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Run {
    pub start: u32,
    pub len: u32,
}

impl Run {
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// An expression. Where a collection is meant (a *block*), the node is evaluated onto the stack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Node {
    Const(Word),
    /// of `Program::words`: a length and the elements
    Block(Run),
    Local {
        offset: u32,
    },
    Memory(MemoryUseId),
    Me,
    Now,
    /// a truth attribute of the record that a local refers to
    Field {
        local: u32,
        subject: SubjectId,
        offset: u32,
    },
    /// a truth attribute or an end of a log, of any record
    Attr {
        base: NodeId,
        subject: SubjectId,
        offset: u32,
    },
    Counter {
        base: NodeId,
        subject: SubjectId,
        offset: u32,
    },
    Cache {
        base: NodeId,
        subject: SubjectId,
        state: StateId,
        offset: u32,
    },
    KeyPart {
        base: NodeId,
        subject: SubjectId,
        part: u32,
    },
    /// the record with this key
    Keyed {
        subject: SubjectId,
        key: Run,
    },
    Exists {
        base: NodeId,
        subject: SubjectId,
    },
    ExistsCopy {
        base: NodeId,
        subject: SubjectId,
        state: StateId,
    },
    /// of `Program::hashes`
    Hash {
        of: u32,
        parts: Run,
    },
    /// signature, key, digest
    Verified(Run),
    /// leaf, root, proof
    Included(Run),
    NextOf {
        schedule: NodeId,
        after: NodeId,
    },
    Stored {
        base: NodeId,
        blob: BlobId,
    },
    IsNull(NodeId),
    IsNullBlock(NodeId),
    Not(NodeId),
    Negate(NodeId),
    /// of `Program::lists`
    And(Run),
    Or(Run),
    Implies(NodeId, NodeId),
    Equal {
        left: NodeId,
        right: NodeId,
        not: bool,
    },
    EqualBlocks {
        left: NodeId,
        right: NodeId,
        not: bool,
        stride: u32,
    },
    Order {
        op: CompareOp,
        left: NodeId,
        right: NodeId,
    },
    /// A comparison of two leaves, which stand in `Program::pairs` as well.
    Fused {
        op: CompareOp,
        pair: u32,
        left: NodeId,
        right: NodeId,
    },
    In {
        item: NodeId,
        block: NodeId,
        stride: u32,
    },
    /// among values that are written one by one
    Among {
        item: NodeId,
        values: Run,
    },
    Arithmetic {
        op: Arithmetic,
        left: NodeId,
        right: NodeId,
    },
    Min(Run),
    Max(Run),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Let {
        slot: u32,
        offset: u32,
        body: NodeId,
    },
    /// into `Program::loops`
    Loop(u32),
    WorldArg {
        local: u32,
        offset: u32,
    },
    /// what a principal remembers; `of` is the same node where there is no record
    Remembered {
        principal: NodeId,
        memory: (u16, u16),
        of: NodeId,
    },
    Old(NodeId),
    Set(Run),
    List(Run),
    /// a list of records, of `Program::slots`
    Structs(Run),
    ListIndex {
        block: NodeId,
        index: NodeId,
    },
    MapIndex {
        block: NodeId,
        index: NodeId,
    },
    Size {
        block: NodeId,
        stride: u32,
    },
    /// of `Program::slots`
    Record(Run),
    View {
        view: ViewId,
        args: Run,
    },
    /// slots: the record, from, limit
    LogSlice {
        subject: SubjectId,
        log: StateId,
        parts: Run,
    },
    /// what a design that compiled does not have; also stands for the place of a statement
    Unsupported,
}

/// A value that is at hand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Leaf {
    /// into `Program::words`
    Const(u32),
    Local(u32),
    Field {
        local: u16,
        subject: u16,
        offset: u16,
    },
    /// as it was before the transition
    OldField {
        local: u16,
        subject: u16,
        offset: u16,
    },
    Memory(u32),
    Me,
    Now,
}

/// The arithmetic of two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// of two decimals, in millionths
    MultiplyDecimals,
    DivideDecimals,
    Rounded(Rounded),
    /// of a decimal, in units of so many decimal places
    Part {
        digits: u8,
    },
    Place,
}

/// A product or a quotient of numbers of which one is a decimal, rounded once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounded {
    pub divide: bool,
    /// which sides are in millionths: both, or one of them
    pub sides: Sides,
    pub rounding: Rounding,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sides {
    Both,
    Left,
    Right,
}

/// A quantifier or an aggregate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Loop {
    pub kind: LoopKind,
    /// where the variable stands in the frame
    pub local: u32,
    pub over: Over,
    pub filter: Option<NodeId>,
    /// of records: only those make a difference that have this value there
    pub by: Option<(Column, NodeId)>,
}

impl Loop {
    /// By what its records are looked up.
    pub fn column(&self) -> Option<(SubjectId, Column)> {
        match self.over {
            Over::All(subject) => self.by.map(|(column, _)| (subject, column)),
            // the parent is the first part of the key
            Over::Children { child, .. } => Some((child, Column::Part(0))),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum LoopKind {
    All(NodeId),
    Any(NodeId),
    Count,
    Sum(NodeId),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Over {
    All(SubjectId),
    Children {
        child: SubjectId,
        parent: NodeId,
    },
    /// each element takes `stride` words, of which the variable holds the first `bound`
    Elements {
        block: NodeId,
        stride: u32,
        bound: u32,
    },
    Rows(Rows, OperationId),
    Principals(ActorId),
}

/// What a variable over calls or messages ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rows {
    /// what the world outside has done
    Done,
    /// messages under way
    UnderWay,
    /// open entries of the outbox
    Waiting,
}

impl Rows {
    pub const ALL: [Rows; 3] = [Rows::Done, Rows::UnderWay, Rows::Waiting];
}
