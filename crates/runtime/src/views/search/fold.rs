//! An index follows the feed, or is built anew from the records.
//!
//! Both are one commit of the index, so readers see the former one until it is whole, and a kill in between leaves
//! that. What is read here is durable: an index never tells of what a kill would take back.

use std::cell::RefCell;
use std::time::Duration;

use layout::feed::of_design;
use layout::{FeedEntry, Head, Pool, Reader, RecordKey, take_head};
use rustc_hash::FxHashMap;
use store::{Cursor, KeyRange, Partition, Scan};

use super::super::CHUNK;
use super::super::row;
use super::document::Document;
use super::seam::{TextChanges, TextRecord, TextTrouble};
use super::{Opened, Reflects, unavailable};
use crate::calls::{CallError, Room};
use crate::core::{Loaded, ReadError, Runtime};

/// Commits of the feed that say nothing of a view are followed without a commit of its index, up to so many: after a
/// restart they are read again, and the feed may be trimmed up to them.
const SKIPPED_MAX: usize = 20_000;

/// Why a fold did not come to its end.
enum Stopped {
    Call(CallError),
    Text(TextTrouble),
}

impl From<TextTrouble> for Stopped {
    fn from(trouble: TextTrouble) -> Stopped {
        Stopped::Text(trouble)
    }
}

impl From<store::Error> for Stopped {
    fn from(error: store::Error) -> Stopped {
        Stopped::Call(error.into())
    }
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Stopped {
        Stopped::Call(error.into())
    }
}

/// What a part of the feed says of a view: the newest of each record.
type News = FxHashMap<Box<[u8]>, Option<Box<[u8]>>>;

impl Runtime {
    /// Follows the feed with the indexes of all `search` views. Whoever is doing that already is left alone. Gives
    /// how many records were changed.
    pub fn follow_searches(&self) -> Result<usize, CallError> {
        let mut changed = 0;
        for at in self.search_views() {
            let opened = self.opened(at)?;
            changed += self.fold(&opened, at, false)?;
        }
        Ok(changed)
    }

    /// Builds every index anew from the records; what they say meanwhile is what they said.
    pub(in super::super) fn rebuild_searches(&self) -> Result<(), CallError> {
        for at in self.search_views() {
            let opened = self.opened(at)?;
            let built = self.refold(&opened, at, true, true);
            self.settled(&opened, at, built)?;
        }
        Ok(())
    }

    /// How often a worker follows: twice within the time that an answer may be behind.
    pub(crate) fn search_pause(&self) -> Duration {
        Duration::from_millis((self.settings.search_lag_ms / 2).max(10).unsigned_abs())
    }

    /// Follows the feed to its durable end. If another does so just now, that is waited for or left to it.
    pub(super) fn fold(&self, opened: &Opened, at: usize, wait: bool) -> Result<usize, CallError> {
        let folded = self.refold(opened, at, wait, false);
        self.settled(opened, at, folded)
    }

    /// An index that cannot be read is made anew, once.
    fn settled(
        &self,
        opened: &Opened,
        at: usize,
        folded: Result<usize, Stopped>,
    ) -> Result<usize, CallError> {
        match folded {
            Ok(changed) => Ok(changed),
            Err(Stopped::Call(error)) => Err(error),
            Err(Stopped::Text(TextTrouble::Damaged(how))) => {
                self.discard_index(opened, at, &how)?;
                match self.refold(opened, at, true, false) {
                    Ok(changed) => Ok(changed),
                    Err(Stopped::Call(error)) => Err(error),
                    Err(Stopped::Text(trouble)) => Err(unavailable(trouble)),
                }
            }
            Err(Stopped::Text(trouble)) => Err(unavailable(trouble)),
        }
    }

    pub(super) fn discard_index(
        &self,
        opened: &Opened,
        at: usize,
        how: &str,
    ) -> Result<(), CallError> {
        let (design, view) = (&self.schema.design.name, &self.schema.design.views[at].name);
        tracing::error!(%design, %view, reason = %how, "a search index is built anew from the records");
        opened.index.discard().map_err(unavailable)?;
        *opened.reflects() = None;
        Ok(())
    }

    fn refold(&self, opened: &Opened, at: usize, wait: bool, anew: bool) -> Result<usize, Stopped> {
        let Some(mut changes) = opened.index.change(wait)? else { return Ok(0) };
        let began = self.settings.surroundings.now();
        let changes = changes.as_mut();
        // a cursor that this store never gave out is of another one, or of one that was put back
        let head = self.block_on(self.store.head(Partition::default()))?;
        let committed = changes.cursor().and_then(|cursor| cursor.parse::<Cursor>().ok());
        let committed = committed.filter(|cursor| !anew && cursor.is_within(head));
        // it stays what it is for those who ask meanwhile: a revision that was told does not go back
        let known = opened.reflects().as_ref().map(|it| (it.committed, it.up_to, it.skipped));
        let known = known.filter(|(of, _, _)| Some(*of) == committed);
        let (mut reached, mut skipped) = match (known, committed) {
            (Some((_, up_to, skipped)), _) => (up_to, skipped),
            (None, Some(cursor)) => (cursor, 0),
            (None, None) => (self.build_texts(opened, at, changes)?, 0),
        };
        let mut built = committed.is_none();
        let mut changed = 0;
        loop {
            let page = match self.block_on(self.store.feed(reached, CHUNK)) {
                Err(store::Error::BelowFloor(_)) => {
                    // the feed was trimmed past where we stood
                    reached = self.build_texts(opened, at, changes)?;
                    built = true;
                    continue;
                }
                page => page?,
            };
            // a page without commits is not the end
            if page.next == reached {
                break;
            }
            let mut news = News::default();
            let entries = page.commits.iter().flat_map(|commit| &commit.entries);
            let told = entries
                .filter_map(|entry| of_design(entry, self.schema.number))
                .try_for_each(|bytes| self.news(at, bytes, &mut news));
            match told {
                Ok(()) => {}
                // an entry that cannot be read says nothing of what changed: the records do
                Err(ReadError::Damaged(damaged)) => {
                    let design = &self.schema.design.name;
                    tracing::error!(%design, reason = %damaged, "a search index is built anew from the records");
                    reached = self.build_texts(opened, at, changes)?;
                    built = true;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            changed += news.len();
            skipped += page.commits.len();
            let mut room = Room::default();
            for (key, truth) in &news {
                let key = self.schema.codec().key_of(self.schema.design.views[at].subject, key);
                let record = (key, truth.as_deref());
                match self.texts_of((at, &opened.document), record, &mut room)? {
                    None => changes.remove(key.parts)?,
                    Some(texts) => changes.put(&texts.record(record))?,
                }
            }
            reached = page.next;
        }
        let committed = match committed {
            Some(committed) if !built && changed == 0 && skipped <= SKIPPED_MAX => committed,
            _ => {
                changes.commit(&reached.to_string())?;
                skipped = 0;
                reached
            }
        };
        *opened.reflects() = Some(Reflects { committed, up_to: reached, skipped, at: began });
        Ok(changed)
    }

    /// From the records. Changes that happen meanwhile are in the feed after what this gives, and to apply one twice
    /// is to apply it once.
    fn build_texts(
        &self,
        opened: &Opened,
        at: usize,
        changes: &mut dyn TextChanges,
    ) -> Result<Cursor, Stopped> {
        let schema = &*self.schema;
        let head = self.block_on(self.store.head(Partition::default()))?;
        changes.clear()?;
        let subject = schema.design.views[at].subject;
        let mut range = KeyRange::prefix(RecordKey::prefix(schema.number, subject));
        let mut room = Room::default();
        loop {
            let page = self.block_on(self.store.scan(Scan::new(range.clone(), CHUNK)))?;
            for (key, stored) in &page.records {
                let mut reader = Reader::new(&stored.value);
                let read = take_head(&mut reader).map_err(|wrong| ReadError::value(key, wrong));
                let record = read.and_then(|_| Ok((RecordKey::parse(key)?, Some(reader.rest()))));
                let texts = record.and_then(|record| {
                    let texts = self.texts_of((at, &opened.document), record, &mut room)?;
                    Ok(texts.map(|texts| (texts, record)))
                });
                match texts {
                    Ok(None) => {}
                    Ok(Some((texts, record))) => changes.add(&texts.record(record))?,
                    Err(ReadError::Damaged(damaged)) => {
                        let design = &schema.design.name;
                        tracing::error!(%design, reason = %damaged, "views leave out a record");
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            match page.records.last() {
                Some((last, _)) if page.more => range.start = last.next(),
                _ => return Ok(head),
            }
        }
    }

    /// What an entry of the feed says of records of the view's subject.
    fn news(&self, at: usize, bytes: &[u8], news: &mut News) -> Result<(), ReadError> {
        let entry = FeedEntry::parse(bytes).map_err(|wrong| ReadError::feed(bytes, wrong))?;
        let subject = self.schema.design.views[at].subject;
        for change in entry.changes.iter().filter(|change| change.subject == subject) {
            news.insert(change.key.into(), change.truth.map(Box::from));
        }
        Ok(())
    }

    /// What the view keeps of a record; none: it is not in it.
    fn texts_of(
        &self,
        (at, document): (usize, &Document),
        (key, truth): (RecordKey<'_>, Option<&[u8]>),
        room: &mut Room,
    ) -> Result<Option<Texts>, ReadError> {
        let Some(truth) = truth else { return Ok(None) };
        let (schema, subject) = (&*self.schema, key.subject);
        let codec = schema.codec();
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        let mut loaded = Loaded::new(&pool);
        let handle = codec.handle(key, &mut pool.borrow_mut())?;
        let mut words = Vec::new();
        codec
            .take_truth(truth, subject, &mut pool.borrow_mut(), &mut words)
            .map_err(|wrong| ReadError::value(&key.to_bytes(), wrong))?;
        loaded.add(subject, handle, &[], Some(1), Head::default(), Some(&words));
        let row = row::row(schema, at, schema.view_operations[at], &loaded, handle, room)?;
        Ok(row.map(|row| {
            let (texts, facets) = document.parts(schema, &words, &pool.borrow());
            Texts { group: row.group, texts, facets }
        }))
    }
}

/// What a view keeps of a record beside its key and truth.
struct Texts {
    group: Vec<u8>,
    texts: Vec<Option<String>>,
    facets: Vec<Option<String>>,
}

impl Texts {
    fn record<'a>(&'a self, (key, truth): (RecordKey<'a>, Option<&'a [u8]>)) -> TextRecord<'a> {
        TextRecord {
            key: key.parts,
            group: &self.group,
            texts: &self.texts,
            facets: &self.facets,
            truth: truth.expect("only a record that is there has texts"),
        }
    }
}
