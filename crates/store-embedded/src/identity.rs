//! Which store a file belongs to.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

/// Chosen at random when a store is made or restored: its files are told from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u128);

impl Identity {
    pub fn random() -> Self {
        Identity(u128::from(random()) << 64 | u128::from(random()))
    }

    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(u128::from_le_bytes).map(Identity)
    }
}

/// A number that nobody can guess: the standard library seeds its hashers from the system.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Identity {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = Some(text).filter(|text| text.len() == 32);
        number.and_then(|text| u128::from_str_radix(text, 16).ok()).map(Identity).ok_or(())
    }
}
