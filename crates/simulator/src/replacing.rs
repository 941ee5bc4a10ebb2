//! The next version of a design takes the place of the one that runs, while everybody calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use design::model::Design;
use runtime::{CallError, ReplaceError, Runtime, Workers};
use store::{Next, Surroundings};

use crate::caller::Shared;
use crate::facts::{By, Event};
use crate::outside::{Provider, head};
use crate::people::people;
use crate::surroundings::Moved;
use crate::trouble::Trouble;
use crate::world::lock;

/// So long until it is looked again whether it is time.
const LOOK: Duration = Duration::from_micros(500);

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

/// Who runs, for everybody who calls.
#[derive(Default)]
pub(crate) struct Running {
    pub runtime: Option<Arc<Runtime>>,
    pub workers: Option<Workers>,
    /// of versions that were replaced: they are stopped at the end of the life, where nobody waits who they wait for
    pub retired: Vec<Workers>,
}

/// The operator, as a task.
pub(crate) struct Operator {
    pub next: Arc<Design>,
    /// so many calls are made in this life before it is time
    pub after: usize,
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
        let Some(old) = lock(&self.running).runtime.clone() else { return Next::Ended };
        let from = head(&*self.surroundings, &old);
        lock(&self.shared).stage = Stage::Begun { from };
        self.tell("the operator begins to replace the design");
        // others go on meanwhile, so nothing is held
        let replaced = old.replace((*self.next).clone(), &[]);
        match replaced {
            Ok(new) => self.switch(Arc::new(new), from),
            // The power is cut, or the disk is full. Nothing has changed, or everything has.
            Err(ReplaceError::Call(CallError::Store(error))) => {
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

    fn switch(&self, new: Arc<Runtime>, from: u64) {
        let at = head(&*self.surroundings, &new);
        let _ = new.follow_views();
        self.provider.serves(&new, &self.next);
        let workers = Workers::start(&new, Arc::<Provider>::clone(&self.provider), 2);
        let workers = workers.expect("a simulated task starts");
        let mut running = lock(&self.running);
        let old = running.workers.replace(workers);
        running.retired.extend(old);
        running.runtime = Some(new);
        drop(running);
        let mut shared = lock(&self.shared);
        shared.stage = Stage::Done { from, at };
        shared.facts.replacements += 1;
        shared.serve(&self.next);
        drop(shared);
        self.tell("the next version has the say");
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

/// Why this version cannot be simulated as the one after that; none: it can.
pub fn unfit(design: &Design, next: &Design) -> Option<String> {
    if design.name != next.name {
        return Some(format!("`{}` does not follow `{}`", next.name, design.name));
    }
    if runtime::alike(design, next) {
        return Some("the next version is the same design: there is nothing to replace".into());
    }
    let names = |design: &Design| -> Vec<String> {
        people(design).into_iter().map(|person| person.name).collect()
    };
    (names(design) != names(next)).then(|| {
        "other actors call the new version than the old one: such a replacement is not simulated".into()
    })
}
