//! The end of a world: no more faults, no more calls, and time for everything that is due.

use std::sync::Arc;
use std::time::Duration;

use design::model::OperationKind;
use runtime::{CallError, DueRepair, Runtime, Waiting};
use store::{Store, Surroundings};

use crate::drawing::lengths;
use crate::locking::lock;
use crate::running::head;
use crate::script::{Life, Server};
use crate::serving::Ground;
use crate::trouble::Trouble;
use crate::world::World;

/// A repair that is due for so long is not coming, in milliseconds.
const OVERDUE_MS: i64 = 60_000;
/// Of a longer rest, this is lived through; before it the clocks jump, as those of a machine that was suspended.
const LIVED_MS_MAX: u64 = 1_200_000;
/// A world that is so busy is left: what repeats for ever would take for ever.
const COMMITS_MAX: u64 = 1_500;
/// What comes once may lead to something else that comes once, so often.
const LATER_MAX: u64 = 6;
/// So much of what waits is looked at.
const LOOKED_AT: usize = 1_000;

impl World {
    pub(crate) fn settle(&mut self, ground: &Ground) -> Result<(), Trouble> {
        let store = self.open(ground).map_err(|error| Trouble::Unopened { error })?;
        let servers = self.simulator.size.servers;
        let several = servers > 1;
        let who = if several { "the servers start, and are" } else { "the server starts, and is" };
        self.tell(format!("{who} left in peace"));
        self.walk_on(&store, ground)?;
        let servers = if several { vec![Server::default(); servers] } else { Vec::new() };
        self.start(ground, &store, &Life { servers, ..Life::default() })?;
        self.provider.agree();
        self.no_more_calls();
        self.call(None);
        let runtimes: Vec<Arc<Runtime>> =
            lock(&self.running).servers.iter().map(|it| Arc::clone(&it.runtime)).collect();
        let settled = self.rest(&runtimes[0], &store, ground);
        self.stop_it();
        let settled = settled?;
        let failed = |error: CallError| Trouble::Failed {
            what: "reading views".into(),
            error: error.to_string(),
        };
        for runtime in &runtimes {
            if let Some(view) = runtime.views_differ().map_err(failed)?.into_iter().next() {
                let what = format!("the view `{view}` is not what its records say");
                return Err(Trouble::Views { what });
            }
        }
        drop(runtimes);
        if !several {
            let closed = self.around().block_on(store.close());
            if let Err(error) = closed {
                let what = "closing a store that nothing is wrong with".to_string();
                return Err(Trouble::Failed { what, error: error.to_string() });
            }
        }
        drop(store);
        // what was told of is there when it is opened once more
        let store = self.open(ground).map_err(|error| Trouble::Unopened { error })?;
        self.walk_on(&store, ground)?;
        self.last_look(settled)
    }

    /// Time passes until nothing is left to do. False: something always is.
    fn rest(
        &mut self,
        runtime: &Arc<Runtime>,
        store: &Arc<dyn Store>,
        ground: &Ground,
    ) -> Result<bool, Trouble> {
        let longest = lengths(runtime.design()).last().copied().unwrap_or(1_000).unsigned_abs();
        let end = longest.saturating_mul(3).max(600_000);
        if !self.pass(end, runtime, store, ground)? {
            return Ok(false);
        }
        for _ in 0..LATER_MAX {
            let Some(at) = self.comes_later(runtime).map_err(looking)? else { break };
            let ms = at.saturating_sub(runtime.now_ms()).max(0).unsigned_abs() + 1_000;
            if !self.pass(ms, runtime, store, ground)? {
                return Ok(false);
            }
        }
        let now = runtime.now_ms();
        let waiting = runtime.outbox(LOOKED_AT).map_err(looking)?;
        // a server finds what another one has just sent when it looks the next time
        let several = lock(&self.running).are_several();
        let is_new = |at: i64| several && (at.saturating_sub(now)).abs() < OVERDUE_MS;
        let left = |entry: &&Waiting| {
            entry.state != "closed" && !(entry.is_open() && is_new(entry.next_at))
        };
        if let Some(entry) = waiting.iter().find(left) {
            let state = format!("{}, {} attempts", entry.state, entry.attempts);
            return Err(Trouble::Undelivered { effect: entry.effect.clone(), state });
        }
        let due = runtime.due(LOOKED_AT).map_err(looking)?;
        if let Some(late) = due.iter().find(|due| due.at + OVERDUE_MS < now) {
            let record = format!("{}{:?}", late.subject, late.key);
            return Err(Trouble::Overdue { repair: late.repair.clone(), record });
        }
        Ok(true)
    }

    /// Lets so much time pass. False: the world is so busy that it is left.
    fn pass(
        &mut self,
        ms: u64,
        runtime: &Arc<Runtime>,
        store: &Arc<dyn Store>,
        ground: &Ground,
    ) -> Result<bool, Trouble> {
        let (mut passed, mut step) = (0, 1_000);
        while passed < ms {
            for waiting in runtime.outbox(LOOKED_AT).map_err(looking)? {
                if waiting.is_dead() {
                    runtime.retry(&waiting).map_err(looking)?;
                }
            }
            let before = head(self.around(), runtime);
            let lived = step.min(LIVED_MS_MAX);
            self.surroundings.jump(i64::try_from(step - lived).unwrap_or(i64::MAX));
            self.around().rest(Duration::from_millis(lived));
            passed += step;
            step = (step * 2).min(ms);
            self.walk_on(store, ground)?;
            if head(self.around(), runtime) - before > COMMITS_MAX {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// While something has not recovered: when the last repair is due that comes once. A caller may have asked for a
    /// longer time than any that stands in the design.
    fn comes_later(&mut self, runtime: &Runtime) -> Result<Option<i64>, CallError> {
        let now = i64::try_from(self.surroundings.time_ms()).unwrap_or(i64::MAX);
        let Some(walk) = &mut self.walk else { return Ok(None) };
        walk.now(now);
        if walk.not_recovered().is_empty() {
            return Ok(None);
        }
        let design = runtime.design();
        let comes_once = |due: &DueRepair| {
            design.operations.iter().any(|operation| {
                operation.name == due.repair
                    && matches!(operation.kind, OperationKind::Repair { every: None, .. })
            })
        };
        let due = runtime.due(LOOKED_AT)?;
        let later = due.iter().filter(|due| due.at > now && comes_once(due));
        Ok(later.map(|due| due.at).max())
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

fn looking(error: CallError) -> Trouble {
    Trouble::Failed { what: "looking at what is due".into(), error: error.to_string() }
}
