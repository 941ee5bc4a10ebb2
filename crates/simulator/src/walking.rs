//! What happened in a world is walked through the engine, and held to the goals of its design.

use std::sync::Arc;

use design::model::Design;
use layout::DesignNumber;
use store::Store;

use crate::facts::{By, Event};
use crate::ledger::{apply, number_of};
use crate::locking::lock;
use crate::people::people;
use crate::serving::Ground;
use crate::trouble::Trouble;
use crate::world::World;

impl World {
    /// Walks what the history has gained, as a store tells it that has just been opened.
    pub(crate) fn walk_on(
        &mut self,
        store: &Arc<dyn Store>,
        ground: &Ground,
    ) -> Result<(), Trouble> {
        loop {
            let page = match self.around().block_on(store.feed(self.walked, 1_000)) {
                Ok(page) => page,
                Err(_) if ground.has_crashed() => return Ok(()),
                Err(error) => {
                    let what = "reading the feed".to_string();
                    return Err(Trouble::Failed { what, error: error.to_string() });
                }
            };
            for commit in &page.commits {
                let revision = commit.cursor.position();
                self.stands_until(revision)?;
                self.stood = revision;
                for entry in &commit.entries {
                    self.hasher.update(&revision.to_be_bytes());
                    self.hasher.update(entry);
                    // what a version says of itself proves nothing: who has the say is known from the answers
                    if layout::feed::marked(entry).is_none() {
                        self.walk_entry(revision, entry)?;
                    }
                }
            }
            // a page without commits is not the end
            if page.next == std::mem::replace(&mut self.walked, page.next) {
                break;
            }
        }
        self.notes_before(self.walked.position() + 1)?;
        self.stands_until(self.walked.position() + 1)?;
        self.stood = self.walked.position();
        if self.walk.is_some() {
            lock(&self.ledger).settle()?;
        }
        Ok(())
    }

    /// Nothing happens before this revision: what callers were shown since the one before it was like this.
    fn stands_until(&self, next: u64) -> Result<(), Trouble> {
        match &self.walk {
            Some(walk) => lock(&self.ledger).stands(walk, self.stood, next),
            None => Ok(()),
        }
    }

    fn walk_entry(&mut self, revision: u64, entry: &[u8]) -> Result<(), Trouble> {
        self.facts(|facts| facts.transitions += 1);
        self.notes_before(revision)?;
        let (mut may, must) = lock(&self.shared).stage.is_new(revision);
        let number = layout::feed::number_of(entry);
        if let Some(walk) = &self.walk
            && !self.followed
            && (must || number != Some(walk.number()))
        {
            self.follow(revision, number)?;
        }
        may &= !self.followed;
        let Some(walk) = &mut self.walk else { return Ok(()) };
        if number.is_some_and(|number| number < walk.number()) {
            let what = "an earlier version acts after it was replaced".to_string();
            return Err(Trouble::Departed { revision, what });
        }
        let read = layout::feed::of_any(entry).map(layout::FeedEntry::parse);
        let called = match &read {
            Some(Ok(read)) => read.trace.as_ref().map(|trace| number_of(&trace.id)),
            _ => None,
        };
        let heard = lock(&self.ledger).is_heard(called);
        let departed = |departure: runtime::Departure| Trouble::Departed {
            revision,
            what: departure.to_string(),
        };
        let taken = match walk.take(entry, heard) {
            // while it is replaced, it may be of the one or of the other version
            Err(_) if may => {
                self.follow(revision, number)?;
                let walk = self.walk.as_mut().expect("it has followed");
                walk.take(entry, heard).map_err(departed)?
            }
            taken => taken.map_err(departed)?,
        };
        let by = String::from_utf8_lossy(&taken.principal);
        let text = match by.is_empty() {
            true => format!("{}[{}]", taken.actor, taken.operation),
            false => format!("{}[{}] of {by} is done", taken.actor, taken.operation),
        };
        let at_ms = u64::try_from(taken.at).unwrap_or_default();
        let text = format!("revision {revision}: {text}");
        let by = By::Feed { called: !by.is_empty() };
        lock(&self.shared).story.push(Event { at_ms, by, text });
        lock(&self.ledger).found(&taken, revision)?;
        self.watch(revision)
    }

    /// The walk goes on with the next version.
    fn follow(&mut self, revision: u64, number: Option<DesignNumber>) -> Result<(), Trouble> {
        let departed = |what: String| Trouble::Departed { revision, what };
        let (Some(walk), Some(next), Some(number)) = (&mut self.walk, &self.simulator.next, number)
        else {
            return Err(departed("a transition of another version".into()));
        };
        walk.follow(Design::clone(&next.design), number).map_err(departed)?;
        let stands = self.stands;
        walk.watch_only(|goal| stands.is_judged(&next.design, goal));
        for person in people(&next.design) {
            walk.know(person.actor, &person.name);
        }
        self.followed = true;
        lock(&self.ledger).forget_shown();
        Ok(())
    }

    fn notes_before(&mut self, revision: u64) -> Result<(), Trouble> {
        let Some(walk) = &mut self.walk else { return Ok(()) };
        let notes = lock(&self.ledger).notes_before(revision);
        for note in notes {
            apply(walk, &note).map_err(|error| {
                let what = "what a caller heard".to_string();
                Trouble::Failed { what, error }
            })?;
            if let Some(broken) = walk.broken(false).into_iter().next() {
                let (goal, trouble) = (broken.goal, broken.trouble);
                return Err(Trouble::Broken { goal, revision: revision - 1, trouble });
            }
        }
        Ok(())
    }

    fn watch(&mut self, revision: u64) -> Result<(), Trouble> {
        let Some(walk) = &mut self.walk else { return Ok(()) };
        match walk.broken(false).into_iter().next() {
            Some(broken) => {
                let (goal, trouble) = (broken.goal, broken.trouble);
                Err(Trouble::Broken { goal, revision, trouble })
            }
            None => Ok(()),
        }
    }
}
