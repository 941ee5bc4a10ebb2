//! A directory without a list: an empty one, one whose making was cut short, or a store of format
//! 1, which is read as it always was.

use std::path::Path;
use std::sync::Arc;

use super::listed::is_blank;
use super::replay::Replay;
use super::{Counted, Recovered};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::frame::Layout;
use crate::manifest::{self, ListedSnapshot};
use crate::map::KeyHasher;
use crate::seal;
use crate::segment::Segment;
use crate::snapshot::{self, Loaded};

pub fn recover(
    disk: &dyn Disk,
    directory: &Path,
    names: &[String],
    seal: Option<seal::Found>,
    hasher: KeyHasher,
) -> Result<Recovered> {
    let list_missing = |what: &str| {
        let path = manifest::path(directory);
        Error::Missing { path, why: format!("`{what}` was written under a list") }
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| Segment::number(name)).collect();
    numbers.sort_unstable();
    let (mut segments, mut left_over) = (Vec::new(), Vec::new());
    for number in numbers {
        let segment = Segment::open(disk, directory, number)?;
        if segment.kind.layout == Layout::Packed {
            segments.push(Arc::new(segment));
            continue;
        }
        // It is made before the list; written to it is only under the list.
        if !is_blank(&segment)? {
            return Err(list_missing(&Segment::name(number)));
        }
        left_over.push(Segment::name(number));
    }
    // A crash while segments were removed may leave an older one: only what hangs together counts.
    let gap = |n: &usize| segments[*n].number != segments[n - 1].number + 1;
    let first = (1..segments.len()).rev().find(gap).unwrap_or(0);
    left_over.extend(segments.drain(..first).map(|segment| Segment::name(segment.number)));
    let mut snapshots: Vec<u64> = names.iter().filter_map(|n| snapshot::position(n)).collect();
    snapshots.sort_unstable();
    let mut failure = None;
    let mut loaded = None;
    for position in snapshots.iter().rev() {
        let name = snapshot::name(*position);
        match snapshot::load(disk, &directory.join(&name), hasher.clone()) {
            Ok(found) if found.store.is_some() => return Err(list_missing(&name)),
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
    if seal.is_some_and(|found| found.seal.next > 1) && segments.is_empty() && without {
        return Err(list_missing(seal::NAME));
    }
    let loaded = loaded.unwrap_or_else(|| Loaded::nothing(hasher));
    let older = snapshots.iter().filter(|position| **position < loaded.position);
    left_over.extend(older.map(|position| snapshot::name(*position)));
    let listed_snapshot = (!without).then_some(ListedSnapshot {
        position: loaded.position,
        bytes: loaded.bytes,
        checksum: loaded.checksum,
    });
    let starts_at_one = segments.first().is_none_or(|segment| segment.number == 1);
    let segments = segments.into_iter().map(|segment| (segment, None)).collect();
    let found = Replay::new(Counted { loaded, segments, left_over }, None).run(directory);
    // Without a snapshot the log must go back to the first commit, or nothing was ever written.
    let found = match (found, failure) {
        (Ok(found), None) if without && found.position == 0 && !starts_at_one => {
            drop(found);
            let path = directory.join(Segment::name(1));
            let why = "there is no snapshot, and the log does not begin at the beginning".into();
            Err(Error::Missing { path, why })
        }
        (Ok(found), Some(failure)) if without && found.position == 0 => {
            drop(found);
            Err(failure)
        }
        (Err(Error::Missing { .. }), Some(failure)) => Err(failure),
        (found, _) => found,
    };
    Ok(Recovered { listed_snapshot, seal, ..without_blank(found?) })
}

/// Segments of format 1 that hold nothing are not written to any more.
fn without_blank(mut found: Recovered) -> Recovered {
    let tail = found.tail.take_if(|(segment, end)| *end == segment.kind.layout.start() as u64);
    if tail.is_some() {
        found.feed = Default::default();
    }
    let blank = tail.map(|(segment, _)| segment).into_iter().chain(found.ready.take());
    found.left_over.extend(blank.map(|segment| Segment::name(segment.number)));
    found
}
