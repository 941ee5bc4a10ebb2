//! What can happen outside of calls: the outbox and the world, messages, and what gets lost.

use super::ast::*;
use super::moves::{Action, Event, charged};
use super::run::Who;
use super::state::{Heard, State, Taken};
use super::world::World;

impl World<'_> {
    pub fn effects(&self, state: &State, list: &mut Vec<Event>) {
        for ((number, key), args) in &state.outbox {
            let effect = &self.design.effects[*number];
            let at = (*number, key.clone());
            let mut closed = state.clone();
            closed.outbox.remove(&at);
            match state.world.get(&at) {
                None => {
                    let mut next = state.clone();
                    next.world.insert(at.clone(), Heard::Asked(args.clone()));
                    let mut event = Event::new(next);
                    event.action = Some((Action::Attempt(at.0, at.1.clone()), true));
                    list.push(event);
                }
                Some(Heard::Asked(_)) => {}
                Some(Heard::Refused(_)) => {
                    self.answers(&closed, effect, &effect.on_refused, args, Some(&at), list);
                }
                Some(Heard::Done(_, answer) | Heard::Twice(_, answer)) => {
                    let args = [&args[..], std::slice::from_ref(answer)].concat();
                    self.answers(&closed, effect, &effect.on_ok, &args, Some(&at), list);
                }
            }
            self.again(state, &at, list);
            if !self.design.check.never_unknown {
                self.answers(&closed, effect, &effect.on_unknown, args, None, list);
            }
        }
        for ((number, key), heard) in &state.world {
            let Heard::Asked(args) = heard else { continue };
            let at = (*number, key.clone());
            let mut decisions = vec![Heard::Refused(args.clone())];
            if self.design.effects[*number].answers {
                let (low, high) = self.design.check.given;
                decisions
                    .extend((low..=high).map(|held| Heard::Done(args.clone(), Value::Int(held))));
            } else {
                decisions.push(Heard::Done(args.clone(), Value::Null));
            }
            for decision in decisions {
                let mut next = state.clone();
                next.world.insert(at.clone(), decision);
                let mut event = Event::new(next);
                event.action = Some((Action::Decide(at.0, at.1.clone()), true));
                list.push(event);
            }
        }
    }

    /// Without its key, a call that was decided is made once more as a new one.
    fn again(&self, state: &State, at: &(usize, Value), list: &mut Vec<Event>) {
        if self.without != Some(Without::Key(at.0)) {
            return;
        }
        let more = match state.world.get(at) {
            Some(Heard::Done(args, answer)) => Heard::Twice(args.clone(), answer.clone()),
            Some(Heard::Refused(args)) => Heard::Done(args.clone(), Value::Null),
            _ => return,
        };
        let mut next = state.clone();
        next.world.insert(at.clone(), more);
        let mut event = Event::new(next);
        event.action = Some((Action::Attempt(at.0, at.1.clone()), true));
        list.push(event);
    }

    /// The entry is closed, and its handler commits if it can.
    fn answers(
        &self,
        closed: &State,
        effect: &Effect,
        handler: &[Stmt],
        args: &[Value],
        decided: Option<&(usize, Value)>,
        list: &mut Vec<Event>,
    ) {
        for (clock, faults) in self.clocks() {
            let taken = Taken::new();
            let who = Who { person: None, args, taken: &taken, clock };
            let done = self.answer(closed, effect, handler, &who);
            let moved_on = done.as_ref().is_some_and(|done| done.moved_on);
            let next = done.map_or_else(|| closed.clone(), |done| done.state);
            let Some(next) = charged(self, next, faults) else { continue };
            let mut event = Event::new(next);
            event.moved_on = moved_on;
            event.calm = clock == 0 && decided.is_some();
            if let (0, Some(at)) = (clock, decided) {
                event.action = Some((Action::Answer(at.0, at.1.clone()), true));
            }
            list.push(event);
        }
    }

    pub fn messages(&self, state: &State, list: &mut Vec<Event>) {
        for at in 0..state.messages.len() {
            let message = &state.messages[at];
            if at > 0 && state.messages[at - 1] == *message {
                continue;
            }
            let events = self.design.events;
            if events && state.messages[..at].iter().any(|it| it.args[0] == message.args[0]) {
                continue; // another one of its key comes first
            }
            let mut gone = state.clone();
            gone.messages.remove(at);
            if !events && let Some(next) = charged(self, gone.clone(), &[Fault::LostMessage]) {
                list.push(Event { calm: false, ..Event::new(next) });
            }
            let Value::Ref(to) = message.args[0] else { panic!("a message goes to a record") };
            if !events && state.parted && to.own != message.from {
                continue;
            }
            for (clock, clock_fault) in self.clocks() {
                let taken = Taken::new();
                let who = Who { person: None, args: &message.args, taken: &taken, clock };
                let outcome = self.run(&gone, message.op, &who);
                if clock == 0 || charged(self, state.clone(), clock_fault).is_some() {
                    self.note(message.op, &outcome);
                }
                let moved_on = outcome.as_ref().is_ok_and(|done| done.moved_on);
                let next = outcome.map_or_else(|_| gone.clone(), |done| done.state);
                if let Some(next) = charged(self, next, clock_fault) {
                    let mut event = Event::new(next);
                    event.moved_on = moved_on;
                    event.calm = clock == 0;
                    if clock == 0 {
                        event.action = Some((Action::Deliver(message.clone()), true));
                    }
                    list.push(event);
                }
                let Ok(done) = self.run(state, message.op, &who) else { continue };
                // an event may always come again
                let faults = match events {
                    true => clock_fault.to_vec(),
                    false => [&[Fault::DoubledMessage], clock_fault].concat(),
                };
                if let Some(next) = charged(self, done.state, &faults) {
                    let mut event = Event::new(next);
                    event.moved_on = done.moved_on;
                    event.calm = false;
                    list.push(event);
                }
            }
        }
    }

    fn places(&self) -> usize {
        let at_places = self.design.subjects.iter().filter(|subject| subject.place);
        at_places.map(|subject| subject.count).sum()
    }

    /// Faults that need no call.
    pub fn losses(&self, state: &State, list: &mut Vec<Event>) {
        for person in 0..self.people.len() {
            let mut next = state.clone();
            next.memory.retain(|slot, _| slot.0 != person);
            next.older.retain(|slot, _| slot.0 != person);
            next.copies.retain(|slot, _| slot.0 != person);
            if next != *state
                && let Some(next) = charged(self, next, &[Fault::Crash])
            {
                list.push(Event { calm: false, ..Event::new(next) });
            }
        }
        for place in state.records.keys().filter(|key| self.design.subjects[key.subject].place) {
            let mut next = state.clone();
            let defaults = self.defaults(place.subject);
            let record = next.records.get_mut(place).expect("it is there");
            for (at, attr) in self.design.subjects[place.subject].attrs.iter().enumerate() {
                if attr.volatile {
                    record.attrs[at] = defaults[at].clone();
                }
            }
            if next != *state
                && let Some(next) = charged(self, next, &[Fault::Crash])
            {
                list.push(Event { calm: false, ..Event::new(next) });
            }
        }
        for slot in state.copies.keys() {
            let mut next = state.clone();
            next.copies.remove(slot);
            // A copy may be gone at any time, whether or not that fault is on.
            if self.design.has(Fault::Evict) {
                self.seen.borrow_mut().struck.insert(Fault::Evict);
            }
            list.push(Event { calm: false, ..Event::new(next) });
        }
        if state.parted {
            let mut event = Event::new(State { parted: false, ..state.clone() });
            event.action = Some((Action::Heal, true));
            list.push(event);
        } else if self.places() > 1
            && let Some(next) = charged(self, state.clone(), &[Fault::Partition])
        {
            let next = State { parted: true, ..next };
            list.push(Event { calm: false, ..Event::new(next) });
        }
    }
}
