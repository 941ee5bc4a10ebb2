//! What tasks share is locked for moments only: in a world of one thread nobody may wait while it holds something.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
