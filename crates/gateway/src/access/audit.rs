//! What is written down while requests are answered. A refusal is not waited for, and a flood of
//! them is told in one line; what an operator does is durable before it is answered.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use identity::{Act, Error, Identity, Limiter};
use serde_json::Value;

/// Refusals that wait to be written; more are counted only.
const WAITING_MAX: usize = 256;
/// So many refusals are written at once, and then one after so long: a flood leaves a few
/// megabytes in a day.
const BURST: u64 = 100;
const EVERY_MS: i64 = 10_000;

pub struct Auditor {
    identity: Arc<Identity>,
    limiter: Limiter,
    /// none: there is no log
    refusals: Option<SyncSender<(Act, String, Value)>>,
    writer: Option<JoinHandle<()>>,
}

impl Auditor {
    pub fn start(identity: &Arc<Identity>) -> std::io::Result<Auditor> {
        let mut auditor = Auditor {
            identity: Arc::clone(identity),
            limiter: Limiter::new(BURST, EVERY_MS),
            refusals: None,
            writer: None,
        };
        if identity.has_audit() {
            let (sender, receiver) = sync_channel::<(Act, String, Value)>(WAITING_MAX);
            let identity = Arc::clone(identity);
            let writing = std::thread::Builder::new().name("audit".into()).spawn(move || {
                while let Ok((act, by, of)) = receiver.recv() {
                    // a disk that is full must not keep callers from being refused
                    let _ = identity.note(act, &by, of);
                }
            });
            auditor.refusals = Some(sender);
            auditor.writer = Some(writing?);
        }
        Ok(auditor)
    }

    /// Somebody was not let in, or not let do something.
    pub fn refused(&self, act: Act, by: &str, mut of: Value) {
        let Some(refusals) = &self.refusals else { return };
        let Some(held_back) = self.limiter.admit(now_ms()) else { return };
        if held_back > 0 {
            of["held_back"] = held_back.into();
        }
        let _ = refusals.try_send((act, by.to_string(), of));
    }

    /// What an operator did, or the server itself; durable when this returns.
    pub fn done(&self, act: Act, by: &str, of: Value) -> Result<(), Error> {
        self.identity.note(act, by, of)
    }
}

impl Drop for Auditor {
    /// What waits is written first.
    fn drop(&mut self) {
        self.refusals = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
