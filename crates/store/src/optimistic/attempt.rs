//! One run of a transaction on what was fetched.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use bytes::Bytes;

use super::{Fetched, expected};
use crate::commit::Expected;
use crate::key::{Key, KeyRange};
use crate::local::{Transaction, Visit};
use crate::merge::merge_scan;
use crate::record::Version;

/// What a run has missed.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    Records(Vec<Key>),
    Scan { range: KeyRange, reverse: bool },
}

pub struct Attempt<'a> {
    fetched: &'a Fetched,
    /// Of the transaction, and the version of what it writes.
    number: u64,
    missed: RefCell<Missed>,
    scans: Cell<bool>,
    read: RefCell<BTreeMap<Key, Expected>>,
    writes: BTreeMap<Key, Option<Bytes>>,
    feed: Vec<Bytes>,
}

#[derive(Default)]
struct Missed {
    keys: Vec<Key>,
    scans: Vec<(KeyRange, bool)>,
}

/// What a run that missed nothing came to.
pub struct Found {
    pub read: BTreeMap<Key, Expected>,
    pub writes: BTreeMap<Key, Option<Bytes>>,
    pub feed: Vec<Bytes>,
    /// Does it rest on ranges, too?
    pub scans: bool,
}

impl<'a> Attempt<'a> {
    pub fn new(fetched: &'a Fetched, number: u64) -> Self {
        Attempt {
            fetched,
            number,
            missed: RefCell::default(),
            scans: Cell::new(false),
            read: RefCell::default(),
            writes: BTreeMap::new(),
            feed: Vec::new(),
        }
    }

    pub fn end(self) -> (Vec<Wanted>, Found) {
        let Missed { keys, scans } = self.missed.into_inner();
        let records = (!keys.is_empty()).then_some(Wanted::Records(keys));
        let scans = scans.into_iter().map(|(range, reverse)| Wanted::Scan { range, reverse });
        let found = Found {
            read: self.read.into_inner(),
            writes: self.writes,
            feed: self.feed,
            scans: self.scans.get(),
        };
        (records.into_iter().chain(scans).collect(), found)
    }
}

impl Transaction for Attempt<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        if let Some(own) = self.writes.get(key) {
            return own.as_deref().map(|value| (Version(self.number), value));
        }
        let scanned = || {
            let mut scans = self.fetched.scans.iter().flat_map(|scanned| &scanned.records);
            scans.find(|(known, _)| **known == *key)
        };
        let known = self.fetched.records.get(key).map(Option::as_ref);
        let Some(record) = known.or_else(|| scanned().map(|(_, record)| Some(record))) else {
            let mut missed = self.missed.borrow_mut();
            if !missed.keys.iter().any(|known| **known == *key) {
                missed.keys.push(key.into());
            }
            return None;
        };
        self.read.borrow_mut().entry(key.into()).or_insert(expected(record));
        record.map(|record| (record.version, &*record.value))
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.scans.set(true);
        self.glance(range, reverse, &mut |key, version, value| {
            if version.0 != self.number {
                let expected = Expected::Version(version);
                self.read.borrow_mut().entry(key.into()).or_insert(expected);
            }
            visit(key, version, value)
        });
    }

    fn glance(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        let known = self.fetched.scans.iter();
        let known = known.filter(|known| known.range == *range && known.reverse == reverse);
        let Some(scanned) = known.into_iter().next() else {
            return self.missed.borrow_mut().scans.push((range.clone(), reverse));
        };
        let records = scanned.records.iter().map(|(key, r)| (&**key, r.version, &*r.value));
        let own = self.writes.iter().filter(|(key, _)| range.contains(key));
        let own = own.map(|(key, value)| (&**key, value.as_deref()));
        let mut stopped = false;
        let mut see = |key: &[u8], version: Version, value: &[u8]| {
            let flow = visit(key, version, value);
            stopped = flow == ControlFlow::Break(());
            flow
        };
        let version = Version(self.number);
        match reverse {
            false => merge_scan(records, own, version, reverse, &mut see),
            true => merge_scan(records, own.rev(), version, reverse, &mut see),
        }
        if !stopped && !scanned.whole {
            self.missed.borrow_mut().scans.push((range.clone(), reverse));
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.writes.insert(key.into(), Some(Bytes::copy_from_slice(value)));
    }

    fn delete(&mut self, key: &[u8]) {
        self.writes.insert(key.into(), None);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.feed.push(Bytes::copy_from_slice(entry));
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn misses(&self) -> bool {
        let missed = self.missed.borrow();
        !missed.keys.is_empty() || !missed.scans.is_empty()
    }
}
