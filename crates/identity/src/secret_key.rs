//! The keys under which designs keep their secrets: a secret is stored as a hash that nobody can compute
//! without the key, so a copy of a store is no list of PINs to try.
//!
//! HMAC-SHA-256 of a salt and the secret. The salt is drawn anew for every secret that is stored: two doors
//! with one PIN have two hashes, and who knows one PIN and its hash learns nothing of another.

use std::fmt;

use aws_lc_rs::{constant_time, hmac, rand};

use crate::base64;
use crate::key::KeyId;

/// The first line of a file with such a key; a new form has a new name.
const FILE_FORM: &str = "steadfast secrets 1";
/// The first byte of a stored hash.
const FORM: u8 = 1;
pub const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 32;
/// Form, key, salt and tag.
pub const HASH_BYTES: usize = 1 + 8 + SALT_BYTES + TAG_BYTES;

/// One key. Derived from it: one that hashes what is stored, one that compares what is sent twice.
pub struct SecretKey {
    pub id: KeyId,
    bytes: [u8; 32],
    stored: hmac::Key,
    sent: hmac::Key,
}

/// Never shows it.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id)
    }
}

impl SecretKey {
    /// None: the system has no randomness to give.
    pub fn random() -> Option<SecretKey> {
        let mut bytes = [0; 32];
        rand::fill(&mut bytes).ok()?;
        Some(SecretKey::of(bytes))
    }

    fn of(bytes: [u8; 32]) -> SecretKey {
        let derived =
            |context: &str| hmac::Key::new(hmac::HMAC_SHA256, &blake3::derive_key(context, &bytes));
        let named = blake3::derive_key("steadfast secrets 1: the name of the key", &bytes);
        let mut id = [0; 8];
        id.copy_from_slice(&named[..8]);
        SecretKey {
            id: KeyId(id),
            stored: derived("steadfast secrets 1: what is stored"),
            sent: derived("steadfast secrets 1: what is sent"),
            bytes,
        }
    }

    pub fn to_text(&self) -> String {
        format!("{FILE_FORM}\n{}\n", base64::encode(&self.bytes))
    }

    pub fn from_text(text: &str) -> Option<SecretKey> {
        let mut lines = text.strip_prefix(FILE_FORM)?.strip_prefix('\n')?.lines();
        let bytes = base64::decode(lines.next()?)?.try_into().ok()?;
        lines.next().is_none().then(|| SecretKey::of(bytes))
    }

    /// The form in which a secret is stored.
    pub fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(HASH_BYTES);
        out.push(FORM);
        out.extend_from_slice(&self.id.0);
        out.extend_from_slice(&salt);
        out.extend_from_slice(self.tag(&salt, plain).as_ref());
        out
    }

    fn tag(&self, salt: &[u8], plain: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.stored);
        // of one length, so that it is known where the secret begins
        context.update(salt);
        context.update(plain);
        context.sign()
    }

    /// Tells whether two messages are one, to whoever has the key.
    pub fn fingerprint(&self, message: &[u8]) -> [u8; 16] {
        let tag = hmac::sign(&self.sent, message);
        let mut half = [0; 16];
        half.copy_from_slice(&tag.as_ref()[..16]);
        half
    }
}

/// The key of a stored hash; none: it is no hash.
pub fn key_of(stored: &[u8]) -> Option<KeyId> {
    let whole = stored.len() == HASH_BYTES && stored[0] == FORM;
    whole.then(|| stored[1..9].try_into().ok().map(KeyId))?
}

/// Is it the hash of this secret, under this key? The time it takes depends on the length of `plain` alone.
pub fn matches(key: &SecretKey, stored: &[u8], plain: &[u8]) -> bool {
    let (salt, tag) = stored[9..].split_at(SALT_BYTES);
    constant_time::verify_slices_are_equal(key.tag(salt, plain).as_ref(), tag).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_fits_its_secret_under_its_key_and_nothing_else() {
        let (key, other) = (SecretKey::random().unwrap(), SecretKey::random().unwrap());
        for plain in [&b"1234"[..], b"", b"a longer one, of 36 characters or so", &[0; 300]] {
            let stored = key.hash([7; SALT_BYTES], plain);
            assert_eq!((stored.len(), key_of(&stored)), (HASH_BYTES, Some(key.id)));
            assert!(matches(&key, &stored, plain));
            assert!(!matches(&other, &stored, plain));
            assert!(!matches(&key, &stored, b"1235"));
            assert_ne!(stored, key.hash([8; SALT_BYTES], plain), "another salt, another hash");
            for at in 9..stored.len() {
                let mut changed = stored.clone();
                changed[at] ^= 1;
                assert!(!matches(&key, &changed, plain), "byte {at}");
            }
        }
        for bad in [&b""[..], b"1234", &[1; 56], &[1; 58], &[2; HASH_BYTES]] {
            assert_eq!(key_of(bad), None);
        }
    }

    #[test]
    fn where_the_salt_ends_is_no_question() {
        let key = SecretKey::random().unwrap();
        let mut salt = [0; SALT_BYTES];
        salt[15] = b'1';
        let one = key.hash(salt, b"23");
        let two = key.hash([0; SALT_BYTES], b"123");
        assert_ne!(one[25..], two[25..]);
    }

    #[test]
    fn keys_come_back_and_are_not_shown() {
        let key = SecretKey::random().unwrap();
        let again = SecretKey::from_text(&key.to_text()).unwrap();
        assert_eq!(key.id, again.id);
        assert!(matches(&again, &key.hash([1; SALT_BYTES], b"x"), b"x"));
        assert_eq!(key.fingerprint(b"x"), again.fingerprint(b"x"));
        assert_ne!(key.fingerprint(b"x"), key.fingerprint(b"y"));
        assert_eq!(format!("{key:?}"), format!("SecretKey({})", key.id));
        let text = key.to_text();
        for bad in ["", "steadfast secrets 2\n", &text[..text.len() - 5], &format!("{text}x")] {
            assert!(SecretKey::from_text(bad).is_none());
        }
    }

    /// Test case 2 of RFC 4231, as far as a key of 32 bytes allows: the same function by another way.
    #[test]
    fn the_tag_is_what_the_standard_says() {
        let key = SecretKey::of([3; 32]);
        let inner = blake3::derive_key("steadfast secrets 1: what is stored", &[3; 32]);
        let sha = |parts: &[&[u8]]| {
            let mut context = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
            parts.iter().for_each(|part| context.update(part));
            context.finish().as_ref().to_vec()
        };
        let mut block = [0; 64];
        block[..32].copy_from_slice(&inner);
        let padded = |with: u8| block.map(|byte| byte ^ with);
        let first = sha(&[&padded(0x36), &[9; SALT_BYTES], b"1234"]);
        let expected = sha(&[&padded(0x5c), &first]);
        assert_eq!(key.hash([9; SALT_BYTES], b"1234")[25..], expected);
    }
}
