//! The simulated surroundings, with a clock on the wall that can be moved.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use store::{Moment, SimulatedSurroundings, Sleep, Step, Surroundings, Task};

#[derive(Debug)]
pub struct Moved {
    world: SimulatedSurroundings,
    by_ms: AtomicI64,
}

impl Moved {
    pub fn new(seed: u64) -> Moved {
        Moved { world: SimulatedSurroundings::new(seed), by_ms: AtomicI64::new(0) }
    }

    /// The clock jumps, and nothing else does.
    pub fn jump(&self, ms: i64) {
        self.by_ms.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Surroundings for Moved {
    fn now(&self) -> Moment {
        self.world.now()
    }

    fn time_ms(&self) -> u64 {
        self.world.time_ms().saturating_add_signed(self.by_ms.load(Ordering::Relaxed))
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
