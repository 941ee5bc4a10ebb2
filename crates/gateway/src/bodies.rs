//! The bytes that callers have sent and that are still looked at: all of them together have a bound,
//! however many callers there are and however slowly they send. The beginning of a body is not counted:
//! most steps are shorter, and whoever sends much cannot keep them from being taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::gateway::Gateway;
use crate::problem::Problem;

/// So many bytes of every body are free.
const FREE_BYTES: usize = 16 << 10;

/// The bytes of one body, given back when it is dropped.
pub struct Held {
    all: Arc<AtomicUsize>,
    /// that are not counted any more
    free: usize,
    /// that were counted
    bytes: usize,
    most: usize,
}

impl Held {
    /// Room for so many bytes more, or the advice to come again.
    pub fn more(&mut self, bytes: usize) -> Result<(), Problem> {
        let free = bytes.min(self.free);
        self.free -= free;
        let bytes = bytes - free;
        if bytes == 0 {
            return Ok(());
        }
        let before = self.all.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        // given back with the rest, if there was no room
        if before.saturating_add(bytes) > self.most { Err(Problem::overloaded()) } else { Ok(()) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.all.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

impl Gateway {
    /// For a body that begins to come.
    pub fn hold(&self) -> Held {
        let most = self.limits().bodies_bytes_max;
        Held { all: Arc::clone(&self.held), free: FREE_BYTES, bytes: 0, most }
    }

    /// Bytes of bodies that are held now and counted.
    pub fn held_bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_free_and_the_rest_is_given_back() {
        let all = Arc::new(AtomicUsize::new(0));
        let held = || Held { all: Arc::clone(&all), free: FREE_BYTES, bytes: 0, most: 100 };
        let (mut one, mut two) = (held(), held());
        assert!(one.more(FREE_BYTES - 1).is_ok() && one.more(61).is_ok());
        assert_eq!(all.load(Ordering::Relaxed), 60);
        assert!(two.more(FREE_BYTES).is_ok(), "a short one is taken whatever others hold");
        assert!(two.more(41).is_err());
        drop(two);
        assert_eq!(all.load(Ordering::Relaxed), 60);
        assert!(one.more(40).is_ok());
        drop(one);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
