//! What collections of content came to, and how often they are made.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use runtime::CallError;

/// How often, and how long content is left alone that nothing mentions yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collecting {
    pub every_ms: u64,
    pub grace_ms: u64,
}

impl Default for Collecting {
    fn default() -> Collecting {
        Collecting { every_ms: 600_000, grace_ms: 3_600_000 }
    }
}

/// What collections came to, by design.
#[derive(Debug, Default)]
pub struct Collections(Mutex<BTreeMap<String, Sums>>);

#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub taken: u64,
    /// still there after the last one
    pub kept: u64,
    pub failed: u64,
}

impl Collections {
    pub fn of(&self, design: &str) -> Sums {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(design)
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn add(&self, design: &str, came_to: &Result<runtime::Collected, CallError>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sums = all.entry(design.to_string()).or_default();
        match came_to {
            Ok(collected) => {
                sums.taken += collected.taken as u64;
                sums.kept = collected.kept as u64;
            }
            // the version in its place is asked the next time
            Err(CallError::Replaced) => {}
            Err(error) => {
                tracing::warn!(%design, %error, "content was not collected");
                sums.failed += 1;
            }
        }
    }
}
