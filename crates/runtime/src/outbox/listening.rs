//! Designs of one store that hear each other. The commit that emits an event puts it into the outbox of every design that
//! listens: from there on it is an event of that design, whether it is served or not.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use design::model::{Design, Event, OperationId};
use engine::Word;
use engine::outbox::Entry;
use layout::{
    About, Damaged, DesignNumber, MetaKey, Numbered, OutboxEntry, OutboxKey, Pool, take_numbers,
};
use store::Decision;

use crate::calls::{CallError, Room};
use crate::core::{Got, Loaded, Plan, ReadError, Runtime, Schema, Source};
use crate::registry;
use crate::values;

/// A design that hears this one.
pub struct Listener {
    name: String,
    /// whoever serves it
    served: Weak<Runtime>,
    /// as it is stored; another version may take its place
    schema: Mutex<Arc<Schema>>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// Everybody who hears a design.
pub type Listeners = Arc<Vec<Arc<Listener>>>;

/// Who hears an event of this design, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heard {
    /// the design that listens
    pub by: String,
    pub event: String,
    pub served: bool,
}

impl Runtime {
    /// Tells designs of one store of each other: from now on each of them knows who hears it, also of designs that the
    /// store holds and nobody serves.
    pub fn link(served: &[Arc<Runtime>]) -> Result<(), CallError> {
        let Some(first) = served.first() else { return Ok(()) };
        let mut stored: Result<Vec<(DesignNumber, Design)>, Damaged> = Ok(Vec::new());
        first.look(&mut |transaction| {
            stored = registry::current_designs(&*transaction);
            Decision::Abandon
        })?;
        let mut all: Vec<Arc<Listener>> = Vec::new();
        for (number, design) in stored? {
            let name = design.name.clone();
            let live = served.iter().find(|runtime| runtime.schema.design.name == name);
            let schema = match live {
                Some(live) => Arc::clone(&live.schema),
                None if design.operations.iter().all(|operation| operation.hears.is_none()) => {
                    continue;
                }
                None => match Schema::new(design, number) {
                    Ok(schema) => Arc::new(schema),
                    Err(why) => {
                        tracing::warn!(design = %name, %why, "events do not reach a design that is not served");
                        continue;
                    }
                },
            };
            let served = live.map_or_else(Weak::new, Arc::downgrade);
            all.push(Arc::new(Listener { name, served, schema: Mutex::new(schema) }));
        }
        for runtime in served {
            let own = &runtime.schema.design;
            let hears = |listener: &&Arc<Listener>| {
                let schema = listener.schema();
                let hears = design::handlers_of(&schema.design, &own.name).next().is_some();
                listener.name != own.name && hears
            };
            let listeners: Vec<Arc<Listener>> = all.iter().filter(hears).cloned().collect();
            runtime.schema.set_listeners(Arc::new(listeners));
        }
        Ok(())
    }

    /// Who hears which events of this design.
    pub fn heard(&self) -> Vec<Heard> {
        let listeners = self.schema.listeners();
        let mut list = Vec::new();
        for listener in listeners.iter() {
            let schema = listener.schema();
            for (_, hears) in design::handlers_of(&schema.design, &self.schema.design.name) {
                list.push(Heard {
                    by: listener.name.clone(),
                    event: hears.event.clone(),
                    served: listener.served.strong_count() > 0,
                });
            }
        }
        list
    }
}

impl Listener {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As it is stored under its number now. None: something is not fetched yet.
    fn current(
        &self,
        entries: &[Numbered],
        source: &dyn Source,
    ) -> Result<Option<Arc<Schema>>, ReadError> {
        let known = self.schema();
        let found = entries.iter().position(|e| *e == Numbered::Current(self.name.clone()));
        let Some(number) = found.map(|at| DesignNumber(at as u16)) else { return Ok(Some(known)) };
        if number == known.number {
            return Ok(Some(known));
        }
        let key = MetaKey { design: number, about: About::Design }.to_bytes();
        let design: Option<Design> = match source.get(&key) {
            Got::Later => return Ok(None),
            Got::Absent => None,
            Got::Present(_, bytes) => serde_json::from_slice(bytes).ok(),
        };
        let schema = design.and_then(|design| Schema::new(design, number).ok());
        let unreadable = || ReadError::value(&key, layout::Wrong::Missing);
        let schema = Arc::new(schema.ok_or_else(unreadable)?);
        *self.schema.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&schema);
        Ok(Some(schema))
    }
}

/// Puts what a step emits into the outbox of everybody who listens. False: something is not fetched yet.
pub fn tell_listeners(
    schema: &Schema,
    loaded: &Loaded<'_>,
    room: &Room,
    source: &dyn Source,
    (now, number): (Word, u64),
    plan: &mut Plan,
) -> Result<bool, ReadError> {
    let listeners = schema.listeners();
    if listeners.is_empty() || room.scratch.emits().next().is_none() {
        return Ok(true);
    }
    let key = MetaKey::NUMBERS.to_bytes();
    let entries = match source.get(&key) {
        Got::Later => return Ok(false),
        Got::Absent => Vec::new(),
        Got::Present(_, bytes) => {
            take_numbers(bytes).map_err(|wrong| ReadError::value(&key, wrong))?
        }
    };
    for listener in listeners.iter() {
        let Some(theirs) = listener.current(&entries, source)? else { return Ok(false) };
        for (at, emit) in room.scratch.emits().enumerate() {
            let event = &schema.design.events[emit.event.index()];
            let name = &schema.design.name;
            let handler = design::handlers_of(&theirs.design, name)
                .find(|(_, hears)| hears.event == event.name)
                .and_then(|(handler, _)| {
                    let position =
                        theirs.design.operations.iter().position(|o| o.name == handler.name);
                    position.map(OperationId::of)
                });
            let Some(handler) = handler else { continue };
            let mut pool = Pool::new(theirs.program.texts());
            let words = carried(schema, event, emit.words, loaded, (&*theirs, handler), &mut pool);
            let Some(words) = words else {
                tracing::error!(design = %theirs.design.name, event = %event.name, "an event does not fit its handler");
                continue;
            };
            let codec = theirs.codec();
            let name = codec.event_name(handler, &words, (number, at), &pool);
            let mut args = Vec::new();
            codec.put_params(&mut args, handler, &words, &pool);
            let entry = Entry::default().send(now);
            let place = OutboxKey { design: theirs.number, operation: handler, name: &name };
            let (key, due) = (place.to_bytes(), place.due(entry.next_at).to_bytes());
            let trace = room.trace.clone();
            let stored = OutboxEntry { entry, args, trouble: String::new(), trace };
            plan.put(&key, &stored.to_bytes());
            plan.put(&due, &[]);
            if let Some(served) = listener.served.upgrade() {
                // it waits for this transaction to be over
                served.gate.note([key, due]);
                served.alarm.ring(entry.next_at);
            }
        }
    }
    Ok(true)
}

/// What an event tells, as its handler takes it. None: it does not.
fn carried(
    schema: &Schema,
    event: &Event,
    words: &[Word],
    loaded: &Loaded<'_>,
    (theirs, handler): (&Schema, OperationId),
    pool: &mut Pool,
) -> Option<Vec<Word>> {
    let own = loaded.pool.borrow();
    let mut taken = Vec::new();
    for param in &theirs.design.operations[handler.index()].params {
        let mut at = 0;
        let mut value = None;
        for (name, ty) in &event.fields {
            let width = engine::width_of(ty) as usize;
            if *name == param.name {
                value = Some(values::write(&schema.design, ty, &words[at..at + width], &own));
            }
            at += width;
        }
        values::read(&theirs.design, &param.ty, &value?, pool, &mut taken).ok()?;
    }
    Some(taken)
}
