//! Where a page ends: the place of its last row in the order of its view.
//!
//! It is made of the row's own values, so it outlives the row, a restart and views that are built anew. It begins
//! with a mark of what it is a place in: another view, another order, other parameters and another caller have others.

use design::model::View;

use super::row::order;

/// Bytes of the mark.
const MARK: usize = 4;

/// The `next` of a page that ends in this row.
pub fn next(view: &View, group: &[u8], sort: &[u8]) -> String {
    let marked = mark(view, group).into_iter().chain(sort.iter().copied());
    marked.map(|byte| format!("{byte:02x}")).collect()
}

/// The place behind which the next page begins, or what is wrong with it.
pub fn place(view: &View, group: &[u8], next: &str) -> Result<Vec<u8>, &'static str> {
    let bytes = from_hex(next).filter(|bytes| bytes.len() > MARK);
    let bytes = bytes.ok_or("this is no `next` of a page")?;
    match bytes.split_at(MARK) {
        (found, sort) if found == mark(view, group) => Ok(sort.to_vec()),
        _ => Err("this is the `next` of another view, of other parameters or of another caller; \
                  begin again without it"),
    }
}

/// FNV-1a over everything that decides what a place means.
fn mark(view: &View, group: &[u8]) -> [u8; MARK] {
    let mut hash: u32 = 0x811c_9dc5;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    add(view.name.as_bytes());
    for (value, descending) in order(view) {
        add(format!("/{:?}{descending}", value.ty).as_bytes());
    }
    add(b"/");
    add(group);
    hash.to_be_bytes()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
