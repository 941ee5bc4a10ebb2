//! What the caller asks for.

use std::fmt;

use design::model::FaultSetting;

use crate::Trace;

#[derive(Clone, Debug)]
pub struct Options {
    /// how many states one arm may have
    pub max_states: usize,
    /// how many bytes one arm may hold
    pub max_memory: usize,
    pub threads: usize,
    /// states that differ only in the names of interchangeable things are one
    pub symmetry: bool,
    /// counters that only advance are kept by rank
    pub normalise: bool,
    /// Other faults than the design's `check` says; none: its own. An empty list is no faults.
    pub faults: Option<Vec<FaultSetting>>,
    /// also check the failures, each without its protection
    pub failures: bool,
    /// also check `recovers` and `leads_to`
    pub recovery: bool,
    /// also look for every step, refusal, fault and protocol path
    pub witnesses: bool,
    /// times are kept by region, not in steps of a part of a unit
    pub regions: bool,
    /// also look for clauses that nothing needs
    pub free: bool,
    /// goals are explored in what they read, not in the whole design
    pub slices: bool,
    /// Goals that have state in common are explored at once, up to so many states; what has more is explored in
    /// pieces.
    pub at_once: usize,
    /// Where a slice is large, clauses that read other records are left open, for invariants. Off unless one
    /// asks for it.
    pub open: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_states: 100_000_000,
            max_memory: 4 << 30,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            symmetry: true,
            normalise: true,
            faults: None,
            failures: true,
            recovery: true,
            witnesses: true,
            regions: true,
            free: true,
            slices: true,
            at_once: 400_000,
            open: false,
        }
    }
}

/// How far an arm has come.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Progress {
    /// which arm: `as written`, or `without claim.free`
    pub arm: String,
    pub states: u64,
    pub depth: u32,
    pub seconds: f64,
    pub bytes: u64,
    /// a goal that was just found to break, and how
    pub violated: Option<(String, Trace)>,
}

impl Progress {
    pub fn states_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.states as f64 / self.seconds } else { 0.0 }
    }
}

/// Which budget ran out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    States,
    Memory,
    /// as deep as `check` says
    Depth,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::States => "more states than the budget allows",
            Stop::Memory => "more memory than the budget allows",
            Stop::Depth => "as deep as `check` says",
        })
    }
}

/// The small world cannot be explored as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorldError {
    /// an attribute (or memory) whose values are without end
    NoDomain { what: String },
    /// nothing says how many there are
    NoValues { what: String },
    /// too many combinations to list
    TooMany { what: String },
    /// what it starts with is outside of its bounds: there is nothing to explore
    StartsOutside { what: String },
    /// not the default world, but this one
    Within { world: String, why: Box<WorldError> },
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::NoDomain { what } => {
                write!(f, "no finite domain for `{what}`: add `{what}: 0..3` to check")
            }
            WorldError::NoValues { what } => {
                write!(f, "`check` does not say which values `{what}` takes")
            }
            WorldError::Within { world, why } => write!(f, "in the world `{world}`: {why}"),
            WorldError::TooMany { what } => write!(f, "too many combinations of {what}"),
            WorldError::StartsOutside { what } => write!(
                f,
                "`{what}` starts outside of the bounds that `check` gives it or what it is \
                 compared with: widen them"
            ),
        }
    }
}

impl std::error::Error for WorldError {}

/// What was explored stays in memory while other searches run.
pub(crate) fn beside(options: &Options, bytes: usize) -> Options {
    Options { max_memory: options.max_memory.saturating_sub(bytes), ..options.clone() }
}
