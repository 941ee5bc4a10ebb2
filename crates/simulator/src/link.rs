//! The connection of one server to a store that is far away. It ends with its server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use runtime::{Delivered, Delivery, Outside};
use store::{
    Blobs, Commit, Cursor, Description, Distant, Error, FeedPage, Key, Limits, Page, Partition,
    Pending, Read, Scan, Store, Token,
};

use crate::script::Kill;

/// Is called when the server is killed.
pub(crate) type Told = Box<dyn Fn() + Send + Sync>;

pub(crate) struct Link {
    far: Arc<Distant>,
    requests: AtomicU64,
    calls: AtomicU64,
    kill: Option<Kill>,
    killed: AtomicBool,
    told: Told,
}

impl Link {
    pub fn new(far: &Arc<Distant>, kill: Option<Kill>, told: Told) -> Link {
        let (requests, calls, killed) = Default::default();
        Link { far: Arc::clone(far), requests, calls, kill, killed, told }
    }

    /// The server is called.
    pub fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Whether this request is made by a server that lives. Whoever is killed meanwhile does not hear the answer.
    fn ask(&self) -> Result<(), Error> {
        let counts = match self.kill {
            Some(Kill::Call { calls, .. }) => self.calls.load(Ordering::Relaxed) > calls,
            _ => true,
        };
        let number = self.requests.fetch_add(u64::from(counts), Ordering::Relaxed) + 1;
        let is_time = match self.kill {
            None => false,
            Some(Kill::Request(at) | Kill::Call { request: at, .. }) => counts && number >= at,
        };
        if is_time && !self.killed.swap(true, Ordering::Relaxed) {
            (self.told)();
        }
        self.hear()
    }

    fn hear(&self) -> Result<(), Error> {
        match self.is_killed() {
            true => Err(Error::Unavailable("this server is killed".into())),
            false => Ok(()),
        }
    }

    fn through<'a, T: Send + 'a>(&'a self, pending: Pending<'a, T>) -> Pending<'a, T> {
        Box::pin(async move {
            self.ask()?;
            let answer = pending.await;
            self.hear()?;
            answer
        })
    }
}

impl Store for Link {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        self.through(self.far.read(keys, at_least))
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.through(self.far.scan(scan))
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        Box::pin(async move {
            let dies = !self.is_killed();
            match self.ask() {
                Ok(()) => {}
                // a server that is killed at a commit has sent it before
                Err(_) if dies => {
                    let _ = self.far.commit(commit).await;
                    return Err(Error::Unknown("this server is killed".into()));
                }
                Err(error) => return Err(error),
            }
            let answer = self.far.commit(commit).await;
            self.hear().map_err(|error| Error::Unknown(error.to_string()))?;
            answer
        })
    }

    fn outcome(&self, token: Token) -> Pending<'_, Option<Cursor>> {
        Box::pin(async move {
            // it does not ask on
            self.ask().map_err(|_| Error::Closed)?;
            self.far.outcome(token).await
        })
    }

    fn clock(&self) -> Pending<'_, Option<u64>> {
        self.through(self.far.clock())
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.through(self.far.feed(from, limit))
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.far.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.through(self.far.head(partition))
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.through(self.far.trim(below))
    }

    fn blobs(&self) -> &dyn Blobs {
        self.far.blobs()
    }

    fn limits(&self) -> Limits {
        self.far.limits()
    }

    fn describe(&self) -> Description {
        self.far.describe()
    }

    /// The store is there for the others.
    fn close(&self) -> Pending<'_, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// The world outside, for a server that may be killed.
pub(crate) struct Door {
    pub outside: Arc<dyn Outside>,
    pub link: Arc<Link>,
}

impl Outside for Door {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let nothing =
            || Delivered::Unknown { trouble: "this server is killed".into(), retry_after_ms: None };
        if self.link.is_killed() {
            return nothing();
        }
        let answer = self.outside.deliver(delivery);
        if self.link.is_killed() { nothing() } else { answer }
    }
}
