//! Is the runtime where the checker is?

use model_checker::sample::{Record, State, Truth};
use serde_json::{Value as Json, json};

use crate::carrier::{Carried, Carrier, Stop, differs};

impl Carrier {
    pub fn compare(&self, state: &State) -> Carried {
        for record in &state.records {
            self.record(record)?;
        }
        self.outbox(state)?;
        if self.door.is_function() {
            self.remembered(state)?;
        }
        Ok(())
    }

    fn record(&self, record: &Record) -> Carried {
        let declared = &self.design.subjects[record.subject.index()];
        let Some(key) = self.evidence.parts(&self.design, record.subject, &record.key) else {
            return Err(Stop::LeftOut("a key that cannot be told"));
        };
        let held = self.door.truth(&self.runtime, &declared.name, &key);
        let at = || format!("{}{}", declared.name, Json::Array(key.clone()));
        match (&record.truth, held) {
            (None, None) => Ok(()),
            (Some(truth), Some(held)) => self.truth(record, truth, &held, &at),
            (None, Some(held)) => differs(format!("{} is absent, and here {held}", at())),
            (Some(_), None) => differs(format!("{} is present, and here absent", at())),
        }
    }

    fn truth(
        &self,
        record: &Record,
        truth: &Truth,
        held: &Json,
        at: &dyn Fn() -> String,
    ) -> Carried {
        let declared = &self.design.subjects[record.subject.index()];
        for (number, value) in &truth.attributes {
            let attribute = &declared.attributes[*number as usize];
            let state = &declared.states[attribute.state.index()].name;
            let Some(expected) = self.evidence.json(&self.design, &attribute.ty, value) else {
                continue;
            };
            let here = &held[state][&attribute.name];
            if *here != expected {
                let place = format!("{} {state}.{}", at(), attribute.name);
                return differs(format!("{place} is {expected}, and here {here}"));
            }
        }
        for (log, start, end) in &truth.logs {
            let name = &declared.states[log.index()].name;
            let expected = json!({ "start": start, "end": end });
            if held[name] != expected {
                return differs(format!("{} {name} is {expected}, and here {}", at(), held[name]));
            }
        }
        Ok(())
    }

    /// Open entries and messages under way, those that are lost to the checker among them.
    fn outbox(&self, state: &State) -> Carried {
        let open = self.runtime.undelivered().map_err(|error| Stop::Differs(error.to_string()))?;
        let mut here: Vec<String> =
            open.into_iter().map(|(name, args)| format!("{name} {}", Json::Object(args))).collect();
        let mut expected = self.lost.clone();
        for (operation, params) in state.open.iter().chain(&state.messages) {
            expected.push(self.message(*operation, params)?);
        }
        here.sort();
        expected.sort();
        if self.messages_double {
            // a copy more may still be under way here
            let mut copied = self.copied.borrow_mut();
            copied.extend(here.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0].clone()));
            here.dedup();
            expected.dedup();
            here.retain(|message| expected.contains(message) || !copied.contains(message));
        }
        match here == expected {
            true => Ok(()),
            false => differs(format!("the outbox holds {expected:?}, and here {here:?}")),
        }
    }

    fn remembered(&self, state: &State) -> Carried {
        let mut known = 0;
        for (slot, value) in &state.memory {
            let (actor, field) = slot.field.split_once('.').unwrap_or_default();
            let actor = self.design.actors.iter().find(|known| known.name == actor);
            let held = actor.and_then(|actor| actor.memory.iter().find(|it| it.name == field));
            let Some(held) = held else { return differs(format!("no memory {slot:?}")) };
            known += 1;
            let Some(expected) = self.evidence.json(&self.design, &held.ty, value) else {
                continue;
            };
            let here = self.memory.get(slot);
            if here != Some(&expected) {
                return differs(format!("{slot:?} is {expected}, and here {here:?}"));
            }
        }
        match known == self.memory.len() {
            true => Ok(()),
            false => differs(format!("memory is {:?}, and here {:?}", state.memory, self.memory)),
        }
    }
}
