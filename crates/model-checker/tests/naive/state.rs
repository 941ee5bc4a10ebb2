//! A state: plain maps, whatever there is.

use std::collections::BTreeMap;

use super::ast::{Fault, Rec, Value};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Record {
    pub attrs: Vec<Value>,
    pub start: i64,
    pub end: i64,
}

/// Whose memory, as which actor, which field, of which record.
pub type Slot = (usize, usize, usize, Rec);

/// What a call takes along: (field, record) and the value.
pub type Taken = BTreeMap<(usize, Rec), Value>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Call {
    pub op: usize,
    /// none: it does not matter
    pub person: Option<usize>,
    pub args: Vec<Value>,
    pub taken: Taken,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Message {
    pub from: i64,
    pub op: usize,
    pub args: Vec<Value>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Heard {
    Asked(Vec<Value>),
    Refused(Vec<Value>),
    /// with the answer
    Done(Vec<Value>, Value),
    /// without the key's protection
    Twice(Vec<Value>, Value),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct State {
    pub records: BTreeMap<Rec, Record>,
    pub memory: BTreeMap<Slot, Value>,
    pub older: BTreeMap<Slot, Value>,
    /// in order
    pub calls: Vec<Call>,
    /// open entries of the outbox: effect and key
    pub outbox: BTreeMap<(usize, Value), Vec<Value>>,
    pub world: BTreeMap<(usize, Value), Heard>,
    /// in order
    pub messages: Vec<Message>,
    /// by principal and record
    pub copies: BTreeMap<(usize, Rec), Value>,
    /// how often each fault may still strike
    pub left: BTreeMap<Fault, u32>,
    /// the places cannot reach each other
    pub parted: bool,
    /// with `clock_step`: when each record was written, if that is not long ago
    pub written: BTreeMap<Rec, i64>,
}
