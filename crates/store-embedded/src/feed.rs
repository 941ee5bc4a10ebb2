//! The feed is read from the log itself. Only a sparse index of it is held in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use store::{Error, FeedCommit, FeedPage, Result};

use crate::disk::read_up_to;
use crate::encoding::Action;
use crate::encoding::Reader;
use crate::frame::{self, Head};
use crate::manifest::Ended;
use crate::segment::Segment;
use crate::shared::{Shared, at, lock};

/// Within a segment there is a mark every so many bytes.
const MARK_BYTES: u64 = 64 << 10;
/// The frames that were written last are all marked: most readers are near the end.
const RECENT_MAX: usize = 1024;
const READ_BYTES: u64 = 64 << 10;
/// A page may be empty after so much of the log that feeds nothing.
const SEARCH_BYTES_MAX: u64 = 8 << 20;

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
struct Place {
    segment: Arc<Segment>,
    offset: u64,
    end: u64,
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
    fn find(&self, position: u64) -> Option<Place> {
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

impl Shared {
    /// What was fed after `from`.
    pub fn read_feed(&self, from: u64, limit: usize) -> Result<FeedPage> {
        let durable = self.progress.durable();
        if from > durable {
            return Err(Error::Ahead(at(from)));
        }
        let mut page = PageBuilder { commits: Vec::new(), left: limit, next: from, whole: false };
        let mut searched = 0;
        while page.next < durable && !page.whole && searched < SEARCH_BYTES_MAX {
            let place = {
                let index = lock(&self.feed);
                if page.next < index.floor() {
                    return Err(Error::BelowFloor(at(index.floor())));
                }
                index.find(page.next + 1)
            };
            let before = page.next;
            let place = place.ok_or_else(|| Error::Damaged("the feed has no segment".into()))?;
            searched += page.read_segment(&place, durable)?;
            if page.next == before && !page.whole {
                let (path, offset) = (place.segment.path.display(), place.offset);
                let message = format!("`{path}` cannot be read from offset {offset} on");
                return Err(Error::Damaged(message));
            }
        }
        if page.commits.is_empty() && from < lock(&self.feed).floor() {
            return Err(Error::BelowFloor(at(lock(&self.feed).floor())));
        }
        Ok(FeedPage { commits: page.commits, next: at(page.next) })
    }
}

struct PageBuilder {
    commits: Vec<FeedCommit>,
    left: usize,
    /// Everything up to here is in the page.
    next: u64,
    /// Nothing more fits.
    whole: bool,
}

impl PageBuilder {
    /// Reads frames from a place on to the end of its segment, or until the page is whole. Answers
    /// with how many bytes it read.
    fn read_segment(&mut self, place: &Place, durable: u64) -> Result<u64> {
        let mut offset = place.offset;
        while offset < place.end && !self.whole && self.next < durable {
            let piece = read_piece(&place.segment, offset, place.end)?;
            let mut at = 0;
            let kind = place.segment.kind;
            while let Some(frame) = piece.get(at..).and_then(|rest| frame::read(rest, kind)) {
                at += frame.bytes;
                if frame.next() > self.next + 1 {
                    self.read_frame(&frame, durable)?;
                }
                if self.whole || self.next >= durable {
                    break;
                }
            }
            if at == 0 {
                break;
            }
            offset += at as u64;
            if offset - place.offset >= SEARCH_BYTES_MAX {
                break;
            }
        }
        Ok(offset - place.offset)
    }

    fn read_frame(&mut self, frame: &frame::Frame<'_>, durable: u64) -> Result<()> {
        let damaged = || Error::Damaged(format!("the commits from {} are damaged", frame.first));
        let mut commits = Reader::new(frame.commits);
        for position in frame.first..frame.next() {
            let mut commit = commits.commit().ok_or_else(damaged)?;
            if position <= self.next {
                continue;
            }
            if position > durable {
                return Ok(());
            }
            let mut entries = Vec::new();
            while !commit.is_empty() {
                if let Action::Feed(entry) = commit.action().ok_or_else(damaged)? {
                    entries.push(Bytes::copy_from_slice(entry));
                }
            }
            if !self.commits.is_empty() && entries.len() > self.left {
                self.whole = true;
                return Ok(());
            }
            self.left = self.left.saturating_sub(entries.len());
            if !entries.is_empty() {
                self.commits.push(FeedCommit { cursor: at(position), entries });
            }
            self.next = position;
        }
        Ok(())
    }
}

/// Some frames from an offset on, at least one.
fn read_piece(segment: &Segment, offset: u64, end: u64) -> Result<Vec<u8>> {
    let read = |bytes: u64| {
        let read = read_up_to(&*segment.file, offset, bytes.min(end - offset));
        read.map_err(|e| Error::Unavailable(format!("`{}`: {e}", segment.path.display())))
    };
    let piece = read(READ_BYTES)?;
    match Head::read(&piece, segment.kind.layout) {
        Some(head) if head.bytes() > piece.len() => read(head.bytes() as u64),
        _ => Ok(piece),
    }
}
