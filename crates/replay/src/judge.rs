//! Whether goals hold, of what a runtime has really stored: its feed is walked through the engine.

use std::sync::Arc;

use design::model::Design;
use model_checker::sample::{Event, Story};
use runtime::{Clock, Walk};
use store::{Cursor, Partition, Store};

use crate::Carrier;

pub struct Judge {
    walk: Walk,
    walked: Cursor,
    goal: String,
}

impl Judge {
    /// Watches the goal of a story, in a runtime that has this design.
    pub fn new(story: &Story, design: &Arc<Design>) -> Result<Judge, String> {
        let mut walk = Walk::new(Design::clone(design))?;
        walk.watch_only(|goal| goal == story.goal);
        for step in &story.steps {
            if let Event::Call(call, ..) | Event::Leave(call) | Event::Land(call, ..) = &step.event
            {
                let actor = design.operations[call.operation.index()].actor;
                walk.know(actor, &call.principal);
            }
        }
        let goal = design.goal(story.goal).name.clone();
        Ok(Judge { walk, walked: Cursor::start(Partition::default()), goal })
    }

    /// Why no history can be held to the goal.
    pub fn cannot(&self) -> Option<&'static str> {
        let mut unwatched = self.walk.unwatched().iter();
        unwatched.find(|unwatched| unwatched.goal == self.goal).map(|unwatched| unwatched.why)
    }

    /// Goes on to what is stored now. True: the goal broke on the way. `event`: what happened since the last look.
    pub fn look(&mut self, carrier: &mut Carrier, event: Option<&Event>) -> Result<bool, String> {
        let mut broken = false;
        let heard = match event {
            Some(Event::Call(_, trouble, _)) => !trouble.lost_reply && !trouble.stale,
            Some(Event::Land(..)) => false,
            _ => true,
        };
        loop {
            let page = store::block_on(carrier.store.feed(self.walked, 1_000))
                .map_err(|error| error.to_string())?;
            for entry in page.commits.iter().flat_map(|commit| &commit.entries) {
                self.walk.take(entry, heard).map_err(|departure| departure.to_string())?;
                broken |= self.is_broken();
            }
            if page.next == std::mem::replace(&mut self.walked, page.next) {
                break;
            }
        }
        match event {
            Some(Event::Call(call, _, answer)) if heard => {
                if let Some(request) = carrier.asked.as_ref().map(|(request, _)| request) {
                    let memory = carrier.handed_out(call, answer);
                    self.walk
                        .heard(request, &memory)
                        .map_err(|bad| format!("{}: {}", bad.pointer, bad.message))?;
                    broken |= self.is_broken();
                }
            }
            Some(Event::Crash { principal }) => self.walk.forgot(principal),
            _ => {}
        }
        for key in std::mem::take(&mut carrier.done_outside) {
            self.walk.outside_did(&key);
            broken |= self.is_broken();
        }
        Ok(broken)
    }

    fn is_broken(&mut self) -> bool {
        self.walk.broken(true).iter().any(|broken| broken.goal == self.goal)
    }

    /// Is the goal, a `recovers`, kept in what is stored now?
    pub fn is_recovered(&mut self, carrier: &Carrier) -> bool {
        self.walk.now(carrier.clock.now_ms());
        self.walk.not_recovered().iter().all(|broken| broken.goal != self.goal)
    }
}
