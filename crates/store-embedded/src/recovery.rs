//! Finding the state again: the last good snapshot, and the log read over it.

use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, read_up_to};
use crate::encoding::{Action, Reader};
use crate::error::{Error, Result};
use crate::feed::FeedIndex;
use crate::frame::{self, Frame};
use crate::map::Map;
use crate::segment::{HEADER_BYTES, Segment};
use crate::snapshot::{self, Loaded};

/// What was found in a directory.
#[derive(Debug)]
pub struct Recovered {
    pub map: Map,
    /// Of the last commit.
    pub position: u64,
    pub snapshot_position: u64,
    pub snapshot_bytes: u64,
    /// Of the log behind the snapshot.
    pub log_bytes: u64,
    pub feed: FeedIndex,
    /// Where the log goes on, when there is one.
    pub tail: Option<(Arc<Segment>, u64)>,
    /// Where its last frame begins.
    pub last_frame: Option<u64>,
    /// A segment that was made ready and never used.
    pub ready: Option<Arc<Segment>>,
    /// Bytes of a batch that was never acknowledged, cut off.
    pub cut_bytes: u64,
    /// Segments that stayed when newer ones were removed.
    pub left_over: Vec<u64>,
}

/// Reads everything and changes nothing.
pub fn recover(disk: &dyn Disk, directory: &Path) -> Result<Recovered> {
    let names = disk.list(directory).map_err(Error::io("list", directory))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| Segment::number(name)).collect();
    numbers.sort_unstable();
    // A crash while segments were removed may leave an older one: only what hangs together counts.
    let first = (1..numbers.len()).rev().find(|n| numbers[*n] != numbers[n - 1] + 1).unwrap_or(0);
    let left_over = numbers[..first].to_vec();
    let open = |number: &u64| Segment::open(disk, directory, *number).map(Arc::new);
    let segments: Vec<_> = numbers[first..].iter().map(open).collect::<Result<_>>()?;
    let mut snapshots: Vec<u64> = names.iter().filter_map(|n| snapshot::position(n)).collect();
    snapshots.sort_unstable();
    let mut failure = None;
    let mut loaded = None;
    for position in snapshots.into_iter().rev() {
        match snapshot::load(disk, &directory.join(snapshot::name(position))) {
            Ok(found) => {
                loaded = Some(found);
                break;
            }
            Err(error @ Error::DamagedSnapshot { .. }) => {
                failure.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    let without = loaded.is_none();
    let nothing = Loaded { map: Map::default(), position: 0, end: 0, bytes: 0 };
    let replay = Replay::new(loaded.unwrap_or(nothing), left_over);
    let found = replay.run(directory, &segments);
    // Without a snapshot the log must go back to the first commit, or nothing was ever written.
    match (found, failure) {
        (Ok(found), None) if without && found.position == 0 => {
            let fresh = segments.first().is_none_or(|segment| segment.number == 1);
            let why = "there is no snapshot, and the log does not begin at the beginning".into();
            if fresh { Ok(found) } else { Err(Error::Missing { directory: directory.into(), why }) }
        }
        (Ok(found), Some(failure)) if without && found.position == 0 => {
            drop(found);
            Err(failure)
        }
        (Err(Error::Missing { .. }), Some(failure)) => Err(failure),
        (found, _) => found,
    }
}

struct Replay {
    found: Recovered,
    /// The log must reach this far.
    end: u64,
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
    fn new(loaded: Loaded, left_over: Vec<u64>) -> Self {
        let found = Recovered {
            map: loaded.map,
            position: loaded.position,
            snapshot_position: loaded.position,
            snapshot_bytes: loaded.bytes,
            log_bytes: 0,
            feed: FeedIndex::default(),
            tail: None,
            last_frame: None,
            ready: None,
            cut_bytes: 0,
            left_over,
        };
        Replay { found, end: loaded.end }
    }

    fn run(mut self, directory: &Path, segments: &[Arc<Segment>]) -> Result<Recovered> {
        let missing = |why: String| Error::Missing { directory: directory.into(), why };
        let mut expected: Option<u64> = None;
        let mut empty: Option<&Arc<Segment>> = None;
        for segment in segments {
            let Some(extent) = self.read(segment, expected)? else {
                empty = empty.or(Some(segment));
                continue;
            };
            if let Some(empty) = empty {
                return Err(damaged(empty, HEADER_BYTES, "it is empty, and the next one is not"));
            }
            if expected.is_none() && extent.first > self.found.snapshot_position + 1 {
                return Err(missing(format!(
                    "the log begins at {}, and what is before it ends at {}",
                    extent.first, self.found.snapshot_position
                )));
            }
            if let (Some(expected), Some((before, end))) = (expected, &self.found.tail)
                && expected != extent.first
            {
                let why = format!("from {expected} to {} the log is missing", extent.first - 1);
                return Err(damaged(before, *end as usize, &why));
            }
            expected = Some(extent.next);
            self.found.cut_bytes = extent.cut_bytes;
            self.found.tail = Some((Arc::clone(segment), extent.end));
        }
        let last = expected.map_or(self.found.position, |next| next - 1);
        if last < self.end {
            let end = self.end;
            return Err(missing(format!("the snapshot needs the log to {end}, it ends at {last}")));
        }
        self.found.position = last;
        if let (None, Some(empty)) = (&self.found.tail, empty) {
            self.found.feed.begin(Arc::clone(empty), last + 1);
            self.found.tail = Some((Arc::clone(empty), HEADER_BYTES as u64));
        }
        let tail = self.found.tail.as_ref().map(|(segment, _)| segment.number);
        let ready = segments.iter().find(|segment| Some(segment.number) > tail);
        self.found.ready = ready.cloned();
        Ok(self.found)
    }

    /// Reads a segment; nothing comes of one that holds no frame.
    fn read(&mut self, segment: &Arc<Segment>, expected: Option<u64>) -> Result<Option<Extent>> {
        let bytes = read_up_to(&*segment.file, 0, segment.bytes);
        let bytes = bytes.map_err(Error::io("read", &segment.path))?;
        let number = segment.number;
        let mut at = HEADER_BYTES;
        let mut first = None;
        let mut next = expected;
        while let Some(frame) = bytes.get(at..).and_then(|rest| frame::read(rest, number)) {
            if next.is_some_and(|next| next != frame.first) {
                if first.is_some() {
                    return Err(damaged(segment, at, "a commit is missing before it"));
                }
                // The caller knows where the one before it ends.
                let (first, next) = (frame.first, frame.next());
                return Ok(Some(Extent { first, next, end: at as u64, cut_bytes: 0 }));
            }
            if first.is_none() {
                first = Some(frame.first);
                self.found.feed.begin(Arc::clone(segment), frame.first);
            }
            self.apply(&frame).ok_or_else(|| damaged(segment, at, "it is no commit"))?;
            self.found.feed.wrote(frame.first, at as u64, frame.bytes() as u64);
            if frame.next() > self.found.snapshot_position + 1 {
                self.found.log_bytes += frame.bytes() as u64;
            }
            next = Some(frame.next());
            self.found.last_frame = Some(at as u64);
            at += frame.bytes();
        }
        if let Some(later) = frame::find(&bytes, at, number, next.unwrap_or(0)) {
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

fn damaged(segment: &Segment, at: usize, why: &str) -> Error {
    Error::DamagedLog { segment: segment.path.clone(), offset: at as u64, why: why.into() }
}
