//! Bytes that were right, and are not any more.

use store::Seeded;

/// One to three small changes anywhere.
pub fn bytes(seeded: &mut Seeded, bytes: &mut Vec<u8>) {
    for _ in 0..=seeded.below(3) {
        if bytes.is_empty() {
            return bytes.push(seeded.below(256) as u8);
        }
        let at = seeded.below(bytes.len() as u64) as usize;
        let other = seeded.below(bytes.len() as u64) as usize;
        match seeded.below(7) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, bytes[at]),
            2 => bytes[at] = seeded.below(256) as u8,
            3 => bytes[at] ^= 1 << seeded.below(8),
            4 => bytes.swap(at, other),
            5 => bytes.truncate(at),
            _ => {
                let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 64));
                let copy = bytes[from..to].to_vec();
                bytes.splice(from..from, copy);
            }
        }
    }
}

/// The same of a text, which stays a text.
pub fn text(seeded: &mut Seeded, text: &str) -> String {
    let mut all = text.as_bytes().to_vec();
    bytes(seeded, &mut all);
    String::from_utf8_lossy(&all).into_owned()
}
