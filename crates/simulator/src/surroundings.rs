//! The simulated surroundings, with clocks on the wall that can be moved.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use store::{Moment, SimulatedSurroundings, Sleep, Step, Surroundings, Task};

#[derive(Debug)]
pub struct Moved {
    world: SimulatedSurroundings,
    /// every clock of the world is moved by so much
    by_ms: Arc<AtomicI64>,
    /// and this one by so much more
    skew_ms: i64,
}

impl Moved {
    pub fn new(seed: u64) -> Moved {
        let world = SimulatedSurroundings::new(seed);
        Moved { world, by_ms: Arc::default(), skew_ms: 0 }
    }

    /// The same world, with another clock.
    pub fn skewed(&self, skew_ms: i64) -> Moved {
        Moved { world: self.world.clone(), by_ms: Arc::clone(&self.by_ms), skew_ms }
    }

    /// The clocks jump, and nothing else does.
    pub fn jump(&self, ms: i64) {
        self.by_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Surroundings for Moved {
    fn now(&self) -> Moment {
        self.world.now()
    }

    fn time_ms(&self) -> u64 {
        let moved = self.by_ms.load(Ordering::Relaxed).saturating_add(self.skew_ms);
        self.world.time_ms().saturating_add_signed(moved)
    }

    fn chance(&self) -> u64 {
        self.world.chance()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.world.sleep(duration)
    }

    fn wait(&self, future: Pin<&mut dyn Future<Output = ()>>, at_most: Option<Duration>) -> bool {
        self.world.wait(future, at_most)
    }

    fn spawn(&self, name: &str, step: Step) -> io::Result<Task> {
        self.world.spawn(name, step)
    }
}
