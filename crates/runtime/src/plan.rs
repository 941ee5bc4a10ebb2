//! What a call reads, and what it will write: between the two lies nothing but the engine.

/// What is known of one stored key.
pub enum Got<'a> {
    /// its version and its value
    Present(u64, &'a [u8]),
    Absent,
    /// not fetched yet: the call is tried again once it is
    #[expect(dead_code, reason = "said by stores across the network, which are not served yet")]
    Later,
}

/// Where stored values come from: the newest state in this process, or what was fetched so far.
pub trait Source {
    fn get(&self, key: &[u8]) -> Got<'_>;

    /// Is there a blob with this digest? `None`: not asked yet.
    fn stored(&self, digest: &[u8]) -> Option<bool>;
}

/// Everything that one call changes, all at once or not at all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Plan {
    /// none: deleted. Each key once.
    pub writes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub feed: Vec<u8>,
    /// the earliest time at which a repair or an attempt that this call caused is due
    pub wake: Option<i64>,
}

impl Plan {
    pub fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.set(key, Some(value));
    }

    pub fn delete(&mut self, key: Vec<u8>) {
        self.set(key, None);
    }

    /// What this plan has already decided for a key.
    pub fn pending(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let found = self.writes.iter().find(|(known, _)| known == key)?;
        Some(found.1.as_deref())
    }

    pub fn wake_at(&mut self, at: i64) {
        self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
    }

    fn set(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        match self.writes.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = value,
            None => self.writes.push((key, value)),
        }
    }
}
