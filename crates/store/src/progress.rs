//! How far a store's writes are durable, and who waits for more.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::error::{Error, Result};
use crate::surroundings::{Surroundings, block_on};

/// Called once, on the thread that made the position durable: it must not block.
pub type Callback = Box<dyn FnOnce(Result<()>) + Send>;

/// A position that only grows. Those who wait for a position are woken together, in the order in
/// which they came, by the one thread that advances it.
#[derive(Default)]
pub struct Progress {
    durable: AtomicU64,
    waiting: Mutex<Waiting>,
    /// Nothing: the machine's own.
    surroundings: Option<Arc<dyn Surroundings>>,
}

#[derive(Default)]
struct Waiting {
    failure: Option<Error>,
    list: Vec<(u64, Waiter)>,
}

enum Waiter {
    Task(Waker),
    /// a group, which waits for one position
    Tasks(Vec<Waker>),
    Call(Callback),
}

impl Waiter {
    fn notify(self, outcome: Result<()>) {
        match self {
            Waiter::Task(waker) => waker.wake(),
            Waiter::Tasks(wakers) => wakers.into_iter().for_each(Waker::wake),
            Waiter::Call(callback) => callback(outcome),
        }
    }
}

impl Progress {
    pub fn new(durable: u64) -> Self {
        Progress { durable: AtomicU64::new(durable), ..Progress::default() }
    }

    /// In these surroundings threads wait.
    pub fn within(surroundings: Arc<dyn Surroundings>, durable: u64) -> Self {
        Progress { surroundings: Some(surroundings), ..Progress::new(durable) }
    }

    /// Everything up to here is durable.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Everything up to `position` is durable now.
    pub fn advance(&self, position: u64) {
        let before = self.durable.fetch_max(position, Ordering::AcqRel);
        assert!(before <= position, "durable positions only grow: {before} to {position}");
        let ready: Vec<_> = self.lock().list.extract_if(.., |(at, _)| *at <= position).collect();
        for (_, waiter) in ready {
            waiter.notify(Ok(()));
        }
    }

    /// Nothing more will become durable. The first reason is kept.
    pub fn fail(&self, error: Error) {
        let (error, list) = {
            let mut waiting = self.lock();
            let error = waiting.failure.get_or_insert(error).clone();
            (error, std::mem::take(&mut waiting.list))
        };
        let durable = self.durable();
        for (position, waiter) in list {
            waiter.notify(if position <= durable { Ok(()) } else { Err(error.clone()) });
        }
    }

    /// Why nothing more will become durable.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.clone()
    }

    /// Whether this position is durable, or never will be; nothing while that is open.
    pub fn outcome(&self, position: u64) -> Option<Result<()>> {
        if position <= self.durable() {
            return Some(Ok(()));
        }
        self.failure().map(Err)
    }

    /// Calls back when this position is durable or never will be; at once if that is known.
    pub fn on_durable(&self, position: u64, callback: Callback) {
        match self.enlist(position, || Waiter::Call(callback)) {
            Ok(()) => {}
            Err((outcome, waiter)) => waiter().notify(outcome),
        }
    }

    /// Wakes all of these when this position is durable or never will be; at once if that is known.
    pub fn wake_all(&self, position: u64, wakers: Vec<Waker>) {
        match self.enlist(position, || Waiter::Tasks(wakers)) {
            Ok(()) => {}
            Err((outcome, waiter)) => waiter().notify(outcome),
        }
    }

    pub fn wait_for(self: &Arc<Self>, position: u64) -> Durable {
        Durable { progress: Arc::clone(self), position, enlisted: None }
    }

    /// Holds up whoever calls it until this position is durable.
    pub fn block_until(self: &Arc<Self>, position: u64) -> Result<()> {
        if position <= self.durable() {
            return Ok(());
        }
        match &self.surroundings {
            Some(surroundings) => surroundings.run(self.wait_for(position)),
            None => block_on(self.wait_for(position)),
        }
    }

    /// Enlists a waiter unless the outcome is known; then it is handed back.
    fn enlist<F: FnOnce() -> Waiter>(
        &self,
        position: u64,
        waiter: F,
    ) -> std::result::Result<(), (Result<()>, F)> {
        let mut waiting = self.lock();
        // Looked at under the lock: whoever advances takes the lock after the position has grown.
        if position <= self.durable() {
            return Err((Ok(()), waiter));
        }
        if let Some(error) = &waiting.failure {
            return Err((Err(error.clone()), waiter));
        }
        waiting.list.push((position, waiter()));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "durable up to {}", self.durable())
    }
}

/// Ready when a position is durable, or never will be.
#[derive(Debug)]
pub struct Durable {
    progress: Arc<Progress>,
    position: u64,
    enlisted: Option<Waker>,
}

impl Future for Durable {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.position <= self.progress.durable() {
            return Poll::Ready(Ok(()));
        }
        // Who is enlisted is woken when it fails.
        if let Some(error) = self.enlisted.as_ref().and_then(|_| self.progress.failure()) {
            return Poll::Ready(Err(error));
        }
        if self.enlisted.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            return Poll::Pending;
        }
        let waker = context.waker();
        match self.progress.enlist(self.position, || Waiter::Task(waker.clone())) {
            Err((outcome, _)) => Poll::Ready(outcome),
            Ok(()) => {
                self.enlisted = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn those_who_wait_are_told_in_order_and_only_when_their_time_has_come() {
        let progress = Progress::new(3);
        let (sender, receiver) = mpsc::channel();
        for position in [3, 5, 4, 6] {
            let sender = sender.clone();
            let tell = move |outcome| sender.send((position, outcome)).unwrap();
            progress.on_durable(position, Box::new(tell));
        }
        let told = || receiver.try_iter().collect::<Vec<_>>();
        assert_eq!(told(), [(3, Ok(()))]);
        progress.advance(5);
        assert_eq!(told(), [(5, Ok(())), (4, Ok(()))]);
        progress.fail(Error::Closed);
        assert_eq!(told(), [(6, Err(Error::Closed))]);
        assert_eq!(progress.outcome(5), Some(Ok(())));
        assert_eq!(progress.outcome(6), Some(Err(Error::Closed)));
    }

    #[test]
    fn threads_that_wait_all_wake() {
        let progress = Arc::new(Progress::new(0));
        thread::scope(|scope| {
            for position in 1..=16 {
                let progress = Arc::clone(&progress);
                scope.spawn(move || {
                    assert_eq!(block_on(progress.wait_for(position)), Ok(()));
                    assert!(progress.durable() >= position);
                });
            }
            for position in 1..=16 {
                thread::yield_now();
                progress.advance(position);
            }
        });
    }
}
