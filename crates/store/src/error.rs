//! What can go wrong in a store.

use std::fmt;

use crate::cursor::Cursor;
use crate::key::Key;

pub type Result<T> = std::result::Result<T, Error>;

/// Why a store did not do what was asked. Every variant says whether anything was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A check of the commit did not hold for this key. Nothing was written.
    Conflict(Key),
    /// Others changed the same records at the same time, so many times in a row. Nothing was written.
    Contended { attempts: u32 },
    /// There is no room for more. Nothing was written, and nothing written before is lost.
    Full(String),
    /// The commit, or a part of it, is larger than the store takes. Nothing was written.
    TooLarge { what: &'static str, bytes: u64, bytes_max: u64 },
    /// The commit checks or writes more keys than the store takes at once. Nothing was written.
    TooMany { operations: usize, operations_max: usize },
    /// The request makes no sense in any state. Nothing was written.
    Invalid(String),
    /// More is waiting to become durable than the store keeps in memory. Nothing was written.
    Busy,
    /// An earlier write failed, so it is not known what is durable until the store is opened anew.
    Poisoned(String),
    /// The store was closed.
    Closed,
    /// It is not known whether this commit was written. Read before trying again.
    Unknown(String),
    /// The feed no longer goes back this far. Reading may begin at the cursor that is given.
    BelowFloor(Cursor),
    /// The store never gave out this cursor.
    Ahead(Cursor),
    /// What was stored is not what is read.
    Damaged(String),
    /// The store cannot be reached, or its disk cannot be read. Nothing was written.
    Unavailable(String),
}

impl Error {
    /// What a person can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Conflict(_) => "read the record again and decide anew",
            Error::Contended { .. } => "try again; often, it takes a key that is less in demand",
            Error::Full(_) => "free or add disk space; commits are taken again by themselves",
            Error::TooLarge { .. } => "split it, or put the large part into a blob",
            Error::TooMany { .. } => "do it in several steps",
            Error::Invalid(_) => "change the request",
            Error::Busy => "slow down and try again; the disk is behind",
            Error::Poisoned(_) => "examine the disk, then restart: what was acknowledged is kept",
            Error::Closed => "open the store again",
            Error::Unknown(_) => "read what is there before trying again",
            Error::BelowFloor(_) => "rebuild from the records, then follow from the given cursor",
            Error::Ahead(_) => "check that the cursor came from this store",
            Error::Damaged(_) => "restore from a backup, or delete what is damaged",
            Error::Unavailable(_) => "see that the store is reachable, then try again",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Conflict(key) => write!(f, "`{key}` is not as the commit expects"),
            Error::Contended { attempts } => {
                write!(f, "others changed the same records meanwhile, {attempts} times in a row")
            }
            Error::Full(why) => write!(f, "the store is full: {why}"),
            Error::TooLarge { what, bytes, bytes_max } => {
                write!(f, "the {what} has {bytes} bytes, of at most {bytes_max}")
            }
            Error::TooMany { operations, operations_max } => {
                write!(
                    f,
                    "the commit checks or writes {operations} keys, of at most {operations_max}"
                )
            }
            Error::Invalid(why) => write!(f, "the request cannot be carried out: {why}"),
            Error::Busy => write!(f, "too much is waiting to become durable"),
            Error::Poisoned(why) => write!(f, "the store stopped after a failed write: {why}"),
            Error::Closed => write!(f, "the store is closed"),
            Error::Unknown(why) => write!(f, "it is not known whether the commit holds: {why}"),
            Error::BelowFloor(floor) => write!(f, "the feed begins after `{floor}`"),
            Error::Ahead(cursor) => write!(f, "`{cursor}` is ahead of everything in the store"),
            Error::Damaged(what) => write!(f, "{what}"),
            Error::Unavailable(why) => write!(f, "the store cannot be reached: {why}"),
        }
    }
}

impl std::error::Error for Error {}
