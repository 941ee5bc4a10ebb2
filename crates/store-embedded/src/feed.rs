//! Where in the log the feed is: a sparse index is held in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::manifest::Ended;
use crate::segment::Segment;

/// Within a segment there is a mark every so many bytes.
const MARK_BYTES: u64 = 64 << 10;
/// The frames that were written last are all marked: most readers are near the end.
const RECENT_MAX: usize = 1024;

#[derive(Debug, Default)]
pub struct FeedIndex {
    segments: VecDeque<Indexed>,
    recent: VecDeque<(u64, Place)>,
}

#[derive(Debug)]
struct Indexed {
    segment: Arc<Segment>,
    /// The first position that it may hold.
    first: u64,
    /// Frames are durable up to here.
    end: u64,
    /// Of its last frame, and the position after it.
    checksum: u32,
    next: u64,
    marks: Vec<(u64, u64)>,
}

/// A frame that was written: its first position and the one after its last, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Wrote {
    pub first: u64,
    pub next: u64,
    pub offset: u64,
    pub bytes: u64,
    pub checksum: u32,
}

/// A frame in the log, and where the frames of its segment end.
#[derive(Clone, Debug)]
pub struct Place {
    pub segment: Arc<Segment>,
    pub offset: u64,
    pub end: u64,
}

impl FeedIndex {
    /// A segment begins, after all others, whose first commit will have this position.
    pub fn begin(&mut self, segment: Arc<Segment>, first: u64) {
        let end = segment.kind.layout.start() as u64;
        let marks = Vec::new();
        let (checksum, next) = (0, first);
        self.segments.push_back(Indexed { segment, first, end, checksum, next, marks });
    }

    /// A frame in the last segment is durable.
    pub fn wrote(&mut self, frame: Wrote) {
        let Wrote { first, next, offset, bytes, checksum } = frame;
        let Some(last) = self.segments.back_mut() else { return };
        last.end = offset + bytes;
        (last.next, last.checksum) = (next, checksum);
        if last.marks.last().is_none_or(|(_, marked)| offset - marked >= MARK_BYTES) {
            last.marks.push((first, offset));
        }
        let place = Place { segment: Arc::clone(&last.segment), offset, end: offset };
        self.recent.push_back((first, place));
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
    }

    /// The feed begins after this position.
    pub fn floor(&self) -> u64 {
        self.segments.front().map_or(0, |first| first.first - 1)
    }

    /// The last position of the oldest segment, when another one follows.
    pub fn oldest_last(&self) -> Option<u64> {
        self.segments.get(1).map(|next| next.first - 1)
    }

    /// The bytes of the segments that hold nothing after this position.
    pub fn bytes_until(&self, position: u64) -> u64 {
        let ended = self.segments.iter().zip(self.segments.iter().skip(1));
        let ended = ended.filter(|(_, next)| next.first <= position + 1);
        ended.map(|(segment, _)| segment.segment.bytes).sum()
    }

    /// Forgets the oldest segment.
    pub fn retire(&mut self) -> Option<Arc<Segment>> {
        let oldest = self.segments.pop_front()?.segment;
        self.recent.retain(|(_, place)| place.segment.number != oldest.number);
        Some(oldest)
    }

    /// Every segment, what it holds, and whether that is for good, since another one follows.
    pub fn extents(&self) -> impl Iterator<Item = (&Arc<Segment>, Ended, bool)> {
        self.segments.iter().enumerate().map(|(n, indexed)| {
            let Indexed { segment, first, next, end, checksum, .. } = indexed;
            let held = Ended { first: *first, next: *next, end: *end, checksum: *checksum };
            (segment, held, n + 1 < self.segments.len())
        })
    }

    /// A frame that does not begin after this position, as near to it as is known.
    pub fn find(&self, position: u64) -> Option<Place> {
        let after = self.segments.partition_point(|segment| segment.first <= position);
        let indexed = &self.segments[after.checked_sub(1)?];
        let marked = indexed.marks.partition_point(|(first, _)| *first <= position);
        let start = indexed.segment.kind.layout.start() as u64;
        let offset = marked.checked_sub(1).map_or(start, |n| indexed.marks[n].1);
        let recent = self.recent.partition_point(|(first, _)| *first <= position);
        let recent = recent.checked_sub(1).map(|n| &self.recent[n].1);
        let recent = recent.filter(|place| place.segment.number == indexed.segment.number);
        let offset = recent.map_or(offset, |place| place.offset.max(offset));
        Some(Place { segment: Arc::clone(&indexed.segment), offset, end: indexed.end })
    }
}
