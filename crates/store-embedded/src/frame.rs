//! A frame is one batch of commits in the log, written and synced as one.
//!
//! The next frame is written only when this one is durable. So a frame that cannot be read and is
//! followed by none was never acknowledged and is cut off, while one that is followed by another,
//! or that a seal or the list of segments vouches for, was durable once and is damaged now.
//!
//! ```text
//! magic   checksum   length   count   first position   time   previous   free   commits
//! 4       4          4        4       8                8      4          4      length
//! ```
//!
//! The checksum covers everything behind it. It begins with the segment's number and salt, so that
//! what an earlier use of the file has left, or what a client has put into a value, is never taken
//! for a frame. `previous` is the checksum of the frame before it, also across segments. Frames
//! begin at sectors: none is ever written where an acknowledged one stands.
//!
//! Segments of format 1 have frames without time and previous, one right after the other. A count
//! of zero is a seal there.

use crate::encoding::Reader;

/// The head of a frame, as it is written.
pub const FRAME_BYTES: usize = 40;
/// Frames begin at multiples of this.
pub const SECTOR_BYTES: usize = 512;

const PACKED_FRAME_BYTES: usize = 24;
const MAGIC: [u8; 4] = *b"SFfr";

/// How frames lie in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Format 1: one right after the other.
    Packed,
    /// Each at a sector of its own.
    Sectors,
}

impl Layout {
    /// The first frame begins here.
    pub fn start(self) -> usize {
        match self {
            Layout::Packed => 64,
            Layout::Sectors => SECTOR_BYTES,
        }
    }

    fn head_bytes(self) -> usize {
        match self {
            Layout::Packed => PACKED_FRAME_BYTES,
            Layout::Sectors => FRAME_BYTES,
        }
    }

    /// A frame of so many bytes takes this much of the log.
    pub fn padded(self, bytes: usize) -> usize {
        match self {
            Layout::Packed => bytes,
            Layout::Sectors => bytes.next_multiple_of(SECTOR_BYTES),
        }
    }

    fn may_begin_at(self, offset: usize) -> bool {
        self == Layout::Packed || offset.is_multiple_of(SECTOR_BYTES)
    }
}

/// What the frames of one segment have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub segment: u64,
    pub salt: u64,
    pub layout: Layout,
}

impl Kind {
    fn checksum(self, bytes: &[u8]) -> u32 {
        let mut seed = crc32c::crc32c(&self.segment.to_le_bytes());
        if self.layout == Layout::Sectors {
            seed = crc32c::crc32c_append(seed, &self.salt.to_le_bytes());
        }
        crc32c::crc32c_append(seed, bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The position of its first commit; of a seal, that of the commit to come.
    pub first: u64,
    pub count: u32,
    /// When it was written, in milliseconds; never less than that of the frame before it.
    pub time_ms: u64,
    /// The checksum of the frame before it, where that is known.
    pub previous: Option<u32>,
    pub checksum: u32,
    pub commits: &'a [u8],
    /// What it takes of the log.
    pub bytes: usize,
}

impl Frame<'_> {
    /// The position after its last commit.
    pub fn next(&self) -> u64 {
        self.first + u64::from(self.count)
    }
}

/// What is written into the head of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub first: u64,
    pub count: u32,
    pub time_ms: u64,
    pub previous: u32,
}

/// Completes a frame whose first [`FRAME_BYTES`] bytes were left free, and fills its last sector.
/// Answers with its checksum.
pub fn complete(frame: &mut Vec<u8>, kind: Kind, stamp: Stamp) -> u32 {
    let length = (frame.len() - FRAME_BYTES) as u32;
    frame[..4].copy_from_slice(&MAGIC);
    frame[8..12].copy_from_slice(&length.to_le_bytes());
    frame[12..16].copy_from_slice(&stamp.count.to_le_bytes());
    frame[16..24].copy_from_slice(&stamp.first.to_le_bytes());
    frame[24..32].copy_from_slice(&stamp.time_ms.to_le_bytes());
    frame[32..36].copy_from_slice(&stamp.previous.to_le_bytes());
    frame[36..40].copy_from_slice(&[0; 4]);
    let checksum = kind.checksum(&frame[8..]);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
    frame.resize(Layout::Sectors.padded(frame.len()), 0);
    checksum
}

/// A frame as it would be with only the first of its commits, and its checksum.
pub fn shorter(frame: &Frame<'_>, kind: Kind, commits: &[u8], count: u32) -> (Vec<u8>, u32) {
    let Frame { first, time_ms, .. } = *frame;
    let mut bytes = vec![0; kind.layout.head_bytes()];
    bytes.extend_from_slice(commits);
    match (kind.layout, frame.previous) {
        (Layout::Sectors, previous) => {
            let previous = previous.unwrap_or(0);
            let checksum = complete(&mut bytes, kind, Stamp { first, count, time_ms, previous });
            (bytes, checksum)
        }
        (Layout::Packed, _) => {
            bytes[..4].copy_from_slice(&MAGIC);
            bytes[8..12].copy_from_slice(&(commits.len() as u32).to_le_bytes());
            bytes[12..16].copy_from_slice(&count.to_le_bytes());
            bytes[16..24].copy_from_slice(&first.to_le_bytes());
            let checksum = kind.checksum(&bytes[8..]);
            bytes[4..8].copy_from_slice(&checksum.to_le_bytes());
            (bytes, checksum)
        }
    }
}

/// The frame at the beginning of these bytes, if there is a whole one.
pub fn read(bytes: &[u8], kind: Kind) -> Option<Frame<'_>> {
    let head = Head::read(bytes, kind.layout)?;
    let start = kind.layout.head_bytes();
    let frame = bytes.get(..start.checked_add(head.length)?)?;
    let whole = kind.checksum(&frame[8..]) == head.checksum;
    whole.then(|| Frame {
        first: head.first,
        count: head.count,
        time_ms: head.time_ms,
        previous: head.previous,
        checksum: head.checksum,
        commits: &frame[start..],
        bytes: kind.layout.padded(frame.len()),
    })
}

/// The offset of the first whole frame from `from` on that holds, or awaits, a position after
/// `position`.
pub fn find(bytes: &[u8], from: usize, kind: Kind, position: u64) -> Option<usize> {
    // What was never written is zeros, megabytes of them: those are passed over a page at a time.
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut at = from;
    while let Some(rest) = bytes.get(at..) {
        if rest.starts_with(&ZEROS) {
            at += ZEROS.len();
            continue;
        }
        let page = &rest[..rest.len().min(ZEROS.len() + MAGIC.len() - 1)];
        match page.windows(MAGIC.len()).position(|window| window == MAGIC) {
            Some(found) => at += found,
            None if page.len() == rest.len() => return None,
            None => {
                at += ZEROS.len();
                continue;
            }
        }
        if kind.layout.may_begin_at(at)
            && read(&bytes[at..], kind).is_some_and(|frame| frame.next() > position)
        {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// What a frame says of itself, unchecked.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    checksum: u32,
    length: usize,
    count: u32,
    first: u64,
    time_ms: u64,
    previous: Option<u32>,
    layout: Layout,
}

impl Head {
    pub fn read(bytes: &[u8], layout: Layout) -> Option<Head> {
        let mut reader = Reader::new(bytes.get(..layout.head_bytes())?);
        let magic = reader.bytes(4)? == MAGIC;
        let (checksum, length) = (reader.u32()?, reader.u32()? as usize);
        let (count, first) = (reader.u32()?, reader.u64()?);
        let (time_ms, previous) = match layout {
            Layout::Packed => (0, None),
            Layout::Sectors => (reader.u64()?, Some(reader.u32()?)),
        };
        let head = Head { checksum, length, count, first, time_ms, previous, layout };
        magic.then_some(head)
    }

    /// What the frame takes of the log.
    pub fn bytes(&self) -> usize {
        self.layout.padded(self.layout.head_bytes() + self.length)
    }
}

/// The frame that was written last: the next one refers to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastFrame {
    pub checksum: u32,
    pub time_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { segment: 4, salt: 77, layout: Layout::Sectors };

    fn frame(kind: Kind, first: u64) -> Vec<u8> {
        let mut bytes = vec![0; FRAME_BYTES];
        bytes.extend_from_slice(b"commits");
        complete(&mut bytes, kind, Stamp { first, count: 3, time_ms: 9, previous: 5 });
        bytes
    }

    #[test]
    fn a_frame_is_read_in_its_own_segment_of_its_own_store_only() {
        let bytes = frame(KIND, 10);
        assert_eq!(bytes.len(), SECTOR_BYTES);
        let found = read(&bytes, KIND).unwrap();
        assert_eq!((found.first, found.count, found.next()), (10, 3, 13));
        assert_eq!((found.time_ms, found.previous), (9, Some(5)));
        assert_eq!((found.commits, found.bytes), (&b"commits"[..], SECTOR_BYTES));
        assert_eq!(read(&bytes, Kind { segment: 5, ..KIND }), None);
        assert_eq!(read(&bytes, Kind { salt: 78, ..KIND }), None);
        assert_eq!(read(&bytes, Kind { layout: Layout::Packed, ..KIND }), None);
        assert_eq!(read(&bytes[..FRAME_BYTES + 6], KIND), None);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = frame(KIND, 10);
        for bit in 0..(FRAME_BYTES + 7) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped, KIND), None, "bit {bit}");
        }
    }

    #[test]
    fn a_later_frame_is_found_at_whatever_sector_it_begins() {
        let mut bytes = vec![b'S'; SECTOR_BYTES];
        bytes.extend(frame(KIND, 5));
        bytes.extend(frame(KIND, 20));
        assert_eq!(find(&bytes, 0, KIND, 7), Some(SECTOR_BYTES));
        assert_eq!(find(&bytes, 0, KIND, 8), Some(2 * SECTOR_BYTES));
        assert_eq!(find(&bytes, 0, KIND, 23), None);
        assert_eq!(find(&bytes, 0, Kind { segment: 3, ..KIND }, 0), None);
        for sectors in [1, 7, 8, 9, 40] {
            let mut bytes = vec![b'S'; 3];
            bytes.resize(sectors * SECTOR_BYTES, 0);
            bytes.extend(frame(KIND, 5));
            bytes.resize(bytes.len() + 9000, 0);
            let expected = Some(sectors * SECTOR_BYTES);
            assert_eq!(find(&bytes, 0, KIND, 0), expected, "{sectors}");
            assert_eq!(find(&bytes, 0, KIND, 8), None, "{sectors}");
        }
    }

    /// A value that looks like a frame, inside of one that was torn.
    #[test]
    fn what_does_not_begin_at_a_sector_is_no_frame() {
        let mut bytes = vec![b'x'; 100];
        bytes.extend(frame(KIND, 5));
        assert_eq!(find(&bytes, 0, KIND, 0), None);
    }
}
