//! What a transaction sees of a range: the records, with its own writes laid over them.

use std::iter::Peekable;
use std::ops::ControlFlow;

use crate::local::Visit;
use crate::record::Version;

/// Visits the merge of two ordered lists until told to stop. An overlay without a value hides the
/// record. Both lists run in the direction of the scan.
pub fn merge_scan<'a>(
    records: impl Iterator<Item = (&'a [u8], Version, &'a [u8])>,
    overlay: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
    own: Version,
    reverse: bool,
    visit: &mut Visit<'_>,
) {
    let mut records = records.peekable();
    let mut overlay = overlay.peekable();
    while let Some((key, version, value)) = next(&mut records, &mut overlay, own, reverse) {
        let Some(value) = value else { continue };
        if visit(key, version, value) == ControlFlow::Break(()) {
            return;
        }
    }
}

type Merged<'a> = (&'a [u8], Version, Option<&'a [u8]>);

fn next<'a>(
    records: &mut Peekable<impl Iterator<Item = (&'a [u8], Version, &'a [u8])>>,
    overlay: &mut Peekable<impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>>,
    own: Version,
    reverse: bool,
) -> Option<Merged<'a>> {
    let own_first = match (records.peek(), overlay.peek()) {
        (Some((key, ..)), Some((own_key, _))) => {
            if key == own_key {
                records.next();
                true
            } else {
                (own_key < key) != reverse
            }
        }
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if own_first {
        overlay.next().map(|(key, value)| (key, own, value))
    } else {
        records.next().map(|(key, version, value)| (key, version, Some(value)))
    }
}
