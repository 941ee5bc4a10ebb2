//! Tells trouble with one entry from trouble with the store.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use layout::Damaged;

use crate::calls::CallError;
use crate::core::ReadError;

/// Why one entry cannot be worked on, whatever the store does.
#[derive(Clone, PartialEq, Debug)]
pub enum Trouble {
    Damaged(Box<Damaged>),
    /// what it said
    Panicked(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Damaged(damaged) => write!(f, "{damaged}"),
            Trouble::Panicked(said) => write!(f, "working on it panicked: {said}"),
        }
    }
}

/// Works on one entry. The outer error is trouble with that entry; the inner one says nothing about it:
/// the store failed, or something is not fetched yet.
///
/// `work` must not write: what it changes before it panics would stay.
pub fn attempt<T>(
    work: impl FnOnce() -> Result<T, ReadError>,
) -> Result<Result<T, CallError>, Trouble> {
    match caught(work)? {
        Ok(done) => Ok(Ok(done)),
        Err(ReadError::Damaged(damaged)) => Err(Trouble::Damaged(damaged)),
        Err(error) => Ok(Err(error.into())),
    }
}

/// Runs `work`; a panic in it is an error. Only for what is thrown away after a panic or keeps no state
/// that could be half changed.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Trouble> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| Trouble::Panicked(said(&*panic)))
}

fn said(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "it said nothing".to_string())
}
