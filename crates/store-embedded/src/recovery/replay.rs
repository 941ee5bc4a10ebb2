//! Reading the log over a snapshot.

use std::path::Path;
use std::sync::Arc;

use super::{Counted, Recovered};
use crate::disk::read_up_to;
use crate::encoding::{Action, Reader};
use crate::error::{Error, Result};
use crate::feed::{FeedIndex, Wrote};
use crate::frame::{self, Frame};
use crate::manifest::Ended;
use crate::seal::{self, Seal};
use crate::segment::Segment;

pub struct Replay {
    found: Recovered,
    segments: Vec<(Arc<Segment>, Option<Ended>)>,
    /// The log must reach this far.
    end: u64,
    /// Of the frame that was read last.
    checksum: Option<u32>,
    /// The frame was met that the seal names.
    met_seal: bool,
}

/// What one segment holds.
struct Extent {
    /// Its first position, and the one after its last.
    first: u64,
    next: u64,
    /// Where its frames end, and how much of an unfinished one stands there.
    end: u64,
    cut_bytes: u64,
}

impl Replay {
    pub fn new(counted: Counted, seal: Option<seal::Found>) -> Self {
        let Counted { loaded, segments, left_over } = counted;
        let found = Recovered {
            map: loaded.map,
            position: loaded.position,
            snapshot_position: loaded.position,
            snapshot_bytes: loaded.bytes,
            log_bytes: 0,
            feed: FeedIndex::default(),
            tail: None,
            last_frame: None,
            last_checksum: 0,
            last_time_ms: 0,
            ready: None,
            cut_bytes: 0,
            left_over,
            manifest: None,
            listed_snapshot: None,
            seal,
        };
        Replay { found, segments, end: loaded.end, checksum: None, met_seal: false }
    }

    pub fn run(mut self, directory: &Path) -> Result<Recovered> {
        let segments = std::mem::take(&mut self.segments);
        let mut expected: Option<u64> = None;
        let mut empty: Option<&Arc<Segment>> = None;
        for (segment, ended) in &segments {
            let start = segment.kind.layout.start();
            let Some(extent) = self.read(segment, expected)? else {
                if let Some(ended) = ended {
                    let why = format!("the commits from {} on are missing", ended.first);
                    return Err(damaged(segment, start, &why));
                }
                empty = empty.or(Some(segment));
                continue;
            };
            if let Some(empty) = empty {
                let start = empty.kind.layout.start();
                return Err(damaged(empty, start, "it is empty, and the next one is not"));
            }
            if expected.is_none() && extent.first > self.found.snapshot_position + 1 {
                let before = segment.number.saturating_sub(1);
                return Err(Error::Missing {
                    path: directory.join(Segment::name(before)),
                    why: format!(
                        "the log begins at {}, and what is before it ends at {}",
                        extent.first, self.found.snapshot_position
                    ),
                });
            }
            if let (Some(expected), Some((before, end))) = (expected, &self.found.tail)
                && expected != extent.first
            {
                let why = format!("from {expected} to {} the log is missing", extent.first - 1);
                return Err(damaged(before, *end as usize, &why));
            }
            if let Some(ended) = ended {
                self.check_end(segment, &extent, ended)?;
            }
            expected = Some(extent.next);
            self.found.cut_bytes = extent.cut_bytes;
            self.found.tail = Some((Arc::clone(segment), extent.end));
        }
        let last = expected.map_or(self.found.position, |next| next - 1);
        if last < self.end {
            let end = self.end;
            let why = format!("the snapshot needs the log to {end}, it ends at {last}");
            return Err(self.ends_early(directory, why));
        }
        self.found.position = last;
        self.check_seal(directory, &segments)?;
        if let (None, Some(empty)) = (&self.found.tail, empty) {
            self.found.feed.begin(Arc::clone(empty), last + 1);
            self.found.tail = Some((Arc::clone(empty), empty.kind.layout.start() as u64));
        }
        let tail = self.found.tail.as_ref().map(|(segment, _)| segment.number);
        let ready = segments.iter().find(|(segment, _)| Some(segment.number) > tail);
        self.found.ready = ready.map(|(segment, _)| Arc::clone(segment));
        self.found.last_checksum = self.checksum.unwrap_or(0);
        Ok(self.found)
    }

    /// The segment that the log ends in, or would.
    fn ends_early(&self, directory: &Path, why: String) -> Error {
        match &self.found.tail {
            Some((segment, end)) => damaged(segment, *end as usize, &why),
            None => Error::Missing { path: directory.join(Segment::name(1)), why },
        }
    }

    /// A segment that is not written any more holds what the list says, to the last frame.
    fn check_end(&self, segment: &Segment, extent: &Extent, ended: &Ended) -> Result<()> {
        let found = Ended {
            first: extent.first,
            next: extent.next,
            end: extent.end,
            checksum: self.checksum.unwrap_or(0),
        };
        if found == *ended {
            return Ok(());
        }
        let why = match (found.next.cmp(&ended.next), found.first == ended.first) {
            (std::cmp::Ordering::Less, true) => {
                format!("the commits from {} to {} are missing", found.next, ended.next - 1)
            }
            _ => "it does not hold the commits that are listed for it".into(),
        };
        Err(damaged(segment, found.end.min(ended.end) as usize, &why))
    }

    /// What a seal vouches for is there.
    fn check_seal(
        &self,
        directory: &Path,
        segments: &[(Arc<Segment>, Option<Ended>)],
    ) -> Result<()> {
        let Some(seal::Found { seal, .. }) = self.found.seal else { return Ok(()) };
        let last = self.found.position;
        if seal.next > last + 1 {
            let why = format!("it is sealed up to {}, and ends at {last}", seal.next - 1);
            let sealed = segments.iter().find(|(segment, _)| segment.number == seal.segment);
            return Err(match (&self.found.tail, sealed) {
                (Some((tail, end)), Some(_)) if tail.number == seal.segment => {
                    damaged(tail, *end as usize, &why)
                }
                (_, Some((segment, _))) => damaged(segment, segment.kind.layout.start(), &why),
                (_, None) => {
                    Error::Missing { path: directory.join(Segment::name(seal.segment)), why }
                }
            });
        }
        let oldest = segments.first().map_or(u64::MAX, |(segment, _)| segment.number);
        if seal.segment < oldest || self.met_seal {
            return Ok(());
        }
        let Some((segment, _)) = segments.iter().find(|(found, _)| found.number == seal.segment)
        else {
            let why = "the log was sealed in it".into();
            return Err(Error::Missing { path: directory.join(Segment::name(seal.segment)), why });
        };
        if seal.end == segment.kind.layout.start() as u64 {
            return Ok(());
        }
        Err(damaged(segment, seal.end as usize, "this is not the log that was sealed"))
    }

    /// Reads a segment; nothing comes of one that holds no frame.
    fn read(&mut self, segment: &Arc<Segment>, expected: Option<u64>) -> Result<Option<Extent>> {
        let bytes = read_up_to(&*segment.file, 0, segment.bytes);
        let bytes = bytes.map_err(Error::io("read", &segment.path))?;
        let kind = segment.kind;
        let seal = self.found.seal.map(|found| found.seal);
        let seal = seal.filter(|seal| seal.segment == segment.number);
        let mut at = kind.layout.start();
        let mut first = None;
        let mut next = expected;
        while let Some(frame) = bytes.get(at..).and_then(|rest| frame::read(rest, kind)) {
            if next.is_some_and(|next| next != frame.first) {
                if first.is_some() {
                    return Err(damaged(segment, at, "a commit is missing before it"));
                }
                // The caller knows where the one before it ends.
                let (first, next) = (frame.first, frame.next());
                return Ok(Some(Extent { first, next, end: at as u64, cut_bytes: 0 }));
            }
            if let (Some(before), Some(previous)) = (self.checksum, frame.previous)
                && before != previous
            {
                return Err(damaged(segment, at, "it does not follow the batch before it"));
            }
            if first.is_none() {
                first = Some(frame.first);
                self.found.feed.begin(Arc::clone(segment), frame.first);
            }
            self.apply(&frame).ok_or_else(|| damaged(segment, at, "it is no commit"))?;
            self.found.feed.wrote(Wrote {
                first: frame.first,
                next: frame.next(),
                offset: at as u64,
                bytes: frame.bytes as u64,
                checksum: frame.checksum,
            });
            if frame.next() > self.found.snapshot_position + 1 {
                self.found.log_bytes += frame.bytes as u64;
            }
            next = Some(frame.next());
            self.found.last_frame = Some(at as u64);
            self.found.last_time_ms = self.found.last_time_ms.max(frame.time_ms);
            self.checksum = Some(frame.checksum);
            at += frame.bytes;
            self.met_seal |= seal.is_some_and(|seal| is_at(&seal, at, &frame));
        }
        if let Some(later) = frame::find(&bytes, at, kind, next.unwrap_or(0)) {
            let why = format!("the batch there cannot be read, the one at {later} can");
            return Err(damaged(segment, at, &why));
        }
        let unfinished = bytes.get(at..at + 4).is_some_and(|start| start != [0; 4]);
        let cut_bytes = if unfinished { (bytes.len() - at) as u64 } else { 0 };
        let extent = |(first, next)| Extent { first, next, end: at as u64, cut_bytes };
        Ok(first.zip(next).map(extent))
    }

    fn apply(&mut self, frame: &Frame<'_>) -> Option<()> {
        let mut commits = Reader::new(frame.commits);
        for position in frame.first..frame.next() {
            let mut commit = commits.commit()?;
            if position <= self.found.snapshot_position {
                continue;
            }
            while !commit.is_empty() {
                match commit.action()? {
                    Action::Put(key, value) => self.found.map.replay_put(key, position, value),
                    Action::Delete(key) => self.found.map.replay_delete(key, position),
                    Action::Feed(_) => {}
                }
            }
        }
        commits.is_empty().then_some(())
    }
}

/// The seal was set right after this frame, which ends there.
fn is_at(seal: &Seal, end: usize, frame: &Frame<'_>) -> bool {
    (seal.end, seal.next, seal.checksum) == (end as u64, frame.next(), frame.checksum)
}

fn damaged(segment: &Segment, at: usize, why: &str) -> Error {
    Error::DamagedLog { segment: segment.path.clone(), offset: at as u64, why: why.into() }
}
