//! The word of a verdict: what may be relied on, and within which bounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FailureStatus, Report, Verdict};

/// Of the rules by which verdicts are made. It is raised whenever a text may get another word than
/// before, so that a verdict that was kept by an earlier checker is not believed.
pub const VERSION: u32 = 4;

/// Stored and sent as `{"word": "holds", "bounds": ["log: 3 entries"]}`: names are added to, not
/// changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum Word {
    /// every reachable state of the world was seen, and nothing was cut
    Proved,
    /// something was cut: `version: 0..3`
    Holds {
        bounds: Vec<String>,
    },
    /// there is a trace that breaks a goal
    Violated,
    NotKnown {
        why: String,
    },
}

impl Word {
    /// One word without its bounds or reason, for a label.
    pub fn name(&self) -> &'static str {
        match self {
            Word::Proved => "proved",
            Word::Holds { .. } => "holds",
            Word::Violated => "violated",
            Word::NotKnown { .. } => "not_known",
        }
    }

    /// What the shell is told. `closed`: a bound is not enough.
    pub fn exit_code(&self, closed: bool) -> u8 {
        match self {
            Word::Proved => 0,
            Word::Holds { .. } if !closed => 0,
            Word::Violated => 1,
            Word::Holds { .. } | Word::NotKnown { .. } => 3,
        }
    }

    /// The word for two things together. Of two that hold, all bounds count.
    #[must_use]
    pub fn worst(self, other: Word) -> Word {
        match (self, other) {
            (Word::Holds { mut bounds }, Word::Holds { bounds: more }) => {
                for bound in more {
                    if !bounds.contains(&bound) {
                        bounds.push(bound);
                    }
                }
                Word::Holds { bounds }
            }
            (first, second) if second.badness() > first.badness() => second,
            (first, _) => first,
        }
    }

    fn badness(&self) -> u8 {
        match self {
            Word::Proved => 0,
            Word::Holds { .. } => 1,
            Word::NotKnown { .. } => 2,
            Word::Violated => 3,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Proved => write!(f, "proved"),
            Word::Holds { bounds } => write!(f, "holds within {}", bounds.join(", ")),
            Word::Violated => write!(f, "violated"),
            Word::NotKnown { why } => write!(f, "not known: {why}"),
        }
    }
}

/// So many of what was never seen are named.
const NAMED: usize = 3;

impl Report {
    /// The word for the whole design.
    pub fn word(&self) -> Word {
        let broken = |goal: &crate::GoalVerdict| matches!(goal.verdict, Verdict::Violated(_));
        if self.goals.iter().any(broken) {
            return Word::Violated;
        }
        for goal in &self.goals {
            if let Verdict::Unknown(why) = &goal.verdict {
                return not_known(format!("`{}`: {why}", goal.name));
            }
        }
        if let Some(failure) = self.failures.iter().find(|failure| !failure.expected()) {
            return not_known(match &failure.status {
                FailureStatus::Unknown { why } => format!("{}: {why}", failure.claim),
                _ => format!("{}: the failure is not as the design says", failure.claim),
            });
        }
        if !self.unwitnessed.is_empty() {
            let named = &self.unwitnessed[..self.unwitnessed.len().min(NAMED)];
            let more = match self.unwitnessed.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            return not_known(format!("never seen: {}{more}", named.join(", ")));
        }
        match self.bounds() {
            bounds if bounds.is_empty() => Word::Proved,
            bounds => Word::Holds { bounds },
        }
    }
}

fn not_known(why: String) -> Word {
    Word::NotKnown { why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArmResult, FailureVerdict, GoalVerdict, Trace, WorldSummary};
    use design::model::{FailureProof, Goal, Span};

    fn holds(bounds: &[&str]) -> Word {
        Word::Holds { bounds: bounds.iter().map(ToString::to_string).collect() }
    }

    fn unknown(why: &str) -> Word {
        not_known(why.into())
    }

    #[test]
    fn each_word_has_its_text_its_form_and_its_exit_code() {
        for (word, text, form, exit, closed) in [
            (Word::Proved, "proved", r#"{"word":"proved"}"#, 0, 0),
            (
                holds(&["version: 0..3", "log: 3 entries"]),
                "holds within version: 0..3, log: 3 entries",
                r#"{"word":"holds","bounds":["version: 0..3","log: 3 entries"]}"#,
                0,
                3,
            ),
            (Word::Violated, "violated", r#"{"word":"violated"}"#, 1, 1),
            (
                unknown("a budget ended"),
                "not known: a budget ended",
                r#"{"word":"not_known","why":"a budget ended"}"#,
                3,
                3,
            ),
        ] {
            assert_eq!(word.to_string(), text);
            assert_eq!(serde_json::to_string(&word).unwrap(), form);
            assert_eq!(serde_json::from_str::<Word>(form).unwrap(), word);
            assert_eq!((word.exit_code(false), word.exit_code(true)), (exit, closed), "{text}");
        }
    }

    #[test]
    fn the_worst_of_several_counts() {
        let ordered = [Word::Proved, holds(&["a"]), unknown("why"), Word::Violated];
        for (at, good) in ordered.iter().enumerate() {
            for bad in &ordered[at..] {
                assert_eq!(good.clone().worst(bad.clone()), *bad);
                assert_eq!(bad.clone().worst(good.clone()), *bad);
            }
        }
        assert_eq!(holds(&["a", "b"]).worst(holds(&["b", "c"])), holds(&["a", "b", "c"]));
    }

    fn report() -> Report {
        let goal = |verdict| GoalVerdict {
            goal: Goal::Invariant(0),
            name: "one".into(),
            verdict,
            slice: None,
            states: 1,
        };
        let failure = FailureVerdict {
            title: "oversell".into(),
            proof: FailureProof::Compiler { code: "E0001".into(), span: Span::default() },
            claim: "without hold.free breaks one".into(),
            in_depth: false,
            status: FailureStatus::Redundant { covered_by: Vec::new() },
            restates: false,
            covered: false,
            arm: None,
        };
        Report {
            design: "D".into(),
            world: WorldSummary::default(),
            base: ArmResult::default(),
            goals: vec![
                goal(Verdict::Holds(vec!["version: 0..3".into()])),
                goal(Verdict::Violated(Trace::default())),
            ],
            failures: vec![failure],
            witnesses: Vec::new(),
            unwitnessed: ["a", "b", "c", "d"].map(String::from).to_vec(),
            free: Vec::new(),
            searches: Vec::new(),
            worlds: Vec::new(),
            uses: Vec::new(),
            seconds: 0.0,
        }
    }

    #[test]
    fn a_report_has_the_word_of_what_is_worst_in_it() {
        let mut report = report();
        assert_eq!(report.word(), Word::Violated);
        report.goals[1].verdict = Verdict::Unknown("a budget ended".into());
        assert_eq!(report.word(), unknown("`one`: a budget ended"));
        report.goals.pop();
        let odd = "without hold.free breaks one: the failure is not as the design says";
        assert_eq!(report.word(), unknown(odd));
        report.failures[0].in_depth = true;
        assert_eq!(report.word(), unknown("never seen: a, b, c and 1 more"));
        report.unwitnessed.clear();
        assert_eq!(report.word(), holds(&["version: 0..3"]));
        report.goals[0].verdict = Verdict::Proved;
        assert_eq!(report.word(), Word::Proved);
    }
}
