//! A walk goes on with the version that took the place of the one that was walked.

use design::model::{ActorId, Design};
use layout::DesignNumber;

use super::walk::Walk;
use crate::calls::CallError;
use crate::replacement::carried_over;

impl Walk {
    /// The number that the design has in its store.
    pub fn number(&self) -> DesignNumber {
        self.schema.number
    }

    /// From here on the history is one of the next version. What is stored is carried over as a replacement does it.
    /// Who has acted is known on, what callers remember and what the world outside did is not: goals about it are
    /// watched no longer. Fails, and has changed nothing, if what is stored could not have been carried over.
    pub fn follow(&mut self, design: Design, number: DesignNumber) -> Result<(), String> {
        let mut next = Walk::numbered(design, number)?;
        next.of_feed_alone();
        let stored = self.walked.values.iter().map(|(key, value)| (&key[..], &value[..]));
        let carried = match number == self.schema.number {
            // nothing that is stored depends on what differs
            true => stored.map(|(key, value)| (key.to_vec(), value.to_vec())).collect(),
            false => carried_over((&self.schema, &next.schema), stored)
                .map_err(|error| format!("the version before cannot be followed: {error}"))?,
        };
        for (key, value) in carried {
            next.begin_with_one(key, value).map_err(|error| CallError::from(error).to_string())?;
        }
        next.walked.partial = self.walked.partial;
        next.count = self.count;
        for (at, actor) in self.schema.design.actors.iter().enumerate() {
            let known = |other: &design::model::Actor| other.name == actor.name;
            let Some(to) = next.schema.design.actors.iter().position(known) else { continue };
            for principal in self.world.principals_known(ActorId::of(at)) {
                let name = self.lasting.borrow().content(*principal).to_vec();
                let word = next.lasting.borrow_mut().text(&name);
                next.world.met(ActorId::of(to), word);
            }
        }
        next.world.go_on();
        *self = next;
        Ok(())
    }
}
