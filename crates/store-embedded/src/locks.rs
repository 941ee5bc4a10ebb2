//! Locks of this store.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic in a transaction leaves the state as it was before, so the lock stays good.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
