//! What can go wrong: with the directory of keys, and with a token.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why the directory of keys cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// the system refused
    Io { path: PathBuf, reason: String },
    /// a file does not hold what this version writes
    Damaged { path: PathBuf, line: usize },
    /// others than its owner may read it
    Open { path: PathBuf },
    /// there are no keys here
    Missing { path: PathBuf },
    /// asked for something that cannot be
    Wrong(String),
}

impl Error {
    pub(crate) fn io(path: &Path, error: &io::Error) -> Error {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_string(),
            io::ErrorKind::PermissionDenied => "permission denied".to_string(),
            io::ErrorKind::StorageFull => "no space left".to_string(),
            _ => {
                let text = error.to_string();
                text.split(" (os error").next().unwrap_or_default().to_lowercase()
            }
        };
        Error::Io { path: path.to_path_buf(), reason }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, reason } => write!(f, "`{}`: {reason}", path.display()),
            Error::Damaged { path, line } => {
                write!(f, "`{}` is damaged in line {line}", path.display())
            }
            Error::Open { path } => {
                write!(f, "`{}` may be read by others than its owner", path.display())
            }
            Error::Missing { path } => write!(f, "there are no keys in `{}`", path.display()),
            Error::Wrong(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {}

/// Why a token gives no authority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Denied {
    /// it is not of the one form that is taken
    Malformed,
    /// signed with a key that is not known, or no longer
    UnknownKey,
    Signature,
    Expired,
    /// issued later than now
    NotYet,
    /// for another service
    OtherService,
    Revoked,
    /// the keys cannot be read now, so nobody is let in
    Unavailable,
}

impl Denied {
    /// Stable: part of the audit log.
    pub fn name(self) -> &'static str {
        match self {
            Denied::Malformed => "malformed",
            Denied::UnknownKey => "unknown key",
            Denied::Signature => "signature",
            Denied::Expired => "expired",
            Denied::NotYet => "not yet",
            Denied::OtherService => "other service",
            Denied::Revoked => "revoked",
            Denied::Unavailable => "unavailable",
        }
    }

    /// What the caller is told. Which of the checks a forged token failed is not their business.
    pub fn told(self) -> &'static str {
        match self {
            Denied::Expired => "the token has expired",
            Denied::Revoked => "the token was revoked",
            Denied::Unavailable => "tokens cannot be checked at the moment",
            _ => "the token is not valid here",
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.told())
    }
}

impl std::error::Error for Denied {}
