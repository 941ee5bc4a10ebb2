//! All tests of identity, in one program.

mod audit;
mod support;
mod tokens;
