//! What can be set, and what it is when nothing is set.

use std::sync::Arc;

use store::{Surroundings, real_surroundings};

use crate::secrets::Secrets;
use crate::servers::Process;
use crate::views::TextEngine;

/// Limits and habits, each with a default.
#[derive(Clone, Debug)]
pub struct Settings {
    /// how long an outcome is given again for its idempotency key
    pub idempotency_retention_ms: i64,
    pub outbox: engine::outbox::Policy,
    /// how many repairs are fired in a row before calls get their turn
    pub repair_batch: usize,
    /// a repair whose guard depends on another record is looked at again after so long
    pub reexamine_ms: i64,
    /// how often a call is tried again when others change what it has read, on a store that does
    /// not keep its state in this process
    pub conflicts: store::Retry,
    /// on such a store others look after so long at an entry of the outbox that a server has in hand: it keeps it as
    /// long as it lives
    pub claim_ms: i64,
    /// on such a store a server may be relied on for so long after it was last heard of; then others do its work
    pub lease_ms: i64,
    /// on such a store every repair and delivery is one server's first; others do it so long after it was due
    pub grace_ms: i64,
    /// a server whose clock is further than this from that of such a store does not serve
    pub skew_max_ms: i64,
    /// the process that this is, for those who ask which servers share a store; none: nothing is told of it
    pub process: Option<Arc<Process>>,
    /// the keys that secrets are kept with; none: a call that is given a secret is not taken
    pub secrets: Option<Arc<dyn Secrets>>,
    /// what keeps the indexes of `search` views; none: they are not answered
    pub search: Option<Arc<dyn TextEngine>>,
    /// an answer of a `search` view may be so much behind what is durable, unless it is asked for a revision: each
    /// time an index catches up costs a commit of it
    pub search_lag_ms: i64,
    /// time, threads and chance; the machine's own, if nothing else is given
    pub surroundings: Arc<dyn Surroundings>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            idempotency_retention_ms: 24 * 3_600_000,
            outbox: engine::outbox::Policy {
                backoff_first_ms: 200,
                backoff_max_ms: 60_000,
                attempts_max: 8,
            },
            repair_batch: 256,
            reexamine_ms: crate::repairs::REEXAMINE_MS,
            conflicts: store::Retry::default(),
            claim_ms: 6_000,
            lease_ms: 5_000,
            grace_ms: 1_000,
            skew_max_ms: 500,
            process: None,
            secrets: None,
            search: None,
            search_lag_ms: 100,
            surroundings: real_surroundings(),
        }
    }
}
