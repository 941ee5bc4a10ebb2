//! `designs/LARGER.md`: what becomes of the goals when one number of a world is one larger.
//!
//! Beside each design stands what was found (`NAME.larger`). It is made by
//! `cargo xtask designs --larger`, which takes a quarter of an hour, so the tests do not make it
//! again: they hold that it is of exactly the text, and of the rules, that the verdict beside the
//! design is of.

use std::fmt::Write as _;

/// States of one search.
pub const STATES_MAX: u64 = 50_000;

/// A design with so many numbers that it would take longer than all others together, and the states it has instead.
const SMALLER: &[(&str, u64)] = &[("drive", 3_000)];

/// The states of each search of a design.
pub fn budget(id: &str) -> u64 {
    SMALLER.iter().find(|(smaller, _)| *smaller == id).map_or(STATES_MAX, |(_, states)| *states)
}

/// What the page says of a design.
pub struct Design {
    /// `designs/infra/I01.design`
    pub path: String,
    /// what stands beside it
    pub beside: String,
}

const HEAD: &str = "\
# Larger worlds

`check --larger` raises each number of a design's world by one, in turn, and checks the goals again.
This page says what that comes to for each design of the catalog: **the same**, every goal holds as it
does in the world that the design gives; **not known**, the budget ended before every state was
seen, and nothing broke among those that were; **violated**, a goal breaks in the larger world. A
violation stands here until the design is mended.
";

pub fn page(designs: &[Design]) -> String {
    let mut out = String::from(HEAD);
    let _ = write!(
        out,
        "\nEach search has a budget of {STATES_MAX} states, so that the whole run takes about a quarter of \
         an hour on one\ncore. It is written by `cargo xtask designs --larger`, and the tests fail when \
         it is of another text or of\nanother checker than the verdicts beside the designs.\n"
    );
    for (id, states) in SMALLER {
        if designs.iter().any(|design| super::id(&design.path) == *id) {
            let _ = writeln!(
                out,
                "`{id}` has so many numbers that its searches have {states} states each."
            );
        }
    }
    let all: Vec<(&Design, Vec<Raised>)> =
        designs.iter().map(|design| (design, read(&design.beside))).collect();
    let count = |wanted: &str| {
        let rows = all.iter().flat_map(|(_, rows)| rows);
        rows.filter(|row| row.outcome.starts_with(wanted)).count()
    };
    let _ = write!(
        out,
        "\nOf {} larger worlds {} are the same, {} not known, {} violated.\n\n\
         | design | number raised | outcome |\n| --- | --- | --- |\n",
        all.iter().map(|(_, rows)| rows.len()).sum::<usize>(),
        count("the same"),
        count("not known"),
        count("violated"),
    );
    for (design, rows) in &all {
        let link = design.path.strip_prefix("designs/").unwrap_or(&design.path);
        for row in rows {
            let name = super::id(&design.path);
            let _ = writeln!(out, "| [{name}]({link}) | `{}` | {} |", row.number, row.shown());
        }
        if rows.is_empty() {
            let _ = writeln!(out, "| [{}]({link}) | - | not explored |", super::id(&design.path));
        }
    }
    out
}

/// One number that was raised.
#[derive(Debug, PartialEq, Eq)]
struct Raised {
    /// `member: 4`
    number: String,
    /// `violated, one_winner, in 5 steps`
    outcome: String,
}

impl Raised {
    fn shown(&self) -> String {
        let parts: Vec<&str> = self.outcome.splitn(3, ", ").collect();
        match parts[..] {
            ["violated", goal, steps] => format!("**violated** `{goal}` {steps}"),
            // that the budget ended goes without saying
            ["not known", _, why] if why.starts_with("more ") => "not known".to_owned(),
            ["not known", goal, why] => format!("not known: `{goal}`, {why}"),
            _ => self.outcome.clone(),
        }
    }
}

/// Reads what `steadfast check --larger --golden` printed.
fn read(text: &str) -> Vec<Raised> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("larger "));
    lines
        .filter_map(|line| line.split_once(" | "))
        .map(|(number, outcome)| Raised { number: number.into(), outcome: outcome.into() })
        .collect()
}

/// What is wrong with what stands beside a design, given the verdict that stands there too.
#[cfg(test)]
pub fn problem(id: &str, beside: &str, verdict: &str) -> Option<&'static str> {
    let line = |text: &str, word: &str| {
        text.lines().find_map(|line| line.strip_prefix(word).map(str::to_owned))
    };
    let budget = format!("{} states", budget(id));
    match (line(beside, "checked "), line(verdict, "checked ")) {
        (None, _) => Some("it is not there"),
        (one, other) if one != other => Some("it is of another text, or by other rules"),
        _ if line(beside, "budget ") != Some(budget) => Some("it has another budget"),
        _ if read(beside).is_empty() => Some("nothing was explored"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(lines: &str) -> String {
        format!("checked abc\nbudget {STATES_MAX} states\n{lines}")
    }

    #[test]
    fn each_number_has_a_row() {
        let text = beside(
            "larger member: 4 | not known, a, more states than the budget allows\n\
             larger x.n: 0..3 | violated, one_winner, in 5 steps\nlarger crash 2 | the same\n\
             larger log: 4 | not known, b, expire goes beyond log: 4 entries while `b` does not hold\n",
        );
        let page = page(&[Design { path: "designs/infra/I01.design".into(), beside: text }]);
        let rows = "| [I01](infra/I01.design) | `member: 4` | not known |\n\
            | [I01](infra/I01.design) | `x.n: 0..3` | **violated** `one_winner` in 5 steps |\n\
            | [I01](infra/I01.design) | `crash 2` | the same |\n\
            | [I01](infra/I01.design) | `log: 4` | not known: `b`, expire goes beyond log: 4 entries while `b` does not hold |\n";
        assert!(page.ends_with(rows), "{page}");
        assert!(page.contains("Of 4 larger worlds 1 are the same, 2 not known, 1 violated."));
    }

    #[test]
    fn what_is_of_another_text_or_checker_or_budget_is_noticed() {
        let fine = beside("larger crash 2 | the same\n");
        assert_eq!(problem("I01", &fine, "checked abc\nformatted yes\n"), None);
        let other = Some("it is of another text, or by other rules");
        assert_eq!(problem("I01", &fine, "checked abd\nformatted yes\n"), other);
        assert_eq!(problem("I01", "", "checked abc\n"), Some("it is not there"));
        assert_eq!(problem("I01", &beside(""), "checked abc\n"), Some("nothing was explored"));
        let small = fine.replace(&format!("budget {STATES_MAX}"), "budget 10");
        assert_eq!(problem("I01", &small, "checked abc\n"), Some("it has another budget"));
        assert_eq!(problem("drive", &fine, "checked abc\n"), Some("it has another budget"));
        let fewer = fine.replace(&format!("budget {STATES_MAX}"), "budget 3000");
        assert_eq!(problem("drive", &fewer, "checked abc\n"), None);
    }
}
