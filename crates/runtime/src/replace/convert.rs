//! One stored key of the old design as the new one keeps it.

use design::model::{AttrId, OperationId, OperationKind, StateId, StateKind, SubjectId};
use engine::Word;
use engine::outbox::EntryState;

use super::obstacle::Obstacles;
use super::types::{Rule, carry, rule, same_key};
use crate::bytes::{Damaged, Reader};
use crate::keys::{self, Space};
use crate::outbox_entry::OutboxEntry;
use crate::perform::outbox_key;
use crate::pool::Pool;
use crate::record;
use crate::schema::Schema;
use crate::{codec, json as values};

/// From one schema to the other.
pub struct Conversion<'s> {
    pub old: &'s Schema,
    pub new: &'s Schema,
    /// what may be lost: `Seat`, `Seat.SeatState.note`
    pub drop: &'s [String],
    pub pools: (Pool, Pool),
    pub found: Obstacles,
}

/// What a key of the old design is in the new one.
pub enum Carried {
    /// nothing: it is derived anew, or dropped
    Nothing,
    Put(Vec<u8>, Vec<u8>),
    Outbox(Vec<u8>, OutboxEntry, OperationId),
}

impl<'s> Conversion<'s> {
    pub fn new(old: &'s Schema, new: &'s Schema, drop: &'s [String]) -> Conversion<'s> {
        let pools = (Pool::new(old.program.texts()), Pool::new(new.program.texts()));
        Conversion { old, new, drop, pools, found: Obstacles::default() }
    }

    pub fn carry(&mut self, key: &[u8], value: &[u8]) -> Result<Carried, Damaged> {
        self.pools.0.reset();
        self.pools.1.reset();
        let space = *key.get(2).ok_or(Damaged)?;
        let rest = &key[3..];
        match space {
            _ if space == Space::Record as u8 => self.record(rest, value),
            _ if space == Space::LogEntry as u8 => self.log_entry(rest, value),
            _ if space == Space::Outbox as u8 => self.outbox(rest, value),
            _ if [Space::RepairDue as u8, Space::OutboxDue as u8, Space::Meta as u8]
                .contains(&space) =>
            {
                Ok(Carried::Nothing)
            }
            _ => {
                let mut moved = self.new.number.0.to_be_bytes().to_vec();
                moved.extend_from_slice(&key[2..]);
                Ok(Carried::Put(moved, value.to_vec()))
            }
        }
    }

    /// Where the record, log entry or outbox entry of an old key would stand, if it has a place.
    pub fn place(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Damaged> {
        let space = *key.get(2).ok_or(Damaged)?;
        let mut reader = Reader::new(&key[3..]);
        if space == Space::Outbox as u8 {
            let operation = OperationId(u32::from(two(&mut reader)?));
            let Some(new) = self.operation(operation) else { return Ok(None) };
            return Ok(Some(outbox_key(self.new, new, reader.rest())));
        }
        if space == Space::Record as u8 || space == Space::LogEntry as u8 {
            let old = SubjectId(u32::from(two(&mut reader)?));
            let Some(new) = self.subject(old) else { return Ok(None) };
            let mut moved = self.new.number.0.to_be_bytes().to_vec();
            moved.push(space);
            moved.extend_from_slice(&(new.0 as u16).to_be_bytes());
            if space == Space::Record as u8 {
                moved.extend_from_slice(reader.rest());
                return Ok(Some(moved));
            }
            let parts = self.parts(&mut reader, old)?;
            let log = StateId(u32::from(reader.byte()?));
            let Some(log) = self.state(old, new, log) else { return Ok(None) };
            moved.extend_from_slice(&parts);
            moved.push(log.0 as u8);
            moved.extend_from_slice(reader.rest());
            return Ok(Some(moved));
        }
        if [Space::RepairDue as u8, Space::OutboxDue as u8, Space::Meta as u8].contains(&space) {
            return Ok(None);
        }
        let mut moved = self.new.number.0.to_be_bytes().to_vec();
        moved.extend_from_slice(&key[2..]);
        Ok(Some(moved))
    }

    fn subject(&self, old: SubjectId) -> Option<SubjectId> {
        self.new.subject(&self.old.design.subjects.get(old.index())?.name)
    }

    fn operation(&self, old: OperationId) -> Option<OperationId> {
        let operation = self.old.design.operations.get(old.index())?;
        let actor = &self.old.design.actors[operation.actor.index()].name;
        self.new.operation(actor, &operation.name)
    }

    fn state(&self, old: SubjectId, new: SubjectId, state: StateId) -> Option<StateId> {
        let name = &self.old.design.subjects[old.index()].states.get(state.index())?.name;
        let states = &self.new.design.subjects[new.index()].states;
        states.iter().position(|known| known.name == *name).map(StateId::of)
    }

    /// Takes the parts of a key off the front, as they are written.
    fn parts(&mut self, reader: &mut Reader<'_>, subject: SubjectId) -> Result<Vec<u8>, Damaged> {
        let before = reader.rest();
        keys::read_key_parts(reader, &self.old.design, subject, &mut self.pools.0)?;
        Ok(before[..before.len() - reader.rest().len()].to_vec())
    }

    fn may_drop(&self, on: &str) -> bool {
        self.drop.iter().any(|dropped| dropped == on)
    }

    /// `Seat A1`
    fn named(&mut self, subject: SubjectId, parts: &[u8]) -> String {
        let design = &self.old.design;
        let mut reader = Reader::new(parts);
        let handle = keys::read_key_parts(&mut reader, design, subject, &mut self.pools.0);
        let mut key = Vec::new();
        if let Ok(handle) = handle {
            values::write_key(design, subject, handle, &self.pools.0, &mut key);
        }
        let words: Vec<String> = key
            .iter()
            .map(|part| part.as_str().map_or_else(|| part.to_string(), String::from))
            .collect();
        format!("{} {}", design.subjects[subject.index()].name, words.join("/"))
    }

    fn record(&mut self, rest: &[u8], value: &[u8]) -> Result<Carried, Damaged> {
        let (old, new) = (self.old, self.new);
        let mut reader = Reader::new(rest);
        let id = SubjectId(u32::from(two(&mut reader)?));
        let parts = reader.rest();
        let subject = old.design.subjects.get(id.index()).ok_or(Damaged)?;
        let named = self.named(id, parts);
        let Some(new_id) = self.subject(id) else {
            if !self.may_drop(&subject.name) {
                self.found.add(&subject.name, "is gone, and there are records of it", named);
            }
            return Ok(Carried::Nothing);
        };
        let after = &new.design.subjects[new_id.index()];
        if !same_key(&old.design, &new.design, subject, after) {
            let why = "has another key: records cannot be found under the new one";
            self.found.add(&subject.name, why, named);
            return Ok(Carried::Nothing);
        }
        if let Some(why) = self.key_outside(id, new_id, parts)? {
            self.found.add(&subject.name, why, named.clone());
        }
        let mut reader = Reader::new(value);
        let head = record::take_head(&mut reader)?;
        let kept = self.attributes(id, &mut reader)?;
        let counted = super::counted(old, id) == super::counted(new, new_id);
        if !counted {
            let why =
                "has children that a guard counts in another way, and they are not counted again";
            self.found.add(&subject.name, why, named.clone());
        }
        let counters: Vec<Word> = old.subjects[id.index()]
            .counters
            .clone()
            .map(|_| reader.signed())
            .collect::<Result<_, _>>()?;
        let mut logs = Vec::new();
        for (state, _) in &old.subjects[id.index()].logs {
            logs.push((*state, reader.signed()?, reader.signed()?));
        }
        let mut out = Vec::new();
        record::put_head(&mut out, &record::Head { written_at: head.written_at, due: Vec::new() });
        self.write_attributes(id, new_id, &kept, &named, &mut out)?;
        for word in counters.iter().take(new.subjects[new_id.index()].counters.len()) {
            crate::bytes::put_signed(&mut out, *word);
        }
        for (state, _) in &new.subjects[new_id.index()].logs {
            let name = &after.states[state.index()].name;
            let known = logs.iter().find(|(old, _, _)| subject.states[old.index()].name == *name);
            let (start, end) = known.map_or((0, 0), |(_, start, end)| (*start, *end));
            crate::bytes::put_signed(&mut out, start);
            crate::bytes::put_signed(&mut out, end);
        }
        for (state, start, end) in logs {
            let name = &subject.states[state.index()].name;
            let on = format!("{}.{name}", subject.name);
            if self.state(id, new_id, state).is_none() && start < end && !self.may_drop(&on) {
                self.found.add(on, "is gone, and has entries", named.clone());
            }
        }
        let mut key = Vec::new();
        keys::begin(&mut key, new.number, Space::Record);
        key.extend_from_slice(&(new_id.0 as u16).to_be_bytes());
        key.extend_from_slice(parts);
        Ok(Carried::Put(key, out))
    }

    /// What is wrong with a key whose parts have ranges now.
    fn key_outside(
        &mut self,
        id: SubjectId,
        new_id: SubjectId,
        parts: &[u8],
    ) -> Result<Option<String>, Damaged> {
        if !self.new.design.has_key_ranges(new_id) {
            return Ok(None);
        }
        let design = &self.old.design;
        let handle = keys::read_key_parts(&mut Reader::new(parts), design, id, &mut self.pools.0)?;
        let mut leaves = Vec::new();
        values::write_key(design, id, handle, &self.pools.0, &mut leaves);
        let read =
            values::read_key(&self.new.design, new_id, &mut leaves.iter(), &mut self.pools.1);
        Ok(read.err().map(|bad| format!("has keys that it does not take: {}", bad.message)))
    }

    /// The attributes of a record as they are encoded, each by its number.
    fn attributes<'v>(
        &mut self,
        id: SubjectId,
        reader: &mut Reader<'v>,
    ) -> Result<Vec<(AttrId, &'v [u8])>, Damaged> {
        let design = &self.old.design;
        let layout = self.old.program.layout(id);
        let mut kept = Vec::new();
        for (at, attribute) in design.subjects[id.index()].attributes.iter().enumerate() {
            let attr = AttrId::of(at);
            if layout.attribute(attr).is_none() {
                continue;
            }
            let before = reader.rest();
            let mut words = Vec::new();
            codec::take(reader, design, &attribute.ty, &mut self.pools.0, &mut words)?;
            kept.push((attr, &before[..before.len() - reader.rest().len()]));
        }
        Ok(kept)
    }

    fn write_attributes(
        &mut self,
        id: SubjectId,
        new_id: SubjectId,
        kept: &[(AttrId, &[u8])],
        named: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Damaged> {
        let (old, new) = (self.old, self.new);
        let (before, after) =
            (&old.design.subjects[id.index()], &new.design.subjects[new_id.index()]);
        let path = |subject: &design::model::Subject, attr: AttrId| {
            let attribute = &subject.attributes[attr.index()];
            format!("{}.{}", subject.states[attribute.state.index()].name, attribute.name)
        };
        let layout = new.program.layout(new_id);
        let mut carried = Vec::new();
        for (at, attribute) in after.attributes.iter().enumerate() {
            let attr = AttrId::of(at);
            let Some(field) = layout.attribute(attr) else { continue };
            let name = path(after, attr);
            let on = format!("{}.{name}", after.name);
            match kept.iter().find(|(old_attr, _)| path(before, *old_attr) == name) {
                Some((old_attr, bytes)) => {
                    carried.push(*old_attr);
                    let was = &before.attributes[old_attr.index()].ty;
                    let is = &attribute.ty;
                    let done = carry(
                        &mut Reader::new(bytes),
                        (&old.design, was),
                        (&new.design, is, attribute.range),
                        &mut self.pools,
                        out,
                    )?;
                    if let Err(why) = done {
                        self.found.add(
                            on,
                            format!("does not take what is stored: {why}"),
                            named.into(),
                        );
                    }
                }
                None if attribute.default.is_some() || attribute.ty.is_optional() => {
                    let defaults = new.program.defaults(new_id);
                    let words = &defaults[field.range()];
                    codec::put(out, &new.design, &attribute.ty, words, &self.pools.1);
                }
                None => {
                    let why = "is new and has no default: give it one, or make it optional";
                    self.found.add(on, why, named.into());
                }
            }
        }
        for (attr, bytes) in kept.iter().filter(|(attr, _)| !carried.contains(attr)) {
            let on = format!("{}.{}", before.name, path(before, *attr));
            if self.may_drop(&on) || self.is_default(id, *attr, bytes)? {
                continue;
            }
            let ty = &before.attributes[attr.index()].ty;
            let renamed = after.attributes.iter().enumerate().find(|(at, other)| {
                let new_path = path(after, AttrId::of(*at));
                rule(&old.design, &new.design, ty, &other.ty) != Rule::Never
                    && !kept.iter().any(|(known, _)| path(before, *known) == new_path)
            });
            let why = match renamed {
                Some((_, other)) => format!(
                    "is gone, and holds something (`{}` is new: a new name is one that is gone and \
                     one that is new)",
                    other.name
                ),
                None => "is gone, and holds something".to_string(),
            };
            self.found.add(on, why, named.into());
        }
        Ok(())
    }

    fn is_default(&mut self, id: SubjectId, attr: AttrId, bytes: &[u8]) -> Result<bool, Damaged> {
        let ty = &self.old.design.subjects[id.index()].attributes[attr.index()].ty;
        let field = self.old.program.layout(id).attribute(attr).ok_or(Damaged)?;
        let words = &self.old.program.defaults(id)[field.range()];
        let mut unused = Vec::new();
        codec::put(&mut unused, &self.old.design, ty, words, &self.pools.0);
        Ok(unused == bytes)
    }

    fn log_entry(&mut self, rest: &[u8], value: &[u8]) -> Result<Carried, Damaged> {
        let (old, new) = (self.old, self.new);
        let mut reader = Reader::new(rest);
        let id = SubjectId(u32::from(two(&mut reader)?));
        let parts = self.parts(&mut reader, id)?;
        let log = StateId(u32::from(reader.byte()?));
        let Some(new_id) = self.subject(id) else { return Ok(Carried::Nothing) };
        // that a log is gone is said of its record
        let Some(new_log) = self.state(id, new_id, log) else { return Ok(Carried::Nothing) };
        let (before, after) =
            (&old.design.subjects[id.index()], &new.design.subjects[new_id.index()]);
        let named = self.named(id, &parts);
        let on = format!("{}.{}", before.name, before.states[log.index()].name);
        if !matches!(after.states[new_log.index()].kind, StateKind::Log { .. }) {
            self.found.add(on, "is of another kind now", named);
            return Ok(Carried::Nothing);
        }
        let mut entry = Reader::new(value);
        let appended_at = entry.signed()?;
        let mut fields = Vec::new();
        for (attr, _) in &old.program.state(id, log).fields {
            let start = entry.rest();
            let ty = &before.attributes[attr.index()].ty;
            let mut words = Vec::new();
            codec::take(&mut entry, &old.design, ty, &mut self.pools.0, &mut words)?;
            fields.push((*attr, &start[..start.len() - entry.rest().len()]));
        }
        let mut out = Vec::new();
        crate::bytes::put_signed(&mut out, appended_at);
        for (attr, _) in &new.program.state(new_id, new_log).fields {
            let attribute = &after.attributes[attr.index()];
            let found = fields
                .iter()
                .find(|(known, _)| before.attributes[known.index()].name == attribute.name);
            let done = match found {
                Some((known, bytes)) => carry(
                    &mut Reader::new(bytes),
                    (&old.design, &before.attributes[known.index()].ty),
                    (&new.design, &attribute.ty, attribute.range),
                    &mut self.pools,
                    &mut out,
                )?,
                None if attribute.ty.is_optional() => {
                    out.push(0);
                    Ok(())
                }
                None => Err("it is new, and entries that are written have none".into()),
            };
            if let Err(why) = done {
                self.found.add(format!("{on}.{}", attribute.name), why, named.clone());
            }
        }
        let gone = fields.iter().map(|(attr, _)| &before.attributes[attr.index()].name);
        for name in gone {
            let on = format!("{on}.{name}");
            let there = after.attributes.iter().any(|a| a.name == *name && a.state == new_log);
            if !there && !self.may_drop(&on) {
                self.found.add(on, "is gone, and entries have it", named.clone());
            }
        }
        let mut key = Vec::new();
        keys::begin(&mut key, new.number, Space::LogEntry);
        key.extend_from_slice(&(new_id.0 as u16).to_be_bytes());
        key.extend_from_slice(&parts);
        key.push(new_log.0 as u8);
        key.extend_from_slice(reader.rest());
        Ok(Carried::Put(key, out))
    }

    fn outbox(&mut self, rest: &[u8], value: &[u8]) -> Result<Carried, Damaged> {
        let (old, new) = (self.old, self.new);
        let mut reader = Reader::new(rest);
        let id = OperationId(u32::from(two(&mut reader)?));
        let operation = old.design.operations.get(id.index()).ok_or(Damaged)?;
        let actor = &old.design.actors[operation.actor.index()].name;
        let on = format!("{actor}.{}", operation.name);
        let named = crate::outbox_entry::key_text(old, id, reader.rest());
        let mut entry = OutboxEntry::take(value)?;
        if entry.entry.state == EntryState::Closed {
            return Ok(Carried::Nothing);
        }
        let Some(new_id) = self.operation(id) else {
            self.found.add(on, "is gone, and calls of it are on their way", named);
            return Ok(Carried::Nothing);
        };
        let after = &new.design.operations[new_id.index()];
        let keys_fit =
            match (&operation.kind, &after.kind) {
                (OperationKind::Effect(was), OperationKind::Effect(is)) => {
                    was.key.len() == is.key.len()
                        && was.key.iter().zip(&is.key).all(|(a, b)| {
                            rule(&old.design, &new.design, &a.ty, &b.ty) == Rule::Same
                        })
                }
                (OperationKind::Step { .. }, OperationKind::Step { .. }) => true,
                _ => false,
            };
        if !keys_fit {
            let why = "has another key or kind, and calls of it are on their way";
            self.found.add(on, why, named);
            return Ok(Carried::Nothing);
        }
        let mut args = Reader::new(&entry.args);
        let mut given = Vec::new();
        for param in &operation.params {
            let start = args.rest();
            let mut words = Vec::new();
            codec::take(&mut args, &old.design, &param.ty, &mut self.pools.0, &mut words)?;
            given.push((&param.name, &param.ty, &start[..start.len() - args.rest().len()]));
        }
        let mut out = Vec::new();
        for (at, param) in after.params.iter().enumerate() {
            let done = match given.iter().find(|(name, _, _)| **name == param.name) {
                Some((_, was, bytes)) => carry(
                    &mut Reader::new(bytes),
                    (&old.design, was),
                    (&new.design, &param.ty, param.range),
                    &mut self.pools,
                    &mut out,
                )?,
                None => match new.program.param_default(new_id, at) {
                    Some(words) => {
                        codec::put(&mut out, &new.design, &param.ty, words, &self.pools.1);
                        Ok(())
                    }
                    None if param.ty.is_optional() => {
                        out.push(0);
                        Ok(())
                    }
                    None => Err("it is new and has no default".to_string()),
                },
            };
            if let Err(why) = done {
                let on = format!("{on}({})", param.name);
                self.found.add(
                    on,
                    format!("does not take what waits in the outbox: {why}"),
                    named.clone(),
                );
            }
        }
        entry.args = out;
        Ok(Carried::Outbox(outbox_key(new, new_id, reader.rest()), entry, new_id))
    }
}

fn two(reader: &mut Reader<'_>) -> Result<u16, Damaged> {
    let bytes = reader.take(2)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}
