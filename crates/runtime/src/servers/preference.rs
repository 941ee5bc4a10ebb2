//! Whose turn something is: by rendezvous hashing, so that a server that comes or goes changes the turns of few.

/// The servers that live, as one of them sees it.
pub struct Turn {
    pub server: u64,
    /// with this one; empty: it is alone
    pub alive: Vec<u64>,
    /// after so long it is anybody's turn
    pub grace_ms: i64,
}

impl Turn {
    /// From when on this server does what is due at a time.
    pub fn from(&self, about: &[u8], due: i64) -> i64 {
        if self.is_first(about) { due } else { due.saturating_add(self.grace_ms) }
    }

    /// Nobody else is known to work.
    pub fn is_alone(&self) -> bool {
        self.alive.len() <= 1
    }

    fn is_first(&self, about: &[u8]) -> bool {
        let own = (weight(self.server, about), self.server);
        self.alive.iter().all(|server| (weight(*server, about), *server) <= own)
    }
}

fn weight(server: u64, about: &[u8]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&server.to_be_bytes());
    hasher.update(about);
    let mut weight = [0; 8];
    weight.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_be_bytes(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(server: u64, alive: &[u64]) -> Turn {
        Turn { server, alive: alive.to_vec(), grace_ms: 10 }
    }

    #[test]
    fn everything_is_the_turn_of_exactly_one() {
        let alive = [3, 17, 99, 4_000];
        let mut of_each = [0; 4];
        for about in 0..1_000_u32 {
            let about = about.to_be_bytes();
            let first: Vec<usize> =
                (0..4).filter(|at| turn(alive[*at], &alive).from(&about, 5) == 5).collect();
            assert_eq!(first.len(), 1);
            of_each[first[0]] += 1;
        }
        assert!(of_each.iter().all(|n| (150..350).contains(n)), "{of_each:?}");
    }

    #[test]
    fn who_goes_changes_only_its_own_turns() {
        for about in 0..200_u32 {
            let about = about.to_be_bytes();
            let before = turn(3, &[3, 17, 99]).from(&about, 0) == 0;
            let after = turn(3, &[3, 17]).from(&about, 0) == 0;
            assert!(after || !before);
        }
    }

    #[test]
    fn who_is_alone_is_first_and_others_come_after_the_grace() {
        assert_eq!(turn(3, &[]).from(b"x", 5), 5);
        let second = [3, 17].into_iter().find(|s| turn(*s, &[3, 17]).from(b"x", 5) > 5).unwrap();
        assert_eq!(turn(second, &[3, 17]).from(b"x", 5), 15);
    }
}
