//! A record and its version.

use bytes::Bytes;

/// Changes with every write of a record, and never returns to an earlier value, not even after the
/// record was deleted and written anew. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub version: Version,
    pub value: Bytes,
}
