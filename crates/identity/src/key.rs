//! One key: it signs tokens and seals memory.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM_SIV, LessSafeKey, UnboundKey};
use aws_lc_rs::rand;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::base64;

/// The first line of a file with secrets; a new form has a new name.
const FORM: &str = "steadfast key 1";

pub struct Key {
    pub id: KeyId,
    pub public: Vec<u8>,
    signing: Ed25519KeyPair,
    pub sealing: LessSafeKey,
}

/// The beginning of the hash of the public key: two keys with one id are not met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub [u8; 8]);

impl KeyId {
    pub fn of(public: &[u8]) -> KeyId {
        let mut id = [0; 8];
        id.copy_from_slice(&blake3::hash(public).as_bytes()[..8]);
        KeyId(id)
    }

    pub fn parse(text: &str) -> Option<KeyId> {
        let digits = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
        if text.len() != 16 || !digits {
            return None;
        }
        u64::from_str_radix(text, 16).ok().map(|id| KeyId(id.to_be_bytes()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Never shows a secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// The two secrets of a key, as they are kept.
pub struct Secret {
    seed: [u8; 32],
    sealing: [u8; 32],
}

impl Secret {
    /// None: the system has no randomness to give.
    pub fn random() -> Option<Secret> {
        let (mut seed, mut sealing) = ([0; 32], [0; 32]);
        rand::fill(&mut seed).ok()?;
        rand::fill(&mut sealing).ok()?;
        Some(Secret { seed, sealing })
    }

    pub fn to_text(&self) -> String {
        format!("{FORM}\n{}\n{}\n", base64::encode(&self.seed), base64::encode(&self.sealing))
    }

    pub fn from_text(text: &str) -> Option<Secret> {
        let mut lines = text.strip_prefix(FORM)?.strip_prefix('\n')?.lines();
        let mut part = || -> Option<[u8; 32]> { base64::decode(lines.next()?)?.try_into().ok() };
        let secret = Secret { seed: part()?, sealing: part()? };
        lines.next().is_none().then_some(secret)
    }

    pub fn key(&self) -> Option<Key> {
        let signing = Ed25519KeyPair::from_seed_unchecked(&self.seed).ok()?;
        let public = signing.public_key().as_ref().to_vec();
        let sealing = LessSafeKey::new(UnboundKey::new(&AES_256_GCM_SIV, &self.sealing).ok()?);
        Some(Key { id: KeyId::of(&public), public, signing, sealing })
    }
}

impl Key {
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.signing.sign(message).as_ref().to_vec()
    }

    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        verifies(&self.public, message, signature)
    }
}

/// Is it the signature of a message by the key with this public part?
pub fn verifies(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public).verify(message, signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_back_and_are_not_shown() {
        let secret = Secret::random().unwrap();
        let text = secret.to_text();
        let (one, two) = (secret.key().unwrap(), Secret::from_text(&text).unwrap().key().unwrap());
        assert_eq!(one.id, two.id);
        assert_eq!(KeyId::parse(&one.id.to_string()), Some(one.id));
        assert!(two.verifies(b"x", &one.sign(b"x")));
        assert!(!two.verifies(b"y", &one.sign(b"x")));
        assert_eq!(format!("{one:?}"), format!("Key({})", one.id));
        let cut = &text[..text.len() - 9];
        for bad in ["", "steadfast key 2\n", cut, &format!("{text}x")] {
            assert!(Secret::from_text(bad).is_none());
        }
    }

    /// The example of RFC 8037, appendix A.
    #[test]
    fn a_signature_made_elsewhere_verifies_and_is_the_one_made_here() {
        let seed = base64::decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
        let secret = Secret { seed: seed.try_into().unwrap(), sealing: [0; 32] };
        let key = secret.key().unwrap();
        assert_eq!(base64::encode(&key.public), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        let signed = b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
        let signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g\
                         7sVvpAr_MuM0KAg";
        assert_eq!(base64::encode(&key.sign(signed)), signature);
        assert!(key.verifies(signed, &base64::decode(signature).unwrap()));
    }
}
