//! The command line as a user meets it: what is typed, what is printed, what the shell is told.

mod archetypes;
mod aside;
mod calendar;
mod carried;
mod check;
mod clock;
mod designs;
mod dev;
mod diagnostics;
mod disk_trouble;
mod errors;
mod events;
mod first_word;
mod fmt;
mod list_and_show;
mod memory;
mod new;
pub mod readme;
mod replacing;
mod secrets;
pub mod serving;
mod streams;
pub mod support;
mod taking;
mod tokens;
mod traces;
mod verdicts;
