//! The secrets that signatures are made with.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "whsec_";
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// A secret shared with one receiver: `whsec_` and 24 to 64 bytes in base64.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Why a text is no secret. It never shows the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadSecret {
    Prefix,
    Base64,
    Length(usize),
}

impl Secret {
    pub fn parse(text: &str) -> Result<Secret, BadSecret> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(BadSecret::Prefix)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| BadSecret::Base64)?;
        if BYTES.contains(&bytes.len()) {
            Ok(Secret(bytes))
        } else {
            Err(BadSecret::Length(bytes.len()))
        }
    }

    /// A new one that nobody knows.
    pub fn fresh() -> Secret {
        let mut bytes = vec![0; 32];
        aws_lc_rs::rand::fill(&mut bytes).expect("the system gives random bytes");
        Secret(bytes)
    }

    /// As it is written in settings.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}…")
    }
}

impl fmt::Display for BadSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSecret::Prefix => write!(f, "a secret begins with `{PREFIX}`"),
            BadSecret::Base64 => write!(f, "after `{PREFIX}` a secret is base64"),
            BadSecret::Length(bytes) => {
                write!(f, "a secret has {} to {} bytes, not {bytes}", BYTES.start(), BYTES.end())
            }
        }
    }
}

impl std::error::Error for BadSecret {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_and_never_shown_by_accident() {
        let secret = Secret::fresh();
        assert_eq!(Secret::parse(&secret.reveal()), Ok(secret.clone()));
        assert_ne!(Secret::fresh(), secret);
        assert_eq!(format!("{secret:?}"), "whsec_…");
        assert_eq!(Secret::parse("MfKQ9r8GKYqrTwjU"), Err(BadSecret::Prefix));
        assert_eq!(Secret::parse("whsec_%"), Err(BadSecret::Base64));
        assert_eq!(Secret::parse("whsec_AAAA"), Err(BadSecret::Length(3)));
    }
}
