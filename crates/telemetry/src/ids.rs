//! Identities by chance. They tell traces apart and keep no secret.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};

thread_local! {
    static STATE: Cell<[u64; 2]> = Cell::new(seed());
}

/// From the keys that the standard library takes from the system.
fn seed() -> [u64; 2] {
    let mut words = [0; 2];
    for word in &mut words {
        *word = RandomState::new().build_hasher().finish();
    }
    // all zeros would stay zeros
    words[0] |= 1;
    words
}

/// The generator xoroshiro128++, one for each thread.
fn next() -> u64 {
    STATE.with(|state| {
        let [a, mut b] = state.get();
        let out = a.wrapping_add(b).rotate_left(17).wrapping_add(a);
        b ^= a;
        state.set([a.rotate_left(49) ^ b ^ (b << 21), b.rotate_left(28)]);
        out
    })
}

fn next_not_zero() -> u64 {
    loop {
        let word = next();
        if word != 0 {
            return word;
        }
    }
}

pub fn span() -> [u8; 8] {
    next_not_zero().to_be_bytes()
}

pub fn trace() -> [u8; 16] {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&next().to_be_bytes());
    id[8..].copy_from_slice(&next_not_zero().to_be_bytes());
    id
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn no_two_are_the_same_on_several_threads() {
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..5_000).map(|_| super::trace()).collect::<Vec<_>>()))
            .collect();
        let all: Vec<[u8; 16]> =
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let different: HashSet<_> = all.iter().collect();
        assert_eq!((all.len(), different.len()), (20_000, 20_000));
        assert!(all.iter().all(|id| id[8..] != [0; 8]));
    }
}
