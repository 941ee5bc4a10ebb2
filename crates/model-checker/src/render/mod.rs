//! A report for people and for programs: pure functions from what was found to text.
//!
//! - [`text`]: the verdict and its traces in a terminal; [`told`]: the traces alone
//! - [`html`]: one page that stands on its own, with swim lanes; [`part`]: the same for another's page
//! - [`history`]: one history, for another's page
//! - [`json`]: for a script, and stable
//! - [`golden`]: what is kept beside a design, and changes only with the verdict
//! - [`replay`]: a shell script that makes a trace's calls on a live server

mod golden;
mod json;
mod kept;
mod lanes;
mod page;
mod page_trace;
mod paint;
mod replay;
mod replay_end;
mod replay_value;
mod sentence;
mod state;
mod svg;
mod text;
mod text_trace;
mod words;

#[cfg(test)]
mod fixture;

pub use golden::golden;
pub use json::json;
pub use kept::{Kept, histories, read_kept, write_kept};
pub use page::{Checked, STYLE, history, html, part};
pub use page_trace::broken_at;
pub use paint::Paint;
pub use replay::replay;
pub use text::{Traces, found, prevented, text, told};

use crate::{FailureStatus, Report, Trace, Verdict};

/// One history of a report and what it shows.
pub struct Shown<'a> {
    /// a goal's name, or a failure's title
    pub title: &'a str,
    /// `without claim.free breaks no_steal`; none: a goal is violated as written
    pub claim: Option<&'a str>,
    pub trace: &'a Trace,
}

/// Every history of a report: what is broken first, then what load-bearing protections prevent.
pub fn traces(report: &Report) -> Vec<Shown<'_>> {
    let broken = report.goals.iter().filter_map(|goal| match &goal.verdict {
        Verdict::Violated(trace) => Some(Shown { title: &goal.name, claim: None, trace }),
        Verdict::Proved | Verdict::Holds(_) | Verdict::Unknown(_) => None,
    });
    let prevented = report.failures.iter().filter_map(|failure| match &failure.status {
        FailureStatus::LoadBearing(trace) => {
            Some(Shown { title: &failure.title, claim: Some(&failure.claim), trace })
        }
        _ => None,
    });
    broken.chain(prevented).collect()
}
