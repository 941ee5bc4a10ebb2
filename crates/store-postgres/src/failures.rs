//! What PostgreSQL says, as the errors of a store.

use std::error::Error as _;
use std::fmt::Write as _;

use store::Error;
use tokio_postgres::error::{Severity, SqlState};

/// What a request came to that was not answered as it should.
#[derive(Debug)]
pub enum Failure {
    /// The database refused it, so it did nothing.
    Refused(Error),
    /// There was no answer. It may have been carried out.
    Lost(String),
}

impl Failure {
    /// For requests that may be sent again, and those that change nothing.
    pub fn harmless(self) -> Error {
        match self {
            Failure::Refused(error) => error,
            Failure::Lost(why) => Error::Unavailable(why),
        }
    }

    /// For requests that may have changed something.
    pub fn unknown(self) -> Error {
        match self {
            Failure::Refused(error) => error,
            Failure::Lost(why) => Error::Unknown(why),
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else { return Failure::Lost(told(&error)) };
        // A session that ends may have committed before.
        let ends = matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
        if ends || said.parsed_severity().is_none() {
            return Failure::Lost(told(&error));
        }
        Failure::Refused(refused(&error))
    }
}

fn refused(error: &tokio_postgres::Error) -> Error {
    let why = told(error);
    let Some(code) = error.code() else { return Error::Unavailable(why) };
    match *code {
        SqlState::DISK_FULL | SqlState::OUT_OF_MEMORY | SqlState::CONFIGURATION_LIMIT_EXCEEDED => {
            Error::Full(why)
        }
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_FUNCTION | SqlState::UNDEFINED_COLUMN => {
            Error::Damaged(format!("the tables of the store are not there any more: {why}"))
        }
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Damaged(why),
        SqlState::READ_ONLY_SQL_TRANSACTION => Error::Unavailable(format!(
            "the database takes no writes, as a standby or one that fails over does: {why}"
        )),
        _ => Error::Unavailable(why),
    }
}

/// Everything that an error says, with its causes.
pub fn told(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let mut text = format!("{} ({})", said.message(), said.code().code());
        if let Some(hint) = said.hint() {
            let _ = write!(text, "; {hint}");
        }
        return text;
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    text
}
