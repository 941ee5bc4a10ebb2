//! What is not a record: entries of logs, of the outbox, and those that were set aside.

use design::model::StateKind;
use engine::outbox::EntryState;
use layout::following::{Entry, ParamSource, Site, attribute_path};
use layout::{
    AsideKey, LogKey, OutboxEntry, OutboxKey, Reader, SetAside, Wrong, append_time,
    take_append_time, value,
};

use super::carry::{Target, carry};
use super::convert::{Carried, Conversion};
use crate::outbox::key_text;

impl Conversion<'_> {
    pub(super) fn log_entry(&mut self, key: LogKey<'_>, stored: &[u8]) -> Result<Carried, Wrong> {
        let (old, new) = (self.old, self.new);
        let LogKey { subject: id, parts, log, .. } = key;
        let Some(new_id) = self.following.subject(id) else { return Ok(Carried::Nothing) };
        // that a log is gone is said of its record
        let Some(new_log) = self.following.state(id, log) else { return Ok(Carried::Nothing) };
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
            let on = format!("{}.{}", after.name, attribute_path(after, *attr));
            self.write_value((id, new_id, *attr), &fields, &on, &named, &mut out)?;
        }
        for (attr, _) in &fields {
            let on = format!("{}.{}", before.name, attribute_path(before, *attr));
            if !self.following.is_carried(id, *attr) && !self.may_drop(&on) {
                let mend = self.following.mend_attribute(id, *attr);
                self.found.add_mended(on, "is gone, and entries have it", named.clone(), mend);
            }
        }
        let record = new.codec().key_of(new_id, parts);
        Ok(Carried::Put(record.log_entry(new_log, key.offset).to_bytes(), out))
    }

    /// An entry that was set aside stays aside, under the same id. An outbox entry that reads becomes what
    /// it would be in the outbox of the new design, and can go back there. Everything else is kept as it is
    /// for people to look at: its numbers mean something else in the new design, so it cannot go back. A
    /// repair that was set aside is due anew, since due times are derived anew.
    pub(super) fn aside(&mut self, key: AsideKey, stored: &[u8]) -> Carried {
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

    pub(super) fn outbox(&mut self, key: OutboxKey<'_>, stored: &[u8]) -> Result<Carried, Wrong> {
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
        let sources = match self.following.entry(id) {
            Entry::Follows(sources) => sources,
            Entry::Gone => {
                let why = "is gone, and calls of it are on their way";
                self.found.add_mended(on, why, named, self.following.mend_operation(id));
                return Ok(Carried::Nothing);
            }
            Entry::Unlike => {
                let why = "has another key or kind, and calls of it are on their way";
                self.found.add(on, why, named);
                return Ok(Carried::Nothing);
            }
        };
        let Some(new_id) = self.following.operation(id) else { return Ok(Carried::Nothing) };
        let after = &new.design.operations[new_id.index()];
        let mut args = Reader::new(&entry.args);
        let mut given = Vec::new();
        // of `send each` the record is not there yet
        let first = usize::from(operation.each.is_some());
        given.extend(operation.params[..first].iter().map(|param| (&param.ty, &[][..])));
        for param in operation.carried() {
            let (bytes, ()) = args.span(|args| {
                value::take(args, &old.design, &param.ty, &mut self.pools.0, &mut Vec::new())
            })?;
            given.push((&param.ty, bytes));
        }
        let mut out = Vec::new();
        for (at, (param, source)) in after.params.iter().zip(sources).enumerate().skip(first) {
            let done = match source {
                ParamSource::Carried { old: from, .. } => {
                    let (was, bytes) = given[from];
                    let site = Site::Param(id, from);
                    let target = Target { ty: &param.ty, range: param.range, site };
                    let mut reader = Reader::new(bytes);
                    carry(&mut reader, &self.following, was, target, &mut self.pools, &mut out)?
                }
                ParamSource::Default => {
                    // the words of defaults are those of the program that the pool belongs to
                    let words = self.made.program.param_default(new_id, at);
                    let words = words.ok_or(Wrong::UnknownOperation)?;
                    value::put(&mut out, &new.design, &param.ty, words, &self.pools.1);
                    Ok(())
                }
                ParamSource::Null => {
                    out.push(0);
                    Ok(())
                }
                ParamSource::Missing => Err("it is new and has no default".to_string()),
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
        // how far a round has come: keys are what they were
        out.extend_from_slice(args.rest());
        entry.args = out;
        Ok(Carried::Outbox(key.name.to_vec(), entry, new_id))
    }
}
