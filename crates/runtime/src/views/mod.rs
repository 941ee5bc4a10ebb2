//! Views: derived from the feed, each with the revision it reflects, and rebuilt at any time.
//!
//! What a view keeps of a record depends on that record alone, so following the feed and starting
//! again from the records lead to the same place.

mod answers;
mod columns;
mod cursor;
mod group;
mod near;
mod places;
mod proposals;
mod query;
mod row;
mod search;
mod sorted;

pub(crate) use columns::operations as column_operations;
pub(crate) use proposals::{Proposed, Taking};
pub use query::ViewQuery;
pub(crate) use row::{operations, put_group};
pub use search::{
    TextAsked, TextChanges, TextEngine, TextFound, TextHit, TextIndex, TextRecord, TextShape,
    TextSnapshot, TextTrouble,
};

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use design::model::{SubjectId, ViewForm};
use layout::feed::of_design;
use layout::{FeedEntry, Head, Pool, Reader, RecordKey, take_head};
use rustc_hash::FxHashMap;
use store::{Cursor, FeedPage, KeyRange, Partition, Scan};

use crate::calls::{CallError, Room};
use crate::core::{Loaded, ReadError, Runtime, Schema};
use group::Group;
use proposals::Proposals;
use row::Row;

/// All views of a design, as far as they have followed.
#[derive(Default)]
pub struct Views {
    state: Mutex<State>,
    /// One at a time reads the feed, where it is in this process. Elsewhere nobody holds anything while it waits for an
    /// answer: several may ask for the same page, and one applies it.
    turn: Mutex<()>,
    /// locked behind the state, if both are
    proposals: Proposals,
    /// those of `search` views, which are not kept here
    search: search::Indexes,
}

#[derive(Default)]
struct State {
    /// none: not built yet
    applied: Option<Cursor>,
    views: Vec<ViewState>,
    /// the truth of every record that some view shows, as a row or beside one, by its stored key
    records: FxHashMap<Box<[u8]>, Box<[u8]>>,
    /// records that could not be read when the views were built, and are in none of them
    unreadable: usize,
}

#[derive(Default)]
struct ViewState {
    groups: FxHashMap<Box<[u8]>, Group>,
    /// what each record contributes now, to be taken back when it changes
    rows: FxHashMap<Box<[u8]>, Row>,
}

impl ViewState {
    fn says_the_same_as(&self, other: &ViewState) -> bool {
        self.rows == other.rows
            && self.groups.len() == other.groups.len()
            && self.groups.iter().all(|(key, group)| {
                other.groups.get(key).is_some_and(|other| group.says_the_same_as(other))
            })
    }
}

/// So many records or entries are taken at a time.
const CHUNK: usize = 1_000;

impl Views {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime {
    /// Follows the feed to its durable end. Gives how many transitions were applied.
    pub fn follow_views(&self) -> Result<usize, CallError> {
        if self.schema.design.views.is_empty() {
            return Ok(0);
        }
        let (state, followed) = self.follow()?;
        drop(state);
        Ok(followed + if self.searches() { self.follow_searches()? } else { 0 })
    }

    /// Builds every view anew from the records.
    pub fn rebuild_views(&self) -> Result<(), CallError> {
        *self.views.lock() = State::default();
        drop(self.follow()?);
        if self.searches() { self.rebuild_searches() } else { Ok(()) }
    }

    /// How many records the views leave out because they cannot be read, as of when they were built.
    pub fn unreadable_records(&self) -> usize {
        self.views.lock().unreadable
    }

    /// What the views, as they have followed the feed, say otherwise than the records do. Views of `search` are not
    /// kept here.
    pub fn views_differ(&self) -> Result<Vec<String>, CallError> {
        self.follow_views()?;
        let anew = self.build()?;
        let state = self.views.lock();
        if state.applied.is_none() || state.applied != anew.applied {
            return Ok(Vec::new());
        }
        let views = self.schema.design.views.iter().zip(state.views.iter().zip(&anew.views));
        let differ = views.filter(|(_, (held, built))| !held.says_the_same_as(built));
        let mut differ: Vec<String> = differ.map(|(view, _)| view.name.clone()).collect();
        if state.records != anew.records {
            differ.push("the records that views show".into());
        }
        Ok(differ)
    }

    /// The views as they are at the durable end of the feed, and how many transitions were applied.
    fn follow(&self) -> Result<(MutexGuard<'_, State>, usize), CallError> {
        let turn = || self.views.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let _turn = (!self.is_shared()).then(turn);
        let mut applied = 0;
        loop {
            let known = self.views.lock().applied;
            let Some(from) = known else {
                let anew = self.build()?;
                let mut state = self.views.lock();
                if state.applied.is_none() {
                    *state = anew;
                }
                continue;
            };
            let page = match self.block_on(self.store.feed(from, CHUNK)) {
                Err(store::Error::BelowFloor(_)) => {
                    // the feed was trimmed past where we stood
                    self.forget_from(from);
                    continue;
                }
                page => page?,
            };
            let mut state = self.views.lock();
            if state.applied != Some(from) {
                // somebody else was faster
                continue;
            }
            match self.apply_page(&mut state, &page) {
                Ok(more) => applied += more,
                Err(error) => {
                    drop(state);
                    self.rebuild_after(error, from)?;
                    continue;
                }
            }
            state.applied = Some(page.next);
            // a page without commits is not the end: where little is fed, many commits lie between
            if page.next == from {
                return Ok((state, applied));
            }
        }
    }

    fn apply_page(&self, state: &mut State, page: &FeedPage) -> Result<usize, ReadError> {
        let mut applied = 0;
        for entry in page.commits.iter().flat_map(|commit| &commit.entries) {
            if let Some(bytes) = of_design(entry, self.schema.number) {
                self.apply_entry(state, bytes)?;
                applied += 1;
            }
        }
        Ok(applied)
    }

    /// An entry of the feed that cannot be read says nothing of what changed: the records do.
    fn rebuild_after(&self, error: ReadError, from: Cursor) -> Result<(), CallError> {
        let ReadError::Damaged(damaged) = error else { return Err(error.into()) };
        let design = &self.schema.design.name;
        tracing::error!(%design, reason = %damaged, "views are built anew from the records");
        self.forget_from(from);
        Ok(())
    }

    /// They are built anew, unless somebody has moved them on from here.
    fn forget_from(&self, from: Cursor) {
        let mut state = self.views.lock();
        if state.applied == Some(from) {
            *state = State::default();
        }
    }

    /// From the records. Changes that happen meanwhile are in the feed after `applied`, and to
    /// apply one twice is to apply it once.
    fn build(&self) -> Result<State, CallError> {
        let mut state = State::default();
        let schema = &*self.schema;
        let head = self.block_on(self.store.head(Partition::default()))?;
        state.views = schema.design.views.iter().map(|_| ViewState::default()).collect();
        let mut room = Room::default();
        for (at, _) in schema.design.subjects.iter().enumerate() {
            let subject = SubjectId::of(at);
            if !schema.is_viewed(subject) {
                continue;
            }
            let mut range = KeyRange::prefix(RecordKey::prefix(schema.number, subject));
            loop {
                let page = self.block_on(self.store.scan(Scan::new(range.clone(), CHUNK)))?;
                for (key, stored) in &page.records {
                    match set_stored(schema, &mut state, key, &stored.value, &mut room) {
                        Err(ReadError::Damaged(damaged)) => {
                            let design = &schema.design.name;
                            tracing::error!(%design, reason = %damaged, "views leave out a record");
                            state.unreadable += 1;
                        }
                        done => done?,
                    }
                }
                match page.records.last() {
                    Some((last, _)) if page.more => range.start = last.next(),
                    _ => break,
                }
            }
        }
        state.applied = Some(head);
        Ok(state)
    }

    fn apply_entry(&self, state: &mut State, bytes: &[u8]) -> Result<(), ReadError> {
        let mut room = Room::default();
        let entry = FeedEntry::parse(bytes).map_err(|wrong| ReadError::feed(bytes, wrong))?;
        for change in &entry.changes {
            let subject = change.subject;
            if self.schema.is_viewed(subject) {
                let key = self.schema.codec().key_of(subject, change.key);
                set(&self.schema, state, key, change.truth, &mut room)?;
            }
        }
        Ok(())
    }
}

/// The same for a record as it is stored.
fn set_stored(
    schema: &Schema,
    state: &mut State,
    key: &[u8],
    value: &[u8],
    room: &mut Room,
) -> Result<(), ReadError> {
    let mut reader = Reader::new(value);
    take_head(&mut reader).map_err(|wrong| ReadError::value(key, wrong))?;
    set(schema, state, RecordKey::parse(key)?, Some(reader.rest()), room)
}

/// The record is like this from now on, in every view of its subject.
fn set(
    schema: &Schema,
    state: &mut State,
    key: RecordKey<'_>,
    truth: Option<&[u8]>,
    room: &mut Room,
) -> Result<(), ReadError> {
    let (codec, subject) = (schema.codec(), key.subject);
    let id: Box<[u8]> = key.to_bytes().into();
    let pool = RefCell::new(Pool::new(schema.program.texts()));
    let mut loaded = Loaded::new(&pool);
    let handle = codec.handle(key, &mut pool.borrow_mut())?;
    if let Some(truth) = truth {
        let mut words = Vec::new();
        codec
            .take_truth(truth, subject, &mut pool.borrow_mut(), &mut words)
            .map_err(|wrong| ReadError::value(&id, wrong))?;
        loaded.add(subject, handle, &[], Some(1), Head::default(), Some(&words));
    }
    let mut shown = schema.joined[subject.index()];
    for (at, view) in schema.design.views.iter().enumerate() {
        if view.subject != subject || matches!(view.form, ViewForm::Search { .. }) {
            continue;
        }
        let operation = schema.view_operations[at];
        let new = match truth {
            Some(_) => row::row(schema, at, operation, &loaded, handle, room)?,
            None => None,
        };
        let known = &mut state.views[at];
        if let Some(old) = known.rows.remove(&id)
            && let Some(group) = known.groups.get_mut(&old.group[..])
        {
            group.remove(&view.form, &old);
            if group.is_empty() {
                known.groups.remove(&old.group[..]);
            }
        }
        if let Some(new) = new {
            known.groups.entry(new.group.clone().into()).or_default().add(&view.form, &new);
            known.rows.insert(id.clone(), new);
            shown |= view.has_rows();
        }
    }
    match truth {
        Some(truth) if shown => state.records.insert(id, truth.into()),
        _ => state.records.remove(&id),
    };
    Ok(())
}
