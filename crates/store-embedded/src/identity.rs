//! Which store a file belongs to.

use std::fmt;
use std::str::FromStr;

use store::Surroundings;

/// Chosen at random when a store is made or restored: its files are told from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u128);

impl Identity {
    pub fn by_chance(surroundings: &dyn Surroundings) -> Self {
        let (high, low) = (surroundings.chance(), surroundings.chance());
        Identity(u128::from(high) << 64 | u128::from(low))
    }

    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(u128::from_le_bytes).map(Identity)
    }
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
