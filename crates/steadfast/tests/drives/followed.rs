//! What was seen of a drive, in order: transitions from the feed, and between them what the feed
//! does not tell: refusals and reads.

use std::io::{BufRead, BufReader};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::drives::script::{Operation, Record};
use crate::drives::served::agent;

#[derive(Clone, Debug)]
pub struct Seen {
    pub operation: Operation,
    /// the clause that refused it
    pub refused: Option<String>,
    /// records that it changed
    pub changed: Vec<Record>,
    revision: String,
}

#[derive(Default)]
struct Shared {
    seen: Vec<Seen>,
    /// every transition, as the feed told it
    told: Vec<Value>,
    /// where the feed goes on
    position: Option<String>,
    /// why it does not, if it has ended
    ended: Option<String>,
}

/// Follows the feed of one server after the other.
pub struct Followed {
    /// something is waited for so long
    patience: Duration,
    shared: Arc<(Mutex<Shared>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Followed {
    pub fn patient(patience: Duration) -> Followed {
        Followed { patience, shared: Arc::default(), thread: None }
    }

    /// From where it was; the server before must be gone.
    pub fn follow(&mut self, url: &str) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let from = {
            let mut shared = lock(&self.shared);
            shared.ended = None;
            shared.position.clone().unwrap_or_else(|| "start".into())
        };
        let url = format!("{url}/feed?from={from}");
        let shared = Arc::clone(&self.shared);
        self.thread = Some(std::thread::spawn(move || {
            // it ends when its server does
            let why = read(&url, &shared).err().unwrap_or_else(|| "the server ended it".into());
            lock(&shared).ended = Some(why);
        }));
    }

    pub fn tell(&self, operation: Operation, refused: Option<String>) {
        let seen = Seen { operation, refused, changed: Vec::new(), revision: String::new() };
        lock(&self.shared).seen.push(seen);
    }

    pub fn all(&self) -> Vec<Seen> {
        lock(&self.shared).seen.clone()
    }

    /// Every transition, as the feed told it.
    pub fn told(&self) -> Vec<Value> {
        lock(&self.shared).told.clone()
    }

    /// Why nothing more is seen, if the feed has ended.
    pub fn ended(&self) -> Option<String> {
        lock(&self.shared).ended.clone()
    }

    /// Waits until something is seen, at `from` or later, and gives its place.
    pub fn find(&self, from: usize, is: impl Fn(usize, &Seen) -> bool) -> Option<usize> {
        let mut place = None;
        self.until(self.patience, |seen| {
            let mut later = seen.iter().enumerate().skip(from);
            place = later.find(|(at, seen)| is(*at, seen)).map(|(at, _)| at);
            place.is_some()
        });
        place
    }

    /// Waits until everything that was seen is enough. Is it, before the patience is at its end?
    pub fn until(&self, patience: Duration, mut enough: impl FnMut(&[Seen]) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut shared = lock(&self.shared);
        while !enough(&shared.seen) {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return false };
            let waited = self.shared.1.wait_timeout(shared, left);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits until the feed has told of this revision.
    pub fn reached(&self, from: usize, revision: &str) -> bool {
        self.find(from, |_, seen| seen.revision == revision).is_some()
    }
}

fn lock(shared: &(Mutex<Shared>, Condvar)) -> MutexGuard<'_, Shared> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(url: &str, shared: &(Mutex<Shared>, Condvar)) -> Result<(), String> {
    let answer = agent().get(url).call().map_err(|error| error.to_string())?;
    let mut id = String::new();
    for line in BufReader::new(answer.into_body().into_reader()).lines() {
        let line = line.map_err(|error| error.to_string())?;
        if let Some(position) = line.strip_prefix("id: ") {
            id = position.to_string();
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let told: Value = serde_json::from_str(data).map_err(|error| format!("{error}: {data}"))?;
        let word = |name: &str| told[name].as_str().unwrap_or_default().to_string();
        let changes = told["changes"].as_array().ok_or(format!("no changes: {data}"))?;
        let changed = changes.iter().map(|change| Record {
            subject: change["subject"].as_str().unwrap_or_default().to_string(),
            key: change["key"].as_array().cloned().unwrap_or_default(),
        });
        let seen = Seen {
            operation: Operation { actor: word("actor"), name: word("operation") },
            refused: None,
            changed: changed.collect(),
            revision: word("revision"),
        };
        let mut held = lock(shared);
        held.seen.push(seen);
        held.told.push(told);
        held.position = Some(id.clone());
        drop(held);
        shared.1.notify_all();
    }
    Ok(())
}
