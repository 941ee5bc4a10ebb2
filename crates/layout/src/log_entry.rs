//! An entry of a log as it is stored: when it was appended, then its fields.

use engine::Word;

use crate::bytes::{Reader, put_signed};
use crate::damaged::Wrong;

/// Begins the value of an entry.
pub fn append_time(out: &mut Vec<u8>, at: Word) {
    put_signed(out, at);
}

/// When an entry was appended; its fields follow.
pub fn take_append_time(reader: &mut Reader<'_>) -> Result<Word, Wrong> {
    reader.signed()
}
