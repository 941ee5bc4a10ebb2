//! The turn of a group: one lock, and look-ups that are overlapped.

use std::ops::Range;

use store::{Decision, Keys, Result, Transaction, Turn};

use crate::core::Core;
use crate::map::Place;
use crate::options::Options;

pub struct EmbeddedTurn<'a> {
    pub core: &'a mut Core,
    pub options: &'a Options,
    /// Where the records are that were looked up, in the order of their keys.
    pub places: Vec<Option<Place>>,
}

impl Turn for EmbeddedTurn<'_> {
    fn look_up(&mut self, keys: &Keys) {
        self.core.map.find_all(keys, &mut self.places);
    }

    fn has_room(&self) -> bool {
        self.core.room_for_commit(self.options).is_ok()
    }

    fn transact(
        &mut self,
        expected: Range<usize>,
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<u64> {
        let room = self.core.room_for_commit(self.options);
        let expected = self.places.get(expected).unwrap_or_default();
        self.core.transact(self.options, room, expected, run)
    }
}
