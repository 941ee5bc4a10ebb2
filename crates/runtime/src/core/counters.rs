//! How often things happened, under the design's own names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use design::model::{Design, OperationId};

#[derive(Debug)]
pub struct Counters {
    operations: Vec<Operation>,
    conflicts: AtomicU64,
    forgotten: AtomicU64,
    trouble: Mutex<Option<String>>,
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
        let (conflicts, forgotten) = (AtomicU64::new(0), AtomicU64::new(0));
        Counters { operations, conflicts, forgotten, trouble: Mutex::default() }
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

    pub(crate) fn forgot(&self, entries: usize) {
        self.forgotten.fetch_add(entries as u64, Ordering::Relaxed);
    }

    /// How many entries of logs were forgotten because of their age.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Ordering::Relaxed)
    }

    pub(crate) fn in_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// What keeps repairs or deliveries from going on, if something does.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
