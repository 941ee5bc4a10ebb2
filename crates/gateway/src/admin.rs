//! What a gateway leaves to whoever started it: it knows the store's own language and what runs beside
//! a design, and this crate does not.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use design::model::Design;
use model_checker::Word;
use serde_json::Value;

use crate::service::Service;
use crate::standing::Standing;

pub trait Admin: Send + Sync {
    /// Copies the store while it serves, and checks the copy. Gives what it holds.
    fn backup(&self, to: &Path) -> Result<Value, AdminError>;

    /// How the store is.
    fn store(&self) -> StoreState {
        StoreState::default()
    }

    /// Who is told of the events of this design, and how far they are.
    fn told(&self, design: &str) -> Vec<Told> {
        let _ = design;
        Vec::new()
    }

    /// Compiles another version of a design and says whether it may be served. Changes nothing.
    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        let _ = (old, with);
        Err(AdminError::Cannot("no design is replaced here".into()))
    }

    /// Starts what runs beside a new version; what ran beside the one before it ends.
    fn start(&self, new: &Service) -> Result<(), AdminError> {
        let _ = new;
        Ok(())
    }

    /// Callers find the new version from now on.
    fn switched(&self, new: &Service) {
        let _ = new;
    }

    /// A design was checked beside the server: whoever keeps verdicts keeps this one.
    fn checked(&self, service: &Service, word: &Word) {
        let _ = (service, word);
    }
}

/// A version that may take the place of another. Nothing has changed yet.
pub struct Prepared {
    pub design: Design,
    /// its text with everything that it uses written out, if it uses something
    pub flat: Option<String>,
    /// the verdict on its text, if there is one
    pub word: Option<Word>,
}

/// What a person must know of the store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoreState {
    /// why no step is taken now; names of files are not for everybody who may ask
    pub refuses: Option<&'static str>,
    /// the last snapshot was not written, so the log grows
    pub snapshot_failed: bool,
    /// found by the last scrub
    pub damaged_files: u64,
    pub scrubbed_files: u64,
    pub scrubbed_bytes: u64,
    /// when it ended, in milliseconds; 0: there was none yet
    pub scrubbed_ms: u64,
}

impl StoreState {
    /// What a person should look after while steps are taken.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.snapshot_failed {
            warnings.push("no snapshot could be written, so the log grows".into());
        }
        if self.damaged_files > 0 {
            let count = self.damaged_files;
            warnings.push(format!("files of the store that are damaged or missing: {count}"));
        }
        warnings
    }
}

/// Another version of a design, and what may be done for it.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    pub text: &'a str,
    /// what may be lost
    pub drop: &'a [String],
    /// also if it is violated
    pub unproved: bool,
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
    /// The host that is told, and what tells it from others of that host. The path may be a secret, and
    /// so may what stands before the host.
    pub fn label(&self) -> String {
        let host = self.url.split_once("://").map_or(&*self.url, |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let hash = blake3::hash(self.url.as_bytes()).to_hex();
        format!("{host} {}", &hash[..8])
    }

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
    /// the verdict on the text does not allow it
    Unproved {
        detail: String,
        standing: Standing,
    },
    /// the new version is served, but what runs beside it did not start
    NotStarted(Box<AdminError>),
    Cannot(String),
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdminError::Design(lines) => write!(f, "{}", lines.join("\n")),
            AdminError::Unsafe { detail, .. } | AdminError::Unproved { detail, .. } => {
                write!(f, "{detail}")
            }
            AdminError::NotStarted(why) => write!(
                f,
                "the new version is served, but its repairs, deliveries and webhooks did not start: \
                 {why}; put it in place again"
            ),
            AdminError::Cannot(why) => write!(f, "{why}"),
        }
    }
}

/// The operator's side, in a configuration.
#[derive(Clone)]
pub struct AdminHandle(pub Arc<dyn Admin>);

impl fmt::Debug for AdminHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an operator's side")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_no_secret() {
        let label = |url: &str| Told { url: url.into(), ..Told::default() }.label();
        let told = label("https://user:pass@hooks.example:8443/services/T0/B1/secret?key=x");
        let (host, hash) = told.split_once(' ').unwrap();
        assert_eq!((host, hash.len()), ("hooks.example:8443", 8));
        for other in ["https://hooks.example:8443/services/T0/B2", "https://hooks.example:8443"] {
            assert!(label(other).starts_with("hooks.example:8443 "));
            assert_ne!(label(other), told);
        }
        assert!(label("http://127.0.0.1:9/@x").starts_with("127.0.0.1:9 "));
    }
}
