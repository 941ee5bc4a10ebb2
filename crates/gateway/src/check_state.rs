//! How far the check of a design has come, and what it may use up.

use std::sync::Arc;

use model_checker::Report;

/// How much one check may use up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    pub states_max: usize,
    pub memory_bytes_max: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { states_max: 2_000_000, memory_bytes_max: 256 << 20 }
    }
}

/// How far the check of a design has come.
#[derive(Default)]
pub enum Checking {
    #[default]
    NotAsked,
    Running {
        arm: String,
        states: u64,
    },
    Done(Arc<Report>),
    /// its world cannot be explored
    Failed(String),
}
