//! What a call reads, and what it will write: between the two lies nothing but the engine.

use std::ops::Range;

/// What is known of one stored key.
pub enum Got<'a> {
    /// its version and its value
    Present(u64, &'a [u8]),
    Absent,
    /// not fetched yet: the call is tried again once it is
    Later,
}

/// Where stored values come from: the newest state in this process, or what was fetched so far.
pub trait Source {
    fn get(&self, key: &[u8]) -> Got<'_>;

    /// Is there a blob with this digest? `None`: not asked yet.
    fn stored(&self, digest: &[u8]) -> Option<bool>;
}

/// Everything that one call changes, all at once or not at all.
#[derive(Debug, Default, Clone)]
pub struct Plan {
    /// each key once
    writes: Vec<Planned>,
    /// the keys and values
    bytes: Vec<u8>,
    pub feed: Vec<u8>,
    /// the earliest time at which a repair or an attempt that this call caused is due
    pub wake: Option<i64>,
}

#[derive(Debug, Clone)]
struct Planned {
    key: Range<usize>,
    /// none: deleted
    value: Option<Range<usize>>,
}

impl Plan {
    /// Forgets everything but its room.
    pub fn clear(&mut self) {
        self.writes.clear();
        self.bytes.clear();
        self.feed.clear();
        self.wake = None;
    }

    /// Neither writes anything nor tells of anything.
    pub fn is_empty(&self) -> bool {
        self.writes_nothing() && self.feed.is_empty()
    }

    /// How much it writes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn writes_nothing(&self) -> bool {
        self.writes.is_empty()
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.put_with(key, |out| out.extend_from_slice(value));
    }

    /// A put whose value is written where it stays.
    pub fn put_with(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.place(key);
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.writes[at].value = Some(start..self.bytes.len());
    }

    pub fn delete(&mut self, key: &[u8]) {
        let at = self.place(key);
        self.writes[at].value = None;
    }

    /// What this plan has already decided for a key.
    pub fn pending(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.writes().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Keys and values; none: deleted.
    pub fn writes(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.writes.iter().map(|planned| {
            let value = planned.value.clone().map(|value| &self.bytes[value]);
            (&self.bytes[planned.key.clone()], value)
        })
    }

    pub fn wake_at(&mut self, at: i64) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    /// Where the decision about a key stands.
    fn place(&mut self, key: &[u8]) -> usize {
        let known = self.writes.iter().position(|known| self.bytes[known.key.clone()] == *key);
        known.unwrap_or_else(|| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(key);
            self.writes.push(Planned { key: start..self.bytes.len(), value: None });
            self.writes.len() - 1
        })
    }
}
