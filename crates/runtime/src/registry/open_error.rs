//! Why a design cannot be opened.

use layout::Damaged;

use crate::calls::CallError;
use crate::core::Skewed;
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
    /// the store has gone on from this text to another, at this epoch
    Outdated {
        epoch: u64,
    },
    /// the clock of this server is too far from that of the store
    Skewed(Skewed),
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
            OpenError::Outdated { epoch } => write!(
                f,
                "the store has gone on from this text of the design to another, which is its epoch {epoch}: serve that \
                 text, or put this one back in its place on a server that runs"
            ),
            OpenError::Skewed(skewed) => write!(f, "{skewed}"),
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
