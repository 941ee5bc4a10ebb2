//! What is kept beside a design: plain lines that change only when the verdict does.

use std::fmt::Write as _;

use super::words::{clean, free, place, said, slice, status, used, verdict, worlds};
use crate::{FailureStatus, Report};

/// No timings, and no sizes of explorations that end at the first find: those may differ from run
/// to run.
pub fn golden(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "design {}: {}", clean(&report.design), verdict(report));
    for line in used(report) {
        let _ = writeln!(out, "uses {}", clean(&line));
    }
    for told in worlds(report) {
        if let Some(name) = told.name {
            let _ = writeln!(out, "in {} for {}", clean(name), clean(&told.goals.join(", ")));
        }
        let world = told.world;
        for (name, list) in [
            ("world", &world.bounds),
            ("faults", &world.faults),
            ("time", &world.time),
            ("with", &world.settings),
            ("symmetry", &world.symmetry),
            ("ranked", &world.normalised),
            ("cut", &world.cut),
            ("note", &world.notes),
        ] {
            if !list.is_empty() {
                let list: Vec<String> = list.iter().map(|text| clean(text)).collect();
                let _ = writeln!(out, "{name} {}", list.join("; "));
            }
        }
        let base = told.base;
        let _ = writeln!(out, "states {}", base.states);
        let _ = writeln!(out, "transitions {}", base.transitions);
        let _ = writeln!(out, "depth {}", base.depth);
    }
    for goal in &report.goals {
        let (word, more) = said(&goal.verdict);
        let name = match place(report, goal.goal) {
            Some(place) => format!("{} {place}", goal.name),
            None => goal.name.clone(),
        };
        let line = format!("goal {}: {word} {}", clean(&name), clean(&more));
        let explored = slice(goal).map_or_else(String::new, |told| format!("; {}", clean(&told)));
        let _ = writeln!(out, "{}{explored}", line.trim_end());
    }
    for failure in &report.failures {
        let (word, more) = status(failure);
        let said = match &failure.status {
            FailureStatus::LoadBearing(_) => format!("{word} in {more}"),
            _ => format!("{word}, {more}"),
        };
        let _ = writeln!(
            out,
            "failure \"{}\": {}: {}",
            clean(&failure.title),
            clean(&failure.claim),
            clean(&said)
        );
    }
    for what in &report.unwitnessed {
        let _ = writeln!(out, "never seen: {}", clean(what));
    }
    for clause in &report.free {
        let _ = writeln!(out, "free clause: {}", clean(&free(clause)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn the_golden_text_has_no_timings() {
        let mut report = fixture::report();
        let text = golden(&report);
        assert_eq!(
            text,
            "\
design Tickets: violated
world seat: 1; booking: 2; buyer: 2; ttl: 2 ticks
faults crash; lost_reply (at most 1)
states 1234
transitions 5678
depth 9
goal one_winner: violated in 4 steps
goal released: proved; 1,204 states of Seat, buyer
failure \"oversell\": without hold.free breaks one_winner: load-bearing in 4 steps
failure \"confirm twice\": without confirm.open breaks one_winner: redundant, covered by confirm.open
failure \"lag\": measured by lag above 3: measured, a quantity, watched at run time
never seen: confirm.yours refuses
"
        );
        report.base.seconds = 99.0;
        report.base.bytes = 1;
        assert_eq!(golden(&report), text);
    }
}
