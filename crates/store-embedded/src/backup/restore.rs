//! Making a store of a backup, as of its end, of a revision or of a time.

use std::path::Path;

use store::RealSurroundings;

use super::copying::{copy, copy_under, expect};
use super::cut::{cut, last_until};
use super::list::{List, NAME, SavedSegment, SavedSnapshot};
use super::verify::{is_store, verify, verify_backup};
use super::{Verified, make_empty};
use crate::blobs::{self, EmbeddedBlobs};
use crate::disk::{Disk, DiskFile, RealDisk, read_up_to};
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::identity::Identity;
use crate::manifest::{self, Listed, ListedSnapshot, Manifest};
use crate::map::KeyHasher;
use crate::recovery::recover;
use crate::seal::{Seal, SealFile};
use crate::segment::{Belongs, Segment};
use crate::snapshot;

/// Up to where a backup is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Everything that it holds.
    End,
    Revision(u64),
    /// What was committed at this time or before, in milliseconds.
    Time(u64),
}

/// How a backup is restored.
#[derive(Clone, Copy, Debug)]
pub struct Restore {
    pub target: Target,
    /// Also a copy that the first format has made: it has no list, so whether all of it is there
    /// cannot be known.
    pub unlisted: bool,
}

impl Default for Restore {
    fn default() -> Self {
        Restore { target: Target::End, unlisted: false }
    }
}

/// What of a backup is needed for a revision.
pub struct Plan<'a> {
    pub snapshot: Option<&'a SavedSnapshot>,
    pub segments: Vec<&'a SavedSegment>,
}

impl<'a> Plan<'a> {
    pub fn of(list: &'a List, directory: &Path, position: u64) -> Result<Plan<'a>> {
        let cannot = || Error::Target {
            path: directory.join(NAME),
            why: format!(
                "revision {position} is not in it, only those from {} to {}",
                Plan::earliest(list),
                list.position()
            ),
        };
        // From the last segment that is needed back, as far as they hang together.
        let mut segments: Vec<&SavedSegment> = Vec::new();
        for saved in list.segments.iter().rev().filter(|saved| saved.held.first <= position) {
            let follows = segments.last().is_none_or(|after: &&SavedSegment| {
                after.number == saved.number + 1 && after.held.first == saved.held.next
            });
            if !follows {
                break;
            }
            segments.push(saved);
        }
        segments.reverse();
        let begins = segments.first().map_or(u64::MAX, |first| first.held.first);
        let ends = segments.last().map_or(0, |last| last.held.next - 1);
        let fits = |saved: &&SavedSnapshot| {
            saved.end <= position && (saved.position + 1 >= begins || saved.position == position)
        };
        let snapshot = list.snapshots.iter().rev().find(fits);
        let reached = position <= ends || snapshot.is_some_and(|saved| saved.position == position);
        let begun = snapshot.is_some() || begins == 1 && list.since == 0;
        if reached && begun && position >= list.since {
            Ok(Plan { snapshot, segments })
        } else {
            Err(cannot())
        }
    }

    /// Every revision from here on can be restored, where the log has no gap.
    pub fn earliest(list: &List) -> u64 {
        if list.since == 0 && list.segments.first().is_some_and(|first| first.held.first == 1) {
            return 1;
        }
        list.snapshots.iter().map(|saved| saved.end).min().unwrap_or(0).max(list.since)
    }
}

/// Makes a store of a backup in an empty directory. All of the backup is checked before anything is
/// written, and the store after. It is another store than the one that was copied: what is written
/// to it later is never added to the same backup.
pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>, options: Restore) -> Result<Verified> {
    let (disk, from, to) = (&RealDisk, from.as_ref(), to.as_ref());
    let Some(list) = List::read(disk, from)? else {
        is_store(disk, from)?;
        return restore_unlisted(disk, from, to, options);
    };
    verify_backup(disk, from, &list)?;
    let position = match options.target {
        Target::End => list.position(),
        Target::Revision(position) => position,
        Target::Time(time_ms) => at_time(disk, from, &list, time_ms)?,
    };
    let plan = Plan::of(&list, from, position)?;
    make_empty(disk, to)?;
    let store = Identity::by_chance(&RealSurroundings::default());
    let mut manifest = Manifest { since: list.since, ..Manifest::new(store, list.salt) };
    if let Some(saved) = plan.snapshot {
        copy_snapshot(disk, from, to, saved, store)?;
        let SavedSnapshot { position, bytes, checksum, .. } = *saved;
        manifest.snapshot = Some(ListedSnapshot { position, bytes, checksum });
    }
    let mut seal = Seal { segment: 0, end: 0, next: position + 1, checksum: 0 };
    for saved in &plan.segments {
        let listed = copy_segment(disk, from, to, saved, store, position)?;
        if let Some(held) = listed.ended {
            let (segment, checksum) = (listed.number, held.checksum);
            seal = Seal { segment, end: held.end, next: held.next, checksum };
        }
        manifest.segments.push(listed);
    }
    copy_content(disk, from, to, &list)?;
    SealFile::create(disk, to, store, seal)?;
    manifest.write(disk, to)?;
    let found = verify(to)?;
    if found.position != position {
        let why = format!("it ends at {}, and {position} was restored", found.position);
        return Err(Error::Damaged { path: manifest::path(to), why });
    }
    Ok(found)
}

fn at_time(disk: &dyn Disk, from: &Path, list: &List, time_ms: u64) -> Result<u64> {
    let mut last = None;
    for saved in &list.segments {
        let segment = Segment::open_at(disk, from.join(saved.name()), saved.number)?;
        let bytes = read_up_to(&*segment.file, 0, segment.bytes);
        let bytes = bytes.map_err(Error::io("read", &segment.path))?;
        match last_until(&bytes, segment.kind, time_ms) {
            None => break,
            found => last = found,
        }
    }
    let why = || "all of its log is of a later time".to_owned();
    last.ok_or_else(|| Error::Target { path: from.join(NAME), why: why() })
}

fn copy_snapshot(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    saved: &SavedSnapshot,
    store: Identity,
) -> Result<()> {
    let name = snapshot::name(saved.position);
    let path = from.join(&name);
    let file = disk.open(&path).map_err(Error::io("open", &path))?;
    // One of format 1 carries no id.
    let head = match snapshot::store(disk, &path)? {
        Some(_) => snapshot::header(saved.position, store),
        None => Vec::new(),
    };
    check(copy_under(disk, &*file, saved.bytes, &to.join(name), &head)? == saved.digest, &path)
}

fn check(same: bool, path: &Path) -> Result<()> {
    let why = "it changed while it was copied".into();
    if same { Ok(()) } else { Err(Error::Damaged { path: path.into(), why }) }
}

fn copy_segment(
    disk: &dyn Disk,
    from: &Path,
    to: &Path,
    saved: &SavedSegment,
    store: Identity,
    position: u64,
) -> Result<Listed> {
    let segment = Segment::open_at(disk, from.join(saved.name()), saved.number)?;
    let number = saved.number;
    let target = to.join(Segment::name(number));
    let head = match segment.kind.layout {
        Layout::Sectors => Belongs { store, salt: segment.kind.salt, number }.head().to_vec(),
        Layout::Packed => Vec::new(),
    };
    if saved.held.next <= position + 1 {
        let copied = copy_under(disk, &*segment.file, saved.held.end, &target, &head)?;
        check(copied == saved.digest, &segment.path)?;
        return Ok(Listed { number, bytes: saved.held.end, ended: Some(saved.held) });
    }
    let bytes = read_up_to(&*segment.file, 0, segment.bytes);
    let bytes = bytes.map_err(Error::io("read", &segment.path))?;
    let cannot = || {
        let why = format!("it cannot be read up to {position}");
        Error::Damaged { path: segment.path.clone(), why }
    };
    let (mut bytes, held) = cut(&bytes, segment.kind, position).ok_or_else(cannot)?;
    bytes[..head.len()].copy_from_slice(&head);
    let file = disk.create(&target).map_err(Error::io("create", &target))?;
    file.write_at(0, &bytes).map_err(Error::io("write", &target))?;
    file.sync().map_err(Error::io("sync", &target))?;
    Ok(Listed { number, bytes: held.end, ended: Some(held) })
}

fn copy_content(disk: &dyn Disk, from: &Path, to: &Path, list: &List) -> Result<()> {
    let (from, to) = (from.join("blobs"), to.join("blobs"));
    disk.create_directory(&to).map_err(Error::io("create", &to))?;
    for (hash, bytes) in &list.content {
        let path = blobs::place(&from, *hash);
        let file = disk.open(&path).map_err(Error::io("open", &path))?;
        let target = blobs::place(&to, *hash);
        let parent = target.parent().unwrap_or(&to);
        disk.create_directory(parent).map_err(Error::io("create", parent))?;
        check(copy(disk, &*file, *bytes, &target)? == *hash, &path)?;
        disk.sync_directory(parent).map_err(Error::io("sync", parent))?;
    }
    disk.sync_directory(&to).map_err(Error::io("sync", &to))
}

/// A copy of the first format: it is restored as it is, if one says so.
fn restore_unlisted(disk: &dyn Disk, from: &Path, to: &Path, options: Restore) -> Result<Verified> {
    if Manifest::read(disk, from)?.is_some() {
        let why = "is a store and no backup";
        return Err(Error::Place { directory: from.into(), why });
    }
    if !options.unlisted {
        let why = "an older version made this copy, and whether all of it is there is not known";
        return Err(Error::Missing { path: from.join(NAME), why: why.into() });
    }
    if options.target != Target::End {
        let why = "a copy without a list is restored as a whole".into();
        return Err(Error::Target { path: from.into(), why });
    }
    let original = verify(from)?;
    make_empty(disk, to)?;
    for name in disk.list(from).map_err(Error::io("list", from))? {
        if Segment::number(&name).is_some() || snapshot::position(&name).is_some() {
            let path = from.join(&name);
            let file = disk.open(&path).map_err(Error::io("open", &path))?;
            copy_all(disk, &*file, &path, &to.join(name))?;
        }
    }
    let content = from.join("blobs");
    if disk.list(&content).is_ok() {
        let target = to.join("blobs");
        disk.create_directory(&target).map_err(Error::io("create", &target))?;
        for hash in EmbeddedBlobs::hashes(disk, &content)? {
            let (path, to) = (blobs::place(&content, hash), blobs::place(&target, hash));
            let parent = to.parent().unwrap_or(&target);
            disk.create_directory(parent).map_err(Error::io("create", parent))?;
            let file = disk.open(&path).map_err(Error::io("open", &path))?;
            let bytes = copy_all(disk, &*file, &path, &to)?;
            expect(disk, &to, bytes, hash)?;
            disk.sync_directory(parent).map_err(Error::io("sync", parent))?;
        }
    }
    disk.sync_directory(to).map_err(Error::io("sync", to))?;
    recover(disk, to, KeyHasher::for_reading())?;
    Ok(original)
}

fn copy_all(disk: &dyn Disk, file: &dyn DiskFile, path: &Path, to: &Path) -> Result<u64> {
    let bytes = file.length().map_err(Error::io("read", path))?;
    copy(disk, file, bytes, to)?;
    Ok(bytes)
}
