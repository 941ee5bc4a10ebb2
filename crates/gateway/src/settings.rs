//! What a gateway is told when it starts.

use std::sync::Arc;

use runtime::ManualClock;
use telemetry::Spans;

use crate::access::known::Access;
use crate::admin::AdminHandle;
use crate::check_state::Budget;
use crate::collections::Collecting;
use crate::limits::Limits;

#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub limits: Limits,
    /// callers come over encrypted connections alone
    pub encrypted: bool,
    /// none: nobody copies the store or replaces a design here
    pub admin: Option<AdminHandle>,
    pub access: Access,
    /// where spans go; by default nowhere
    pub spans: Spans,
    /// none: content that nothing mentions stays
    pub collecting: Option<Collecting>,
    /// The clock of all designs, if it is moved by hand: for tests, and on this machine alone.
    pub clock: Option<Arc<ManualClock>>,
    /// designs whose verdict is not known are checked within this; none: only when somebody asks
    pub checking: Option<Budget>,
}
