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
    /// The snapshot that counts cannot be read.
    DamagedSnapshot {
        path: PathBuf,
        why: String,
    },
    /// The list, the seal or a blob is not what was written.
    Damaged {
        path: PathBuf,
        why: String,
    },
    /// A file that belongs to the store is not there.
    Missing {
        path: PathBuf,
        why: String,
    },
    /// A file that does not belong to the store stands where its own are.
    Foreign {
        path: PathBuf,
        why: String,
    },
    /// Others may read or write it, and that cannot be changed.
    Loose {
        path: PathBuf,
        mode: u32,
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
    /// A copy of another store was begun here and is not whole.
    Unfinished {
        directory: PathBuf,
        from: String,
    },
    /// What is to be copied would not fit on the disk. Nothing was written.
    Room {
        directory: PathBuf,
        needed: u64,
        room: u64,
    },
    /// A backup does not hold what it is to be restored to.
    Target {
        path: PathBuf,
        why: String,
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

    /// A file of the store is not as it was written, so trying again does not help.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Error::DamagedLog { .. }
                | Error::DamagedSnapshot { .. }
                | Error::Damaged { .. }
                | Error::Missing { .. }
                | Error::Foreign { .. }
                | Error::Unfinished { .. }
        )
    }

    /// What a person can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Locked(_) => "stop the other process, or give this one a directory of its own",
            Error::DamagedLog { .. }
            | Error::DamagedSnapshot { .. }
            | Error::Damaged { .. }
            | Error::Missing { .. } => {
                "put the file back as it was, or restore the latest backup into an empty \
                 directory; keep this one for examination"
            }
            Error::Foreign { .. } => {
                "move the file out of the directory and put the store's own back, or restore the \
                 latest backup into an empty directory"
            }
            Error::Loose { .. } => "change its owner, or its mode to 0700 or 0600",
            Error::Format { .. } => "open it with the version that wrote it, export, and import",
            Error::Place { .. } => "name another directory",
            Error::Unfinished { .. } => {
                "copy again into the same directory, which begins anew, or remove the directory"
            }
            Error::Room { .. } => "free or add disk space, or name a directory on another disk",
            Error::Target { .. } => "name a revision that it holds, or an older backup",
            Error::Import { .. } => "export again; nothing was imported after this line",
            Error::Io { error, .. } if is_full(error) => {
                "free or add disk space, then start again; nothing that was acknowledged is lost"
            }
            Error::Io { error, .. } if is_read_only(error) => {
                "see that this user may write to the directory, and that the disk is not mounted \
                 read-only"
            }
            Error::Io { .. } => "see that the disk is there and works, then start again",
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
            Error::Damaged { path, why } => write!(f, "`{}` is damaged: {why}", path.display()),
            Error::Missing { path, why } => write!(f, "`{}` is missing: {why}", path.display()),
            Error::Foreign { path, why } => {
                write!(f, "`{}` does not belong here: {why}", path.display())
            }
            Error::Loose { path, mode } => {
                let path = path.display();
                write!(f, "others may use `{path}`, whose mode is {mode:04o}")
            }
            Error::Format { path, found, known } => {
                let path = path.display();
                write!(f, "`{path}` has format {found}, and only {known} is known")
            }
            Error::Unfinished { directory, from } => {
                let directory = directory.display();
                write!(f, "`{directory}` holds a copy of `{from}` that was not finished")
            }
            Error::Room { directory, needed, room } => {
                let (directory, mib) = (directory.display(), |bytes: &u64| bytes.div_ceil(1 << 20));
                let (needed, room) = (mib(needed), mib(room));
                write!(f, "`{directory}` has room for {room} MiB, and the copy takes {needed} MiB")
            }
            Error::Place { directory, why } => write!(f, "`{}` {why}", directory.display()),
            Error::Target { path, why } => {
                write!(f, "`{}` cannot be restored to that: {why}", path.display())
            }
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

/// Nothing may be written there.
pub fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
}

/// The disk has no room, or this user may use no more of it.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_a_read_only_a_broken_and_a_damaged_disk_are_told_apart() {
        let io = |kind: io::ErrorKind| Error::io("write", Path::new("log"))(kind.into());
        let damaged = Error::Damaged { path: "seal".into(), why: "it is torn".into() };
        let errors = [
            (io(io::ErrorKind::StorageFull), "disk space"),
            (io(io::ErrorKind::QuotaExceeded), "disk space"),
            (io(io::ErrorKind::ReadOnlyFilesystem), "read-only"),
            (io(io::ErrorKind::PermissionDenied), "may write"),
            (io(io::ErrorKind::Other), "disk is there and works"),
            (damaged, "restore the latest backup"),
        ];
        for (error, expected) in errors {
            assert!(error.help().contains(expected), "{error}: {}", error.help());
        }
    }
}
