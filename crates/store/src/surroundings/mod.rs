//! Time, threads and chance, as stores and whoever runs on them are given them.
//!
//! Nothing else in `store`, `store-embedded` and `runtime` asks the machine for any of them; `cargo xtask tidy`
//! refuses it. So whatever is given [`SimulatedSurroundings`] does the same again for the same seed.

mod real;
mod signal;
mod simulated;

use std::fmt;
use std::io;
use std::ops::Add;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub use real::{RealSurroundings, block_on};
pub use signal::Signal;
pub use simulated::SimulatedSurroundings;

/// The only source of time, threads and chance.
pub trait Surroundings: fmt::Debug + Send + Sync {
    /// The time since some moment in the past. It never goes back.
    fn now(&self) -> Moment;

    /// The clock on the wall, in milliseconds since 1970. It may jump.
    fn time_ms(&self) -> u64;

    /// A number that differs from one call to the next, and that nobody can guess.
    fn chance(&self) -> u64;

    /// Bytes that nobody can guess, for what is kept secret.
    fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.chance().to_le_bytes()[..part.len()]);
        }
    }

    /// Ready after a while.
    fn sleep(&self, duration: Duration) -> Sleep;

    /// Holds up whoever calls it until the future is ready, or for at most so long. False: the time is over.
    fn wait(&self, future: Pin<&mut dyn Future<Output = ()>>, at_most: Option<Duration>) -> bool;

    /// Calls `step` again and again, always when the last call has asked for it, until that says that it has ended.
    fn spawn(&self, name: &str, step: Step) -> io::Result<Task>;
}

pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Does one unit of work, and says when to be called next.
pub type Step = Box<dyn FnMut() -> Next + Send>;

/// When a step is to be called next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Now,
    /// After this time, or when it is woken if that is earlier.
    After(Duration),
    /// When it is woken.
    Woken,
    Ended,
}

/// A step that is called again and again.
pub struct Task {
    waker: Waker,
    join: Box<dyn FnOnce() + Send + Sync>,
}

impl Task {
    /// The step is called soon, also if it runs just now. Woken often, it may be called once.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Waits until it has ended. That it panicked is none of the caller's business: it has been said.
    pub fn join(self) {
        (self.join)();
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task")
    }
}

/// A moment, to be compared with others of the same surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// How long it is after an earlier moment; zero, if it is before.
    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_add(duration))
    }
}

/// The machine's own.
pub fn real_surroundings() -> Arc<dyn Surroundings> {
    Arc::new(RealSurroundings::default())
}

impl dyn Surroundings + '_ {
    /// Runs a future to its end, and holds up whoever calls this.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        // What is there already costs nothing more than this look.
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        self.run(future)
    }

    /// The same for what is most likely not there yet: it is not looked at twice.
    pub(crate) fn run<F: Future>(&self, future: F) -> F::Output {
        let mut output = None;
        self.wait(pin!(async { output = Some(future.await) }), None);
        output.expect("a wait without an end ends when the future is ready")
    }

    /// Holds up whoever calls it for a while.
    pub fn rest(&self, duration: Duration) {
        if !duration.is_zero() {
            self.wait(pin!(std::future::pending()), Some(duration));
        }
    }
}
