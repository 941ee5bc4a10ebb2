//! The hottest keys at any time, in bounded memory.
//!
//! Space-saving counters: a key that is among the most frequent is always in the list, and its
//! count is never too low; it may be too high by at most `error`.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// So many keys are watched.
const WATCHED: usize = 128;

#[derive(Debug, Default)]
pub struct HotKeys {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: FxHashMap<Box<[u8]>, (u64, u64)>,
    total: u64,
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

impl HotKeys {
    pub fn touch(&self, key: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.total += 1;
        if let Some(entry) = state.counts.get_mut(key) {
            entry.0 += 1;
            return;
        }
        if state.counts.len() < WATCHED {
            state.counts.insert(key.into(), (1, 0));
            return;
        }
        let coldest = state
            .counts
            .iter()
            .min_by_key(|(_, (count, _))| *count)
            .map(|(key, (count, _))| (key.clone(), *count));
        if let Some((coldest, count)) = coldest {
            state.counts.remove(&coldest);
            state.counts.insert(key.into(), (count + 1, count));
        }
    }

    /// The hottest first, and how many touches there were in all.
    pub fn hottest(&self, most: usize) -> (Vec<HotKey>, u64) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<HotKey> = state
            .counts
            .iter()
            .map(|(key, (count, error))| HotKey { key: key.to_vec(), count: *count, error: *error })
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
            hot.touch(&key);
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
