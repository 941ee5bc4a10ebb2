//! All tests of the contract of stores, in one program.

mod memory;
mod wrong_stores;
