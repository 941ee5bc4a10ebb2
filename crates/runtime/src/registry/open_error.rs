//! Why a design cannot be opened.

use layout::Damaged;

use crate::calls::CallError;
use crate::replacement::ReplaceError;

/// Why a design cannot be opened on a store.
#[derive(Clone, PartialEq, Debug)]
pub enum OpenError {
    Store(store::Error),
    /// the layout of the design does not fit the store
    Design(String),
    /// the store holds truth of another version of this design
    Changed {
        stored: String,
        now: String,
    },
    /// what is stored does not follow to this version of the design
    Replace(ReplaceError),
    /// what the store says of its designs cannot be read
    Damaged(Box<Damaged>),
    /// what earlier versions left behind could not be removed
    LeftOver(CallError),
}

impl From<store::Error> for OpenError {
    fn from(error: store::Error) -> OpenError {
        OpenError::Store(error)
    }
}

impl From<Damaged> for OpenError {
    fn from(damaged: Damaged) -> OpenError {
        OpenError::Damaged(Box::new(damaged))
    }
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OpenError::Store(error) => write!(f, "{error}"),
            OpenError::Design(why) => write!(f, "{why}"),
            OpenError::Changed { stored, now } => write!(
                f,
                "the store holds truth of another version of this design: there `{stored}`, here \
                 `{now}`"
            ),
            OpenError::Replace(error) => {
                write!(f, "the store holds truth of another version of this design: {error}")
            }
            OpenError::Damaged(damaged) => {
                write!(f, "what the store says of its designs cannot be read: {damaged}")
            }
            OpenError::LeftOver(error) => {
                write!(f, "what earlier versions left behind could not be removed: {error}")
            }
        }
    }
}

impl std::error::Error for OpenError {}
