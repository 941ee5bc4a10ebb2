//! Says on the error output what a person must know of the store, and ends the process when it can
//! take nothing more.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use gateway::StoreState;
use store_embedded::{Embedded, Health};

use crate::exit::Exit;
use crate::output::{ERROR, HELP, ODD};

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Stops when it is dropped.
pub struct StoreWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StoreWatch {
    pub fn start(store: Arc<Embedded>) -> std::io::Result<StoreWatch> {
        let (stop, stopped) = channel();
        let run = move || {
            let mut before = Health::default();
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let now = store.health();
                told(&before, &now).iter().for_each(|line| anstream::eprintln!("{line}"));
                if now.failed.is_some() {
                    // what was answered is durable; nothing else can be done for anybody
                    std::process::exit(i32::from(Exit::StoreFailed.code()));
                }
                before = now;
            }
        };
        let thread = std::thread::Builder::new().name("store-watch".into()).spawn(run)?;
        Ok(StoreWatch { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for StoreWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // a thread that panicked has nothing more to say
            let _ = thread.join();
        }
    }
}

/// What is new, as it is told to a person.
fn told(before: &Health, now: &Health) -> Vec<String> {
    let mut lines = Vec::new();
    if let (None, Some(why)) = (&before.failed, &now.failed) {
        lines.push(format!("{ERROR}error{ERROR:#}: the store stopped after a failed write: {why}"));
        lines.push(format!(
            "{HELP}help{HELP:#}: examine the disk, then start again: what was answered is kept"
        ));
    }
    match (&before.full, &now.full) {
        (None, Some(why)) => {
            let what = "steps are refused, reads are served: the store has no room";
            lines.push(format!("{ODD}warning{ODD:#}: {what}: {why}"));
            lines.push(format!(
                "{HELP}help{HELP:#}: free or add disk space; steps are taken again by themselves"
            ));
        }
        (Some(_), None) => lines.push("note: the store has room again, and takes steps".into()),
        _ => {}
    }
    match (&before.snapshot, &now.snapshot) {
        (before, Some(why)) if before.as_ref() != Some(why) => {
            let what = "no snapshot could be written, so the log grows";
            lines.push(format!("{ODD}warning{ODD:#}: {what}: {why}"));
        }
        (Some(_), None) => lines.push("note: a snapshot was written again".into()),
        _ => {}
    }
    if now.scrubbed != before.scrubbed {
        let damaged = now.scrubbed.iter().flat_map(|scrubbed| &scrubbed.damaged);
        lines.extend(damaged.map(|what| format!("{ERROR}error{ERROR:#}: {what}")));
        if now.scrubbed.as_ref().is_some_and(|scrubbed| scrubbed.damaged_files > 0) {
            lines.push(format!(
                "{HELP}help{HELP:#}: this server still holds all of it: make a backup into a new \
                 directory now, restore it, and serve that"
            ));
        }
    }
    lines
}

/// The same for readiness, metrics and console, without the names of files.
pub fn state(health: Health) -> StoreState {
    let scrubbed = health.scrubbed.unwrap_or_default();
    let full = health.full.map(|_| "the store has no room");
    let failed = health.failed.map(|_| "the store stopped after a failed write");
    StoreState {
        refuses: failed.or(full),
        snapshot_failed: health.snapshot.is_some(),
        damaged_files: scrubbed.damaged_files,
        scrubbed_files: scrubbed.files,
        scrubbed_bytes: scrubbed.bytes,
        scrubbed_ms: scrubbed.ended_ms,
    }
}

#[cfg(test)]
mod tests {
    use store_embedded::Scrubbed;

    use super::*;

    #[test]
    fn what_changes_is_told_once() {
        let well = Health::default();
        let full = Health { full: Some("no space left".into()), ..Health::default() };
        let failed = Health { failed: Some("the sync failed".into()), ..Health::default() };
        let scrubbed = Scrubbed {
            damaged: vec!["`log-1` is damaged".into()],
            damaged_files: 1,
            ..Scrubbed::default()
        };
        let damaged = Health { scrubbed: Some(scrubbed), ..Health::default() };
        let check = |before: &Health, now: &Health, expected: &[&str]| {
            let lines = told(before, now).join("\n");
            assert_eq!(lines.is_empty(), expected.is_empty(), "{lines}");
            expected.iter().for_each(|part| assert!(lines.contains(part), "{lines}"));
        };
        check(&well, &well, &[]);
        check(&well, &full, &["no room", "no space left", "help"]);
        check(&full, &full, &[]);
        check(&full, &well, &["has room again"]);
        check(&well, &failed, &["failed write", "the sync failed", "start again"]);
        check(&well, &damaged, &["`log-1` is damaged", "backup"]);
        check(&damaged, &damaged, &[]);
        assert!(state(full).refuses.unwrap().contains("no room"));
        assert_eq!(state(damaged).damaged_files, 1);
    }
}
