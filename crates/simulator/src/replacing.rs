//! The next version of a design takes the place of the one that runs, while everybody calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use design::model::Design;
use runtime::{CallError, Lowered, ReplaceError, Runtime, Workers};
use store::{Next, Surroundings};

use crate::caller::Shared;
use crate::facts::{By, Event};
use crate::locking::lock;
use crate::outside::Provider;
use crate::people::people;
use crate::running::Running;
use crate::simulator::Simulator;
use crate::surroundings::Moved;
use crate::trouble::Trouble;

/// So long until it is looked again whether it is time.
const LOOK: Duration = Duration::from_micros(500);

/// Between the upgrade of one server and that of the others pass up to so many milliseconds.
const UPGRADE_MS: u64 = 60_000;

/// How far a replacement has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Stage {
    #[default]
    Before,
    /// It was begun, when this was the newest revision, and is not known to have happened: the power was cut. Which
    /// version has the say is what the store says.
    Begun { from: u64 },
    /// It was begun and done when these were the newest revisions. What comes after it is of the new version.
    Done { from: u64, at: u64 },
}

impl Stage {
    /// May a transition at this revision be one of the new version? Must it?
    pub fn is_new(self, revision: u64) -> (bool, bool) {
        match self {
            Stage::Before => (false, false),
            Stage::Begun { from } => (revision > from, false),
            Stage::Done { from, at } => (revision > from, revision > at),
        }
    }
}

/// The operator, as a task.
pub(crate) struct Operator {
    pub next: Arc<Lowered>,
    /// so many calls are made in this life before it is time
    pub after: usize,
    pub simulator: Simulator,
    pub shared: Arc<Mutex<Shared>>,
    pub running: Arc<Mutex<Running>>,
    pub provider: Arc<Provider>,
    pub surroundings: Arc<Moved>,
}

impl Operator {
    pub fn step(&self) -> Next {
        {
            let shared = lock(&self.shared);
            let time = shared.acts.len() >= self.after;
            match shared.trouble {
                None if time => {}
                None if shared.callers > 0 => return Next::After(LOOK),
                // the power was cut before
                _ => return Next::Ended,
            }
        }
        let Some((at, old)) = lock(&self.running).pick(0) else { return Next::Ended };
        let newest = lock(&self.running).newest(0);
        let from = newest.revision(&*self.surroundings);
        lock(&self.shared).stage = Stage::Begun { from };
        self.tell("the operator begins to replace the design");
        // others go on meanwhile, so nothing is held
        let replaced = old.replace(Design::clone(&self.next.design), &[]);
        match replaced {
            Ok(new) => self.switch(at, Arc::new(new), from),
            // The power is cut, or the disk is full, or the store is not reached. Nothing has changed, or everything has.
            Err(ReplaceError::Call(error @ (CallError::Store(_) | CallError::Skewed(_)))) => {
                self.tell(&format!("the replacement is not known to have happened: {error}"));
            }
            Err(error) => {
                let what = "replacing the design".to_string();
                let trouble = Trouble::Failed { what, error: error.to_string() };
                lock(&self.shared).trouble.get_or_insert(trouble);
            }
        }
        Next::Ended
    }

    /// The server that has replaced the design serves the new version, and then the others do, one after the other.
    fn switch(&self, at: usize, new: Arc<Runtime>, from: u64) {
        let newest = lock(&self.running).newest(0);
        let done = newest.revision(&*self.surroundings);
        let _ = new.follow_views();
        self.provider.serves(&self.next.design);
        self.serve_at(at, new);
        let mut shared = lock(&self.shared);
        shared.stage = Stage::Done { from, at: done };
        shared.facts.replacements += 1;
        shared.serve(&self.next.design);
        drop(shared);
        self.tell("the next version has the say");
        // meanwhile the others have the text before, and are called
        let around: &dyn Surroundings = &*self.surroundings;
        around.rest(Duration::from_millis(around.chance() % UPGRADE_MS));
        let servers = lock(&self.running).servers.len();
        for other in (0..servers).filter(|other| *other != at) {
            let Some(place) = lock(&self.running).servers.get(other).map(|it| it.place.clone())
            else {
                return;
            };
            match self.simulator.serve(&self.next, &place) {
                Ok(new) => self.serve_at(other, new),
                // the store is not reached, or its clock is wrong: it goes on saying that it was replaced
                Err(error) => {
                    self.tell(&format!("server {} is not upgraded: {error}", place.number))
                }
            }
        }
    }

    fn serve_at(&self, at: usize, new: Arc<Runtime>) {
        let Some(outside) =
            lock(&self.running).servers.get(at).map(|it| Arc::clone(&it.place.outside))
        else {
            return;
        };
        let workers = Workers::start(&new, outside, 2).expect("a simulated task starts");
        let mut running = lock(&self.running);
        let Some(server) = running.servers.get_mut(at) else { return };
        server.runtime = new;
        let old = std::mem::replace(&mut server.workers, workers);
        running.retired.push(old);
    }

    fn tell(&self, text: &str) {
        let at_ms = self.surroundings.time_ms();
        lock(&self.shared).story.push(Event {
            at_ms,
            by: By::Server { bad: false },
            text: text.into(),
        });
    }
}

impl Shared {
    /// From now on everybody calls what this version has.
    pub fn serve(&mut self, design: &Arc<Design>) {
        self.design = Arc::clone(design);
        self.people = people(design);
        self.drawing.replaced(design);
    }
}

/// Why this version cannot be simulated as the one after that, with so many servers; none: it can.
pub fn unfit(design: &Design, next: &Design, servers: usize) -> Option<String> {
    if design.name != next.name {
        return Some(format!("`{}` does not follow `{}`", next.name, design.name));
    }
    if runtime::alike(design, next) {
        return Some("the next version is the same design: there is nothing to replace".into());
    }
    if servers > 1 && !runtime::stays_as_stored(design, next) {
        return Some(
            "what is stored would have to be converted, and servers that share a store do not do that: simulate it \
             with one server"
                .into(),
        );
    }
    let names = |design: &Design| -> Vec<String> {
        people(design).into_iter().map(|person| person.name).collect()
    };
    (names(design) != names(next)).then(|| {
        "other actors call the new version than the old one: such a replacement is not simulated".into()
    })
}
