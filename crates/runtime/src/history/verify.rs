//! The history of a store, as far as its feed reaches back.

use std::collections::{BTreeMap, VecDeque};

use design::model::{Design, SubjectId};
use layout::feed::{marked, number_of, of_design};
use layout::{DesignNumber, FeedEntry, RecordKey};
use rustc_hash::FxHashSet;
use store::{Cursor, KeyRange, Partition, Scan};

use super::departure::Departure;
use super::goals::{Broken, Unwatched, Watched};
use super::walk::Walk;
use crate::calls::CallError;
use crate::core::{ReadError, Runtime, Schema};

/// So much is read at a time.
const PAGE: usize = 1_000;
/// So many differences are named.
const NAMED: usize = 10;

/// What was found in the history of a design.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Verified {
    pub transitions: u64,
    /// those that rest on what was before the feed begins, and were taken as they were recorded
    pub trusted: u64,
    /// transitions of earlier versions, which are not walked
    pub earlier: u64,
    /// earlier versions whose transitions are walked, too
    pub versions: usize,
    /// why the transitions of earlier versions are not walked
    pub not_followed: Option<String>,
    /// the first revision that the feed still has
    pub from: String,
    /// the last one
    pub to: String,
    /// the first transition that the design does not allow, and its revision
    pub departed: Option<(String, Departure)>,
    /// invariants that do not hold, each with the first revision after which it does not
    pub broken: Vec<(String, Broken)>,
    /// records that are not what the history leaves
    pub differ: Vec<String>,
    pub watched: Vec<Watched>,
    pub unwatched: Vec<Unwatched>,
    /// why nothing was walked
    pub not_walked: Option<String>,
}

impl Verified {
    pub fn is_sound(&self) -> bool {
        self.departed.is_none() && self.broken.is_empty() && self.differ.is_empty()
    }
}

/// The texts that a walk has yet to come to, of designs that keep their numbers.
#[derive(Clone, Default)]
struct Texts {
    earlier: BTreeMap<DesignNumber, VecDeque<Option<Design>>>,
}

impl Texts {
    /// The text of this version that has the say next.
    fn next(&mut self, schema: &Schema) -> Design {
        let next = self.earlier.get_mut(&schema.number).and_then(VecDeque::pop_front);
        next.flatten().unwrap_or_else(|| Design::clone(&schema.design))
    }
}

impl Runtime {
    /// Walks the whole history that the feed still has: every transition must be one that the design allows, none may
    /// break an invariant, time must not go back on a record, and the records must be what the history leaves.
    /// Nothing may change meanwhile.
    pub fn verify_history(&self) -> Result<Verified, CallError> {
        let begins = self.feed_begins()?;
        let whole = begins == Cursor::start(Partition::default());
        let texts = self.earlier_texts(begins)?;
        if whole && !self.older.is_empty() {
            match self.verify_from(&self.older[0], begins, texts.clone())? {
                Ok(verified) => return Ok(verified),
                Err(why) => {
                    let verified = self.verify_from(&self.schema, begins, texts)?;
                    return Ok(Verified {
                        not_followed: Some(why),
                        ..verified.unwrap_or_default()
                    });
                }
            }
        }
        Ok(self.verify_from(&self.schema, begins, texts)?.unwrap_or_default())
    }

    /// Begins with this version, and goes on to the ones after it. The inner error says why one cannot be followed by
    /// the next; with the present one there is no next.
    fn verify_from(
        &self,
        first: &Schema,
        begins: Cursor,
        mut texts: Texts,
    ) -> Result<Result<Verified, String>, CallError> {
        let mut verified = Verified::default();
        let mut walk = match Walk::numbered(texts.next(first), first.number) {
            Ok(walk) => walk,
            Err(why) => {
                verified.not_walked = Some(why);
                return Ok(Ok(verified));
            }
        };
        walk.of_feed_alone();
        if first.number == self.schema.number {
            self.begin_walk(&mut walk, begins, &mut verified)?;
        }
        if let Err(why) = self.walk_feed(&mut walk, begins, texts, &mut verified)? {
            return Ok(Err(why));
        }
        verified.unwatched = walk.unwatched().to_vec();
        for broken in walk.broken(true) {
            if !verified.broken.iter().any(|(_, known)| known.goal == broken.goal) {
                verified.broken.push((verified.to.clone(), broken));
            }
        }
        verified.watched = walk.watched();
        if verified.departed.is_none() {
            self.compare(&walk, &mut verified)?;
        }
        Ok(Ok(verified))
    }

    /// Lets a walk go on with the versions after its own, up to this one. False: it is none of them.
    fn follow_to(
        &self,
        walk: &mut Walk,
        number: DesignNumber,
        texts: &mut Texts,
        verified: &mut Verified,
    ) -> Result<bool, String> {
        let all = || self.older.iter().chain([&self.schema]);
        if !all().any(|schema| schema.number == number) || number < walk.number() {
            return Ok(false);
        }
        for schema in all() {
            if schema.number > walk.number() && schema.number <= number {
                walk.follow(texts.next(schema), schema.number)?;
                verified.versions += 1;
            }
        }
        Ok(true)
    }

    /// Lets a walk go on with the next text under the number that it is at.
    fn follow_mark(
        &self,
        walk: &mut Walk,
        number: DesignNumber,
        texts: &mut Texts,
        verified: &mut Verified,
    ) -> Result<(), String> {
        let mut all = self.older.iter().chain([&self.schema]);
        match all.find(|schema| schema.number == number) {
            Some(schema) if number == walk.number() => {
                walk.follow(texts.next(schema), number)?;
                verified.versions += 1;
                Ok(())
            }
            // of another design, or of a version that is not walked
            _ => Ok(()),
        }
    }

    /// The texts that had the say before others under the same number, as the feed tells of them.
    fn earlier_texts(&self, begins: Cursor) -> Result<Texts, CallError> {
        let mut texts = Texts::default();
        self.each_commit(begins, |commit| {
            for (number, bytes) in commit.entries.iter().filter_map(|entry| marked(entry)) {
                // of one that cannot be read the newest text stands in the place
                let text = design::from_bytes(bytes).ok();
                texts.earlier.entry(number).or_default().push_back(text);
            }
            Ok(true)
        })?;
        Ok(texts)
    }

    /// Where the feed begins.
    fn feed_begins(&self) -> Result<Cursor, CallError> {
        let start = Cursor::start(Partition::default());
        match self.block_on(self.store.feed(start, 1)) {
            Err(store::Error::BelowFloor(floor)) => Ok(floor),
            page => page.map(|_| start).map_err(CallError::from),
        }
    }

    fn each_commit(
        &self,
        mut from: Cursor,
        mut each: impl FnMut(&store::FeedCommit) -> Result<bool, CallError>,
    ) -> Result<(), CallError> {
        loop {
            let page = self.block_on(self.store.feed(from, PAGE))?;
            for commit in &page.commits {
                if !each(commit)? {
                    return Ok(());
                }
            }
            // a page without commits is not the end
            if page.next == from {
                return Ok(());
            }
            from = page.next;
        }
    }

    /// A feed that does not reach back to the beginning: records that nothing happens to in it are what they were.
    fn begin_walk(
        &self,
        walk: &mut Walk,
        begins: Cursor,
        verified: &mut Verified,
    ) -> Result<(), CallError> {
        let codec = self.schema.codec();
        let mut changed = FxHashSet::default();
        let mut earlier = 0;
        self.each_commit(begins, |commit| {
            for entry in &commit.entries {
                let Some(bytes) = of_design(entry, self.schema.number) else {
                    let of = |older: &std::sync::Arc<crate::core::Schema>| {
                        of_design(entry, older.number).is_some()
                    };
                    earlier += u64::from(self.older.iter().any(of));
                    continue;
                };
                // an entry that cannot be read is met again by the walk
                let Ok(read) = FeedEntry::parse(bytes) else { continue };
                for change in &read.changes {
                    changed.insert(codec.key_of(change.subject, change.key).to_bytes());
                }
            }
            Ok(true)
        })?;
        verified.earlier = earlier;
        let whole = begins == Cursor::start(Partition::default());
        if whole && self.older.is_empty() {
            return Ok(());
        }
        let mut base = Vec::new();
        self.each_record(|key, value| {
            if !changed.contains(key) {
                base.push((key.to_vec(), value.to_vec()));
            }
        })?;
        walk.begin_with(base, changed)?;
        Ok(())
    }

    fn each_record(&self, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), CallError> {
        for at in 0..self.schema.design.subjects.len() {
            let prefix = RecordKey::prefix(self.schema.number, SubjectId::of(at));
            let mut range = KeyRange::prefix(prefix);
            loop {
                let page = self.block_on(self.store.scan(Scan::new(range.clone(), PAGE)))?;
                for (key, stored) in &page.records {
                    each(key, &stored.value);
                }
                match page.records.last() {
                    Some((last, _)) if page.more => range.start = last.next(),
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn walk_feed(
        &self,
        walk: &mut Walk,
        begins: Cursor,
        mut texts: Texts,
        verified: &mut Verified,
    ) -> Result<Result<(), String>, CallError> {
        let across = walk.number() != self.schema.number;
        let mut followed = Ok(());
        self.each_commit(begins, |commit| {
            for entry in &commit.entries {
                let Some(number) = number_of(entry) else { continue };
                let revision = commit.cursor.to_string();
                if marked(entry).is_some() {
                    if let Err(why) = self.follow_mark(walk, number, &mut texts, verified) {
                        followed = Err(why);
                        return Ok(false);
                    }
                    continue;
                }
                if number != walk.number() {
                    match self.follow_to(walk, number, &mut texts, verified) {
                        Ok(true) => {}
                        Ok(false) if across && self.was_before(number) => {
                            let what = "an earlier version acts after it was replaced";
                            let departure = Departure::at(walk.count(), "", what);
                            verified.departed = Some((revision, departure));
                            return Ok(false);
                        }
                        // of another design, or of a version whose transitions are counted and not walked
                        Ok(false) => continue,
                        Err(why) => {
                            followed = Err(why);
                            return Ok(false);
                        }
                    }
                }
                match walk.take(entry, true) {
                    Ok(taken) => verified.trusted += u64::from(taken.trusted),
                    Err(departure) => {
                        verified.departed = Some((revision, departure));
                        return Ok(false);
                    }
                }
                if verified.from.is_empty() {
                    verified.from.clone_from(&revision);
                }
                for broken in walk.broken(false) {
                    if !verified.broken.iter().any(|(_, known)| known.goal == broken.goal) {
                        verified.broken.push((revision.clone(), broken));
                    }
                }
                verified.to = revision;
                verified.transitions += 1;
            }
            Ok(true)
        })?;
        if followed.is_ok() && verified.departed.is_none() {
            followed = self.follow_to(walk, self.schema.number, &mut texts, verified).map(|_| ());
        }
        Ok(followed)
    }

    /// Is it a version that came before the present one?
    fn was_before(&self, number: DesignNumber) -> bool {
        self.older.iter().any(|older| older.number == number)
    }

    /// The records that are stored, and what the history leaves.
    fn compare(&self, walk: &Walk, verified: &mut Verified) -> Result<(), CallError> {
        let mut stored = FxHashSet::default();
        let mut differ = Vec::new();
        self.each_record(|key, value| {
            stored.insert(key.to_vec());
            let same = walk.stored(key).is_some_and(|it| self.schema.same_truth(key, it, value));
            if !same && differ.len() < NAMED {
                differ.push(self.record_name(key));
            }
        })?;
        let missing = walk.records().filter(|key| !stored.contains(*key));
        let room = NAMED.saturating_sub(differ.len());
        differ.extend(
            missing.take(room).map(|key| format!("{} is not stored", self.record_name(key))),
        );
        differ.sort();
        verified.differ = differ;
        Ok(())
    }

    fn record_name(&self, key: &[u8]) -> String {
        let named = || -> Result<String, ReadError> {
            let record = RecordKey::parse(key)?;
            let subject = &self.schema.design.subjects[record.subject.index()].name;
            let parts = self.key_of(record)?;
            Ok(format!("{subject}{}", serde_json::Value::from(parts)))
        };
        named().unwrap_or_else(|_| "a record whose key cannot be read".into())
    }
}
