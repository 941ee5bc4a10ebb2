//! What an amount of money is an amount of.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Three letters, as ISO 4217 has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Currency([u8; 3]);

impl Currency {
    pub fn named(text: &str) -> Option<Currency> {
        let letters: [u8; 3] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_uppercase).then_some(Currency(letters))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}
