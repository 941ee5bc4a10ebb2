//! The examples that stand in a design, carried out.
//!
//! A test is a runtime of its own, on a store in memory, with a clock that is set by hand. Nothing is interpreted here:
//! calls, repairs, the outbox, idempotency and views are those of a server. What is expected of truth is judged as goals
//! are, on the feed.

mod by_itself;
mod coverage;
mod expect;
mod scratch;
mod secrets;
mod stage;
mod telling;
mod value;

pub use coverage::{Coverage, Covered};
pub use scratch::{Answered, Followed, Room, Scratch, WAIT_MS_MAX};
pub use stage::Failure;
pub use telling::Seen;
pub use value::Values;

use design::model::{Design, Test};

/// What came of one test.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    pub title: String,
    /// how many lines were carried out
    pub lines: usize,
    /// the first line that came to something else; what follows it was not carried out
    pub failure: Option<Failure>,
}

/// What came of the tests of a design.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    pub tests: Vec<Told>,
    pub coverage: Coverage,
}

impl Report {
    pub fn failed(&self) -> usize {
        self.tests.iter().filter(|told| told.failure.is_some()).count()
    }
}

/// Carries the tests out, each from an empty store. Fails on a design that cannot be run at all.
pub fn rehearse(design: &Design, tests: &[Test]) -> Result<Report, String> {
    let mut report = Report { tests: Vec::new(), coverage: Coverage::of(design) };
    for test in tests {
        let mut stage = stage::Stage::new(design, test)?;
        let mut told = Told { title: test.title.clone(), lines: 0, failure: None };
        for line in &test.lines {
            if let Err(failure) = stage.line(line) {
                told.failure = Some(*failure);
                break;
            }
            told.lines += 1;
        }
        report.coverage.add(design, &stage);
        report.tests.push(told);
    }
    Ok(report)
}
