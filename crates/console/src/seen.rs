//! What the console keeps of one design: the last minutes, and what is worked out once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use design::model::{Design, OperationKind};
use explain::Sheet;
use gateway::DEAD_LETTER;
use runtime::Runtime;

use crate::pulse::{Pulse, Second, Totals};

#[derive(Default)]
pub struct Seen {
    pulse: Mutex<Pulse>,
    dead_letters: AtomicU64,
    set_aside: AtomicU64,
    sheet: OnceLock<Sheet>,
}

/// The outbox and what was set aside are looked through no further than this when they are counted.
const LOOKED_AT: usize = 1_000;

impl Seen {
    /// Once a second.
    pub fn look(&self, runtime: &Runtime, within: Vec<(f64, u64)>) {
        let (mut done, mut refused) = (0, 0);
        let kinds = runtime.design().operations.iter().map(|operation| &operation.kind);
        for ((_, times, by_clause), kind) in runtime.counters().all().into_iter().zip(kinds) {
            if matches!(kind, OperationKind::Step { .. } | OperationKind::Read { .. }) {
                done += times;
                refused += by_clause.values().sum::<u64>();
            }
        }
        let totals = Totals { done, refused, within };
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner).beat(totals);
        let sends =
            runtime.design().operations.iter().any(|o| matches!(o.kind, OperationKind::Effect(_)));
        if sends && let Ok(waiting) = runtime.outbox(LOOKED_AT) {
            let dead = waiting.iter().filter(|one| one.state == DEAD_LETTER).count();
            self.dead_letters.store(dead as u64, Ordering::Relaxed);
        }
        if let Ok(aside) = runtime.set_aside(LOOKED_AT) {
            self.set_aside.store(aside.len() as u64, Ordering::Relaxed);
        }
    }

    pub fn seconds(&self) -> Vec<Second> {
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner).seconds()
    }

    pub fn dead_letters(&self) -> u64 {
        self.dead_letters.load(Ordering::Relaxed)
    }

    /// Entries that could not be worked on.
    pub fn set_aside(&self) -> u64 {
        self.set_aside.load(Ordering::Relaxed)
    }

    /// The derivation, worked out when it is first asked for.
    pub fn sheet(&self, design: &Design) -> &Sheet {
        self.sheet.get_or_init(|| explain::sheet(design))
    }
}
