//! Digests, signatures and proofs of inclusion, for real: BLAKE3 and Ed25519.
//!
//! A digest and a public key are 64 hexadecimal digits, a signature 128. A proof is the way from a
//! leaf to the root, one step after the other, with `.` between them: `l` and the digest that
//! stands to the left, or `r` and the one to the right.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use engine::{HashPart, Word};

/// Digests of this product are of nothing else.
const CONTEXT: &str = "steadfast 2026 hash of values, version 1";
/// So many steps lead to any leaf of a tree that was ever built.
const STEPS_MAX: usize = 64;

/// The digest of these values: each with a letter for its type, and of a length that is known
/// before its content, so that two lists of values never read alike.
pub fn hash<'p>(
    parts: &[HashPart],
    words: &[Word],
    content: &dyn Fn(Word) -> &'p [u8],
) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    let mut text = |tag: u8, text: &[u8]| {
        hasher.update(&[tag]);
        hasher.update(&(text.len() as u64).to_be_bytes());
        hasher.update(text);
    };
    for (part, word) in parts.iter().zip(words) {
        let number = word.to_be_bytes();
        match part {
            HashPart::Int => text(b'i', &number),
            HashPart::Bool => text(b'b', &number[7..]),
            HashPart::Decimal => text(b'd', &number),
            HashPart::Time => text(b't', &number),
            HashPart::Duration => text(b'l', &number),
            HashPart::Enum(constants) => {
                let constant = usize::try_from(*word).ok().and_then(|at| constants.get(at));
                text(b'e', constant.map_or(&[], |constant| constant.as_bytes()));
            }
            HashPart::Text => text(b's', content(*word)),
            HashPart::Bytes => text(b'x', content(*word)),
            HashPart::Actor => text(b'a', content(*word)),
            HashPart::PublicKey => text(b'k', content(*word)),
            HashPart::Blob => text(b'c', content(*word)),
            HashPart::Digest => text(b'h', content(*word)),
        }
    }
    hasher.finalize()
}

/// Is it a signature of the digest by this key? What is not well formed is not.
pub fn verified(signature: &[u8], key: &[u8], digest: &[u8]) -> bool {
    let (Some(signature), Some(key), Some(digest)) =
        (bytes_of::<64>(signature), bytes_of::<32>(key), bytes_of::<32>(digest))
    else {
        return false;
    };
    UnparsedPublicKey::new(&ED25519, key).verify(&digest, &signature).is_ok()
}

/// Does the proof lead from the leaf to the root?
pub fn included(leaf: &[u8], root: &[u8], proof: &[u8]) -> bool {
    let mut at = leaf.to_vec();
    if bytes_of::<32>(leaf).is_none() {
        return false;
    }
    let steps = proof.split(|byte| *byte == b'.').filter(|_| !proof.is_empty());
    for (number, step) in steps.enumerate() {
        let Some((side, beside)) = step.split_first() else { return false };
        if number >= STEPS_MAX || bytes_of::<32>(beside).is_none() {
            return false;
        }
        let pair: [&[u8]; 2] = match side {
            b'l' => [beside, &at],
            b'r' => [&at, beside],
            _ => return false,
        };
        let parts = [HashPart::Digest, HashPart::Digest];
        let above = hash(&parts, &[0, 1], &|word| pair[word as usize]);
        at = above.to_hex().as_bytes().to_vec();
    }
    at == root
}

/// The bytes that so many hexadecimal digits stand for; each has one way to be written.
pub fn bytes_of<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}
