//! Reading what is on disk before it is needed: damage is found while there is still a copy of the
//! same truth in memory, and in the backups.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::blobs::{self, EmbeddedBlobs};
use crate::core::Phase;
use crate::disk::read_up_to;
use crate::error::{Error, Result};
use crate::frame;
use crate::manifest::{Ended, Manifest};
use crate::seal;
use crate::segment::Segment;
use crate::shared::{Shared, lock};
use crate::snapshot;

/// So much is read at once, and then rested for as long as the reading took, and more.
const PIECE_BYTES: u64 = 1 << 20;
const REST: u32 = 4;
/// The damage that is remembered; more is counted only.
const DAMAGED_MAX: usize = 20;

/// What a scrub came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
    pub files: u64,
    pub bytes: u64,
    /// What is not as it was written, by the name of the file; the first of them.
    pub damaged: Vec<String>,
    pub damaged_files: u64,
}

impl Scrubbed {
    fn add(&mut self, examined: Result<u64>) {
        self.files += 1;
        match examined {
            Ok(bytes) => self.bytes += bytes,
            Err(error) => {
                self.damaged_files += 1;
                if self.damaged.len() < DAMAGED_MAX {
                    self.damaged.push(error.to_string());
                }
            }
        }
    }
}

/// Scrubs now and then, until the store is closed.
pub fn run(shared: &Shared) {
    let every = shared.options.scrub_every;
    if every.is_zero() {
        return;
    }
    let mut due = Instant::now() + every;
    let mut core = shared.core();
    while core.phase == Phase::Open {
        let left = due.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            let woken = shared.chores.wait_timeout(core, left);
            core = woken.unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        drop(core);
        let came_to = scrub(shared, true);
        *lock(&shared.scrubbed) = Some(came_to);
        due = Instant::now() + every;
        core = shared.core();
    }
}

/// Reads everything. Slowly, if others are to be left in peace.
pub fn scrub(shared: &Shared, slowly: bool) -> Scrubbed {
    let mut came_to = Scrubbed::default();
    let scrub = Scrub { shared, slowly };
    came_to.add(scrub.lists());
    came_to.add(scrub.snapshot());
    let held = || -> Vec<(u64, Ended)> {
        let feed = lock(&shared.feed);
        feed.extents().map(|(segment, held, _)| (segment.number, held)).collect()
    };
    for (number, held) in held() {
        let examined = scrub.segment(number, &held);
        // One that was let go meanwhile is none of ours.
        if examined.is_ok() || self::is_held(shared, number) {
            came_to.add(examined);
        }
        if shared.core().phase != Phase::Open {
            return came_to;
        }
    }
    let folder = shared.directory.join("blobs");
    match EmbeddedBlobs::hashes(&*shared.disk, &folder) {
        Ok(hashes) => {
            for hash in hashes {
                if shared.core().phase != Phase::Open {
                    return came_to;
                }
                if let Some(examined) = scrub.content(&folder, hash).transpose() {
                    came_to.add(examined);
                }
            }
        }
        Err(error) => came_to.add(Err(error)),
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    came_to.ended_ms = now.map_or(0, |since| since.as_millis() as u64);
    came_to
}

fn is_held(shared: &Shared, number: u64) -> bool {
    lock(&shared.feed).extents().any(|(segment, ..)| segment.number == number)
}

struct Scrub<'a> {
    shared: &'a Shared,
    slowly: bool,
}

impl Scrub<'_> {
    fn rest(&self, begun: Instant) {
        if self.slowly {
            std::thread::sleep((begun.elapsed() * REST).min(Duration::from_millis(200)));
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
            let found = snapshot::examine(&*self.shared.disk, &path, &mut |begun| self.rest(begun));
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
        let begun = Instant::now();
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
            let begun = Instant::now();
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
