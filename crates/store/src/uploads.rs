//! Blobs on their way in: whoever collects what is not used leaves them alone.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::hash::Hash;

/// What is being stored just now, and how often at once. The bytes may be there before anything refers to them.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<BTreeMap<Hash, usize>>);

impl Uploads {
    /// On the list until what is returned is dropped.
    pub fn begin(&self, hash: Hash) -> Upload<'_> {
        *self.lock().entry(hash).or_default() += 1;
        Upload { uploads: self, hash }
    }

    /// Runs while nobody can begin to store this, and only if nobody does so already.
    pub fn unless_under_way<T>(&self, hash: Hash, run: impl FnOnce() -> T) -> Option<T> {
        let uploads = self.lock();
        let answer = (!uploads.contains_key(&hash)).then(run);
        drop(uploads);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Hash, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One blob on its way in.
#[derive(Debug)]
pub struct Upload<'a> {
    uploads: &'a Uploads,
    hash: Hash,
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        let mut uploads = self.uploads.lock();
        match uploads.get_mut(&self.hash) {
            Some(more) if *more > 1 => *more -= 1,
            _ => {
                uploads.remove(&self.hash);
            }
        }
    }
}
