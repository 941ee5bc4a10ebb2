//! Content that nothing mentions is taken away in the background.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::collections::Collecting;
use crate::gateway::Gateway;

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
