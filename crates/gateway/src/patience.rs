//! Waiting for the version that takes the place of a design.

use std::time::Duration;

use crate::kinds;
use crate::problem::Problem;

/// How often, and after how long, the new version is asked for.
const TRIES_MAX: u32 = 500;
const AGAIN_AFTER: Duration = Duration::from_millis(10);

/// What is left of the time that one request waits.
#[derive(Default)]
pub struct Patience {
    tries: u32,
}

impl Patience {
    /// True, after a moment: the design was replaced since it was looked up, and is to be looked up
    /// again. Any other problem, or one that lasts for too long, is for the caller.
    pub async fn with(&mut self, problem: &Problem) -> bool {
        if !problem.is(&kinds::REPLACED) || self.tries == TRIES_MAX {
            return false;
        }
        self.tries += 1;
        tokio::time::sleep(AGAIN_AFTER).await;
        true
    }
}
