//! What can go wrong when a store is opened, copied or checked.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
pub enum Error {
    /// Another process, or this one, has the directory open.
    Locked(PathBuf),
    /// The log cannot be read from here on, though it goes on behind.
    DamagedLog {
        segment: PathBuf,
        offset: u64,
        why: String,
    },
    /// A snapshot is damaged and the log does not reach back far enough to do without it.
    DamagedSnapshot {
        path: PathBuf,
        why: String,
    },
    /// A part of the log is missing.
    Missing {
        directory: PathBuf,
        why: String,
    },
    /// It was written by a version of this program that this one does not know.
    Format {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    /// A store is to be made where there is something already, or read where there is none.
    Place {
        directory: PathBuf,
        why: &'static str,
    },
    /// What is imported is not what was exported.
    Import {
        line: u64,
        why: String,
    },
    Io {
        doing: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Io { doing, path, error }
    }

    /// What a person can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Locked(_) => "stop the other process, or give this one a directory of its own",
            Error::DamagedLog { .. } | Error::DamagedSnapshot { .. } | Error::Missing { .. } => {
                "restore the latest backup into an empty directory; keep this one for examination"
            }
            Error::Format { .. } => "open it with the version that wrote it, export, and import",
            Error::Place { .. } => "name another directory",
            Error::Import { .. } => "export again; nothing was imported after this line",
            Error::Io { .. } => "see that the disk is there, has room and may be written",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Locked(path) => write!(f, "`{}` is in use", path.display()),
            Error::DamagedLog { segment, offset, why } => {
                write!(f, "`{}` is damaged at offset {offset}: {why}", segment.display())
            }
            Error::DamagedSnapshot { path, why } => {
                write!(f, "`{}` is damaged: {why}", path.display())
            }
            Error::Missing { directory, why } => {
                write!(f, "`{}` is not whole: {why}", directory.display())
            }
            Error::Format { path, found, known } => {
                let path = path.display();
                write!(f, "`{path}` has format {found}, and only {known} is known")
            }
            Error::Place { directory, why } => write!(f, "`{}` {why}", directory.display()),
            Error::Import { line, why } => write!(f, "line {line}: {why}"),
            Error::Io { doing, path, error } => {
                write!(f, "cannot {doing} `{}`: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for store::Error {
    fn from(error: Error) -> Self {
        match &error {
            Error::Io { error: cause, .. } if is_full(cause) => {
                store::Error::Full(error.to_string())
            }
            Error::Io { .. } => store::Error::Unavailable(error.to_string()),
            _ => store::Error::Damaged(error.to_string()),
        }
    }
}

/// The disk has no room, or this user may use no more of it.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
