//! Which designs a store holds, under which numbers, and how their truth is laid out.
//!
//! A design has another number for every layout it ever had: one of them counts, the older ones
//! tell how the feed of their time is read.

use std::ops::ControlFlow;
use std::sync::Arc;

use design::model::{Design, OperationKind, Range, StateKind, Type, visit};
use store::{Decision, KeyRange, LocalStore, Store, Transaction};

use crate::bytes::{Damaged, Reader, put_bytes, put_number};
use crate::ground;
use crate::keys::{DesignNumber, Space, begin};
use crate::open_error::OpenError;
use crate::replace::stored_alike;
use crate::reply::CallError;
use crate::schema::Schema;

/// Belongs to no design.
const NOBODYS: DesignNumber = DesignNumber(u16::MAX);
/// Keys that are removed in one commit.
const KEYS: usize = 1_000;

/// What a number is for. Kept as the name with a letter before it that no name begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Entry {
    Current(String),
    /// it counted once
    Older(String),
    /// records are being copied to it
    Copying(String),
    /// never counted
    Dead,
}

/// A design that is ready to run.
pub struct Registered {
    pub schema: Schema,
    pub older: Vec<Arc<Schema>>,
}

pub enum Found {
    Ready(Box<Registered>),
    /// the store holds another version
    Differs(Box<(Registered, Design)>),
}

/// Gives the design its number, the same whenever it is opened on this store. Where the store holds
/// it already, and nothing that is stored depends on what differs, it is kept as it is now.
pub fn register(
    design: Design,
    text: Option<&str>,
    store: &dyn Store,
    retry: &store::Retry,
) -> Result<Found, OpenError> {
    let described = describe(&design);
    let mut outcome: Result<Known, OpenError> = Err(OpenError::Damaged);
    let mut left_over = false;
    let mut run = |transaction: &mut dyn Transaction| {
        let Ok(mut entries) = read_entries(transaction) else { return Decision::Abandon };
        let mut changed = false;
        for entry in &mut entries {
            if *entry == Entry::Copying(design.name.clone()) {
                *entry = Entry::Dead;
                changed = true;
            }
        }
        left_over = entries.iter().any(|e| matches!(e, Entry::Older(_) | Entry::Dead));
        let found = entries.iter().position(|e| *e == Entry::Current(design.name.clone()));
        let number = match found {
            Some(at) => DesignNumber(at as u16),
            None if entries.len() >= usize::from(NOBODYS.0) => {
                outcome = Err(OpenError::Design("the store holds no more designs".into()));
                return Decision::Abandon;
            }
            None => {
                let number = DesignNumber(entries.len() as u16);
                entries.push(Entry::Current(design.name.clone()));
                changed = true;
                transaction.put(&meta(number, b"layout"), described.as_bytes());
                keep_design(transaction, number, &design, text);
                number
            }
        };
        outcome = known(transaction, &entries, number, &design.name);
        if let Ok(known) = &outcome
            && known.is_stored_like(&design, &described)
            && !is_kept(transaction, number, &design, text)
        {
            keep_design(transaction, number, &design, text);
            changed = true;
        }
        if !changed {
            return Decision::Abandon;
        }
        write_entries(transaction, &entries);
        Decision::Commit
    };
    store::block_on(ground::transact(store, retry, &mut run))?.ticket.wait()?;
    let known = outcome?;
    if let Some(local) = store.local().filter(|_| left_over) {
        remove_left_over(local, &design.name).map_err(|_| OpenError::Damaged)?;
    }
    let same = known.is_stored_like(&design, &described);
    let older = known
        .older
        .into_iter()
        .filter_map(|(number, design)| Some(Arc::new(Schema::new(design?, number).ok()?)));
    let older = older.collect();
    let ready = |design| Schema::new(design, known.number).map_err(OpenError::Design);
    if same {
        return Ok(Found::Ready(Box::new(Registered { schema: ready(design)?, older })));
    }
    match known.stored.filter(|stored| describe(stored) == known.layout) {
        Some(stored) => {
            let stored = Registered { schema: ready(stored)?, older };
            Ok(Found::Differs(Box::new((stored, design))))
        }
        None => Err(difference(&known.layout, &described)),
    }
}

struct Known {
    number: DesignNumber,
    layout: String,
    /// none: it cannot be read by this version of the program
    stored: Option<Design>,
    older: Vec<(DesignNumber, Option<Design>)>,
}

impl Known {
    /// Nothing that is stored depends on what differs.
    fn is_stored_like(&self, design: &Design, described: &str) -> bool {
        self.layout == described
            && self.stored.as_ref().is_none_or(|stored| stored_alike(stored, design))
    }
}

fn known(
    transaction: &dyn Transaction,
    entries: &[Entry],
    number: DesignNumber,
    name: &str,
) -> Result<Known, OpenError> {
    let text = |number, what: &[u8]| transaction.get(&meta(number, what)).map(|(_, bytes)| bytes);
    let design =
        |number| text(number, b"design").and_then(|bytes| serde_json::from_slice(bytes).ok());
    let layout = text(number, b"layout").ok_or(OpenError::Damaged)?;
    let older = entries.iter().enumerate().filter(|(_, e)| **e == Entry::Older(name.into()));
    let older = older.map(|(at, _)| DesignNumber(at as u16));
    Ok(Known {
        number,
        layout: String::from_utf8_lossy(layout).into_owned(),
        stored: design(number),
        older: older.map(|number| (number, design(number))).collect(),
    })
}

/// A number to copy to. Nothing counts there yet.
pub fn reserve(local: &dyn LocalStore, name: &str) -> Result<DesignNumber, CallError> {
    let mut outcome = Err(CallError::Damaged);
    let ticket = local.transact(&mut |transaction| {
        let Ok(mut entries) = read_entries(transaction) else { return Decision::Abandon };
        if entries.len() >= usize::from(NOBODYS.0) {
            return Decision::Abandon;
        }
        outcome = Ok(DesignNumber(entries.len() as u16));
        entries.push(Entry::Copying(name.into()));
        write_entries(transaction, &entries);
        Decision::Commit
    })?;
    ticket.wait()?;
    outcome
}

/// From now on the new number counts.
pub fn switch(
    transaction: &mut dyn Transaction,
    old: &Schema,
    new: &Schema,
    text: Option<&str>,
) -> Result<(), Damaged> {
    let mut entries = read_entries(transaction)?;
    let name = &new.design.name;
    *entries.get_mut(usize::from(old.number.0)).ok_or(Damaged)? = Entry::Older(name.clone());
    *entries.get_mut(usize::from(new.number.0)).ok_or(Damaged)? = Entry::Current(name.clone());
    write_entries(transaction, &entries);
    transaction.put(&meta(new.number, b"layout"), describe(&new.design).as_bytes());
    keep_design(transaction, new.number, &new.design, text);
    Ok(())
}

/// The design under its number is written like this now. Without a text, the one that was kept
/// before belongs to it no longer.
pub fn keep_design(
    transaction: &mut dyn Transaction,
    number: DesignNumber,
    design: &Design,
    text: Option<&str>,
) {
    transaction.put(&meta(number, b"design"), &text_of(design));
    match text {
        Some(text) => transaction.put(&meta(number, b"text"), text.as_bytes()),
        None => transaction.delete(&meta(number, b"text")),
    }
}

fn is_kept(
    transaction: &dyn Transaction,
    number: DesignNumber,
    design: &Design,
    text: Option<&str>,
) -> bool {
    let kept = |what: &[u8]| transaction.get(&meta(number, what)).map(|(_, bytes)| bytes.to_vec());
    let same_text = text.is_none_or(|text| kept(b"text").as_deref() == Some(text.as_bytes()));
    same_text && kept(b"design") == Some(text_of(design))
}

/// The number that counts for a design of this name.
pub fn current(transaction: &dyn Transaction, name: &str) -> Result<Option<DesignNumber>, Damaged> {
    let entries = read_entries(transaction)?;
    let found = entries.iter().position(|e| *e == Entry::Current(name.into()));
    Ok(found.map(|at| DesignNumber(at as u16)))
}

/// The names of all designs that count.
pub fn names(transaction: &dyn Transaction) -> Result<Vec<String>, Damaged> {
    let entries = read_entries(transaction)?.into_iter().filter_map(|entry| match entry {
        Entry::Current(name) => Some(name),
        _ => None,
    });
    Ok(entries.collect())
}

/// Nothing will ever count under this number.
pub fn give_up(local: &dyn LocalStore, number: DesignNumber) -> Result<(), CallError> {
    let ticket = local.transact(&mut |transaction| {
        let Ok(mut entries) = read_entries(transaction) else { return Decision::Abandon };
        if let Some(entry) = entries.get_mut(usize::from(number.0)) {
            *entry = Entry::Dead;
        }
        write_entries(transaction, &entries);
        Decision::Commit
    })?;
    ticket.wait()?;
    remove_left_over(local, "").map(|_| ())
}

/// Removes records under numbers that do not count: those of older versions of this design, and of
/// copies that were given up. Gives how many keys.
pub fn remove_left_over(local: &dyn LocalStore, name: &str) -> Result<u64, CallError> {
    let mut removed = 0;
    loop {
        let mut found: Vec<Vec<u8>> = Vec::new();
        local.transact(&mut |transaction| {
            let Ok(entries) = read_entries(transaction) else { return Decision::Abandon };
            for (at, entry) in entries.iter().enumerate() {
                let whole = *entry == Entry::Dead;
                if !whole && *entry != Entry::Older(name.into()) {
                    continue;
                }
                let range = KeyRange::prefix((at as u16).to_be_bytes().to_vec());
                transaction.scan(&range, false, &mut |key, _, _| {
                    // how the feed of its time is read stays known
                    if whole || key.get(2) != Some(&(Space::Meta as u8)) {
                        found.push(key.to_vec());
                    }
                    if found.len() < KEYS {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
            }
            for key in &found {
                transaction.delete(key);
            }
            if found.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        if found.is_empty() {
            return Ok(removed);
        }
        removed += found.len() as u64;
    }
}

fn text_of(design: &Design) -> Vec<u8> {
    serde_json::to_vec(design).unwrap_or_default()
}

pub fn meta(number: DesignNumber, what: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    begin(&mut key, number, Space::Meta);
    key.extend_from_slice(what);
    key
}

/// The numbers of all designs that the store holds, whatever became of them.
pub fn numbers(
    transaction: &dyn Transaction,
) -> Result<impl Iterator<Item = DesignNumber> + use<>, Damaged> {
    let entries = read_entries(transaction)?.len() as u16;
    Ok((0..entries).map(DesignNumber))
}

fn read_entries(transaction: &dyn Transaction) -> Result<Vec<Entry>, Damaged> {
    let Some((_, bytes)) = transaction.get(&meta(NOBODYS, b"")) else { return Ok(Vec::new()) };
    let mut reader = Reader::new(bytes);
    let count = reader.number()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let text = std::str::from_utf8(reader.bytes()?).map_err(|_| Damaged)?;
        entries.push(match text.split_at_checked(1) {
            Some(("~", name)) => Entry::Older(name.into()),
            Some(("+", name)) => Entry::Copying(name.into()),
            Some(("-", _)) => Entry::Dead,
            _ => Entry::Current(text.into()),
        });
    }
    Ok(entries)
}

fn write_entries(transaction: &mut dyn Transaction, entries: &[Entry]) {
    let mut bytes = Vec::new();
    put_number(&mut bytes, entries.len() as u64);
    for entry in entries {
        let text = match entry {
            Entry::Current(name) => name.clone(),
            Entry::Older(name) => format!("~{name}"),
            Entry::Copying(name) => format!("+{name}"),
            Entry::Dead => "-".into(),
        };
        put_bytes(&mut bytes, text.as_bytes());
    }
    transaction.put(&meta(NOBODYS, b""), &bytes);
}

/// Everything that the stored encoding depends on, a line for each.
pub fn describe(design: &Design) -> String {
    let mut lines = vec!["layout 2".to_string()];
    let typed = |name: &str, ty: &Type| format!("{name}: {}", type_text(design, ty));
    let ranged = |name: &str, ty: &Type, range: Option<Range>| {
        typed(name, ty) + &range.map_or_else(String::new, |range| format!(" {}", range.text(ty)))
    };
    let sent_to = visit::message_targets(design);
    for subject in &design.subjects {
        let keys = subject.keys.iter().map(|key| ranged(&key.name, &key.ty, key.range));
        let keys: Vec<String> = keys.collect();
        lines.push(format!("subject {}({})", subject.name, keys.join(", ")));
        for attribute in &subject.attributes {
            let state = &subject.states[attribute.state.index()].name;
            let attribute = ranged(&attribute.name, &attribute.ty, attribute.range);
            lines.push(format!("  {state}.{attribute}"));
        }
        for state in &subject.states {
            if matches!(state.kind, StateKind::Log { .. }) {
                lines.push(format!("  {}: entries, each with its time", state.name));
            }
        }
        for _ in &subject.counters {
            lines.push("  a counter over children".to_string());
        }
    }
    for event in &design.events {
        let fields: Vec<String> = event.fields.iter().map(|(name, ty)| typed(name, ty)).collect();
        lines.push(format!("event {}({})", event.name, fields.join(", ")));
    }
    for (at, operation) in design.operations.iter().enumerate() {
        // what waits in the outbox lies in the ranges of its parameters
        let waits = sent_to[at] || matches!(operation.kind, OperationKind::Effect(_));
        let kind = match operation.kind {
            OperationKind::Step { .. } => "step",
            OperationKind::Repair { .. } => "repair",
            OperationKind::Effect(_) => "effect",
            OperationKind::Read { .. } => "read",
        };
        let actor = &design.actors[operation.actor.index()].name;
        let params = operation.params.iter();
        let mut params: Vec<String> = params
            .map(|param| ranged(&param.name, &param.ty, param.range.filter(|_| waits)))
            .collect();
        for used in &operation.memory {
            let field = &design.actors[used.actor.index()].memory[used.field.index()];
            params.push(typed(&field.name, &field.ty));
        }
        if let OperationKind::Effect(effect) = &operation.kind {
            let keys = effect.key.iter().map(|key| typed("key", &key.ty));
            params.extend(keys);
            for answer in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
                let bound = answer.param.map(|local| &operation.locals[local.index()].ty);
                params.extend(bound.map(|ty| typed("on", ty)));
            }
        }
        lines.push(format!("{kind} {actor}[{}({})]", operation.name, params.join(", ")));
    }
    lines.join("\n")
}

fn type_text(design: &Design, ty: &Type) -> String {
    match ty {
        Type::Enum(id) => design.enumerations[id.index()].constants.join(" | "),
        Type::Ref(id) => design.subjects[id.index()].name.clone(),
        Type::Digest(id) => design.blobs[id.index()].name.clone(),
        Type::Optional(inner) => format!("({})?", type_text(design, inner)),
        Type::Set { of, max } => format!("set {} up to {max}", type_text(design, of)),
        Type::List { of, max } => format!("list {} up to {max}", type_text(design, of)),
        Type::Map { key, value, max } => {
            format!("map {} {} up to {max}", type_text(design, key), type_text(design, value))
        }
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The first line in which the two differ.
fn difference(stored: &str, now: &str) -> OpenError {
    let mut stored = stored.lines();
    let mut now = now.lines();
    loop {
        match (stored.next(), now.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                return OpenError::Changed {
                    stored: a.unwrap_or("nothing").trim().to_string(),
                    now: b.unwrap_or("nothing").trim().to_string(),
                };
            }
        }
    }
}
