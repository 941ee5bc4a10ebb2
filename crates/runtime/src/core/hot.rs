//! The hottest keys at any time, in bounded memory.
//!
//! Space-saving counters: a key that is among the most frequent is always in the list, and its
//! count is never too low; it may be too high by at most `error`.

use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxBuildHasher, FxHashMap};

/// So many keys are watched.
const WATCHED: usize = 128;

#[derive(Debug, Default)]
pub struct HotKeys {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: Vec<Entry>,
    /// the entry of a key, by the key's hash
    places: FxHashMap<u64, usize>,
    /// no entry has a lower count
    lowest: u64,
    /// where the search for an entry with the lowest count goes on
    next: usize,
    total: u64,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    key: Vec<u8>,
    count: u64,
    error: u64,
}

impl State {
    /// An entry with the lowest count. Counts only grow, so a round that finds none raises the
    /// lowest: most calls look at a few entries.
    fn coldest(&mut self) -> usize {
        loop {
            for _ in 0..self.entries.len() {
                let at = self.next;
                self.next = (self.next + 1) % self.entries.len();
                if self.entries[at].count <= self.lowest {
                    return at;
                }
            }
            self.lowest = self.entries.iter().map(|entry| entry.count).min().unwrap_or_default();
        }
    }
}

/// One of the hottest keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotKey {
    pub key: Vec<u8>,
    /// at most this often
    pub count: u64,
    /// at least `count - error` times
    pub error: u64,
}

/// Touches of a whole group, under one lock.
pub struct HotTouches<'h>(MutexGuard<'h, State>);

impl HotKeys {
    pub fn touches(&self) -> HotTouches<'_> {
        HotTouches(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HotTouches<'_> {
    pub fn touch(&mut self, key: &[u8]) {
        let hash = FxBuildHasher.hash_one(key);
        let state = &mut *self.0;
        state.total += 1;
        let place = match state.places.get(&hash) {
            Some(at) if state.entries[*at].key == key => {
                state.entries[*at].count += 1;
                return;
            }
            // two keys with one hash share a place: the later one takes it
            Some(at) => *at,
            None if state.entries.len() < WATCHED => {
                state.places.insert(hash, state.entries.len());
                state.entries.push(Entry { hash, key: key.to_vec(), count: 1, error: 0 });
                return;
            }
            None => state.coldest(),
        };
        let entry = &mut state.entries[place];
        state.places.remove(&entry.hash);
        state.places.insert(hash, place);
        entry.hash = hash;
        entry.key.clear();
        entry.key.extend_from_slice(key);
        entry.error = entry.count;
        entry.count += 1;
    }
}

impl HotKeys {
    /// The hottest first, and how many touches there were in all.
    pub fn hottest(&self, most: usize) -> (Vec<HotKey>, u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<HotKey> = state
            .entries
            .iter()
            .map(|entry| HotKey { key: entry.key.clone(), count: entry.count, error: entry.error })
            .collect();
        list.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        list.truncate(most);
        (list, state.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_are_found_among_many_and_never_counted_too_low() {
        let hot = HotKeys::default();
        let mut truth: FxHashMap<Vec<u8>, u64> = FxHashMap::default();
        let mut seed = 88_172_645_463_325_252_u64;
        for _ in 0..50_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // one in two touches goes to one of three keys
            let key = if seed.is_multiple_of(2) { seed >> 8 & 3 } else { seed >> 8 & 0xffff };
            let key = key.to_be_bytes().to_vec();
            hot.touches().touch(&key);
            *truth.entry(key).or_default() += 1;
        }
        let (hottest, total) = hot.hottest(4);
        assert_eq!(total, 50_000);
        for (n, key) in hottest.iter().enumerate() {
            assert!(u64::from_be_bytes(key.key.clone().try_into().unwrap()) < 4, "{n}: {key:?}");
            let real = truth[&key.key];
            assert!(key.count >= real && key.count - key.error <= real, "{key:?} {real}");
        }
    }
}
