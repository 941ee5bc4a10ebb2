//! The end of a world: no more faults, no more calls, and time for everything that is due.

use std::sync::Arc;
use std::time::Duration;

use runtime::Runtime;
use store::{Store, Surroundings};
use store_embedded::disk::SimulatedDisk;

use crate::drawing::lengths;
use crate::outside::head;
use crate::trouble::Trouble;
use crate::world::World;

/// A repair that is due for so long is not coming, in milliseconds.
const OVERDUE_MS: i64 = 60_000;
/// A world that is so busy is left: what repeats for ever would take for ever.
const COMMITS_MAX: u64 = 1_500;
/// So much of what waits is looked at.
const LOOKED_AT: usize = 1_000;

impl World {
    pub(crate) fn settle(&mut self, disk: &SimulatedDisk) -> Result<(), Trouble> {
        let store = self.open(disk).map_err(|error| Trouble::Unopened { error })?;
        self.tell("the server starts, and is left in peace");
        self.walk_on(&store, disk)?;
        let runtime = self.serve(&store)?;
        self.provider.agree();
        self.no_more_calls();
        self.run_it(Arc::clone(&runtime));
        self.call(None);
        let settled = self.rest(&runtime, &store, disk);
        self.stop_it();
        let settled = settled?;
        let failed = |error: runtime::CallError| Trouble::Failed {
            what: "reading views".into(),
            error: error.to_string(),
        };
        if let Some(view) = runtime.views_differ().map_err(failed)?.into_iter().next() {
            let what = format!("the view `{view}` is not what its records say");
            return Err(Trouble::Views { what });
        }
        drop(runtime);
        let closed = self.around().block_on(store.close());
        drop(store);
        if let Err(error) = closed {
            let what = "closing a store that nothing is wrong with".to_string();
            return Err(Trouble::Failed { what, error: error.to_string() });
        }
        // what was told of is there when it is opened once more
        let store = self.open(disk).map_err(|error| Trouble::Unopened { error })?;
        self.walk_on(&store, disk)?;
        self.last_look(settled)
    }

    /// Time passes until nothing is left to do. False: something always is.
    fn rest(
        &mut self,
        runtime: &Arc<Runtime>,
        store: &Arc<dyn Store>,
        disk: &SimulatedDisk,
    ) -> Result<bool, Trouble> {
        let failed = |error: runtime::CallError| Trouble::Failed {
            what: "looking at what is due".into(),
            error: error.to_string(),
        };
        let longest = lengths(runtime.design()).last().copied().unwrap_or(1_000).unsigned_abs();
        let end = longest.saturating_mul(3).max(600_000);
        let (mut passed, mut step) = (0, 1_000);
        while passed < end {
            for waiting in runtime.outbox(LOOKED_AT).map_err(failed)? {
                if waiting.state == "dead" {
                    runtime.retry(&waiting).map_err(failed)?;
                }
            }
            let before = head(self.around(), runtime);
            self.around().rest(Duration::from_millis(step));
            passed += step;
            step = (step * 2).min(end);
            self.walk_on(store, disk)?;
            if head(self.around(), runtime) - before > COMMITS_MAX {
                return Ok(false);
            }
        }
        let now = runtime.now_ms();
        let waiting = runtime.outbox(LOOKED_AT).map_err(failed)?;
        if let Some(entry) = waiting.iter().find(|entry| entry.state != "closed") {
            let effect =
                format!("`{}` ({}, {} attempts)", entry.effect, entry.state, entry.attempts);
            return Err(Trouble::Undelivered { effect });
        }
        let due = runtime.due(LOOKED_AT).map_err(failed)?;
        if let Some(late) = due.iter().find(|due| due.at + OVERDUE_MS < now) {
            let repair = format!("`{}` of {}{:?}", late.repair, late.subject, late.key);
            return Err(Trouble::Overdue { repair });
        }
        Ok(true)
    }

    /// Goals in the truth that is left.
    fn last_look(&mut self, settled: bool) -> Result<(), Trouble> {
        let now = i64::try_from(self.surroundings.time_ms()).unwrap_or(i64::MAX);
        let Some(walk) = &mut self.walk else { return Ok(()) };
        let revision = self.walked.position();
        if let Some(broken) = walk.broken(true).into_iter().next() {
            let (goal, trouble) = (broken.goal, broken.trouble);
            return Err(Trouble::Broken { goal, revision, trouble });
        }
        walk.now(now);
        match walk.not_recovered().into_iter().next() {
            Some(broken) if settled => Err(Trouble::NotRecovered { goal: broken.goal }),
            Some(_) => {
                self.facts(|facts| facts.unsettled += 1);
                Ok(())
            }
            None => Ok(()),
        }
    }
}
