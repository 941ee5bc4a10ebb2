//! The list of a backup. It is text, is written last, and ends with a digest of itself.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

use store::Hash;

use crate::disk::{Disk, read_up_to};
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::manifest::Ended;
use crate::segment::UNFINISHED;
use crate::snapshot;

pub const NAME: &str = "backup";

const TITLE: &str = "steadfast backup, format ";
const FORMAT: u32 = 1;
const BYTES_MAX: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The store that it is a copy of.
    pub store: Identity,
    pub salt: u64,
    pub snapshots: Vec<SavedSnapshot>,
    /// The log before this has the feed, and not what was stored. See `Manifest::since`.
    pub since: u64,
    /// By number. Where the log was not kept long enough between two copies, there is a gap.
    pub segments: Vec<SavedSegment>,
    pub content: Vec<(Hash, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedSnapshot {
    pub position: u64,
    /// The log must be read over it up to here.
    pub end: u64,
    pub bytes: u64,
    pub checksum: u32,
    pub digest: Hash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedSegment {
    pub number: u64,
    pub held: Ended,
    pub digest: Hash,
}

impl SavedSegment {
    /// A segment that was copied while it was written is another file than the whole of it.
    pub fn name(&self) -> String {
        format!("log-{:016x}-{:08x}", self.number, self.held.end)
    }

    /// Whether a name is that of some segment in a backup.
    pub fn is_name(name: &str) -> bool {
        let parts: Vec<&str> = name.split('-').collect();
        matches!(parts[..], ["log", number, end] if number.len() == 16 && end.len() >= 8)
    }
}

impl List {
    /// The last revision.
    pub fn position(&self) -> u64 {
        let log = self.segments.last().map_or(0, |last| last.held.next - 1);
        self.snapshots.iter().map(|snapshot| snapshot.end).fold(log, u64::max)
    }

    /// The names of all files but content and the list itself.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let snapshots = self.snapshots.iter().map(|saved| snapshot::name(saved.position));
        snapshots.chain(self.segments.iter().map(SavedSegment::name))
    }

    pub fn write(&self, disk: &dyn Disk, directory: &Path) -> Result<()> {
        let path = directory.join(NAME);
        let unfinished = directory.join(format!("{NAME}{UNFINISHED}"));
        let file = disk.create(&unfinished).map_err(Error::io("create", &unfinished))?;
        let text = self.to_text();
        file.write_at(0, text.as_bytes()).map_err(Error::io("write", &unfinished))?;
        file.sync().map_err(Error::io("sync", &unfinished))?;
        disk.rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
        disk.sync_directory(directory).map_err(Error::io("sync", directory))
    }

    /// The list of a directory, if it has one.
    pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Option<List>> {
        let path = directory.join(NAME);
        let file = match disk.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(Error::io("open", &path))?,
        };
        let bytes = read_up_to(&*file, 0, BYTES_MAX).map_err(Error::io("read", &path))?;
        let damaged = |why: &str| Error::Damaged { path: path.clone(), why: why.into() };
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is no text"))?;
        match text.lines().next().and_then(|line| line.strip_prefix(TITLE)?.parse().ok()) {
            Some(FORMAT) => {}
            Some(found) => return Err(Error::Format { path, found, known: FORMAT }),
            None => return Err(damaged("its first line cannot be read")),
        }
        let found = List::from_text(text);
        found.map(Some).ok_or_else(|| damaged("it does not match its digest"))
    }

    fn to_text(&self) -> String {
        let mut text = format!("{TITLE}{FORMAT}\n");
        let mut line = |line: std::fmt::Arguments<'_>| {
            // Writing to memory does not fail.
            let _ = writeln!(text, "{line}");
        };
        line(format_args!("store {} salt {:016x}", self.store, self.salt));
        for SavedSnapshot { position, end, bytes, checksum, digest } in &self.snapshots {
            let name = snapshot::name(*position);
            line(format_args!(
                "{name} end {end} bytes {bytes} checksum {checksum:08x} blake3 {digest}"
            ));
        }
        if self.since > 0 {
            line(format_args!("records since {}", self.since));
        }
        for saved in &self.segments {
            let Ended { first, next, end, checksum } = saved.held;
            line(format_args!(
                "log {} first {first} next {next} end {end} checksum {checksum:08x} blake3 {}",
                saved.number, saved.digest
            ));
        }
        for (hash, bytes) in &self.content {
            line(format_args!("content {hash} bytes {bytes}"));
        }
        let digest = Hash::of(text.as_bytes());
        let _ = writeln!(text, "blake3 {digest}");
        text
    }

    fn from_text(text: &str) -> Option<List> {
        let (content, digest) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let content = &text[..content.len() + 1];
        if digest.strip_prefix("blake3 ")?.parse() != Ok(Hash::of(content.as_bytes())) {
            return None;
        }
        let mut lines = content.lines().skip(1).map(|line| line.split(' ').collect::<Vec<_>>());
        let ["store", store, "salt", salt] = lines.next()?[..] else { return None };
        let mut list = List {
            store: store.parse().ok()?,
            salt: u64::from_str_radix(salt, 16).ok()?,
            snapshots: Vec::new(),
            since: 0,
            segments: Vec::new(),
            content: Vec::new(),
        };
        for line in lines {
            list.add(&line)?;
        }
        Some(list)
    }

    fn add(&mut self, words: &[&str]) -> Option<()> {
        let number = |text: &&str| text.parse().ok();
        let hex = |text: &&str| u32::from_str_radix(text, 16).ok();
        match words {
            ["records", "since", since] => self.since = number(since)?,
            ["content", hash, "bytes", bytes] => {
                self.content.push((hash.parse().ok()?, number(bytes)?));
            }
            [name, "end", end, "bytes", bytes, "checksum", checksum, "blake3", digest] => {
                self.snapshots.push(SavedSnapshot {
                    position: snapshot::position(name)?,
                    end: number(end)?,
                    bytes: number(bytes)?,
                    checksum: hex(checksum)?,
                    digest: digest.parse().ok()?,
                });
            }
            [
                "log",
                segment,
                "first",
                first,
                "next",
                next,
                "end",
                end,
                "checksum",
                checksum,
                "blake3",
                digest,
            ] => {
                let (first, next, end) = (number(first)?, number(next)?, number(end)?);
                let held = Ended { first, next, end, checksum: hex(checksum)? };
                let digest = digest.parse().ok()?;
                self.segments.push(SavedSegment { number: number(segment)?, held, digest });
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_no_byte_changes_unseen() {
        let digest = Hash::of(b"something");
        let held = Ended { first: 1, next: 9, end: 4096, checksum: 7 };
        let list = List {
            store: Identity::by_chance(&store::SimulatedSurroundings::new(1)),
            salt: 3,
            snapshots: vec![SavedSnapshot { position: 4, end: 5, bytes: 6, checksum: 8, digest }],
            since: 3,
            segments: vec![SavedSegment { number: 2, held, digest }],
            content: vec![(digest, 9)],
        };
        let text = list.to_text();
        assert_eq!(List::from_text(&text), Some(list.clone()));
        assert!(SavedSegment::is_name(&list.segments[0].name()));
        let title = text.lines().next().unwrap().len();
        for at in title..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(List::from_text(&changed), None, "{at}");
            assert_eq!(List::from_text(&text[..at]), None, "cut at {at}");
        }
    }
}
