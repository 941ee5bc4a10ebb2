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
    /// those that hold within bounds
    pub holding: usize,
    /// failures that say their guard once more
    pub restating: usize,
    /// clauses that no goal needs
    pub free: usize,
    /// load-bearing, and all that are shown by taking something away
    pub failures: (usize, usize),
    /// every failure, in whichever way it is shown
    pub shown: Vec<Failure>,
    pub unseen: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub title: String,
    /// `load-bearing in 5 steps`, `measured, a quantity, watched at run time`
    pub status: String,
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
                // what was explored for it comes after a semicolon
                let word = rest.split_once("; ").map_or(rest, |(word, _)| word);
                verdict.goals.0 += usize::from(word.ends_with(": proved"));
                verdict.holding += usize::from(rest.contains(": holds within "));
                verdict.goals.1 += 1;
            }
            "failure" => {
                let failure = failure(rest);
                if rest.contains("\": without ") {
                    verdict.failures.0 +=
                        usize::from(failure.status.starts_with("load-bearing in "));
                    verdict.failures.1 += 1;
                }
                verdict.restating += usize::from(failure.status.ends_with("restates its guard"));
                verdict.shown.push(failure);
            }
            "free" => verdict.free += usize::from(!rest.contains("(not known: ")),
            "never" => {
                verdict.unseen.push(rest.strip_prefix("seen: ").unwrap_or(rest).to_owned());
            }
            _ => {}
        }
    }
    verdict
}

/// `"title": claim: status`. A title has no quote in it, and a status no colon after a blank.
fn failure(text: &str) -> Failure {
    let title = text.split('"').nth(1).unwrap_or_default().to_owned();
    let words =
        ["load-bearing in ", "redundant, ", "vacuous, ", "not known, ", "refused, ", "measured, "];
    let begins = words.iter().filter_map(|word| text.find(&format!(": {word}"))).min();
    Failure { title, status: begins.map(|at| text[at + 2..].to_owned()).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read() {
        let text = "formatted yes\ndesign Tickets: proved\nworld seat: 1\nstates 431\n\
            transitions 1046\ngoal one_winner: proved; 12 states\ngoal in_time: violated in 3 steps\n\
            failure \"oversell\": without hold.free breaks one_winner: load-bearing in 5 steps\n\
            failure \"twice\": without hold.free breaks x: redundant, covered by y\n\
            failure \"lag\": measured by lag above 3: measured, a quantity\n\
            never seen: confirm.yours refuses\n";
        let verdict = read(text);
        assert_eq!(verdict.word, "proved");
        assert_eq!(verdict.states, Some(431));
        assert_eq!((verdict.goals, verdict.failures), ((1, 2), (1, 2)));
        assert_eq!(verdict.unseen, ["confirm.yours refuses"]);
        assert_eq!(verdict.shown.len(), 3);
        assert_eq!(verdict.shown[1].title, "twice");
        assert_eq!(verdict.shown[1].status, "redundant, covered by y");
        assert_eq!(verdict.shown[2].status, "measured, a quantity");
        assert!(verdict.compiles && verdict.formatted);
    }

    #[test]
    fn a_design_that_does_not_compile_has_no_numbers() {
        let verdict = read("formatted no\ndoes not compile\n");
        assert!(!verdict.compiles && !verdict.formatted);
        assert_eq!(verdict.states, None);
    }
}
