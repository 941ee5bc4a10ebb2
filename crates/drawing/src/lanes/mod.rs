//! Swim lanes: who acts on what, row after row.

mod layout;
mod svg;

pub use svg::svg;

/// What the classes of the lanes look like. The colours are the page's, so that a drawing is light or
/// dark with it.
pub const STYLE: &str = include_str!("lanes.css");

/// The order is that from left to right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LaneKind {
    Principal,
    Engine,
    Record,
    World,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    pub kind: LaneKind,
    pub name: String,
}

/// What comes back along the arrow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    None,
    Given,
    Lost,
    Refused,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// across all lanes: time passes
    Band,
    /// something that happens at one lane: a crash, a decision
    Mark { lane: usize, bad: bool },
    /// from one lane to all that it touches, the nearest first
    Arrow { from: usize, to: Vec<usize>, reply: Reply, doubled: bool, in_flight: bool },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub shape: Shape,
    pub label: String,
    /// what would have refused here
    pub warning: Option<String>,
    /// lane, and what changed there
    pub changes: Vec<(usize, Vec<String>)>,
    /// lane, and what is believed there from now on
    pub beliefs: Vec<(usize, Vec<String>)>,
    pub cycle_start: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lanes {
    pub lanes: Vec<Lane>,
    pub rows: Vec<Row>,
}
