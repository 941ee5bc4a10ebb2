//! One stored key of the old design as the new one keeps it.

use design::model::{AttrId, ConversionOf, OperationId, SubjectId};
use engine::Word;
use layout::following::{Site, Source, attribute_path};
use layout::{
    ActedKey, Following, Head, LogKey, OutboxEntry, OutboxKey, Pool, Reader, RecordKey, StoredKey,
    Wrong, put_head, put_signed, take_head, value,
};

use super::carry::{Target, carried, carry};
use super::made::Made;
use super::obstacle::Obstacles;
use crate::core::{ReadError, Schema};
use crate::values;

/// From one schema to the other.
pub struct Conversion<'s> {
    pub old: &'s Schema,
    pub new: &'s Schema,
    pub following: Following<'s>,
    pub made: Made,
    /// what may be lost: `Seat`, `Seat.SeatState`, `Seat.SeatState.note`
    pub drop: &'s [String],
    /// for each old subject: are its children counted alike?
    counted: Vec<bool>,
    pub pools: (Pool, Pool),
    pub found: Obstacles,
}

/// What is stored of a record or an entry, each attribute by its number.
pub type Kept<'v> = [(AttrId, &'v [u8])];

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
        let following = Following::of(&old.design, &new.design);
        let made = Made::new(&new.design, &following);
        let pools = (Pool::new(old.program.texts()), Pool::new(made.program.texts()));
        let counted = (0..old.design.subjects.len())
            .map(SubjectId::of)
            .map(|id| following.subject(id).is_none_or(|new| following.counted_alike(id, new)));
        let counted = counted.collect();
        let mut found = Obstacles::default();
        for misfit in &following.misfits {
            found.say(&misfit.line, &misfit.why);
        }
        Conversion { old, new, following, made, drop, counted, pools, found }
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
            StoredKey::Acted(acted) => {
                // an actor that is gone keeps its mark: it may come back
                let actor = self.following.actor_named(acted.actor).unwrap_or(acted.actor);
                let moved = ActedKey { design: self.new.number, actor, ..acted };
                Ok(Carried::Put(moved.to_bytes(), value.to_vec()))
            }
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
                .following
                .operation(key.operation)
                .map(|operation| OutboxKey { design, operation, name: key.name }.to_bytes()),
            StoredKey::Record(key) => self
                .following
                .subject(key.subject)
                .map(|subject| RecordKey { design, subject, parts: key.parts }.to_bytes()),
            StoredKey::Log(key) => self.following.subject(key.subject).and_then(|subject| {
                let log = self.following.state(key.subject, key.log)?;
                Some(LogKey { design, subject, log, ..key }.to_bytes())
            }),
            StoredKey::Acted(acted) => {
                let actor = self.following.actor_named(acted.actor).unwrap_or(acted.actor);
                Some(ActedKey { design, actor, ..acted }.to_bytes())
            }
            StoredKey::RepairDue(_) | StoredKey::OutboxDue(_) | StoredKey::Meta(_) => None,
            other => Some(other.of_design(design).to_bytes()),
        })
    }

    /// Named itself, or what it is a part of.
    pub(super) fn may_drop(&self, on: &str) -> bool {
        let part = |dropped: &String| {
            on.strip_prefix(dropped.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.drop.iter().any(part)
    }

    /// `Seat A1`
    pub(super) fn named(&mut self, subject: SubjectId, parts: &[u8]) -> String {
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
        let Some(new_id) = self.following.subject(id) else {
            if !self.may_drop(&subject.name) {
                let why = "is gone, and there are records of it";
                let mend = self.following.mend_subject(id);
                self.found.add_mended(&subject.name, why, named, mend);
            }
            return Ok(Carried::Nothing);
        };
        if !self.following.same_key(id, new_id) {
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
        if !self.counted[id.index()] {
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
            let following = &self.following;
            let known = logs.iter().find(|(old, _, _)| following.state(id, *old) == Some(*state));
            let (start, end) = known.map_or((0, 0), |(_, start, end)| (*start, *end));
            put_signed(&mut out, start);
            put_signed(&mut out, end);
        }
        for (state, start, end) in logs {
            let name = &subject.states[state.index()].name;
            let on = format!("{}.{name}", subject.name);
            if self.following.state(id, state).is_none() && start < end && !self.may_drop(&on) {
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
        kept: &Kept<'_>,
        named: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let (old, new) = (self.old, self.new);
        let (before, after) =
            (&old.design.subjects[id.index()], &new.design.subjects[new_id.index()]);
        let layout = new.program.layout(new_id);
        for attr in (0..after.attributes.len()).map(AttrId::of) {
            if layout.attribute(attr).is_some() {
                let on = format!("{}.{}", after.name, attribute_path(after, attr));
                self.write_value((id, new_id, attr), kept, &on, named, out)?;
            }
        }
        for (attr, bytes) in kept {
            let on = format!("{}.{}", before.name, attribute_path(before, *attr));
            if self.following.is_carried(id, *attr)
                || self.may_drop(&on)
                || self.is_default(id, *attr, bytes)?
            {
                continue;
            }
            let mend = self.following.mend_attribute(id, *attr);
            self.found.add_mended(on, "is gone, and holds something", named.into(), mend);
        }
        Ok(())
    }

    /// The value of one attribute of the new design, from whatever it comes.
    pub(super) fn write_value(
        &mut self,
        (id, new_id, attr): (SubjectId, SubjectId, AttrId),
        kept: &Kept<'_>,
        on: &str,
        named: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let (old, new) = (self.old, self.new);
        let before = &old.design.subjects[id.index()];
        let attribute = &new.design.subjects[new_id.index()].attributes[attr.index()];
        let stored = |attr: AttrId| kept.iter().find(|(known, _)| *known == attr);
        let (done, mend) = match self.following.source(id, new_id, attr) {
            Source::Carried { old: from, .. } => {
                let (_, bytes) = stored(from).ok_or(Wrong::EndsEarly)?;
                let site = Site::Attr(id, from);
                let target = Target { ty: &attribute.ty, range: attribute.range, site };
                let was = &before.attributes[from.index()].ty;
                let mut reader = Reader::new(bytes);
                let done = carry(&mut reader, &self.following, was, target, &mut self.pools, out)?;
                let mend = || self.following.mend_type(id, from, new_id, attr);
                let mend = done.is_err().then(mend);
                (done.map_err(|why| format!("does not take what is stored: {why}")), mend)
            }
            Source::Converted { by, of } => {
                let mut bytes = Vec::new();
                for from in of {
                    bytes.push((from, stored(from).ok_or(Wrong::EndsEarly)?.1));
                }
                (self.converted((id, new_id, attr), by, &bytes, out)?, None)
            }
            Source::Given(_) | Source::Default(_) => {
                let made = self.made.value(new_id, attr, &[]);
                (made.map(|words| self.put(new_id, attr, words, out)), None)
            }
            Source::Missing => {
                let why = "is new and has no default: give it one, or make it optional";
                (Err(why.to_string()), Some(self.following.mend_missing(new_id, attr)))
            }
        };
        if let Err(why) = done {
            self.found.add_mended(on, why, named.into(), mend);
        }
        Ok(())
    }

    /// By a line of the block, from what is stored. The inner error says why there is no value.
    fn converted(
        &mut self,
        (id, new_id, attr): (SubjectId, SubjectId, AttrId),
        by: &ConversionOf,
        of: &Kept<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), String>, Wrong> {
        let before = &self.old.design.subjects[id.index()];
        let mut params: Vec<Word> = Vec::new();
        for (param, (from, bytes)) in by.params.iter().zip(of) {
            let was = &before.attributes[from.index()].ty;
            let mut words = Vec::new();
            let mut reader = Reader::new(bytes);
            value::take(&mut reader, &self.old.design, was, &mut self.pools.0, &mut words)?;
            let target = Target { ty: &param.ty, range: param.range, site: Site::Attr(id, *from) };
            match carried(&self.following, (was, &words[..]), target, &mut self.pools) {
                Ok(words) => params.extend(words),
                Err(why) => return Ok(Err(format!("is made of `{}`: {why}", param.name))),
            }
        }
        let made = self.made.value(new_id, attr, &params);
        let attribute = &self.new.design.subjects[new_id.index()].attributes[attr.index()];
        let made = made.and_then(|words| {
            let within = values::within(&attribute.ty, attribute.range, words[0]);
            within
                .map(|()| words)
                .map_err(|bad| format!("does not take what is made: {}", bad.message))
        });
        Ok(made.map(|words| self.put(new_id, attr, words, out)))
    }

    fn put(&self, new_id: SubjectId, attr: AttrId, mut words: Vec<Word>, out: &mut Vec<u8>) {
        let ty = &self.new.design.subjects[new_id.index()].attributes[attr.index()].ty;
        words.resize(engine::width_of(ty) as usize, 0);
        value::put(out, &self.new.design, ty, &words, &self.pools.1);
    }

    fn is_default(&mut self, id: SubjectId, attr: AttrId, bytes: &[u8]) -> Result<bool, Wrong> {
        let ty = &self.old.design.subjects[id.index()].attributes[attr.index()].ty;
        let field = self.old.program.layout(id).attribute(attr).ok_or(Wrong::UnknownState)?;
        let words = &self.old.program.defaults(id)[field.range()];
        let mut unused = Vec::new();
        value::put(&mut unused, &self.old.design, ty, words, &self.pools.0);
        Ok(unused == bytes)
    }
}
