//! What is done to which file.

use std::fs;
use std::path::{Path, PathBuf};

use store::Seeded;

use crate::damage::victim::Victim;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Manifest,
    Seal,
    Snapshot,
    /// A segment before the snapshot: only the feed needs it.
    Oldest,
    /// A segment behind the snapshot that is not written any more.
    Ended,
    Active,
    Ready,
    Content,
}

impl FileKind {
    pub const ALL: [FileKind; 8] = [
        FileKind::Manifest,
        FileKind::Seal,
        FileKind::Snapshot,
        FileKind::Oldest,
        FileKind::Ended,
        FileKind::Active,
        FileKind::Ready,
        FileKind::Content,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    Delete,
    Empty,
    Halve,
    CutOne,
    Extend,
    ZeroFirstSector,
    ZeroMiddleSector,
    ZeroLastUsedSector,
    ZeroAll,
    FlipInHead,
    FlipInMiddle,
    FlipAtEnd,
    Foreign,
    Older,
    Swap,
}

impl Damage {
    pub const ALL: [Damage; 15] = [
        Damage::Delete,
        Damage::Empty,
        Damage::Halve,
        Damage::CutOne,
        Damage::Extend,
        Damage::ZeroFirstSector,
        Damage::ZeroMiddleSector,
        Damage::ZeroLastUsedSector,
        Damage::ZeroAll,
        Damage::FlipInHead,
        Damage::FlipInMiddle,
        Damage::FlipAtEnd,
        Damage::Foreign,
        Damage::Older,
        Damage::Swap,
    ];
}

/// What need not be noticed, because everything can be told without it: one of the seal's two
/// places, and what was never written.
pub fn may_be_harmless(damage: Damage, kind: FileKind) -> bool {
    match kind {
        // One place is left, or an older seal that vouches for less.
        FileKind::Seal => {
            !matches!(damage, Damage::Delete | Damage::Empty | Damage::ZeroAll | Damage::Foreign)
        }
        // Its head is all that it has; behind it, and in the space behind the last frame, nothing
        // was written.
        FileKind::Ready => matches!(damage, Damage::ZeroMiddleSector | Damage::FlipInMiddle),
        _ => false,
    }
}

/// The file of this kind in a copy. Which one it is depends on the original.
pub fn path(kind: FileKind, copy: &Path, original: PathBuf) -> Option<PathBuf> {
    let manifest = fs::read_to_string(original.join("manifest")).unwrap();
    let lines = |prefix: &str| -> Vec<Vec<String>> {
        let lines = manifest.lines().filter(|line| line.starts_with(prefix));
        lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    };
    let snapshot = lines("snapshot-").remove(0)[0].clone();
    let position = u64::from_str_radix(&snapshot["snapshot-".len()..], 16).unwrap();
    let segments = lines("log-");
    let ended: Vec<_> = segments.iter().filter(|words| words.len() > 3).collect();
    let open: Vec<_> = segments.iter().filter(|words| words.len() == 3).collect();
    let first = |words: &[String]| words[4].parse::<u64>().unwrap();
    let name = match kind {
        FileKind::Manifest => "manifest".to_owned(),
        FileKind::Seal => "seal".to_owned(),
        FileKind::Snapshot => snapshot,
        FileKind::Oldest => ended[0][0].clone(),
        FileKind::Ended => ended.iter().find(|words| first(words) > position)?[0].clone(),
        FileKind::Active => open[0][0].clone(),
        FileKind::Ready => open.get(1)?[0].clone(),
        FileKind::Content => return Some(content(copy)),
    };
    Some(copy.join(name))
}

/// The larger of the two.
fn content(copy: &Path) -> PathBuf {
    let folders = fs::read_dir(copy.join("blobs")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap()
}

/// Does it, and answers with the files of which a refusal must name one; nothing where this damage
/// does not exist for this kind of file.
pub fn inflict(
    damage: Damage,
    kind: FileKind,
    copy: &Path,
    victim: &Victim,
    killed: bool,
) -> Option<Vec<PathBuf>> {
    let original = victim.killed_or_closed(killed);
    let file = path(kind, copy, original.clone())?;
    let mut touched = vec![file.clone()];
    let mut bytes = fs::read(&file).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let length = bytes.len();
    let sector = |at: usize| at / 512 * 512..(at / 512 * 512 + 512).min(length);
    match damage {
        Damage::Delete if kind == FileKind::Content => return None,
        Damage::Delete => {
            fs::remove_file(&file).unwrap();
            return Some(touched);
        }
        Damage::Empty => bytes.clear(),
        Damage::Halve => bytes.truncate(bytes.len() / 2),
        Damage::CutOne => bytes.truncate(bytes.len() - 1),
        Damage::Extend => bytes.extend([0xa5; 512]),
        Damage::ZeroFirstSector => bytes[sector(0)].fill(0),
        Damage::ZeroMiddleSector => bytes[sector(used / 2 + 256)].fill(0),
        Damage::ZeroLastUsedSector => bytes[sector(used - 1)].fill(0),
        Damage::ZeroAll => bytes.fill(0),
        Damage::FlipInHead => bytes[9] ^= 4,
        Damage::FlipInMiddle => {
            // What fills the last sector of a batch does not count.
            let middle = (used / 2..used).find(|at| bytes[*at] != 0).unwrap_or(0);
            bytes[middle] ^= 4;
        }
        Damage::FlipAtEnd => bytes[used - 1] ^= 4,
        Damage::Foreign => bytes = of_another(kind, &file, &victim.foreign())?,
        Damage::Older => {
            // An older list, of segments that were all there: the newer ones are not listed.
            if kind == FileKind::Manifest {
                touched.extend(fs::read_dir(copy).unwrap().map(|entry| entry.unwrap().path()));
            }
            bytes = of_another(kind, &file, &victim.old())?;
        }
        Damage::Swap => {
            let other = path(swapped_with(kind)?, copy, original)?;
            fs::write(&file, fs::read(&other).unwrap()).unwrap();
            fs::write(&other, &bytes).unwrap();
            touched.push(other);
            return Some(touched);
        }
    }
    fs::write(&file, bytes).unwrap();
    Some(touched)
}

/// What another store has under this name, or of this kind.
fn of_another(kind: FileKind, file: &Path, other: &Path) -> Option<Vec<u8>> {
    let named = other.join(file.file_name().unwrap());
    let found = match kind {
        FileKind::Content => return None,
        _ if named.exists() => named,
        _ => path(kind, other, other.to_path_buf())?,
    };
    let found = fs::read(found).unwrap();
    // What did not change meanwhile is no damage.
    (found != fs::read(file).unwrap()).then_some(found)
}

fn swapped_with(kind: FileKind) -> Option<FileKind> {
    match kind {
        FileKind::Manifest => Some(FileKind::Seal),
        FileKind::Snapshot => Some(FileKind::Active),
        FileKind::Oldest => Some(FileKind::Ended),
        FileKind::Ended => Some(FileKind::Active),
        FileKind::Active => Some(FileKind::Ready),
        FileKind::Content => Some(FileKind::Snapshot),
        FileKind::Seal | FileKind::Ready => None,
    }
}

/// Flips a bit or zeroes a sector, anywhere in a file, and says what was done.
pub fn scar(path: &Path, seeded: &mut Seeded) -> String {
    let mut bytes = fs::read(path).unwrap();
    let at = seeded.below(bytes.len() as u64) as usize;
    let told = if seeded.percent(70) {
        bytes[at] ^= 1 << seeded.below(8);
        format!("a bit at {at}")
    } else {
        let start = at / 512 * 512;
        let end = (start + 512).min(bytes.len());
        bytes[start..end].fill(0);
        format!("the sector at {start}")
    };
    fs::write(path, bytes).unwrap();
    told
}
