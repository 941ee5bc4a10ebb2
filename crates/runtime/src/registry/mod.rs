//! Which designs a store holds, and how one of them is opened.

mod kept;
mod numbers;
mod open_error;
mod opening;

pub use kept::{Kept, Writing, alike, designs_of, kept};
pub use numbers::{
    begin_epoch, current_designs, give_up, hash_of, keep_design, mark_text, numbered, numbers,
    remove_left_over, reserve, switch,
};
pub use open_error::OpenError;
