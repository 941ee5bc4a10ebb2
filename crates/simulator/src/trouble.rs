//! What is wrong with a history.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// an invariant does not hold after this revision
    Broken { goal: String, revision: u64, trouble: Option<&'static str> },
    /// everything that was due is done, and this is still not so
    NotRecovered { goal: String },
    /// a transition that the design does not allow
    Departed { revision: u64, what: String },
    /// a caller was told of something that is not in the history
    Lost { call: String, revision: u64 },
    /// a call is in the history twice
    Twice { call: String, revisions: (u64, u64) },
    /// a caller was told of one revision, and the history has the call at another
    Elsewhere { call: String, told: u64, found: u64 },
    /// a call is in the history, and whoever asked again was refused
    Denied { call: String, revision: u64 },
    /// a caller was shown what was never so while it waited
    Unexplained { call: String, between: (u64, u64) },
    /// a store whose disk does all that it should does not open
    Unopened { error: String },
    /// something failed that no fault explains
    Failed { what: String, error: String },
    /// a repair is due, and nobody does it
    Overdue { repair: String, record: String },
    /// an entry of the outbox stays there
    Undelivered { effect: String, state: String },
    /// views are not what the records say
    Views { what: String },
    /// an assertion does not hold
    Panicked { message: String },
}

impl Trouble {
    /// What it is about, without where it was met: a smaller script goes wrong in the same way if this is the same.
    pub fn kind(&self) -> String {
        match self {
            Trouble::Broken { goal, .. } => format!("breaks `{goal}`"),
            Trouble::NotRecovered { goal } => format!("does not recover `{goal}`"),
            Trouble::Departed { .. } => "departs from the design".into(),
            Trouble::Lost { .. } => "loses what was acknowledged".into(),
            Trouble::Twice { .. } => "does a call twice".into(),
            Trouble::Elsewhere { .. } => "tells a wrong revision".into(),
            Trouble::Denied { .. } => "refuses what it has done".into(),
            Trouble::Unexplained { .. } => "refuses on what never was".into(),
            Trouble::Unopened { .. } => "does not open again".into(),
            Trouble::Failed { what, .. } => format!("fails: {what}"),
            Trouble::Overdue { repair, .. } => format!("leaves `{repair}` undone"),
            Trouble::Undelivered { effect, .. } => format!("leaves `{effect}` undelivered"),
            Trouble::Views { .. } => "has other views than records".into(),
            Trouble::Panicked { .. } => "panics".into(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Broken { goal, revision, trouble: None } => {
                write!(f, "the invariant `{goal}` does not hold after revision {revision}")
            }
            Trouble::Broken { goal, revision, trouble: Some(trouble) } => {
                write!(
                    f,
                    "the invariant `{goal}` cannot be evaluated after revision {revision}: {trouble}"
                )
            }
            Trouble::NotRecovered { goal } => {
                write!(f, "everything that was due is done, and `recovers {goal}` does not hold")
            }
            Trouble::Departed { revision, what } => {
                write!(f, "revision {revision} departs from the design: {what}")
            }
            Trouble::Lost { call, revision } => {
                write!(f, "{call} was answered with revision {revision}, and is not in the history")
            }
            Trouble::Twice { call, revisions: (one, other) } => {
                write!(f, "{call} is in the history twice, at revisions {one} and {other}")
            }
            Trouble::Elsewhere { call, told, found } => {
                write!(f, "{call} was answered with revision {told}, and stands at {found}")
            }
            Trouble::Denied { call, revision } => {
                write!(
                    f,
                    "{call} stands at revision {revision}, and was refused when it was asked again"
                )
            }
            Trouble::Unexplained { call, between: (from, until) } => {
                write!(
                    f,
                    "{call} was refused on records that were never like this between revisions {from} and {until}"
                )
            }
            Trouble::Unopened { error } => write!(f, "the store does not open again: {error}"),
            Trouble::Failed { what, error } => {
                write!(f, "{what} failed, and no fault explains it: {error}")
            }
            Trouble::Overdue { repair, record } => {
                write!(f, "`{repair}` of {record} is due, and is not done")
            }
            Trouble::Undelivered { effect, state } => {
                write!(f, "`{effect}` ({state}) stays in the outbox")
            }
            Trouble::Views { what } => write!(f, "{what}"),
            Trouble::Panicked { message } => write!(f, "an assertion failed: {message}"),
        }
    }
}
