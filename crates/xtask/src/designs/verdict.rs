//! A verdict as it stands beside a design.

/// What the page says of a design.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Verdict {
    pub compiles: bool,
    pub formatted: bool,
    /// `proved`, `violated`, …; empty when nothing was explored
    pub word: String,
    pub states: Option<u64>,
    /// proved, and all
    pub goals: (usize, usize),
    /// load-bearing, and all that are shown by taking something away
    pub failures: (usize, usize),
    pub unseen: usize,
}

/// Reads what `steadfast check --golden` printed.
pub fn read(text: &str) -> Verdict {
    let mut verdict = Verdict { compiles: true, ..Verdict::default() };
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "formatted" => verdict.formatted = rest == "yes",
            "does" | "not" => verdict.compiles = line != "does not compile",
            "design" => {
                verdict.word = rest.rsplit(": ").next().unwrap_or_default().to_owned();
            }
            "states" => verdict.states = rest.parse().ok(),
            "goal" => {
                verdict.goals.0 += usize::from(rest.ends_with(": proved"));
                verdict.goals.1 += 1;
            }
            "failure" if rest.contains(": without ") => {
                verdict.failures.0 += usize::from(rest.contains(": load-bearing in "));
                verdict.failures.1 += 1;
            }
            "never" => verdict.unseen += 1,
            _ => {}
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read() {
        let text = "formatted yes\ndesign Tickets: proved\nworld seat: 1\nstates 431\n\
            transitions 1046\ngoal one_winner: proved\ngoal in_time: violated in 3 steps\n\
            failure \"oversell\": without hold.free breaks one_winner: load-bearing in 5 steps\n\
            failure \"twice\": without hold.free breaks x: redundant, covered by y\n\
            failure \"lag\": measured by lag above 3: measured, a quantity\n\
            never seen: confirm.yours refuses\n";
        let verdict = read(text);
        assert_eq!(verdict.word, "proved");
        assert_eq!(verdict.states, Some(431));
        assert_eq!((verdict.goals, verdict.failures, verdict.unseen), ((1, 2), (1, 2), 1));
        assert!(verdict.compiles && verdict.formatted);
    }

    #[test]
    fn a_design_that_does_not_compile_has_no_numbers() {
        let verdict = read("formatted no\ndoes not compile\n");
        assert!(!verdict.compiles && !verdict.formatted);
        assert_eq!(verdict.states, None);
    }
}
