//! The words in which a derivation is given.

use design::model::OperationKind;
use serde::{Serialize, Serializer};

use crate::facts::Unit;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Step,
    Repair,
    /// the call to the world outside
    Effect,
    /// what its answer does
    Answer,
    Read,
    View,
}

impl Kind {
    pub fn of(unit: &Unit<'_>) -> Kind {
        match (&unit.operation.kind, unit.answer) {
            (OperationKind::Step { .. }, _) => Kind::Step,
            (OperationKind::Repair { .. }, _) => Kind::Repair,
            (OperationKind::Effect(_), None) => Kind::Effect,
            (OperationKind::Effect(_), Some(_)) => Kind::Answer,
            (OperationKind::Read { .. }, _) => Kind::Read,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shape {
    StateTransition,
    CreateTarget,
    Overwrite,
    Append,
    ReadSource,
    ReadProjection,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Shape::StateTransition => "state transition",
            Shape::CreateTarget => "create target",
            Shape::Overwrite => "overwrite",
            Shape::Append => "append",
            Shape::ReadSource => "read source",
            Shape::ReadProjection => "read projection",
        }
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The fourteen, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mechanism {
    Insert = 1,
    VersionedOverwrite,
    GuardedUpdate,
    AppendLog,
    MaterializedView,
    Counter,
    Claim,
    Hold,
    Frontier,
    DueScan,
    SnapshotPublication,
    SearchIndex,
    Ranking,
    Workflow,
}

impl Mechanism {
    pub const ALL: [Mechanism; 14] = [
        Mechanism::Insert,
        Mechanism::VersionedOverwrite,
        Mechanism::GuardedUpdate,
        Mechanism::AppendLog,
        Mechanism::MaterializedView,
        Mechanism::Counter,
        Mechanism::Claim,
        Mechanism::Hold,
        Mechanism::Frontier,
        Mechanism::DueScan,
        Mechanism::SnapshotPublication,
        Mechanism::SearchIndex,
        Mechanism::Ranking,
        Mechanism::Workflow,
    ];

    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Insert => "Insert / Create",
            Mechanism::VersionedOverwrite => "Versioned Overwrite",
            Mechanism::GuardedUpdate => "Guarded Conditional Update",
            Mechanism::AppendLog => "Append Log / Append Table",
            Mechanism::MaterializedView => "Materialized View",
            Mechanism::Counter => "Counter / Projection Update",
            Mechanism::Claim => "Claim / Lease",
            Mechanism::Hold => "Guarded Update + Hold / Lease",
            Mechanism::Frontier => "Guarded Frontier Update",
            Mechanism::DueScan => "Due Scan + Create Target",
            Mechanism::SnapshotPublication => "Versioned Snapshot Publication",
            Mechanism::SearchIndex => "Search Index",
            Mechanism::Ranking => "Ranking / Top K",
            Mechanism::Workflow => "Workflow Orchestration",
        }
    }

    /// When several stand in one operation, the one that it is named after.
    pub fn weight(self) -> u8 {
        match self {
            Mechanism::Hold => 14,
            Mechanism::Claim => 13,
            Mechanism::DueScan => 12,
            Mechanism::Workflow => 11,
            Mechanism::AppendLog => 10,
            Mechanism::SnapshotPublication => 9,
            Mechanism::Frontier => 8,
            Mechanism::Counter => 7,
            Mechanism::GuardedUpdate => 6,
            Mechanism::VersionedOverwrite => 5,
            Mechanism::Insert => 4,
            Mechanism::SearchIndex | Mechanism::Ranking | Mechanism::MaterializedView => 3,
        }
    }
}

impl Serialize for Mechanism {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
