//! What every store must pass.
//!
//! ```
//! store::conformance::run(&mut || Box::new(store::Memory::new()));
//! ```

mod blobs;
mod chained;
mod commits;
mod concurrent;
mod expect;
mod feed;
mod limits;
mod local;
mod meanwhile;
mod records;
mod reopen;
mod scans;
mod tokens;

use std::fmt;

use crate::contract::Store;
use crate::error::Error;

pub use self::reopen::{check_reopen, run_reopen};

/// Gives an empty store each time it is called.
pub type Open<'a> = &'a mut dyn FnMut() -> Box<dyn Store>;

/// The check that a store failed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub check: &'static str,
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store fails `{}`: {}", self.check, self.message)
    }
}

impl std::error::Error for Failure {}

/// Why a check did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Broken(String);

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Broken(format!("unexpectedly, {error}"))
    }
}

type Outcome = Result<(), Broken>;

struct Check {
    name: &'static str,
    run: fn(&dyn Store) -> Outcome,
}

/// Runs every check, each on a store of its own, and panics at the first that fails. Answers with
/// the names of the checks.
#[track_caller]
pub fn run(open: Open<'_>) -> Vec<&'static str> {
    match check(open) {
        Ok(names) => names,
        Err(failure) => panic!("{failure}"),
    }
}

/// Runs every check, each on a store of its own, up to the first that fails.
pub fn check(open: Open<'_>) -> Result<Vec<&'static str>, Failure> {
    let lists = [
        records::CHECKS,
        commits::CHECKS,
        scans::CHECKS,
        feed::CHECKS,
        limits::CHECKS,
        blobs::CHECKS,
        local::CHECKS,
        tokens::CHECKS,
        chained::CHECKS,
        concurrent::CHECKS,
        meanwhile::CHECKS,
    ];
    let mut names = Vec::new();
    for check in lists.into_iter().flatten() {
        let store = open();
        let outcome = (check.run)(&*store);
        outcome.map_err(|Broken(message)| Failure { check: check.name, message })?;
        names.push(check.name);
    }
    Ok(names)
}
