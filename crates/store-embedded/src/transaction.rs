//! A transaction: it writes straight into the batch that will go to the log.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use store::{Error, KeyRange, Transaction, Version, Visit, merge_scan};

use crate::encoding::{encode_delete, encode_feed, encode_put};
use crate::map::{Map, Place};
use crate::options::KEY_BYTES_MAX;

/// With more writes than this, finding an own write goes by an index.
const FEW: usize = 16;

/// A put or delete, by where its key and value stand in the batch.
#[derive(Clone, Debug)]
pub struct Written {
    pub key: Range<usize>,
    pub value: Option<Range<usize>>,
    /// Where this transaction has read the record.
    pub place: Option<Place>,
}

/// So many records that were read are remembered: most that are written were read before.
const REMEMBERED: usize = 4;

/// Where the last records that were read are.
#[derive(Debug, Default)]
pub struct Read {
    places: Cell<[Option<Place>; REMEMBERED]>,
    next: Cell<usize>,
}

impl Read {
    fn remember(&self, place: Place) {
        let (mut places, next) = (self.places.get(), self.next.get());
        places[next] = Some(place);
        self.places.set(places);
        self.next.set((next + 1) % REMEMBERED);
    }

    fn place(&self, map: &Map, key: &[u8]) -> Option<Place> {
        self.places.get().into_iter().flatten().find(|place| map.holds(*place, key))
    }
}

pub struct EmbeddedTransaction<'a> {
    pub map: &'a Map,
    pub batch: &'a mut Vec<u8>,
    /// Lent for its room.
    pub writes: &'a mut Vec<Written>,
    pub index: BTreeMap<Box<[u8]>, usize>,
    pub read: Read,
    pub position: u64,
    pub fed: bool,
    /// Keys, values and entries.
    pub bytes: u64,
    pub oversized: Option<Error>,
}

impl EmbeddedTransaction<'_> {
    /// The own write of this key that counts: the last.
    fn own(&self, key: &[u8]) -> Option<&Written> {
        if self.writes.len() <= FEW {
            return self.writes.iter().rev().find(|w| self.batch[w.key.clone()] == *key);
        }
        self.index.get(key).map(|n| &self.writes[*n])
    }

    fn value(&self, written: &Written) -> Option<&[u8]> {
        written.value.clone().map(|value| &self.batch[value])
    }

    fn wrote(&mut self, key: &[u8], value_bytes: Option<usize>) {
        self.bytes += (key.len() + value_bytes.unwrap_or(0)) as u64;
        let value = value_bytes.map(|bytes| self.batch.len() - bytes..self.batch.len());
        let end = value.as_ref().map_or(self.batch.len(), |value| value.start);
        let place = self.read.place(self.map, key);
        self.writes.push(Written { key: end - key.len()..end, value, place });
        if self.writes.len() == FEW + 1 {
            for (n, written) in self.writes.iter().enumerate() {
                self.index.insert(self.batch[written.key.clone()].into(), n);
            }
        } else if self.writes.len() > FEW {
            self.index.insert(key.into(), self.writes.len() - 1);
        }
    }

    fn check_key(&mut self, key: &[u8]) {
        let bytes = key.len() as u64;
        if bytes > KEY_BYTES_MAX {
            let error = Error::TooLarge { what: "key", bytes, bytes_max: KEY_BYTES_MAX };
            self.oversized.get_or_insert(error);
        }
    }

    /// Own writes within a range, one for each key, in order.
    fn overlay(&self, range: &KeyRange) -> Vec<(&[u8], Option<&[u8]>)> {
        let own = self.writes.iter().map(|w| (&self.batch[w.key.clone()], self.value(w)));
        let mut own: Vec<_> = own.filter(|(key, _)| range.contains(key)).collect();
        own.reverse();
        // Stable, so that of one key the last write stays first.
        own.sort_by_key(|(key, _)| *key);
        own.dedup_by_key(|(key, _)| *key);
        own
    }
}

impl Transaction for EmbeddedTransaction<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        if !self.writes.is_empty()
            && let Some(written) = self.own(key)
        {
            return self.value(written).map(|value| (Version(self.position), value));
        }
        let place = self.map.find(key)?;
        self.read.remember(place);
        Some(self.map.at(place))
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        let own = Version(self.position);
        let overlay = self.overlay(range).into_iter();
        let records = self.map.range(range);
        match reverse {
            false => merge_scan(records, overlay, own, reverse, visit),
            true => merge_scan(records.rev(), overlay.rev(), own, reverse, visit),
        }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.check_key(key);
        encode_put(self.batch, key, value);
        self.wrote(key, Some(value.len()));
    }

    fn delete(&mut self, key: &[u8]) {
        self.check_key(key);
        encode_delete(self.batch, key);
        self.wrote(key, None);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.fed = true;
        self.bytes += entry.len() as u64;
        encode_feed(self.batch, entry);
    }

    fn number(&self) -> u64 {
        self.position
    }

    fn position(&self) -> Option<u64> {
        Some(self.position)
    }
}
