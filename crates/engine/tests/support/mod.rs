//! What the tests share.

#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]

pub mod any_design;
pub mod anything;
pub mod build;
pub mod lease;
pub mod random;
pub mod truth;

pub use build::*;
pub use random::Random;
pub use truth::*;
