//! A frame is one batch of commits in the log, written and synced as one.
//!
//! The next frame is written only when this one is durable. So a frame that cannot be read and is
//! followed by none was never acknowledged and is cut off, while one that is followed by another
//! was durable once and is damaged now.
//!
//! ```text
//! magic   checksum   length   count   first position   commits
//! 4       4          4        4       8                length
//! ```
//!
//! The checksum covers everything behind it and begins with the segment's number, so that what an
//! earlier use of the file has left is never taken for a frame. A count of zero is a seal.

pub const FRAME_BYTES: usize = 24;

const MAGIC: [u8; 4] = *b"SFfr";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The position of its first commit; of a seal, that of the commit to come.
    pub first: u64,
    pub count: u32,
    pub commits: &'a [u8],
}

impl Frame<'_> {
    /// With its head.
    pub fn bytes(&self) -> usize {
        FRAME_BYTES + self.commits.len()
    }

    /// The position after its last commit.
    pub fn next(&self) -> u64 {
        self.first + u64::from(self.count)
    }
}

/// Completes a frame whose first [`FRAME_BYTES`] bytes were left free.
pub fn complete(frame: &mut [u8], segment: u64, first: u64, count: u32) {
    let length = (frame.len() - FRAME_BYTES) as u32;
    frame[..4].copy_from_slice(&MAGIC);
    frame[8..12].copy_from_slice(&length.to_le_bytes());
    frame[12..16].copy_from_slice(&count.to_le_bytes());
    frame[16..24].copy_from_slice(&first.to_le_bytes());
    let checksum = checksum(segment, &frame[8..]);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
}

/// The frame at the beginning of these bytes, if there is a whole one.
pub fn read(bytes: &[u8], segment: u64) -> Option<Frame<'_>> {
    let head = Head::read(bytes)?;
    let frame = bytes.get(..FRAME_BYTES.checked_add(head.length)?)?;
    let whole = checksum(segment, &frame[8..]) == head.checksum;
    whole.then(|| Frame { first: head.first, count: head.count, commits: &frame[FRAME_BYTES..] })
}

/// The offset of the first whole frame from `from` on that holds, or awaits, a position after
/// `position`.
pub fn find(bytes: &[u8], from: usize, segment: u64, position: u64) -> Option<usize> {
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
        if read(&bytes[at..], segment).is_some_and(|frame| frame.next() > position) {
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
    pub length: usize,
    pub count: u32,
    pub first: u64,
}

impl Head {
    pub fn read(bytes: &[u8]) -> Option<Head> {
        let mut reader = crate::encoding::Reader::new(bytes.get(..FRAME_BYTES)?);
        let magic = reader.bytes(4)? == MAGIC;
        let (checksum, length) = (reader.u32()?, reader.u32()? as usize);
        let head = Head { checksum, length, count: reader.u32()?, first: reader.u64()? };
        magic.then_some(head)
    }
}

fn checksum(segment: u64, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&segment.to_le_bytes()), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(segment: u64, first: u64) -> Vec<u8> {
        let mut bytes = vec![0; FRAME_BYTES];
        bytes.extend_from_slice(b"commits");
        complete(&mut bytes, segment, first, 3);
        bytes
    }

    #[test]
    fn a_frame_is_read_in_its_own_segment_only() {
        let bytes = frame(4, 10);
        let expected = Frame { first: 10, count: 3, commits: b"commits" };
        assert_eq!(read(&bytes, 4), Some(expected));
        assert_eq!(expected.next(), 13);
        assert_eq!(read(&bytes, 5), None);
        assert_eq!(read(&bytes[..bytes.len() - 1], 4), None);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = frame(4, 10);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&flipped, 4), None, "bit {bit}");
        }
    }

    #[test]
    fn a_later_frame_is_found_wherever_it_begins() {
        let mut bytes = vec![b'S'; 37];
        bytes.extend(frame(4, 5));
        bytes.extend(frame(4, 20));
        assert_eq!(find(&bytes, 0, 4, 7), Some(37));
        assert_eq!(find(&bytes, 0, 4, 8), Some(37 + FRAME_BYTES + 7));
        assert_eq!(find(&bytes, 0, 4, 23), None);
        assert_eq!(find(&bytes, 0, 3, 0), None);
        // However many zeros are before it, and at whatever place in a page it begins.
        for zeros in [4090, 4093, 4096, 4097, 20_000] {
            let mut bytes = vec![b'S'; 3];
            bytes.resize(3 + zeros, 0);
            bytes.extend(frame(4, 5));
            bytes.resize(bytes.len() + 9000, 0);
            assert_eq!(find(&bytes, 0, 4, 0), Some(3 + zeros), "{zeros}");
            assert_eq!(find(&bytes, 0, 4, 8), None, "{zeros}");
        }
    }
}
