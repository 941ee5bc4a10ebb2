//! All tests of what is explained, in one program.

mod actions;
mod against;
mod drawings;
#[path = "engines/main.rs"]
mod engines;
mod mechanisms;
mod partitions;
mod realization;
mod reference;
mod rendered;
mod sheet;
mod structure;
mod support;
mod tla;
