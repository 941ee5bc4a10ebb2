//! Something that many wait for, whatever surrounds them.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Wakes everyone who waits for it when it rings.
#[derive(Default)]
pub struct Signal(Mutex<Rung>);

#[derive(Default)]
struct Rung {
    times: u64,
    waiting: Vec<Waker>,
}

impl Signal {
    pub fn ring(&self) {
        let mut rung = self.lock();
        rung.times += 1;
        let waiting = std::mem::take(&mut rung.waiting);
        drop(rung);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How often it has rung. To be asked before looking at what it tells of, and given to `after`.
    pub fn times(&self) -> u64 {
        self.lock().times
    }

    /// Ready when it has rung more often.
    pub fn after(&self, times: u64) -> impl Future<Output = ()> + Send + '_ {
        std::future::poll_fn(move |context| {
            let mut rung = self.lock();
            if rung.times > times {
                return Poll::Ready(());
            }
            // Who waited before and gave up may still be there.
            if !rung.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                rung.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rung {} times", self.times())
    }
}
