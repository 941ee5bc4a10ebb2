//! Signatures as Standard Webhooks 1.0 has them: HMAC-SHA256 over identity, time and body.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::secret::Secret;

/// A message older or newer than this is not accepted: it may be one that someone sends again.
pub const TOLERANCE_SECONDS: i64 = 5 * 60;

/// The value of `webhook-signature`: one signature for each secret, so that a receiver may know
/// the old one or the new one while they are changed.
pub fn sign(secrets: &[Secret], id: &str, timestamp: i64, body: &[u8]) -> String {
    let message = message(id, timestamp, body);
    let signatures: Vec<String> = secrets
        .iter()
        .map(|secret| format!("v1,{}", STANDARD.encode(hmac::sign(&key(secret), &message))))
        .collect();
    signatures.join(" ")
}

/// Why a message is not believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forged {
    /// no signature is one of a known secret over exactly this message
    Signature,
    /// it was made too long ago, or in the future
    Time,
}

/// Was this made by someone who knows one of the secrets, and lately?
pub fn verify(
    secrets: &[Secret],
    (id, timestamp, signature): (&str, i64, &str),
    body: &[u8],
    now_seconds: i64,
) -> Result<(), Forged> {
    let message = message(id, timestamp, body);
    let known = signature
        .split(' ')
        .filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok())
        .any(|tag| secrets.iter().any(|secret| hmac::verify(&key(secret), &message, &tag).is_ok()));
    if !known {
        return Err(Forged::Signature);
    }
    if now_seconds.abs_diff(timestamp) > TOLERANCE_SECONDS.unsigned_abs() {
        return Err(Forged::Time);
    }
    Ok(())
}

fn key(secret: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.bytes())
}

fn message(id: &str, timestamp: i64, body: &[u8]) -> Vec<u8> {
    let mut message = format!("{id}.{timestamp}.").into_bytes();
    message.extend_from_slice(body);
    message
}

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Forged::Signature => write!(f, "no signature is that of a known secret"),
            Forged::Time => write!(f, "it was not made within the last minutes"),
        }
    }
}

impl std::error::Error for Forged {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's hmac module over `msg_1.1700000000.{"a":1}`.
    #[test]
    fn a_signature_is_what_others_compute() {
        let secret = Secret::parse("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz").unwrap();
        let signed = sign(&[secret], "msg_1", 1_700_000_000, br#"{"a":1}"#);
        assert_eq!(signed, "v1,ZeeGpYq/E+LJmv4Rr+FiLPeUcCMR13nkh9N2DAygt4s=");
    }

    #[test]
    fn what_was_changed_or_is_old_is_not_believed() {
        let (old, new, other) = (Secret::fresh(), Secret::fresh(), Secret::fresh());
        let signed = sign(&[new.clone(), old.clone()], "id", 1_000, b"body");
        let check = |secret: &Secret, id, at, body: &[u8], now| {
            verify(std::slice::from_ref(secret), (id, at, &signed), body, now)
        };
        assert_eq!(check(&old, "id", 1_000, b"body", 1_000), Ok(()));
        assert_eq!(check(&new, "id", 1_000, b"body", 1_300), Ok(()));
        assert_eq!(check(&other, "id", 1_000, b"body", 1_000), Err(Forged::Signature));
        assert_eq!(check(&old, "ie", 1_000, b"body", 1_000), Err(Forged::Signature));
        assert_eq!(check(&old, "id", 1_001, b"body", 1_001), Err(Forged::Signature));
        assert_eq!(check(&old, "id", 1_000, b"bodY", 1_000), Err(Forged::Signature));
        assert_eq!(check(&old, "id", 1_000, b"body", 1_301), Err(Forged::Time));
        assert_eq!(check(&old, "id", 1_000, b"body", 699), Err(Forged::Time));
        assert_eq!(verify(&[], ("id", 1_000, &signed), b"body", 1_000), Err(Forged::Signature));
    }
}
