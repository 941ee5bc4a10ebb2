//! Why a design cannot be opened.

use crate::replace::ReplaceError;

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
    Damaged,
}

impl From<store::Error> for OpenError {
    fn from(error: store::Error) -> OpenError {
        OpenError::Store(error)
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
            OpenError::Damaged => write!(f, "what the store says of its designs cannot be read"),
        }
    }
}

impl std::error::Error for OpenError {}
