//! Verdicts for the language server: those that are kept, and those of a check beside the editor.

use std::panic::AssertUnwindSafe;

use design::model::Design;
use language_server::{Judged, Judgement};
use model_checker::render::{self, Paint};
use model_checker::{FailureStatus, FailureVerdict, GoalVerdict, Options, Report, Verdict, Word};

use crate::verdicts::Verdicts;

pub struct Judge {
    pub verdicts: Verdicts,
    pub options: Options,
    /// false: only what is kept is told
    pub checks: bool,
}

impl language_server::Verdicts for Judge {
    fn kept(&self, text: &str, design: &Design) -> Option<Judgement> {
        let word = self.verdicts.find(text, design, None)?;
        let said = match &word {
            // which goal is violated is not kept: it is found again by a check
            Word::Violated | Word::NotKnown { .. } if self.checks => return None,
            Word::Violated => "violated, this or another goal".to_string(),
            word => word.to_string(),
        };
        let good = matches!(word, Word::Proved | Word::Holds { .. });
        let goals = design.goals().map(|goal| Judged {
            name: goal.name.clone(),
            said: said.clone(),
            good,
            history: None,
        });
        Some(Judgement { whole: word.to_string(), goals: goals.collect(), failures: Vec::new() })
    }

    fn check(
        &self,
        text: &str,
        design: &Design,
        progress: &mut dyn FnMut(String) -> bool,
    ) -> Option<Judgement> {
        if !self.checks || !design.world.written {
            return None;
        }
        let mut look = |at: &model_checker::Progress| {
            let (arm, states) = (&at.arm, at.states);
            if !progress(format!("being checked, {arm}: {states} states so far")) {
                // not `panic!`: nothing is wrong. The search has no other way to be stopped from outside.
                std::panic::resume_unwind(Box::new(GivenUp));
            }
        };
        let searched = AssertUnwindSafe(|| model_checker::check(design, &self.options, &mut look));
        match std::panic::catch_unwind(searched) {
            Ok(Ok(report)) => {
                self.verdicts.keep(text, design, &report.word());
                Some(judgement(&report))
            }
            Ok(Err(why)) => {
                let whole = format!("not known: {why}");
                Some(Judgement { whole, ..Judgement::default() })
            }
            Err(thrown) if thrown.is::<GivenUp>() => None,
            Err(thrown) => std::panic::resume_unwind(thrown),
        }
    }
}

/// What a check is unwound with when nobody needs its verdict any more.
struct GivenUp;

fn judgement(report: &Report) -> Judgement {
    Judgement {
        whole: report.word().to_string(),
        goals: report.goals.iter().map(goal).collect(),
        failures: report.failures.iter().map(failure).collect(),
    }
}

fn goal(goal: &GoalVerdict) -> Judged {
    let (said, history) = match &goal.verdict {
        Verdict::Proved => ("proved".to_string(), None),
        Verdict::Holds(bounds) => (format!("holds within {}", bounds.join(", ")), None),
        Verdict::Violated(trace) => {
            let said = format!("violated in {}", steps(trace.steps.len()));
            (said, Some(render::found(&goal.name, trace, Paint::Plain)))
        }
        Verdict::Unknown(why) => (format!("not known: {why}"), None),
    };
    let good = matches!(goal.verdict, Verdict::Proved | Verdict::Holds(_));
    Judged { name: goal.name.clone(), said, good, history }
}

fn failure(failure: &FailureVerdict) -> Judged {
    let (said, history) = match &failure.status {
        FailureStatus::LoadBearing(trace) => {
            let said = format!("{}: {}", failure.claim, steps(trace.steps.len()));
            (said, Some(render::prevented(failure, trace)))
        }
        FailureStatus::Redundant { covered_by } if covered_by.is_empty() => {
            ("redundant: the goal holds without it too".to_string(), None)
        }
        FailureStatus::Redundant { covered_by } => {
            (format!("redundant: covered by {}", covered_by.join(", ")), None)
        }
        FailureStatus::Vacuous { why } => (format!("vacuous: {why}"), None),
        FailureStatus::Unknown { why } => (format!("not known: {why}"), None),
        FailureStatus::Compiler { code } => (format!("refused by the compiler: {code}"), None),
        FailureStatus::Measured => ("measured at run time".to_string(), None),
    };
    Judged { name: failure.title.clone(), said, good: failure.expected(), history }
}

fn steps(count: usize) -> String {
    match count {
        1 => "1 step".to_string(),
        n => format!("{n} steps"),
    }
}
