//! What one caller asks at a time: one call or many.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::calls::ask::Ask;
use crate::calls::decide::Concluded;
use crate::calls::reply::CallError;
use crate::core::Schema;

/// The calls of one caller, and whom to wake when they are decided and durable.
#[derive(Default)]
pub struct Submission {
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub struct Inner {
    /// the first of these are its calls; the others are room
    asks: Vec<Asked>,
    count: usize,
    /// the first that is not decided
    pub next: usize,
    /// all are decided, and durable with this position
    pub decided: Option<u64>,
    pub waker: Option<Waker>,
    /// it is to lead its group, because whoever was to do that is gone
    pub leads: bool,
    /// nobody waits for it
    pub abandoned: bool,
}

/// A call, and what became of it.
pub struct Asked {
    pub ask: Ask,
    pub outcome: Option<Outcome>,
}

pub enum Outcome {
    Concluded(Result<Concluded, CallError>),
    /// deciding it panicked: that is for its own caller
    Panicked(Box<dyn Any + Send>),
}

impl Submission {
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Forgets everything but its room.
    fn clear(&mut self) {
        (self.count, self.next, self.decided, self.waker) = (0, 0, None, None);
        (self.leads, self.abandoned) = (false, false);
    }

    /// Adds a call that is read into its place; nothing is added if it cannot be.
    pub fn add<E>(
        &mut self,
        schema: &Schema,
        read: impl FnOnce(&mut Ask) -> Result<(), E>,
    ) -> Result<(), E> {
        let at = self.count;
        if self.asks.len() == at {
            self.asks.push(Asked { ask: Ask::new(schema), outcome: None });
        }
        let Asked { ask, outcome } = &mut self.asks[at];
        read(ask)?;
        *outcome = None;
        ask.expect(schema);
        self.count += 1;
        Ok(())
    }

    /// Those that are not decided yet.
    pub fn undecided(&mut self) -> &mut [Asked] {
        &mut self.asks[self.next..self.count]
    }

    pub fn asks(&mut self) -> &mut [Asked] {
        &mut self.asks[..self.count]
    }

    /// None of those that are left is decided, and all are told why.
    pub fn fail(&mut self, error: &CallError) {
        self.fail_first(usize::MAX, error);
    }

    /// The same for the first of them.
    pub fn fail_first(&mut self, most: usize, error: &CallError) {
        let failed = self.undecided().iter_mut().take(most);
        let count =
            failed.map(|asked| asked.outcome = Some(Outcome::Concluded(Err(error.clone()))));
        self.next += count.count();
    }
}

/// Submissions that are used again.
#[derive(Default)]
pub struct Submissions(Mutex<Vec<Arc<Submission>>>);

/// So many are kept.
const KEPT_MAX: usize = 1_024;

impl Submissions {
    pub fn take(&self) -> Arc<Submission> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_default()
    }

    pub fn give_back(&self, mut submission: Arc<Submission>) {
        // whoever leads its group may still hold it
        let Some(inner) = Arc::get_mut(&mut submission) else { return };
        inner.inner.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(submission);
        }
    }
}
