//! How far `send each` has come: a round through the keys of a set, in their order.
//!
//! | state | page that ends behind some key | page that reaches the end | sent again |
//! | --- | --- | --- | --- |
//! | to the end | goes on behind it | over | to the end, then up to where it is |
//! | to the end, then up to a key | goes on behind it | from the start, up to that key | to the end, then up to where it is |
//! | up to a key | goes on behind it | over | to the end, then up to where it is |
//!
//! Whoever is in the set when the page with its key is read has its turn. Who joins behind has none, and who left before
//! has none. Sent again, everybody has a turn ahead, and who had one ahead already has that one: so a round that is sent
//! again and again still comes to everybody.

/// The bytes of a key, in whose order a round goes.
pub type Key = Vec<u8>;

/// What is left of a round. The default is the whole of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Round {
    /// those up to here had their turn; none: nobody had
    pub at: Option<Key>,
    pub rest: Rest,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Rest {
    /// to the end
    #[default]
    End,
    /// to the end, then from the start up to this key
    Around(Key),
    /// up to this key
    UpTo(Key),
}

impl Round {
    /// It is sent again while it goes on.
    pub fn again(self) -> Round {
        match self.at {
            None => Round::default(),
            Some(at) => Round { rest: Rest::Around(at.clone()), at: Some(at) },
        }
    }

    /// Is it this key's turn in the lap that goes on? The key is behind `at`.
    pub fn takes(&self, key: &[u8]) -> bool {
        match &self.rest {
            Rest::End | Rest::Around(_) => true,
            Rest::UpTo(last) => key <= &last[..],
        }
    }

    /// After a page. `last`: the key behind which there may be more; none: the lap is at its end. None: it is over.
    pub fn turned(self, last: Option<Key>) -> Option<Round> {
        match (last, self.rest) {
            (Some(last), rest) => Some(Round { at: Some(last), rest }),
            (None, Rest::Around(key)) => Some(Round { at: None, rest: Rest::UpTo(key) }),
            (None, Rest::End | Rest::UpTo(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A page of so many keys: who had a turn, and what is left.
    fn page(round: Round, set: &BTreeSet<Key>, size: usize) -> (Vec<Key>, Option<Round>) {
        let behind = |key: &&Key| round.at.as_ref().is_none_or(|at| *key > at);
        let turns: Vec<Key> = set
            .iter()
            .filter(behind)
            .take_while(|key| round.takes(key))
            .take(size)
            .cloned()
            .collect();
        let last = (turns.len() == size).then(|| turns[size - 1].clone());
        (turns, round.turned(last))
    }

    /// What the checker knows of a round: who still has a turn ahead, among all keys that there can be. Every choice of
    /// joining, leaving, sending again and paging is tried, for pages of one and of two.
    #[test]
    fn a_round_gives_everybody_who_is_there_the_turn_that_the_checker_gives() {
        const KEYS: u8 = 3;
        let mut seen = 0_u32;
        for size in 1..=2_usize {
            let mut todo =
                vec![(Some(Round::default()), (0..KEYS).collect::<BTreeSet<u8>>(), 0_u8, 0)];
            while let Some((round, ahead, set, depth)) = todo.pop() {
                seen += 1;
                let Some(round) = round else {
                    // those without a turn that are not there now: their keys were passed
                    assert!(ahead.iter().all(|key| set & 1 << key == 0), "{ahead:?} of {set:b}");
                    continue;
                };
                if depth >= 9 {
                    continue;
                }
                let keys: BTreeSet<Key> =
                    (0..KEYS).filter(|key| set & 1 << key != 0).map(|key| vec![key]).collect();
                let (turns, left) = page(round.clone(), &keys, size);
                let mut after = ahead.clone();
                for turn in &turns {
                    assert!(after.remove(&turn[0]), "{} had its turn before", turn[0]);
                }
                // keys that nobody has are passed on the way
                let passed = |key: &u8| match &left {
                    Some(left) => !is_ahead(left, *key),
                    None => true,
                };
                let there = |key: &u8| set & 1 << key != 0;
                let missed: Vec<&u8> =
                    after.iter().filter(|key| passed(key) && there(key)).collect();
                assert!(missed.is_empty(), "{missed:?} are there and had no turn");
                after.retain(|key| !passed(key));
                todo.push((left, after, set, depth + 1));
                todo.push((Some(round.clone().again()), (0..KEYS).collect(), set, depth + 3));
                for key in 0..KEYS {
                    todo.push((Some(round.clone()), ahead.clone(), set ^ 1 << key, depth + 2));
                }
            }
        }
        assert!(seen > 1_000, "{seen}");
    }

    fn is_ahead(round: &Round, key: u8) -> bool {
        let key = vec![key];
        let behind = round.at.as_ref().is_none_or(|at| key > *at);
        match &round.rest {
            Rest::End => behind,
            Rest::Around(last) => behind || key <= *last,
            Rest::UpTo(last) => behind && key <= *last,
        }
    }
}
