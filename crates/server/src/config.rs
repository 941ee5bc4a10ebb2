//! What a server is told when it starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use gateway::{Access, AdminHandle, Budget, Collecting, Limits, Settings};
use runtime::ManualClock;
use telemetry::Spans;

use crate::cors::Origins;

#[derive(Clone, Debug)]
pub struct Config {
    pub listen: SocketAddr,
    pub limits: Limits,
    /// a certificate with its chain, and its key, as PEM files; none: not encrypted
    pub tls: Option<(PathBuf, PathBuf)>,
    /// none: nobody copies the store or replaces a design through this server
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
    /// whose pages may call; by default those that this server gave out, and no others
    pub origins: Origins,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 7070)),
            limits: Limits::default(),
            admin: None,
            tls: None,
            access: Access::default(),
            spans: Spans::default(),
            collecting: Some(Collecting::default()),
            clock: None,
            checking: None,
            origins: Origins::default(),
        }
    }
}

impl Config {
    /// What is the same whatever door callers come through.
    pub fn settings(&self) -> Settings {
        Settings {
            limits: self.limits.clone(),
            encrypted: self.tls.is_some(),
            admin: self.admin.clone(),
            access: self.access.clone(),
            spans: self.spans.clone(),
            collecting: self.collecting,
            clock: self.clock.clone(),
            checking: self.checking,
        }
    }
}
