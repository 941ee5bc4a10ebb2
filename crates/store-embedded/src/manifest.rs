//! The list of what belongs to a store: its id, the snapshot that counts, and every segment.
//!
//! It is text, so that a person can read it, and it is replaced as a whole. A file is listed only
//! when it is durable under its name, and removed only when the list does not name it any more. So
//! whatever is listed and not there was taken away by somebody else.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, read_up_to};
use crate::error::{Error, Result};
use crate::identity::Identity;
use crate::segment::{FORMAT, Segment, UNFINISHED};
use crate::snapshot::names;

pub const NAME: &str = "manifest";

const TITLE: &str = "steadfast store, format ";
/// A list that is longer was not written by this program.
const BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub store: Identity,
    /// With which the checksums of its frames begin.
    pub salt: u64,
    /// How many lists were written before.
    pub sequence: u64,
    pub snapshot: Option<ListedSnapshot>,
    /// The log before this was copied from a store of another kind: it has the feed, and not what was stored. Zero: all of
    /// the log says what was stored.
    pub since: u64,
    /// In the order of their numbers, without a gap.
    pub segments: Vec<Listed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSnapshot {
    pub position: u64,
    pub bytes: u64,
    /// Of the checksums of its blocks.
    pub checksum: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    pub number: u64,
    /// The length of its file.
    pub bytes: u64,
    /// Nothing for the one that is written, and for the one that is ready to be.
    pub ended: Option<Ended>,
}

/// What a segment holds that is not written any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its first position, and the one after its last.
    pub first: u64,
    pub next: u64,
    /// Where its frames end.
    pub end: u64,
    /// Of its last frame.
    pub checksum: u32,
}

impl Manifest {
    pub fn new(store: Identity, salt: u64) -> Self {
        Manifest { store, salt, sequence: 0, snapshot: None, since: 0, segments: Vec::new() }
    }

    /// Makes this the list of a directory.
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
    pub fn read(disk: &dyn Disk, directory: &Path) -> Result<Option<Manifest>> {
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
        let found = Manifest::from_text(text);
        found.map(Some).ok_or_else(|| damaged("it does not match its checksum"))
    }

    fn to_text(&self) -> String {
        let mut text = format!("{TITLE}{FORMAT}\n");
        let mut line = |line: std::fmt::Arguments<'_>| {
            // Writing to memory does not fail.
            let _ = writeln!(text, "{line}");
        };
        line(format_args!("store {} salt {:016x}", self.store, self.salt));
        line(format_args!("sequence {}", self.sequence));
        if let Some(ListedSnapshot { position, bytes, checksum }) = self.snapshot {
            let name = names::name(position);
            line(format_args!("{name} bytes {bytes} checksum {checksum:08x}"));
        }
        if self.since > 0 {
            line(format_args!("records since {}", self.since));
        }
        for Listed { number, bytes, ended } in &self.segments {
            let name = Segment::name(*number);
            match ended {
                None => line(format_args!("{name} bytes {bytes}")),
                Some(Ended { first, next, end, checksum }) => line(format_args!(
                    "{name} bytes {bytes} first {first} next {next} end {end} \
                     checksum {checksum:08x}"
                )),
            }
        }
        let checksum = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "checksum {checksum:08x}");
        text
    }

    fn from_text(text: &str) -> Option<Manifest> {
        let (content, checksum) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let content = &text[..content.len() + 1];
        if checksum.strip_prefix("checksum ")?
            != format!("{:08x}", crc32c::crc32c(content.as_bytes()))
        {
            return None;
        }
        let mut lines = content.lines().skip(1).map(|line| line.split(' ').collect::<Vec<_>>());
        let ["store", store, "salt", salt] = lines.next()?[..] else { return None };
        let ["sequence", sequence] = lines.next()?[..] else { return None };
        let mut found = Manifest::new(store.parse().ok()?, u64::from_str_radix(salt, 16).ok()?);
        found.sequence = sequence.parse().ok()?;
        for line in lines {
            let (name, rest) = line.split_first()?;
            if let Some(position) = names::position(name) {
                let ["bytes", bytes, "checksum", checksum] = rest else { return None };
                let checksum = u32::from_str_radix(checksum, 16).ok()?;
                let bytes = bytes.parse().ok()?;
                found.snapshot = Some(ListedSnapshot { position, bytes, checksum });
            } else if *name == "records" {
                let ["since", since] = rest else { return None };
                found.since = since.parse().ok()?;
            } else {
                found.segments.push(Listed::from_words(Segment::number(name)?, rest)?);
            }
        }
        let follow = |pair: &[Listed]| pair[1].number == pair[0].number + 1;
        found.segments.windows(2).all(follow).then_some(found)
    }
}

impl Listed {
    fn from_words(number: u64, words: &[&str]) -> Option<Listed> {
        let number_of = |text: &&str| text.parse().ok();
        match words {
            ["bytes", bytes] => Some(Listed { number, bytes: number_of(bytes)?, ended: None }),
            ["bytes", bytes, "first", first, "next", next, "end", end, "checksum", checksum] => {
                let checksum = u32::from_str_radix(checksum, 16).ok()?;
                let (first, next) = (number_of(first)?, number_of(next)?);
                let ended = Some(Ended { first, next, end: number_of(end)?, checksum });
                Some(Listed { number, bytes: number_of(bytes)?, ended })
            }
            _ => None,
        }
    }
}

/// Where the list of a directory is.
pub fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let ended = Some(Ended { first: 1, next: 40, end: 9000, checksum: 0xabc });
        Manifest {
            store: Identity::by_chance(&store::SimulatedSurroundings::new(1)),
            salt: 3,
            sequence: 7,
            snapshot: Some(ListedSnapshot { position: 30, bytes: 123, checksum: 5 }),
            since: 21,
            segments: vec![
                Listed { number: 4, bytes: 16_384, ended },
                Listed { number: 5, bytes: 16_384, ended: None },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let listed = manifest();
        assert_eq!(Manifest::from_text(&listed.to_text()), Some(listed.clone()));
        let nothing = Manifest::new(listed.store, 0);
        assert_eq!(Manifest::from_text(&nothing.to_text()), Some(nothing));
    }

    #[test]
    fn no_byte_changes_unseen() {
        let text = manifest().to_text();
        let title = text.lines().next().unwrap().len();
        for at in title..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(Manifest::from_text(&changed), None, "{at}");
            assert_eq!(Manifest::from_text(&text[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn a_list_with_a_gap_is_none() {
        let mut listed = manifest();
        listed.segments[1].number = 6;
        assert_eq!(Manifest::from_text(&listed.to_text()), None);
    }
}
