//! How often things happened, under the design's own names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use design::model::{Design, OperationId};

#[derive(Debug)]
pub struct Counters {
    operations: Vec<Operation>,
    conflicts: AtomicU64,
    passed_over: AtomicU64,
    forgotten: AtomicU64,
    moved_aside: AtomicU64,
    /// of each kind of worker, in the order of `Worker`
    trouble: Mutex<[Option<String>; 4]>,
    /// a worker panicked, and is gone until the process starts anew
    ended: Mutex<Option<String>>,
}

/// Who works on what is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worker {
    Repairs,
    Deliveries,
    Search,
    Lease,
}

impl Worker {
    pub fn name(self) -> &'static str {
        match self {
            Worker::Repairs => "repairs",
            Worker::Deliveries => "deliveries",
            Worker::Search => "search",
            Worker::Lease => "lease",
        }
    }
}

#[derive(Debug)]
struct Operation {
    name: String,
    done: AtomicU64,
    refused: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    pub(crate) fn new(design: &Design) -> Counters {
        let operations = design
            .operations
            .iter()
            .map(|operation| Operation {
                name: operation.name.clone(),
                done: AtomicU64::new(0),
                refused: Mutex::default(),
            })
            .collect();
        Counters {
            operations,
            conflicts: AtomicU64::new(0),
            passed_over: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            moved_aside: AtomicU64::new(0),
            trouble: Mutex::default(),
            ended: Mutex::default(),
        }
    }

    pub(crate) fn done(&self, operation: OperationId) {
        self.operations[operation.index()].done.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, operation: OperationId, clause: &str) {
        let mut refused = self.operations[operation.index()]
            .refused
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match refused.get_mut(clause) {
            Some(count) => *count += 1,
            None => {
                refused.insert(clause.to_string(), 1);
            }
        }
    }

    pub(crate) fn met(&self, conflicts: u32) {
        if conflicts > 0 {
            self.conflicts.fetch_add(conflicts.into(), Ordering::Relaxed);
        }
    }

    /// How often something was tried again because others had changed what it had read. Never where
    /// the store keeps its state in this process.
    pub fn conflicts(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }

    pub(crate) fn passed_over_one(&self) {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that were proposed to steps that take one, and that their guards refused.
    pub fn passed_over(&self) -> u64 {
        self.passed_over.load(Ordering::Relaxed)
    }

    pub(crate) fn forgot(&self, entries: usize) {
        self.forgotten.fetch_add(entries as u64, Ordering::Relaxed);
    }

    /// How many entries of logs were forgotten because of their age.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    pub(crate) fn moved_aside(&self) {
        self.moved_aside.fetch_add(1, Ordering::Relaxed);
    }

    /// How many entries were set aside since this runtime began, also those that went back.
    pub fn set_aside(&self) -> u64 {
        self.moved_aside.load(Ordering::Relaxed)
    }

    /// What keeps a worker from going on, or that nothing does. True: that is new.
    pub(crate) fn in_trouble(&self, worker: Worker, trouble: Option<String>) -> bool {
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut known[worker as usize];
        let is_new = *known != trouble;
        *known = trouble;
        is_new
    }

    /// A worker is gone for good.
    pub(crate) fn ended(&self, trouble: String) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
    }

    /// What keeps repairs or deliveries from going on, if something does.
    pub fn trouble(&self) -> Option<String> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if ended.is_some() {
            return ended;
        }
        let known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().flatten().next().cloned()
    }

    /// (operation, how often done, how often refused by which clause)
    pub fn all(&self) -> Vec<(String, u64, BTreeMap<String, u64>)> {
        self.operations
            .iter()
            .map(|operation| {
                let refused = operation.refused.lock().unwrap_or_else(PoisonError::into_inner);
                (operation.name.clone(), operation.done.load(Ordering::Relaxed), refused.clone())
            })
            .collect()
    }

    pub fn done_of(&self, operation: &str) -> u64 {
        self.operations
            .iter()
            .find(|known| known.name == operation)
            .map_or(0, |known| known.done.load(Ordering::Relaxed))
    }
}
