//! Rows that are proposed to calls: each to one call at a time, as long as there are others.
//!
//! A view follows what is durable, so it shows a record for a while that a call has taken already. What is
//! kept here is only a hint of that: truth decides whether a record is taken, and what is lost here with the
//! process is found out again by asking it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use store::Cursor;

use super::row::key_in;
use crate::calls::CallError;
use crate::core::Runtime;

/// Places that are kept of calls that tried as many rows as they may.
const RESUMED_MAX: usize = 1_024;

/// What is known of rows beside the view.
#[derive(Default)]
pub(super) struct Proposals {
    state: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// by the stored key of the record
    rows: FxHashMap<Box<[u8]>, Hold>,
    /// behind which row the next call begins
    resumed: FxHashMap<OfGroup, Box<[u8]>>,
}

/// A view and a group of its rows.
type OfGroup = (usize, Box<[u8]>);

enum Hold {
    /// so many calls are being decided upon it
    Proposed(u32),
    /// taken by the commit at this cursor, which the view has not met yet
    Taken(Cursor),
}

impl Proposals {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows that one call was proposed.
pub(crate) struct Taking {
    view: usize,
    group: Vec<u8>,
    /// the most rows that the view shows
    limit: usize,
    tried: FxHashSet<Box<[u8]>>,
    last: Option<Box<[u8]>>,
    /// where an earlier call stopped; none: at the first row
    start: Option<Option<Box<[u8]>>>,
}

impl Taking {
    pub fn new(view: usize, group: Vec<u8>, limit: Option<u32>) -> Taking {
        let limit = limit.map_or(usize::MAX, |limit| limit as usize);
        Taking { view, group, limit, tried: FxHashSet::default(), last: None, start: None }
    }

    pub fn tried(&self) -> usize {
        self.tried.len()
    }
}

/// A row that is proposed to one call. Dropped, it may be proposed to others again.
pub(crate) struct Proposed<'r> {
    proposals: &'r Proposals,
    id: Box<[u8]>,
}

impl Proposed<'_> {
    /// The stored key of the record.
    pub fn record(&self) -> &[u8] {
        &self.id
    }

    /// It was taken by the commit at `cursor`: nobody is proposed it until the view has met that.
    pub fn taken(self, cursor: Cursor) {
        self.proposals.lock().rows.insert(self.id.clone(), Hold::Taken(cursor));
    }
}

impl Drop for Proposed<'_> {
    fn drop(&mut self) {
        let mut held = self.proposals.lock();
        match held.rows.get_mut(&self.id) {
            Some(Hold::Proposed(others @ 2..)) => *others -= 1,
            Some(Hold::Proposed(_)) => {
                held.rows.remove(&self.id);
            }
            Some(Hold::Taken(_)) | None => {}
        }
    }
}

impl Runtime {
    /// The first row that this call was not proposed yet: in the order of the view those that nobody else is
    /// being decided upon, then the others. None: there is no other row.
    pub(crate) fn propose(&self, taking: &mut Taking) -> Result<Option<Proposed<'_>>, CallError> {
        let (state, _) = self.follow()?;
        self.still_current()?;
        let mut held = self.views.proposals.lock();
        if let Some(applied) = state.applied {
            held.rows.retain(|_, hold| !matches!(hold, Hold::Taken(at) if at.is_within(applied)));
        }
        let start = taking.start.get_or_insert_with(|| {
            held.resumed.remove(&(taking.view, taking.group.as_slice().into()))
        });
        let Some(group) = state.views[taking.view].groups.get(&taking.group[..]) else {
            return Ok(None);
        };
        let first = start.as_ref().map_or(0, |sort| group.sorted.position(sort));
        let rows = group.sorted.from(first).chain(group.sorted.from(0).take(first));
        let subject = self.schema.design.views[taking.view].subject;
        let mut shared = None;
        let mut free = None;
        let mut met = 0;
        for sort in rows {
            let Some(key) = key_in(sort) else { continue };
            let id: Box<[u8]> = self.schema.codec().key_of(subject, key).to_bytes().into();
            if matches!(held.rows.get(&id), Some(Hold::Taken(_))) {
                continue;
            }
            met += 1;
            if met > taking.limit {
                break;
            }
            if taking.tried.contains(&id) {
                continue;
            }
            if !held.rows.contains_key(&id) {
                free = Some((id, sort));
                break;
            }
            shared = shared.or(Some((id, sort)));
        }
        let Some((id, sort)) = free.or(shared) else { return Ok(None) };
        taking.tried.insert(id.clone());
        taking.last = Some(sort.into());
        match held.rows.entry(id.clone()).or_insert(Hold::Proposed(0)) {
            Hold::Proposed(calls) => *calls += 1,
            Hold::Taken(_) => {}
        }
        Ok(Some(Proposed { proposals: &self.views.proposals, id }))
    }

    /// The call may try no more rows: the next one begins behind them, so that every row is met.
    pub(crate) fn resume_behind(&self, taking: Taking) {
        let Some(last) = taking.last else { return };
        let mut held = self.views.proposals.lock();
        if held.resumed.len() >= RESUMED_MAX {
            held.resumed.clear();
        }
        // the least that sorts behind it
        let behind = last.iter().copied().chain([0]).collect();
        held.resumed.insert((taking.view, taking.group.into()), behind);
    }
}
