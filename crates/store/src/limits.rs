//! How large things may be.

/// What a store takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub key_bytes_max: u64,
    pub value_bytes_max: u64,
    /// Keys, values and feed entries of one commit together.
    pub commit_bytes_max: u64,
    /// Keys that one commit checks or writes, each counted once. Whoever gathers work into one commit, such as
    /// housekeeping, gathers no more than this.
    pub commit_operations_max: usize,
    /// A larger scan is answered in part, with `more` set.
    pub scan_records_max: usize,
}
