//! What is known of a design that is served: the verdict on its text, if there is one.

use std::fmt;

use model_checker::Word;
use serde_json::{Value, json};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    NotChecked,
    /// a check is running, and is here now
    Checking {
        arm: String,
        states: u64,
    },
    Known(Word),
}

/// Every label of `steadfast_verdict`.
pub const LABELS: [&str; 5] = ["proved", "holds", "violated", "not_known", "not_checked"];

impl Standing {
    /// One of [`LABELS`].
    pub fn label(&self) -> &'static str {
        match self {
            Standing::Known(word) => word.name(),
            Standing::NotChecked | Standing::Checking { .. } => "not_checked",
        }
    }

    pub fn to_json(&self) -> Value {
        match self {
            // plain data: writing it to memory does not fail
            Standing::Known(word) => serde_json::to_value(word).expect("plain data"),
            Standing::NotChecked | Standing::Checking { .. } => json!({ "word": "not_checked" }),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::NotChecked => write!(f, "not checked"),
            Standing::Checking { .. } => write!(f, "not checked yet"),
            Standing::Known(word) => write!(f, "{word}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standing_has_a_label_and_a_form() {
        let holds = Word::Holds { bounds: vec!["log: 3".into()] };
        for (standing, label, form) in [
            (Standing::NotChecked, "not_checked", json!({ "word": "not_checked" })),
            (Standing::Known(Word::Proved), "proved", json!({ "word": "proved" })),
            (Standing::Known(holds), "holds", json!({ "word": "holds", "bounds": ["log: 3"] })),
            (Standing::Known(Word::Violated), "violated", json!({ "word": "violated" })),
        ] {
            assert!(LABELS.contains(&label));
            assert_eq!((standing.label(), standing.to_json()), (label, form));
        }
    }
}
