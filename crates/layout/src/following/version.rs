//! What a version of a design is called.

use design::model::Design;

use crate::describe::describe;

/// Hexadecimal digits that are shown of a version.
const DIGITS: usize = 12;

/// Names a version of a design by what its stored truth depends on: subjects, states, attributes, events, operations
/// with their parameters, and their order. Versions that differ only in guards, bodies or goals have one name: what
/// they store is the same. It is the same in every store.
pub fn version(design: &Design) -> String {
    let described = describe(design);
    // the first line numbers the form of the description
    let (_, lines) = described.split_once('\n').unwrap_or(("", ""));
    let mut hasher = blake3::Hasher::new();
    hasher.update(design.name.as_bytes());
    hasher.update(b"\n");
    hasher.update(lines.as_bytes());
    let mut text = hasher.finalize().to_hex().to_string();
    text.truncate(DIGITS);
    text
}
