//! What a design amounts to, derived from its text alone: what each operation is, what keeps it
//! right, what gets hot first, and what each engine is asked to do.
//!
//! Nothing is run here, and no hint is taken: two designs of one structure get one explanation.

mod against;
mod derive;
mod draw;
mod facts;
mod hot;
mod markdown;
mod partition;
mod realize;
mod sheet;
mod spell;
mod tla;
mod types;

pub use against::{Change, Difference, Follows, against};
pub use derive::{
    Clause, Derivation, Fence, FenceKind, Kind, Mechanism, Shape, Touch, TouchKind, derive,
};
pub use draw::{Machine, Transition, drawings, linked, machines};
pub use hot::{HotKey, WayOut};
pub use markdown::{difference, markdown, partitioning, realization};
pub use partition::{
    Along, Class, Otherwise, Partitioning, Placed, RecordPlace, Totals, partition,
};
pub use realize::{
    CommitForm, Engine, Expected, KeyForm, Line, Part, Realization, Realized, Record, ScanForm,
    Size, WriteForm, WriteKind, realize,
};
pub use sheet::{Sheet, sheet};
pub use tla::{Tla, TlaGoal, tla};
