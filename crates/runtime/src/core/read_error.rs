//! Why stored truth could not be read.

use layout::{Damaged, Wrong};
use store::Transaction;

use crate::calls::CallError;
use crate::secrets::SecretTrouble;

/// Small, because everything that reads returns it.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadError {
    /// what is stored does not read as what this design stores
    Damaged(Box<Damaged>),
    /// something that is needed is not here yet: the transaction is run again once it is fetched
    NotFetched,
    Store(Box<store::Error>),
    /// a secret can be neither stored nor compared
    Secret(Box<SecretTrouble>),
}

impl ReadError {
    /// The value under this key cannot be read.
    pub fn value(key: &[u8], wrong: Wrong) -> ReadError {
        Damaged::value(key, wrong).into()
    }

    /// Something refers to this key, and nothing is found under it.
    pub fn absent(transaction: &dyn Transaction, key: &[u8]) -> ReadError {
        if transaction.misses() {
            return ReadError::NotFetched;
        }
        ReadError::value(key, Wrong::Missing)
    }

    /// This entry of the feed cannot be read.
    pub fn feed(entry: &[u8], wrong: Wrong) -> ReadError {
        Damaged::feed(entry, wrong).into()
    }
}

impl From<Damaged> for ReadError {
    fn from(damaged: Damaged) -> ReadError {
        ReadError::Damaged(Box::new(damaged))
    }
}

impl From<store::Error> for ReadError {
    fn from(error: store::Error) -> ReadError {
        ReadError::Store(Box::new(error))
    }
}

impl From<ReadError> for CallError {
    fn from(error: ReadError) -> CallError {
        match error {
            ReadError::Damaged(damaged) => CallError::Damaged(damaged),
            ReadError::NotFetched => CallError::NotFetched,
            ReadError::Store(error) => CallError::Store(*error),
            ReadError::Secret(trouble) => CallError::Secret(*trouble),
        }
    }
}

impl From<Damaged> for CallError {
    fn from(damaged: Damaged) -> CallError {
        CallError::Damaged(Box::new(damaged))
    }
}
