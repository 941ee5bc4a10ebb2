//! All tests of identity, in one program.

mod audit;
mod secrets;
mod support;
mod tokens;
