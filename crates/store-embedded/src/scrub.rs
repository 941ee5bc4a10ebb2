//! Reading what is on disk before it is needed: damage is found while there is still a copy of the
//! same truth in memory, and in the backups.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store::{Moment, Next};

use crate::blobs::{self, EmbeddedBlobs};
use crate::core::Phase;
use crate::disk::read_up_to;
use crate::error::{Error, Result};
use crate::frame;
use crate::locks::lock;
use crate::manifest::{Ended, Manifest};
use crate::scrubbed::Scrubbed;
use crate::seal;
use crate::segment::Segment;
use crate::shared::Shared;
use crate::snapshot;

/// So much is read at once, and then rested for as long as the reading took, and more.
const PIECE_BYTES: u64 = 1 << 20;
const REST: u32 = 4;

/// The task that scrubs now and then.
#[derive(Debug)]
pub struct Scrubber {
    shared: Arc<Shared>,
    due: Moment,
    under_way: Option<Scrub>,
}

impl Scrubber {
    pub fn new(shared: Arc<Shared>) -> Self {
        let due = shared.surroundings().now() + shared.options.scrub_every;
        Scrubber { shared, due, under_way: None }
    }

    /// Reads one file, if it is time. Ends when the store is closed.
    pub fn step(&mut self) -> Next {
        let shared = &*self.shared;
        let every = shared.options.scrub_every;
        if every.is_zero() || shared.core().phase != Phase::Open {
            return Next::Ended;
        }
        let left = self.due.since(shared.surroundings().now());
        if self.under_way.is_none() && !left.is_zero() {
            return Next::After(left);
        }
        let scrub = self.under_way.get_or_insert_with(|| Scrub::new(true));
        if !scrub.next_file(shared) {
            *lock(&shared.scrubbed) = self.under_way.take().map(|scrub| scrub.end(shared));
            self.due = shared.surroundings().now() + every;
        }
        Next::Now
    }
}

/// Reads everything, without rest.
pub fn scrub(shared: &Shared) -> Scrubbed {
    let mut scrub = Scrub::new(false);
    while scrub.next_file(shared) {
        if shared.core().phase != Phase::Open {
            // It has no end: it was cut short.
            return scrub.came_to;
        }
    }
    scrub.end(shared)
}

fn is_held(shared: &Shared, number: u64) -> bool {
    lock(&shared.feed).extents().any(|(segment, ..)| segment.number == number)
}

/// What there is to examine.
#[derive(Debug)]
enum What {
    Lists,
    Snapshot,
    /// The segments that are held when it is their turn, and the content likewise.
    Log,
    Segment(u64, Ended),
    Blobs,
    Content(store::Hash),
}

/// One look at everything, a file at a time.
#[derive(Debug)]
struct Scrub {
    /// Others are to be left in peace.
    slowly: bool,
    left: VecDeque<What>,
    came_to: Scrubbed,
}

impl Scrub {
    fn new(slowly: bool) -> Self {
        let left = [What::Lists, What::Snapshot, What::Log, What::Blobs].into();
        Scrub { slowly, left, came_to: Scrubbed::default() }
    }

    /// False: everything was examined.
    fn next_file(&mut self, shared: &Shared) -> bool {
        let Some(what) = self.left.pop_front() else { return false };
        let examine = Examine { shared, slowly: self.slowly };
        match what {
            What::Lists => self.came_to.add(examine.lists()),
            What::Snapshot => self.came_to.add(examine.snapshot()),
            What::Log => {
                let feed = lock(&shared.feed);
                let held = feed.extents().map(|(segment, held, _)| (segment.number, held));
                let held: Vec<What> =
                    held.map(|(number, held)| What::Segment(number, held)).collect();
                held.into_iter().rev().for_each(|segment| self.left.push_front(segment));
            }
            What::Segment(number, held) => {
                let examined = examine.segment(number, &held);
                // One that was let go meanwhile is none of ours.
                if examined.is_ok() || is_held(shared, number) {
                    self.came_to.add(examined);
                }
            }
            What::Blobs => {
                match EmbeddedBlobs::hashes(&*shared.disk, &shared.directory.join("blobs")) {
                    Ok(hashes) => self.left.extend(hashes.into_iter().map(What::Content)),
                    Err(error) => self.came_to.add(Err(error)),
                }
            }
            What::Content(hash) => {
                let folder = shared.directory.join("blobs");
                if let Some(examined) = examine.content(&folder, hash).transpose() {
                    self.came_to.add(examined);
                }
            }
        }
        true
    }

    fn end(self, shared: &Shared) -> Scrubbed {
        Scrubbed { ended_ms: shared.surroundings().time_ms(), ..self.came_to }
    }
}

struct Examine<'a> {
    shared: &'a Shared,
    slowly: bool,
}

impl Examine<'_> {
    /// Rests for longer than what was read since then has taken.
    fn rest(&self, begun: Moment) {
        if self.slowly {
            let surroundings = self.shared.surroundings();
            let took = surroundings.now().since(begun);
            surroundings.rest((took * REST).min(Duration::from_millis(200)));
        }
    }

    /// The list is the one that was written, and a seal can be read.
    fn lists(&self) -> Result<u64> {
        let (disk, directory) = (&*self.shared.disk, &self.shared.directory);
        let listed = lock(&self.shared.manifest);
        let path = crate::manifest::path(directory);
        let found = Manifest::read(disk, directory)?;
        let missing = |path, why: &str| Error::Missing { path, why: why.into() };
        let found =
            found.ok_or_else(|| missing(path.clone(), "it lists the files of the store"))?;
        if found != *listed {
            let why = "it is not the list that was written last".into();
            return Err(Error::Damaged { path, why });
        }
        drop(listed);
        let path = seal::path(directory);
        seal::read(disk, directory)?
            .ok_or_else(|| missing(path, "it says how far the log must reach"))?;
        Ok(0)
    }

    fn snapshot(&self) -> Result<u64> {
        loop {
            let Some(listed) = lock(&self.shared.manifest).snapshot else { return Ok(0) };
            let path = self.shared.directory.join(snapshot::name(listed.position));
            let mut begun = self.shared.surroundings().now();
            let mut rest = || {
                self.rest(begun);
                begun = self.shared.surroundings().now();
            };
            let found = snapshot::examine(&*self.shared.disk, &path, &mut rest);
            if lock(&self.shared.manifest).snapshot != Some(listed) {
                // A newer one has taken its place meanwhile.
                continue;
            }
            return match found? {
                found if found == listed => Ok(listed.bytes),
                _ => {
                    let why = "it is another snapshot than the one that is listed".into();
                    Err(Error::DamagedSnapshot { path, why })
                }
            };
        }
    }

    /// Every frame that was written can be read where it was written.
    fn segment(&self, number: u64, held: &Ended) -> Result<u64> {
        let begun = self.shared.surroundings().now();
        let segment = Segment::open(&*self.shared.disk, &self.shared.directory, number)?;
        let bytes = read_up_to(&*segment.file, 0, held.end);
        let bytes = bytes.map_err(Error::io("read", &segment.path))?;
        self.rest(begun);
        let mut at = segment.kind.layout.start();
        let (mut next, mut checksum) = (held.first, 0);
        while let Some(frame) = bytes.get(at..).and_then(|rest| frame::read(rest, segment.kind)) {
            if frame.first != next {
                break;
            }
            (next, checksum) = (frame.next(), frame.checksum);
            at += frame.bytes;
        }
        let whole = at as u64 == held.end && next == held.next;
        if whole && (checksum == held.checksum || held.next == held.first) {
            return Ok(held.end);
        }
        let why = format!("the commits from {next} on cannot be read");
        Err(Error::DamagedLog { segment: segment.path, offset: at as u64, why })
    }

    /// Nothing comes of content that was deleted meanwhile.
    fn content(&self, folder: &Path, hash: store::Hash) -> Result<Option<u64>> {
        let path = blobs::place(folder, hash);
        let file = match self.shared.disk.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io("open", &path))?,
        };
        let mut hasher = store::Hasher::default();
        let mut offset = 0;
        loop {
            let begun = self.shared.surroundings().now();
            let piece =
                read_up_to(&*file, offset, PIECE_BYTES).map_err(Error::io("read", &path))?;
            if piece.is_empty() {
                break;
            }
            hasher.update(&piece);
            offset += piece.len() as u64;
            self.rest(begun);
        }
        if hasher.finish() == hash {
            return Ok(Some(offset));
        }
        Err(Error::Damaged { path, why: "it does not hold what its name says".into() })
    }
}
