//! The names of snapshots.

const PREFIX: &str = "snapshot-";

pub fn name(position: u64) -> String {
    format!("{PREFIX}{position:016x}")
}

/// The position in the name of a snapshot's file.
pub fn position(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}
