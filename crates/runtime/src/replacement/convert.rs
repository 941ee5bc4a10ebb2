//! One stored key of the old design as the new one keeps it.

use design::model::{AttrId, OperationId, OperationKind, StateId, StateKind, SubjectId};
use engine::Word;
use engine::outbox::EntryState;
use layout::{
    AsideKey, Head, LogKey, OutboxEntry, OutboxKey, Pool, Reader, RecordKey, SetAside, StoredKey,
    Wrong, append_time, put_head, put_signed, take_append_time, take_head, value,
};

use super::obstacle::Obstacles;
use super::types::{Rule, carry, rule, same_key};
use crate::core::{ReadError, Schema};
use crate::outbox::key_text;
use crate::values;

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
    /// the name of the call, its entry and its operation
    Outbox(Vec<u8>, OutboxEntry, OperationId),
}

impl<'s> Conversion<'s> {
    pub fn new(old: &'s Schema, new: &'s Schema, drop: &'s [String]) -> Conversion<'s> {
        let pools = (Pool::new(old.program.texts()), Pool::new(new.program.texts()));
        Conversion { old, new, drop, pools, found: Obstacles::default() }
    }

    pub fn carry(&mut self, key: &[u8], value: &[u8]) -> Result<Carried, ReadError> {
        self.pools.0.reset();
        self.pools.1.reset();
        let wrong = |wrong| ReadError::value(key, wrong);
        match StoredKey::parse(key)? {
            StoredKey::Record(record) => self.record(record, value).map_err(wrong),
            StoredKey::Log(entry) => {
                self.old.codec().handle(entry.record(), &mut self.pools.0)?;
                self.log_entry(entry, value).map_err(wrong)
            }
            StoredKey::Outbox(entry) => self.outbox(entry, value).map_err(wrong),
            StoredKey::Aside(aside) => Ok(self.aside(aside, value)),
            // derived anew
            StoredKey::RepairDue(_) | StoredKey::OutboxDue(_) | StoredKey::Meta(_) => {
                Ok(Carried::Nothing)
            }
            other => {
                let moved = other.of_design(self.new.number).to_bytes();
                Ok(Carried::Put(moved, value.to_vec()))
            }
        }
    }

    /// Where the record, log entry or outbox entry of an old key would stand, if it has a place.
    pub fn place(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        let design = self.new.number;
        Ok(match StoredKey::parse(key)? {
            StoredKey::Outbox(key) => self
                .operation(key.operation)
                .map(|operation| OutboxKey { design, operation, name: key.name }.to_bytes()),
            StoredKey::Record(key) => self
                .subject(key.subject)
                .map(|subject| RecordKey { design, subject, parts: key.parts }.to_bytes()),
            StoredKey::Log(key) => self.subject(key.subject).and_then(|subject| {
                let log = self.state(key.subject, subject, key.log)?;
                Some(LogKey { design, subject, log, ..key }.to_bytes())
            }),
            StoredKey::RepairDue(_) | StoredKey::OutboxDue(_) | StoredKey::Meta(_) => None,
            other => Some(other.of_design(design).to_bytes()),
        })
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

    fn may_drop(&self, on: &str) -> bool {
        self.drop.iter().any(|dropped| dropped == on)
    }

    /// `Seat A1`
    fn named(&mut self, subject: SubjectId, parts: &[u8]) -> String {
        let (codec, design) = (self.old.codec(), &self.old.design);
        let handle = codec.handle(codec.key_of(subject, parts), &mut self.pools.0);
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

    fn record(&mut self, key: RecordKey<'_>, value: &[u8]) -> Result<Carried, Wrong> {
        let (old, new) = (self.old, self.new);
        let RecordKey { subject: id, parts, .. } = key;
        let subject = old.design.subjects.get(id.index()).ok_or(Wrong::UnknownSubject)?;
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
        let head = take_head(&mut reader)?;
        let kept = self.attributes(id, &mut reader)?;
        let counted = super::counted(old, id) == super::counted(new, new_id);
        if !counted {
            let why =
                "has children that a guard counts in another way, and they are not counted again";
            self.found.add(&subject.name, why, named.clone());
        }
        let counters: Vec<Word> = old.records[id.index()]
            .counters
            .clone()
            .map(|_| reader.signed())
            .collect::<Result<_, _>>()?;
        let mut logs = Vec::new();
        for (state, _) in &old.records[id.index()].logs {
            logs.push((*state, reader.signed()?, reader.signed()?));
        }
        let mut out = Vec::new();
        put_head(&mut out, &Head { written_at: head.written_at, due: Vec::new() });
        self.write_attributes(id, new_id, &kept, &named, &mut out)?;
        for word in counters.iter().take(new.records[new_id.index()].counters.len()) {
            put_signed(&mut out, *word);
        }
        for (state, _) in &new.records[new_id.index()].logs {
            let name = &after.states[state.index()].name;
            let known = logs.iter().find(|(old, _, _)| subject.states[old.index()].name == *name);
            let (start, end) = known.map_or((0, 0), |(_, start, end)| (*start, *end));
            put_signed(&mut out, start);
            put_signed(&mut out, end);
        }
        for (state, start, end) in logs {
            let name = &subject.states[state.index()].name;
            let on = format!("{}.{name}", subject.name);
            if self.state(id, new_id, state).is_none() && start < end && !self.may_drop(&on) {
                self.found.add(on, "is gone, and has entries", named.clone());
            }
        }
        Ok(Carried::Put(new.codec().key_of(new_id, parts).to_bytes(), out))
    }

    /// What is wrong with a key whose parts have ranges now.
    fn key_outside(
        &mut self,
        id: SubjectId,
        new_id: SubjectId,
        parts: &[u8],
    ) -> Result<Option<String>, Wrong> {
        if !self.new.design.has_key_ranges(new_id) {
            return Ok(None);
        }
        let (codec, design) = (self.old.codec(), &self.old.design);
        let handle = codec.handle(codec.key_of(id, parts), &mut self.pools.0);
        let handle = handle.map_err(|damaged| damaged.wrong)?;
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
    ) -> Result<Vec<(AttrId, &'v [u8])>, Wrong> {
        let design = &self.old.design;
        let layout = self.old.program.layout(id);
        let mut kept = Vec::new();
        for (at, attribute) in design.subjects[id.index()].attributes.iter().enumerate() {
            let attr = AttrId::of(at);
            if layout.attribute(attr).is_none() {
                continue;
            }
            let (bytes, ()) = reader.span(|reader| {
                value::take(reader, design, &attribute.ty, &mut self.pools.0, &mut Vec::new())
            })?;
            kept.push((attr, bytes));
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
    ) -> Result<(), Wrong> {
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
                    value::put(out, &new.design, &attribute.ty, words, &self.pools.1);
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

    fn is_default(&mut self, id: SubjectId, attr: AttrId, bytes: &[u8]) -> Result<bool, Wrong> {
        let ty = &self.old.design.subjects[id.index()].attributes[attr.index()].ty;
        let field = self.old.program.layout(id).attribute(attr).ok_or(Wrong::UnknownState)?;
        let words = &self.old.program.defaults(id)[field.range()];
        let mut unused = Vec::new();
        value::put(&mut unused, &self.old.design, ty, words, &self.pools.0);
        Ok(unused == bytes)
    }

    fn log_entry(&mut self, key: LogKey<'_>, stored: &[u8]) -> Result<Carried, Wrong> {
        let (old, new) = (self.old, self.new);
        let LogKey { subject: id, parts, log, .. } = key;
        let Some(new_id) = self.subject(id) else { return Ok(Carried::Nothing) };
        // that a log is gone is said of its record
        let Some(new_log) = self.state(id, new_id, log) else { return Ok(Carried::Nothing) };
        let (before, after) =
            (&old.design.subjects[id.index()], &new.design.subjects[new_id.index()]);
        let named = self.named(id, parts);
        let on = format!("{}.{}", before.name, before.states[log.index()].name);
        if !matches!(after.states[new_log.index()].kind, StateKind::Log { .. }) {
            self.found.add(on, "is of another kind now", named);
            return Ok(Carried::Nothing);
        }
        let mut entry = Reader::new(stored);
        let appended_at = take_append_time(&mut entry)?;
        let mut fields = Vec::new();
        for (attr, _) in &old.program.state(id, log).fields {
            let ty = &before.attributes[attr.index()].ty;
            let (bytes, ()) = entry.span(|entry| {
                value::take(entry, &old.design, ty, &mut self.pools.0, &mut Vec::new())
            })?;
            fields.push((*attr, bytes));
        }
        let mut out = Vec::new();
        append_time(&mut out, appended_at);
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
        let record = new.codec().key_of(new_id, parts);
        Ok(Carried::Put(record.log_entry(new_log, key.offset).to_bytes(), out))
    }

    /// An entry that was set aside stays aside, under the same id. An outbox entry that reads becomes what
    /// it would be in the outbox of the new design, and can go back there. Everything else is kept as it is
    /// for people to look at: its numbers mean something else in the new design, so it cannot go back. A
    /// repair that was set aside is due anew, since due times are derived anew.
    fn aside(&mut self, key: AsideKey, stored: &[u8]) -> Carried {
        let (old, new) = (self.old.number, self.new.number);
        let place = AsideKey { design: new, ..key }.to_bytes();
        let as_it_is = Carried::Put(place.clone(), stored.to_vec());
        let Ok(mut aside) = SetAside::take(stored) else { return as_it_is };
        let (first, value) = &aside.taken[0];
        let first = [&old.prefix(), &first[..]].concat();
        let Some(entry) = OutboxKey::parse(&first).ok().filter(|_| aside.design == old) else {
            return as_it_is;
        };
        match self.outbox(entry, value) {
            Ok(Carried::Outbox(name, entry, operation)) => {
                let key = OutboxKey { design: new, operation, name: &name };
                let open = entry.entry.state == EntryState::Open;
                let due = open.then(|| (key.due(entry.entry.next_at).to_bytes(), Vec::new()));
                let taken = [(key.to_bytes(), entry.to_bytes())].into_iter().chain(due);
                let rest = |key: Vec<u8>| key[new.prefix().len()..].to_vec();
                aside.taken = taken.map(|(key, value)| (rest(key), value)).collect();
                aside.design = new;
                Carried::Put(place, aside.to_bytes())
            }
            // it was closed, or it stands in the way, which is noted
            Ok(_) => Carried::Nothing,
            Err(_) => as_it_is,
        }
    }

    fn outbox(&mut self, key: OutboxKey<'_>, stored: &[u8]) -> Result<Carried, Wrong> {
        let (old, new) = (self.old, self.new);
        let id = key.operation;
        let operation = old.codec().operation(id)?;
        let actor = &old.design.actors[operation.actor.index()].name;
        let on = format!("{actor}.{}", operation.name);
        let named = key_text(old, id, key.name);
        let mut entry = OutboxEntry::take(stored)?;
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
            let (bytes, ()) = args.span(|args| {
                value::take(args, &old.design, &param.ty, &mut self.pools.0, &mut Vec::new())
            })?;
            given.push((&param.name, &param.ty, bytes));
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
                        value::put(&mut out, &new.design, &param.ty, words, &self.pools.1);
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
        Ok(Carried::Outbox(key.name.to_vec(), entry, new_id))
    }
}
