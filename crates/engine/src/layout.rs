//! Where each value stands in a record.

use design::model::{AttrId, CounterId, Operation, StateId, StateKind, Subject, Type};

/// Some words of a record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    pub offset: u32,
    pub width: u32,
}

impl Field {
    pub fn range(self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.width) as usize
    }
}

/// How many words a value takes.
pub fn width_of(ty: &Type) -> u32 {
    match ty.required() {
        Type::List { of, max } => 1 + max * width_of(of),
        Type::Set { max, .. } => 1 + max,
        Type::Map { max, .. } => 1 + 2 * max,
        Type::Struct(fields) => fields.len() as u32,
        Type::Record(fields) => fields.iter().map(|(_, ty)| width_of(ty)).sum(),
        _ => 1,
    }
}

/// Lays values one after the other.
#[derive(Default)]
struct Row {
    width: u32,
}

impl Row {
    fn place(&mut self, width: u32) -> Field {
        let field = Field { offset: self.width, width };
        self.width += width;
        field
    }
}

/// The record of a subject: its truth attributes in the order written, then one word for each
/// counter, then for each log the offset of the first entry kept and the offset after the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    attributes: Vec<Option<Field>>,
    counters: u32,
    logs: Vec<Option<u32>>,
    /// in words
    pub width: u32,
}

impl Layout {
    pub(crate) fn of(subject: &Subject) -> Layout {
        let mut row = Row::default();
        let attributes = subject
            .attributes
            .iter()
            .map(|attribute| {
                let kind = subject.states.get(attribute.state.index())?.kind;
                matches!(kind, StateKind::Truth).then(|| row.place(width_of(&attribute.ty)))
            })
            .collect();
        let counters = row.width;
        row.width += subject.counters.len() as u32;
        let logs = subject
            .states
            .iter()
            .map(|state| matches!(state.kind, StateKind::Log { .. }).then(|| row.place(2).offset))
            .collect();
        Layout { attributes, counters, logs, width: row.width }
    }

    /// `None`: not an attribute of a truth.
    pub fn attribute(&self, attr: AttrId) -> Option<Field> {
        self.attributes.get(attr.index()).copied().flatten()
    }

    pub fn counter(&self, counter: CounterId) -> u32 {
        self.counters + counter.0
    }

    /// The word with the offset of the first entry kept.
    pub fn log_start(&self, log: StateId) -> Option<u32> {
        self.logs.get(log.index()).copied().flatten()
    }

    /// The word with the offset after the last entry.
    pub fn log_end(&self, log: StateId) -> Option<u32> {
        self.log_start(log).map(|start| start + 1)
    }
}

/// One copy of a cache state, one ephemeral, or one entry of a log: its attributes in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateLayout {
    /// (attribute, where)
    pub fields: Vec<(AttrId, Field)>,
    /// in words
    pub width: u32,
}

impl StateLayout {
    pub(crate) fn of(subject: &Subject, state: StateId) -> StateLayout {
        let mut row = Row::default();
        let mut fields = Vec::new();
        for (index, attribute) in subject.attributes.iter().enumerate() {
            if attribute.state == state {
                fields.push((AttrId::of(index), row.place(width_of(&attribute.ty))));
            }
        }
        StateLayout { fields, width: row.width }
    }

    pub fn attribute(&self, attr: AttrId) -> Option<Field> {
        self.fields.iter().find(|(id, _)| *id == attr).map(|(_, field)| *field)
    }
}

/// The arguments of an operation, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamsLayout {
    pub fields: Vec<Field>,
    /// in words
    pub width: u32,
}

impl ParamsLayout {
    pub(crate) fn of(operation: &Operation) -> ParamsLayout {
        let mut row = Row::default();
        let fields = operation.params.iter().map(|param| row.place(width_of(&param.ty))).collect();
        ParamsLayout { fields, width: row.width }
    }
}
