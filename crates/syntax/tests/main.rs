//! All tests of the syntax, in one program.

mod catalog;
mod format;
mod lexer;
#[path = "mutations/main.rs"]
mod mutations;
mod pages;
mod recovery;
#[path = "tree/main.rs"]
mod tree;
mod worked;
