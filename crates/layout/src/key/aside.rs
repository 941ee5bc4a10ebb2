//! Entries that were set aside.

use super::parse;
use crate::damaged::Damaged;
use crate::space::{DesignNumber, Space};

/// An entry that was taken out of its queue. The key is a hash, because the key of the entry may be as
/// long as the store allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AsideKey {
    pub design: DesignNumber,
    /// of the key that the entry has in its queue, without the number of the design
    pub hash: [u8; 16],
}

impl AsideKey {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(19);
        out.extend_from_slice(&Space::Aside.prefix(self.design));
        out.extend_from_slice(&self.hash);
        out
    }

    pub fn parse(key: &[u8]) -> Result<AsideKey, Damaged> {
        parse(key, Space::Aside, |design, reader| Ok(AsideKey { design, hash: reader.array()? }))
    }
}
