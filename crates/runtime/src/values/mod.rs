//! Values as clients write and read them.

mod json;
pub mod proofs;
pub mod schedules;
pub mod time;

pub use json::{
    BadValue, MAX_KEY_TEXT, MAX_TEXT, decimal_text, in_one_spelling, point_of, read, read_key,
    within, write, write_key,
};
