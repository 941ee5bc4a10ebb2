//! Things that can only be told apart are interchangeable: of the states that differ by a
//! permutation of them, the least is kept.

use engine::Word;

use super::{Machine, Worker};

pub(crate) struct Symmetry {}

impl Symmetry {
    pub(super) fn of(_machine: &Machine) -> (Option<Symmetry>, Vec<String>) {
        (None, Vec::new())
    }

    pub(super) fn least(
        &self,
        _machine: &Machine,
        _words: &[Word],
        _packed: &mut [u64],
        _best: &mut [u64],
        _worker: &mut Worker,
    ) {
    }
}
