//! Memory as it is handed out: a text that nobody else can make, and that tells its holder nothing.
//!
//! AES-256-GCM-SIV keeps its promises when a nonce is used again, so all seals use the same one:
//! the same bytes have the same seal, and an answer that is given again is the same answer. All
//! that can be learnt from two seals is whether they are of the same bytes.

use aws_lc_rs::aead::{Aad, NONCE_LEN, Nonce};

use crate::base64;
use crate::key::{Key, KeyId};

const FORM: u8 = 1;
/// The longest text that is looked at.
const SEAL_MAX: usize = 16 * 1024;

/// None: there is more to seal than is ever taken back.
pub fn seal(key: &Key, bytes: &[u8]) -> Option<String> {
    let mut out = bytes.to_vec();
    key.sealing.seal_in_place_append_tag(nonce(), aad(key.id), &mut out).ok()?;
    let mut whole = Vec::with_capacity(out.len() + 9);
    whole.push(FORM);
    whole.extend_from_slice(&key.id.0);
    whole.extend_from_slice(&out);
    let text = base64::encode(&whole);
    (text.len() <= SEAL_MAX).then_some(text)
}

/// None: not sealed here, or under a key that is no longer known.
pub fn unseal<'k>(text: &str, key: impl FnOnce(KeyId) -> Option<&'k Key>) -> Option<Vec<u8>> {
    if text.len() > SEAL_MAX {
        return None;
    }
    let bytes = base64::decode(text)?;
    let (head, sealed) = bytes.split_at_checked(9)?;
    let (form, id) = head.split_first()?;
    if *form != FORM {
        return None;
    }
    let id = KeyId(id.try_into().ok()?);
    let key = key(id)?;
    let mut sealed = sealed.to_vec();
    // compares the tag in constant time
    let opened = key.sealing.open_in_place(nonce(), aad(id), &mut sealed).ok()?;
    Some(opened.to_vec())
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn aad(id: KeyId) -> Aad<[u8; 9]> {
    let mut bytes = [FORM; 9];
    bytes[1..].copy_from_slice(&id.0);
    Aad::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Secret;

    #[test]
    fn what_is_sealed_is_unsealed_and_nothing_else_is() {
        let key = Secret::random().unwrap().key().unwrap();
        let other = Secret::random().unwrap().key().unwrap();
        let find = |id| [&key, &other].into_iter().find(|key| key.id == id);
        for length in [0, 1, 100, 1000] {
            let bytes = vec![7; length];
            let text = seal(&key, &bytes).unwrap();
            assert_eq!(unseal(&text, find), Some(bytes.clone()));
            assert_eq!(seal(&key, &bytes), Some(text.clone()), "the same bytes, the same seal");
            assert_ne!(seal(&other, &bytes), Some(text.clone()));
            assert_eq!(unseal(&text, |_| None), None);
            assert_eq!(unseal(&text, |_| Some(&other)), None, "another key under its name");
        }
        let text = seal(&key, b"my_epoch=3").unwrap();
        let raw = base64::decode(&text).unwrap();
        for at in 0..raw.len() {
            for bit in 0..8 {
                let mut changed = raw.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(unseal(&base64::encode(&changed), find), None, "byte {at} bit {bit}");
            }
            assert_eq!(unseal(&base64::encode(&raw[..at]), find), None, "cut at {at}");
        }
        assert!(!raw.windows(5).any(|part| part == b"epoch"), "its holder learns nothing");
        assert_eq!(seal(&key, &vec![0; SEAL_MAX]), None);
        for bad in ["", "3", "AQ", "my_epoch", "ÄÄ"] {
            assert_eq!(unseal(bad, find), None);
        }
    }
}
