//! Positions in the feed.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// One order of commits. A store with a total order has a single partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Partition(pub u32);

/// A position in one partition of the feed. Two cursors can be compared only within a partition.
///
/// What the position counts is the store's own affair: it grows with every commit and means
/// nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    partition: Partition,
    position: u64,
}

impl Cursor {
    /// Before the first commit of a partition.
    pub fn start(partition: Partition) -> Self {
        Cursor { partition, position: 0 }
    }

    /// For stores, which alone know what their positions mean.
    pub fn at(partition: Partition, position: u64) -> Self {
        Cursor { partition, position }
    }

    pub fn partition(self) -> Partition {
        self.partition
    }

    pub fn position(self) -> u64 {
        self.position
    }

    /// Whether it is in the same partition as `head` and not after it.
    pub fn is_within(self, head: Cursor) -> bool {
        self.partition == head.partition && self.position <= head.position
    }

    /// Twelve bytes that sort as the cursors of one partition do.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.partition.0.to_be_bytes());
        bytes[4..].copy_from_slice(&self.position.to_be_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        let [a, b, c, d, position @ ..] = bytes;
        Cursor {
            partition: Partition(u32::from_be_bytes([a, b, c, d])),
            position: u64::from_be_bytes(position),
        }
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.partition == other.partition).then(|| self.position.cmp(&other.position))
    }
}

/// Writes a number so that it ends before `end`. Gives where it begins.
fn put_digits(text: &mut [u8], end: usize, number: u64) -> usize {
    let (mut at, mut rest) = (end, number);
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return at;
        }
    }
}

/// The longest text of a cursor: two numbers and what stands between them.
const TEXT_BYTES_MAX: usize = 31;

impl Cursor {
    /// Its text, at the end of the room; gives where it begins. Every answer of a store carries one: digit by
    /// digit is several times as fast as `write!`.
    fn write(self, room: &mut [u8; TEXT_BYTES_MAX]) -> usize {
        let at = put_digits(room, TEXT_BYTES_MAX, self.position) - 1;
        room[at] = b'-';
        put_digits(room, at, self.partition.0.into())
    }

    /// Appends its text.
    pub fn put(self, out: &mut Vec<u8>) {
        let mut room = [0; TEXT_BYTES_MAX];
        let at = self.write(&mut room);
        out.extend_from_slice(&room[at..]);
    }

    /// The same as `to_string`, without its machinery.
    pub fn text(self) -> String {
        let mut room = [0; TEXT_BYTES_MAX];
        let at = self.write(&mut room);
        str::from_utf8(&room[at..]).expect("digits").to_owned()
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = [0; TEXT_BYTES_MAX];
        let at = self.write(&mut room);
        f.write_str(str::from_utf8(&room[at..]).expect("digits"))
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('-').and_then(|(partition, position)| {
            Some(Cursor::at(Partition(partition.parse().ok()?), position.parse().ok()?))
        });
        parsed.ok_or_else(|| format!("`{text}` is not a cursor, such as `0-42`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_lead_back_to_the_cursor() {
        let cursor = Cursor::at(Partition(7), 1 << 40);
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        let mut text = b"at ".to_vec();
        cursor.put(&mut text);
        assert_eq!(text, format!("at {}", cursor.text()).into_bytes());
        assert_eq!(cursor.text(), cursor.to_string());
        assert_eq!(Cursor::from_bytes(cursor.to_bytes()), cursor);
        assert_eq!(Cursor::at(Partition(0), 0).to_string(), "0-0");
        let last = Cursor::at(Partition(u32::MAX), u64::MAX).to_string();
        assert_eq!(last, "4294967295-18446744073709551615");
        for wrong in ["", "7", "-", "7-", "x-1", "0--1"] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_cursors_of_one_partition_are_ordered() {
        assert!(Cursor::start(Partition(0)) < Cursor::at(Partition(0), 1));
        assert_eq!(Cursor::start(Partition(0)).partial_cmp(&Cursor::at(Partition(1), 1)), None);
    }
}
