//! Positions in the log, as cursors.

use store::{Cursor, Partition};

pub fn at(position: u64) -> Cursor {
    Cursor::at(Partition::default(), position)
}
