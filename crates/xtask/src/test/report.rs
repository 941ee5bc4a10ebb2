//! What the test command says at its end.

use std::time::Duration;

use super::{Outcome, Ran};
use crate::table::Table;

pub fn table(ran: &[Ran]) -> String {
    let mut table = Table::new(&["stage", "seconds", "result"]);
    for stage in ran {
        let result = match &stage.outcome {
            Outcome::Passed => "passed".to_owned(),
            Outcome::PassedExcept(note) => format!("passed, but {note}"),
            Outcome::Failed => "FAILED".to_owned(),
        };
        table.row([stage.name.to_owned(), seconds(stage.took), result]);
    }
    table.to_string()
}

pub fn closing_line(ran: &[Ran], planned: usize) -> String {
    let took = seconds(ran.iter().map(|stage| stage.took).sum());
    if let Some(failed) = ran.iter().find(|stage| stage.outcome == Outcome::Failed) {
        return format!(
            "error: the stage `{}` failed after {took} s; {} of {planned} stages were not run",
            failed.name,
            planned - ran.len()
        );
    }
    let notes: Vec<&str> = ran
        .iter()
        .filter_map(|stage| match &stage.outcome {
            Outcome::PassedExcept(note) => Some(note.as_str()),
            _ => None,
        })
        .collect();
    let except = match notes.as_slice() {
        [] => String::new(),
        notes => format!("; {}", notes.join("; ")),
    };
    format!("all {planned} stages passed in {took} s{except}")
}

fn seconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(name: &'static str, outcome: Outcome) -> Ran {
        Ran { name, outcome, took: Duration::from_millis(1250) }
    }

    #[test]
    fn a_failure_is_named_with_what_was_not_run() {
        let stages = [ran("format", Outcome::Passed), ran("clippy", Outcome::Failed)];
        assert_eq!(
            closing_line(&stages, 5),
            "error: the stage `clippy` failed after 2.5 s; 3 of 5 stages were not run"
        );
        assert!(table(&stages).contains("FAILED"));
    }

    #[test]
    fn what_was_not_looked_at_is_said_in_the_table_and_in_the_closing_line() {
        let note = "advisories were NOT CHECKED".to_owned();
        let stages = [ran("tests", Outcome::Passed), ran("deny", Outcome::PassedExcept(note))];
        assert_eq!(
            closing_line(&stages, 2),
            "all 2 stages passed in 2.5 s; advisories were NOT CHECKED"
        );
        assert!(table(&stages).contains("passed, but advisories were NOT CHECKED"));
    }

    #[test]
    fn plain_success_says_so() {
        assert_eq!(
            closing_line(&[ran("tests", Outcome::Passed)], 1),
            "all 1 stages passed in 1.2 s"
        );
    }
}
