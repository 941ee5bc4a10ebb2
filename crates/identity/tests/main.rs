//! All tests of identity, in one program.

mod audit;
mod issuer;
mod secrets;
mod support;
mod tokens;
