//! A log that has only the feed: what was stored is in the snapshot at its end.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::disk::{Disk, DiskFile};
use crate::encoding::{LENGTH_BYTES, encode_feed};
use crate::error::{Error, Result};
use crate::frame::{self, FRAME_BYTES, Kind, LastFrame, Layout, Stamp};
use crate::identity::Identity;
use crate::manifest::{Ended, Listed};
use crate::seal::Seal;
use crate::segment::{Belongs, START_BYTES, Segment};

/// A frame is written when it has grown to this, or has so many commits.
const FRAME_BYTES_MAX: usize = 256 << 10;
const FRAME_COMMITS_MAX: u32 = 64 << 10;
/// A segment that is as long is followed by another.
const SEGMENT_BYTES: u64 = 32 << 20;

#[derive(Debug)]
pub struct FeedLog {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    store: Identity,
    salt: u64,
    time_ms: u64,
    /// The position of the next commit.
    next: u64,
    /// Commits that are not written yet, behind the room for the head of their frame.
    frame: Vec<u8>,
    count: u32,
    segment: Option<Writing>,
    last: LastFrame,
    pub ended: Vec<Listed>,
}

#[derive(Debug)]
struct Writing {
    number: u64,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    first: u64,
    offset: u64,
}

impl FeedLog {
    /// Begins after this position.
    pub fn new(
        disk: Arc<dyn Disk>,
        directory: PathBuf,
        (store, salt): (Identity, u64),
        time_ms: u64,
        floor: u64,
    ) -> FeedLog {
        FeedLog {
            disk,
            directory,
            store,
            salt,
            time_ms,
            next: floor + 1,
            frame: vec![0; FRAME_BYTES],
            count: 0,
            segment: None,
            last: LastFrame::default(),
            ended: Vec::new(),
        }
    }

    /// Positions have no gaps: commits that fed nothing are empty.
    pub fn commit(&mut self, position: u64, entries: &[Bytes]) -> Result<()> {
        self.skip_to(position)?;
        self.push(entries)
    }

    fn skip_to(&mut self, position: u64) -> Result<()> {
        while self.next < position {
            self.push(&[])?;
        }
        Ok(())
    }

    fn push(&mut self, entries: &[Bytes]) -> Result<()> {
        let start = self.frame.len();
        self.frame.extend_from_slice(&[0; LENGTH_BYTES]);
        entries.iter().for_each(|entry| encode_feed(&mut self.frame, entry));
        let length = (self.frame.len() - start - LENGTH_BYTES) as u32;
        self.frame[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        self.count += 1;
        self.next += 1;
        if self.frame.len() < FRAME_BYTES_MAX && self.count < FRAME_COMMITS_MAX {
            return Ok(());
        }
        self.end_frame()
    }

    fn end_frame(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let first = self.next - u64::from(self.count);
        let mut segment = match self.segment.take() {
            Some(segment) => segment,
            None => self.begin_segment(first)?,
        };
        let kind = Kind { segment: segment.number, salt: self.salt, layout: Layout::Sectors };
        let previous = self.last.checksum;
        let stamp = Stamp { first, count: self.count, time_ms: self.time_ms, previous };
        let checksum = frame::complete(&mut self.frame, kind, stamp);
        let written = segment.file.write_at(segment.offset, &self.frame);
        written.map_err(Error::io("write", &segment.path))?;
        segment.offset += self.frame.len() as u64;
        self.last = LastFrame { checksum, time_ms: self.time_ms };
        self.frame.clear();
        self.frame.resize(FRAME_BYTES, 0);
        self.count = 0;
        if segment.offset < SEGMENT_BYTES {
            self.segment = Some(segment);
            return Ok(());
        }
        self.end_segment(&segment)
    }

    fn begin_segment(&self, first: u64) -> Result<Writing> {
        let number = self.ended.len() as u64 + 1;
        let path = self.directory.join(Segment::name(number));
        let file = self.disk.create(&path).map_err(Error::io("create", &path))?;
        let belongs = Belongs { store: self.store, salt: self.salt, number };
        file.write_at(0, &belongs.head()).map_err(Error::io("write", &path))?;
        Ok(Writing { number, path, file, first, offset: START_BYTES })
    }

    fn end_segment(&mut self, segment: &Writing) -> Result<()> {
        segment.file.sync().map_err(Error::io("sync", &segment.path))?;
        let (first, next, end) = (segment.first, self.next, segment.offset);
        let held = Ended { first, next, end, checksum: self.last.checksum };
        self.ended.push(Listed { number: segment.number, bytes: end, ended: Some(held) });
        Ok(())
    }

    /// Ends it at this position. Gives what it is sealed with.
    pub fn finish(&mut self, position: u64) -> Result<Seal> {
        self.skip_to(position + 1)?;
        self.end_frame()?;
        if let Some(segment) = self.segment.take() {
            self.end_segment(&segment)?;
        }
        let nothing = Seal { segment: 0, end: 0, next: position + 1, checksum: 0 };
        let last = self.ended.last().and_then(|last| Some((last.number, last.ended?)));
        Ok(last.map_or(nothing, |(segment, held)| Seal {
            segment,
            end: held.end,
            next: held.next,
            checksum: held.checksum,
        }))
    }
}
