//! Another version of a design in the place of the one that runs, under the truth that is stored.
//!
//! Everything is copied under a new number, as the new design keeps it, while the old one goes on;
//! what changes meanwhile is noted and copied again. One last commit carries what was noted since
//! and says which number counts. Before it nothing has changed, after it everything has: a crash
//! leaves the one or the other, and a copy that does not count is removed.

mod carry;
mod convert;
mod dues;
mod entries;
mod made;
mod obstacle;

use std::iter;
use std::ops::ControlFlow;
use std::sync::Arc;

use design::model::{Design, OperationKind, StateKind};
use engine::outbox::EntryState;
use layout::{
    DesignNumber, Epoch, Following, OutboxEntry, OutboxKey, RecordKey, StoredKey, describe,
};
use serde_json::Value;
use store::{Decision, Key, KeyRange, Transaction};

pub use obstacle::Obstacle;

use crate::calls::CallError;
use crate::core::{ReadError, Runtime, Schema};
use crate::registry::{self, Writing};
use convert::{Carried, Conversion};
use dues::Dues;
use obstacle::Obstacles;

/// Keys that are copied in one commit, so that calls get their turn.
const KEYS: usize = 512;

/// Said where the copy of a version could not be held against what other servers write meanwhile.
const NOT_CONVERTED: &str = "what is stored would have to be converted, and that is done only where the state is in one \
                             process: on a store that several servers share, only a text is replaced under which it \
                             stays as it is";

/// Why a design was not replaced. Nothing has changed.
#[derive(Clone, PartialEq, Debug)]
pub enum ReplaceError {
    /// what is stored stands in the way
    Unsafe(Vec<Obstacle>),
    /// the text is of another design, or too large for the store
    Design(String),
    /// another version is being put in its place right now, or was already
    Busy,
    Call(CallError),
}

impl std::fmt::Display for ReplaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplaceError::Unsafe(obstacles) => {
                write!(f, "what is stored stands in the way: ")?;
                let list: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
                write!(f, "{}", list.join("; "))
            }
            ReplaceError::Design(why) => write!(f, "{why}"),
            ReplaceError::Busy => write!(f, "this design is being replaced already"),
            ReplaceError::Call(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ReplaceError {}

impl From<CallError> for ReplaceError {
    fn from(error: CallError) -> ReplaceError {
        match error {
            CallError::Replaced => ReplaceError::Busy,
            error => ReplaceError::Call(error),
        }
    }
}

impl From<store::Error> for ReplaceError {
    fn from(error: store::Error) -> ReplaceError {
        ReplaceError::Call(error.into())
    }
}

impl From<ReadError> for ReplaceError {
    fn from(error: ReadError) -> ReplaceError {
        ReplaceError::Call(error.into())
    }
}

/// Whether the next version finds what is stored as it needs it: nothing has to be converted.
pub fn stays_as_stored(design: &Design, next: &Design) -> bool {
    Following::of(design, next).misfits.is_empty() && stored_alike(design, next)
}

impl Runtime {
    /// Puts `design` in the place of the one that runs, if what is stored allows it. From then on
    /// this runtime answers `Replaced`, and the one that is returned has the say. `drop` names what
    /// may be lost: `Seat`, `Seat.SeatState.note`.
    pub fn replace(&self, design: Design, drop: &[String]) -> Result<Runtime, ReplaceError> {
        self.replace_with(design, None::<&str>, drop)
    }

    /// The same, and the text of the new version is kept beside it.
    pub fn replace_with<'t>(
        &self,
        design: Design,
        text: Option<impl Into<Writing<'t>>>,
        drop: &[String],
    ) -> Result<Runtime, ReplaceError> {
        if design.name != self.schema.design.name {
            let (is, was) = (&design.name, &self.schema.design.name);
            return Err(ReplaceError::Design(format!("this is `{is}`, and `{was}` is served")));
        }
        if let Some(fence) = &self.fence {
            return self.replace_text(design, text.map(Into::into), &fence.epoch);
        }
        if self.is_shared() {
            return Err(ReplaceError::Design(NOT_CONVERTED.into()));
        }
        let mut begun = false;
        self.transact(&mut |_| {
            begun = self.gate.begin_copying();
            Decision::Abandon
        })?;
        if !begun {
            return Err(ReplaceError::Busy);
        }
        let name = design.name.clone();
        tracing::info!(design = %name, "a new version is put in place of the one that runs");
        let replaced = self.replace_now(design, text.map(Into::into), drop);
        self.gate.end_copying();
        match &replaced {
            Ok(_) => tracing::info!(design = %name, "the new version has the say"),
            Err(error) => {
                tracing::warn!(design = %name, %error, "not replaced; the old version serves on");
            }
        }
        let (schema, older) = replaced?;
        Ok(self.successor(schema, older))
    }

    /// On a store that others may change, too: the text alone, under which what is stored stays as it is. One commit
    /// begins the next epoch; from there on no server commits anything that the text before has decided.
    fn replace_text(
        &self,
        design: Design,
        text: Option<Writing<'_>>,
        epoch: &Epoch,
    ) -> Result<Runtime, ReplaceError> {
        if !stays_as_stored(&self.schema.design, &design) {
            return Err(ReplaceError::Design(NOT_CONVERTED.into()));
        }
        let schema = schema_of(design, self.schema.number)?;
        let mut begun = None;
        let ticket = self.transact(&mut |transaction| {
            begun = Some(registry::begin_epoch(
                transaction,
                (&self.schema.design, &schema),
                epoch,
                text,
            ));
            Decision::Commit
        })?;
        ticket.wait()?;
        self.gate.retire();
        let name = &self.schema.design.name;
        tracing::info!(design = %name, "the new text has the say, on every server");
        Ok(self.successor(schema, self.older.clone()).within(begun))
    }

    fn replace_now(
        &self,
        design: Design,
        text: Option<Writing<'_>>,
        drop: &[String],
    ) -> Result<(Schema, Vec<Arc<Schema>>), ReplaceError> {
        if stays_as_stored(&self.schema.design, &design) {
            let schema = schema_of(design, self.schema.number)?;
            self.swap(|transaction| {
                registry::mark_text(transaction, schema.number, &self.schema.design);
                registry::keep_design(transaction, schema.number, &schema.lowered, text);
                Ok(true)
            })?;
            return Ok((schema, self.older.clone()));
        }
        let number = registry::reserve(self.local(), &design.name)?;
        let schema = schema_of(design, number)?;
        let copied = self.copy(&schema, text, drop);
        if copied.is_err() {
            registry::give_up(self.local(), number)?;
            return copied.map(|()| (schema, Vec::new()));
        }
        let mut older = self.older.clone();
        older.push(Arc::clone(&self.schema));
        Ok((schema, older))
    }

    fn copy(
        &self,
        new: &Schema,
        text: Option<Writing<'_>>,
        drop: &[String],
    ) -> Result<(), ReplaceError> {
        let mut conversion = Conversion::new(&self.schema, new, drop);
        // a line of the block that does not fit stands in the way, whatever is stored
        refuse(&mut conversion)?;
        let mut dues = Dues::new(new, self.clock.now_ms());
        let bytes_max = self.store.limits().commit_bytes_max / 4;
        // all of it, as it is when it is looked at
        let mut after = None;
        loop {
            let mut outcome = Ok(false);
            self.transact_copy(&mut |transaction| {
                outcome = copy_some(&mut conversion, &mut after, bytes_max, transaction);
                Decision::Commit
            })?;
            if !outcome? {
                break;
            }
        }
        refuse(&mut conversion)?;
        let mut after = None;
        while {
            let mut outcome = Ok(false);
            self.transact_copy(&mut |transaction| {
                outcome = dues.some(&mut after, KEYS, transaction);
                Decision::Commit
            })?;
            outcome?
        } {}
        // what was changed meanwhile, until nothing is left: then the new number counts
        let mut switched = false;
        while !switched {
            self.swap(|transaction| {
                copy_touched(self, &mut conversion, &mut dues, bytes_max, transaction)?;
                if !conversion.found.is_empty() {
                    return Ok(false);
                }
                switched = self.gate.touched().is_empty();
                if switched {
                    registry::switch(transaction, &self.schema, new, text)?;
                }
                Ok(switched)
            })?;
            refuse(&mut conversion)?;
        }
        Ok(())
    }

    /// A transaction of the copy, which is not noted.
    fn transact_copy(
        &self,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<(), ReplaceError> {
        self.local().transact(run)?;
        Ok(())
    }

    /// One transaction after which, if `run` says so, this runtime has no say any more. Durable.
    fn swap(
        &self,
        mut run: impl FnMut(&mut dyn Transaction) -> Result<bool, ReadError>,
    ) -> Result<(), ReplaceError> {
        let mut outcome = Ok(false);
        let ticket = self.local().transact(&mut |transaction| {
            outcome = run(transaction);
            match outcome {
                Ok(over) => {
                    if over {
                        self.gate.retire();
                    }
                    Decision::Commit
                }
                Err(_) => Decision::Abandon,
            }
        });
        // it was not taken, or it never became durable: this runtime goes on
        ticket.and_then(|ticket| ticket.wait()).inspect_err(|_| self.gate.resume())?;
        outcome.map(|_| ()).map_err(ReplaceError::from)
    }

    /// Removes what versions of this design left behind that no longer count. Gives how many keys.
    pub fn remove_left_over(&self) -> Result<u64, CallError> {
        match self.store.local() {
            Some(local) => registry::remove_left_over(local, &self.schema.design.name),
            None => Ok(0),
        }
    }
}

/// A key and its value.
pub type Stored = (Vec<u8>, Vec<u8>);

/// What is stored under the old design, as the new one keeps it: records, entries of logs, and whatever else moves with
/// them. The outbox is left out. Fails with what would stand in the way.
pub fn carried_over<'k>(
    (old, new): (&Schema, &Schema),
    stored: impl Iterator<Item = (&'k [u8], &'k [u8])>,
) -> Result<Vec<Stored>, ReplaceError> {
    let mut conversion = Conversion::new(old, new, &[]);
    let mut all = Vec::new();
    for (key, value) in stored {
        if let Carried::Put(key, value) = conversion.carry(key, value)? {
            all.push((key, value));
        }
    }
    refuse(&mut conversion)?;
    Ok(all)
}

fn schema_of(design: Design, number: DesignNumber) -> Result<Schema, ReplaceError> {
    Schema::new(design, number).map_err(ReplaceError::Design)
}

fn refuse(conversion: &mut Conversion<'_>) -> Result<(), ReplaceError> {
    let found = std::mem::take(&mut conversion.found);
    if found.is_empty() { Ok(()) } else { Err(ReplaceError::Unsafe(Obstacles::list(found))) }
}

/// Nothing that is stored depends on what differs: neither the layout nor when something is due.
pub fn stored_alike(old: &Design, new: &Design) -> bool {
    describe(old) == describe(new) && essence(old) == essence(new)
}

/// The repairs of a design, the keys of its effects, what counters count and how long entries are kept, without the
/// places in its text.
fn essence(design: &Design) -> Value {
    let whole = design::to_value(design);
    let operations = design.operations.iter().enumerate().map(|(at, operation)| {
        let written = &whole["operations"][at];
        match &operation.kind {
            OperationKind::Repair { .. } => written.clone(),
            // a call that waits is known by it
            OperationKind::Effect(_) => written["kind"]["Effect"]["key"].clone(),
            _ => Value::Null,
        }
    });
    let subjects = design.subjects.iter().enumerate().map(|(at, subject)| {
        let written = &whole["subjects"][at];
        let states = subject.states.iter().enumerate().map(|(at, state)| match state.kind {
            StateKind::Log { .. } => written["states"][at]["kind"].clone(),
            _ => Value::Null,
        });
        iter::once(written["counters"].clone()).chain(states).collect()
    });
    let mut all = Value::Array(operations.chain(subjects).collect());
    without_places(&mut all);
    all
}

pub(crate) fn without_places(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["span", "head"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_places);
        }
        Value::Array(items) => items.iter_mut().for_each(without_places),
        _ => {}
    }
}

/// Copies the next keys. False: there are none.
fn copy_some(
    conversion: &mut Conversion<'_>,
    after: &mut Option<Vec<u8>>,
    bytes_max: u64,
    transaction: &mut dyn Transaction,
) -> Result<bool, ReadError> {
    let mut found = Vec::new();
    let mut bytes = 0;
    let range = rest_of(conversion.old.number, after.as_deref());
    transaction.scan(&range, false, &mut |key, _, value| {
        found.push((key.to_vec(), value.to_vec()));
        bytes += key.len() + value.len();
        if found.len() >= KEYS || bytes as u64 >= bytes_max {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    for (key, value) in &found {
        let carried = conversion.carry(key, value)?;
        if conversion.found.is_empty() {
            write(conversion.new, carried, transaction);
        }
    }
    *after = found.pop().map(|(key, _)| key);
    Ok(after.is_some())
}

/// The keys of a design that come after one of them.
fn rest_of(number: DesignNumber, after: Option<&[u8]>) -> KeyRange {
    let mut range = KeyRange::prefix(number.prefix().to_vec());
    if let Some(after) = after {
        range.start = Key::new(after.to_vec()).next();
    }
    range
}

fn write(new: &Schema, carried: Carried, transaction: &mut dyn Transaction) {
    match carried {
        Carried::Nothing => {}
        Carried::Put(key, value) => transaction.put(&key, &value),
        Carried::Outbox(name, entry, operation) => {
            let key = OutboxKey { design: new.number, operation, name: &name };
            if entry.entry.state == EntryState::Open {
                transaction.put(&key.due(entry.entry.next_at).to_bytes(), &[]);
            }
            transaction.put(&key.to_bytes(), &entry.to_bytes());
        }
    }
}

/// Copies again what was changed since it was copied.
fn copy_touched(
    runtime: &Runtime,
    conversion: &mut Conversion<'_>,
    dues: &mut Dues<'_>,
    bytes_max: u64,
    transaction: &mut dyn Transaction,
) -> Result<(), ReadError> {
    let own = runtime.schema.number.prefix();
    let mut bytes = 0;
    let mut records = Vec::new();
    for _ in 0..KEYS {
        if bytes as u64 >= bytes_max {
            break;
        }
        let Some(key) = runtime.gate.touched().pop_first() else { break };
        if !key.starts_with(&own) {
            continue;
        }
        let Some(place) = conversion.place(&key)? else { continue };
        take_away(&place, dues, transaction)?;
        let value = transaction.get(&key).map(|(_, value)| value.to_vec());
        let Some(value) = value else { continue };
        bytes += key.len() + value.len();
        let carried = conversion.carry(&key, &value)?;
        if let Carried::Put(key, _) = &carried
            && RecordKey::parse(key).is_ok()
        {
            records.push(key.clone());
        }
        write(conversion.new, carried, transaction);
    }
    for key in records {
        dues.one(&key, transaction)?;
    }
    Ok(())
}

/// Removes what an earlier copy wrote, and where it stands in an index.
fn take_away(
    place: &[u8],
    dues: &mut Dues<'_>,
    transaction: &mut dyn Transaction,
) -> Result<(), ReadError> {
    let Some((_, value)) = transaction.get(place) else { return Ok(()) };
    let value = value.to_vec();
    match StoredKey::parse(place)? {
        StoredKey::Record(key) => dues.forget(key, &value, transaction)?,
        StoredKey::Outbox(key) => {
            let entry = OutboxEntry::take(&value);
            let entry = entry.map_err(|wrong| ReadError::value(place, wrong))?;
            transaction.delete(&key.due(entry.entry.next_at).to_bytes());
        }
        _ => {}
    }
    transaction.delete(place);
    Ok(())
}
