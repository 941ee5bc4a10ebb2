//! Pages of the feed, read from the log itself.

use bytes::Bytes;
use store::{Error, FeedCommit, FeedPage, Result};

use crate::disk::read_up_to;
use crate::encoding::{Action, Reader};
use crate::feed::Place;
use crate::frame::{self, Head};
use crate::locks::lock;
use crate::position::at;
use crate::segment::Segment;
use crate::shared::Shared;

const READ_BYTES: u64 = 64 << 10;
/// A page may be empty after so much of the log that feeds nothing.
const SEARCH_BYTES_MAX: u64 = 8 << 20;

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
