//! Content that nothing mentions is taken away in the background.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use runtime::CallError;
use tokio::time::MissedTickBehavior;

use crate::gateway::Gateway;

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

    fn add(&self, design: &str, came_to: &Result<runtime::Collected, CallError>) {
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

/// Collects the content of every design now and then, until the server stops.
pub async fn collect(gateway: Arc<Gateway>) {
    let Some(Collecting { every_ms, grace_ms }) = gateway.settings.collecting else { return };
    let mut beat = tokio::time::interval(Duration::from_millis(every_ms.max(1)));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // the first comes at once, and nobody is in a hurry after the start
    beat.tick().await;
    loop {
        tokio::select! {
            _ = beat.tick() => {}
            () = gateway.stopped() => return,
        }
        let gateway = Arc::clone(&gateway);
        let collected = tokio::task::spawn_blocking(move || {
            for service in gateway.services().filter(|service| !service.design().blobs.is_empty()) {
                let grace_ms = i64::try_from(grace_ms).unwrap_or(i64::MAX);
                let came_to = store::block_on(service.runtime.collect_blobs(grace_ms));
                gateway.collections.add(&service.name, &came_to);
            }
        });
        if collected.await.is_err() {
            return;
        }
    }
}
