//! What a server leaves to whoever started it: it knows the store's own language, and this crate
//! does not.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::service::Service;

pub trait Admin: Send + Sync {
    /// Copies the store while it serves, and checks the copy. Gives what it holds.
    fn backup(&self, to: &Path) -> Result<Value, AdminError>;

    /// Who is told of the events of this design, and how far they are.
    fn told(&self, design: &str) -> Vec<Told> {
        let _ = design;
        Vec::new()
    }

    /// Puts another version of a design in the place of the one that is served.
    fn replace(&self, old: &Service, text: &str, drop: &[String]) -> Result<Service, AdminError>;
}

/// How one webhook stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// without its query, which may be a secret
    pub url: String,
    /// events that were taken since the server started
    pub delivered: u64,
    /// attempts at the event that is now being told
    pub attempts: u32,
    /// when that event happened, in milliseconds; none: it was told of everything
    pub since: Option<i64>,
    /// what went wrong last; empty when all is well
    pub trouble: String,
    /// times that the feed had forgotten events before they were told
    pub gaps: u64,
}

impl Told {
    /// How far it is behind.
    pub fn lag_ms(&self, now_ms: i64) -> i64 {
        self.since.map_or(0, |since| now_ms.saturating_sub(since).max(0))
    }
}

/// Why an operator's wish was not carried out.
#[derive(Debug)]
pub enum AdminError {
    /// the text does not compile, a line for each reason
    Design(Vec<String>),
    /// stored truth cannot follow
    Unsafe {
        detail: String,
        obstacles: Value,
    },
    Cannot(String),
}

/// The operator's side, in a configuration.
#[derive(Clone)]
pub struct AdminHandle(pub Arc<dyn Admin>);

impl fmt::Debug for AdminHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operator's side")
    }
}
