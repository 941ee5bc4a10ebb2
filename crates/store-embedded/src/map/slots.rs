//! Where the records themselves are: each in one piece of memory, under a number that stays.

use store::Version;

/// No slot.
pub const NONE: u32 = u32::MAX;

/// Version, then the length of the key, before key and value.
const VERSION_BYTES: usize = 8;
const HEAD_BYTES: usize = VERSION_BYTES + 2;

#[derive(Debug)]
struct Slot {
    /// Nothing in a slot that is free.
    record: Box<[u8]>,
    /// Of the key, kept so that the index grows without looking at keys.
    hash: u32,
    /// The next slot with a hash of the same bucket, or the next free one.
    next: u32,
}

#[derive(Debug)]
pub struct Slots {
    list: Vec<Slot>,
    free: u32,
    live: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Slots { list: Vec::new(), free: NONE, live: 0 }
    }
}

impl Slots {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.live
    }

    pub fn add(&mut self, hash: u32, key: &[u8], version: u64, value: &[u8]) -> u32 {
        let slot = Slot { record: record(key, version, value), hash, next: NONE };
        self.live += 1;
        if self.free != NONE {
            let number = self.free;
            self.free = self.list[number as usize].next;
            self.list[number as usize] = slot;
            return number;
        }
        let number = u32::try_from(self.list.len()).ok().filter(|number| *number != NONE);
        let number = number.expect("more records than can be numbered");
        self.list.push(slot);
        number
    }

    /// Gives back the bytes of its key and value.
    pub fn remove(&mut self, number: u32) -> usize {
        let slot = &mut self.list[number as usize];
        let bytes = slot.record.len() - HEAD_BYTES;
        *slot = Slot { record: Box::default(), hash: 0, next: self.free };
        self.free = number;
        self.live -= 1;
        bytes
    }

    pub fn hash(&self, number: u32) -> u32 {
        self.list[number as usize].hash
    }

    pub fn next(&self, number: u32) -> u32 {
        self.list[number as usize].next
    }

    pub fn set_next(&mut self, number: u32, next: u32) {
        self.list[number as usize].next = next;
    }

    pub fn key(&self, number: u32) -> &[u8] {
        self.record(number).0
    }

    /// Whether a record is there whose key is this.
    pub fn holds(&self, number: u32, key: &[u8]) -> bool {
        let slot = self.list.get(number as usize);
        slot.is_some_and(|slot| !slot.record.is_empty() && parts(&slot.record).0 == key)
    }

    pub fn record(&self, number: u32) -> (&[u8], Version, &[u8]) {
        let record = &self.list[number as usize].record;
        let (key, value) = parts(record);
        (key, version(record), value)
    }

    /// Writes another value. Gives how long the one before it was.
    pub fn replace(&mut self, number: u32, version: u64, value: &[u8]) -> usize {
        let record = &mut self.list[number as usize].record;
        let start = record.len() - parts(record).1.len();
        let before = record.len() - start;
        if before == value.len() {
            record[..VERSION_BYTES].copy_from_slice(&version.to_le_bytes());
            record[start..].copy_from_slice(value);
        } else {
            *record = self::record(&record[HEAD_BYTES..start], version, value);
        }
        before
    }
}

fn record(key: &[u8], version: u64, value: &[u8]) -> Box<[u8]> {
    let length = u16::try_from(key.len()).expect("keys are at most a few kilobytes long");
    let mut record = Vec::with_capacity(HEAD_BYTES + key.len() + value.len());
    record.extend_from_slice(&version.to_le_bytes());
    record.extend_from_slice(&length.to_le_bytes());
    record.extend_from_slice(key);
    record.extend_from_slice(value);
    record.into_boxed_slice()
}

fn version(record: &[u8]) -> Version {
    let mut bytes = [0; VERSION_BYTES];
    bytes.copy_from_slice(&record[..VERSION_BYTES]);
    Version(u64::from_le_bytes(bytes))
}

/// Key and value.
fn parts(record: &[u8]) -> (&[u8], &[u8]) {
    let length = u16::from_le_bytes([record[VERSION_BYTES], record[VERSION_BYTES + 1]]);
    record[HEAD_BYTES..].split_at(length.into())
}
