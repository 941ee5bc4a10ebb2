//! A part of the log that ends at a revision.

use crate::encoding::Reader;
use crate::frame::{self, Kind};
use crate::manifest::Ended;

/// The bytes of a segment up to a revision that it holds, and what is held then. Its last batch is
/// made shorter where it holds more. Nothing comes of what cannot be read that far.
pub fn cut(bytes: &[u8], kind: Kind, position: u64) -> Option<(Vec<u8>, Ended)> {
    let start = kind.layout.start();
    let mut at = start;
    let mut first = None;
    loop {
        let found = frame::read(bytes.get(at..)?, kind)?;
        first = first.or(Some(found.first));
        if found.next() <= position {
            at += found.bytes;
            continue;
        }
        let mut kept = bytes[..at].to_vec();
        let (end, checksum) = if found.next() == position + 1 {
            kept.extend_from_slice(bytes.get(at..at + found.bytes)?);
            (at + found.bytes, found.checksum)
        } else {
            let mut commits = Reader::new(found.commits);
            for _ in found.first..=position {
                commits.commit()?;
            }
            let shorter = &found.commits[..found.commits.len() - commits.left()];
            let count = (position + 1 - found.first) as u32;
            let (frame, checksum) = frame::shorter(&found, kind, shorter, count);
            kept.extend_from_slice(&frame);
            (kept.len(), checksum)
        };
        return Some((
            kept,
            Ended { first: first?, next: position + 1, end: end as u64, checksum },
        ));
    }
}

/// The last revision that was committed at this time or before, if this segment holds it.
pub fn last_until(bytes: &[u8], kind: Kind, time_ms: u64) -> Option<u64> {
    let mut at = kind.layout.start();
    let mut last = None;
    while let Some(found) = bytes.get(at..).and_then(|rest| frame::read(rest, kind)) {
        if found.time_ms > time_ms {
            break;
        }
        last = Some(found.next() - 1);
        at += found.bytes;
    }
    last
}
