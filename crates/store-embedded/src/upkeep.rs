//! How much log there is behind the newest snapshot.

use crate::options::Options;

#[derive(Debug, Default)]
pub struct Housekeeping {
    pub snapshot_bytes: u64,
    /// `log_bytes` when it was begun.
    pub snapshot_at_log_bytes: u64,
    /// What was behind it already when the store was opened: a store that lives shortly, and often,
    /// must not gather log without end.
    pub carried_bytes: u64,
}

impl Housekeeping {
    /// Whether the log has grown by so many times what a snapshot is worth.
    pub fn is_due(&self, log_bytes: u64, options: &Options, times: u64) -> bool {
        let grown = log_bytes - self.snapshot_at_log_bytes + self.carried_bytes;
        grown >= options.snapshot_after_bytes.max(self.snapshot_bytes).saturating_mul(times)
    }
}
