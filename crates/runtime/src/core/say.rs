//! Whether a runtime has the say: its text may have been replaced by another server, or its clock may be off.

use store::{Decision, Transaction};

use super::fence::{Fence, Watching};
use super::runtime::Runtime;
use super::skew::Skewed;
use crate::calls::CallError;

impl Runtime {
    /// The epoch that this runtime was opened in; none: the state is in this process, and nobody else has a say.
    pub fn epoch(&self) -> Option<u64> {
        self.fence.as_ref().map(|fence| fence.epoch.number)
    }

    /// Runs a transaction of a runtime that is not alone with its store. `floor`: no decision before this time.
    pub(super) fn pass_fence(
        &self,
        fence: &Fence,
        transaction: &mut dyn Transaction,
        floor: &mut i64,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<Decision, CallError> {
        let found = transaction.get(&fence.key).map(|(_, bytes)| bytes);
        // what is not fetched yet is asked for together with whatever else this run will miss
        let later = found.is_none() && transaction.misses();
        // It may be the write of a commit that is under way, and may fail: such a run is not the last one.
        if !later && !fence.is_still(found) {
            return Err(CallError::Replaced);
        }
        let before = self.clock.now_ms();
        let mut watching =
            Watching { inner: transaction, not_before: *floor, latest: i64::MIN.into() };
        let decision = run(&mut watching);
        let latest = watching.latest.get();
        if latest > before.max(*floor) {
            *floor = latest;
            return Ok(Decision::Again);
        }
        Ok(decision)
    }

    /// Whether this runtime still has the say, asked of the store if others may have taken it.
    pub(crate) async fn current_anywhere(&self) -> Result<(), CallError> {
        self.still_current()?;
        let Some(fence) = &self.fence else { return Ok(()) };
        self.in_time().await?;
        let read = self.store.read(std::slice::from_ref(&fence.key), None).await?;
        if !fence.is_still(read.records[0].as_ref().map(|record| &*record.value)) {
            self.gate.retire();
        }
        self.still_current()
    }

    /// The time at which something is decided in a transaction: never before what it has read was written, whatever
    /// the clock of the server said that wrote it.
    pub(crate) fn now_in(&self, transaction: &dyn Transaction) -> i64 {
        let now = self.clock.now_ms();
        if self.fence.is_some() { now.max(transaction.not_before()) } else { now }
    }

    /// Refuses to go on while the clock is too far from the store's.
    pub(crate) async fn in_time(&self) -> Result<(), CallError> {
        let (mut beyond, again) = self.skew.known(self.settings.surroundings.now());
        if again {
            let before = self.clock.now_ms();
            // a store that does not answer will not take a commit either
            if let Ok(Some(theirs)) = self.store.clock().await {
                let after = self.clock.now_ms();
                let ours = before + (after - before) / 2;
                let ahead_ms = ours.saturating_sub(i64::try_from(theirs).unwrap_or(i64::MAX));
                // the answer may have been under way for all of this time
                let known = ahead_ms.abs() - (after - before) / 2;
                let most_ms = self.settings.skew_max_ms;
                beyond = (known > most_ms).then_some(Skewed { ahead_ms, most_ms });
                let was = self.skew.learn(ahead_ms, beyond);
                let design = &self.schema.design.name;
                match (was, beyond) {
                    (None, Some(skewed)) => tracing::error!(%design, %skewed, "not served"),
                    (Some(_), None) => tracing::info!(%design, "the clock is right again; served"),
                    _ => {}
                }
            }
        }
        beyond.map_or(Ok(()), |skewed| Err(CallError::Skewed(skewed)))
    }
}
