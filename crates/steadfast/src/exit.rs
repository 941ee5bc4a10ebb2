//! What the shell is told.

use std::process::ExitCode;

/// From the best to the worst; several answers together are as bad as the worst of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    Yes,
    /// not known within the budget
    Unknown,
    No,
    /// wrong usage, or a design that does not compile
    Wrong,
    /// a write or sync of the store failed: what was answered is kept, and it may be started again
    StoreFailed,
    /// a file of the store is damaged, missing or foreign: starting again does not help
    StoreRefused,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Wrong => 2,
            Exit::Unknown => 3,
            Exit::StoreFailed => 4,
            Exit::StoreRefused => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
