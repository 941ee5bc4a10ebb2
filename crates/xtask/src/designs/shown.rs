//! `designs/SHOWN.md`: the failures of the catalog that were carried out on a server.

use std::fmt::Write as _;

use serde_json::Value;

/// A history that stands beside a design, and what came of carrying it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub title: String,
    /// `without claim.free breaks no_steal`
    pub claim: String,
    /// `shown: the goal breaks; with it refused by …`, or `not carried out: …`
    pub result: String,
}

impl Carried {
    pub fn is_shown(&self) -> bool {
        self.result.starts_with("shown: ")
    }
}

const HEAD: &str = "\
# Failures, carried out

Each failure of the catalog, made to happen: the guard, repair or key that prevents it is taken out of
the design, the design is served, and the history that the checker found is carried out with calls over
HTTP, under a clock that is set by hand. What is stored is compared with the checker's state after each
step, and the goal is judged on the server's own feed. Then the same is tried on the design as it is
written. `steadfast break DESIGN FAILURE` shows one of them step by step.

- **shown**: the goal broke, in what the server had stored. `the state is reached` instead: the server is
  in the very state in which the goal is broken for the checker, and the goal speaks of records that nobody has
  written yet, or of what no feed has.
- **faults**: what the test brought about besides calls, repairs, effects and time: answers that nobody
  hears, callers that crash, messages that are lost or come twice.
- **with it**: what stood in the way on the design as it is written.

This page is written by `cargo xtask designs`; the tests carry all of it out again.

";

/// Reads what stands beside a design.
pub fn read(text: &str) -> Vec<Carried> {
    let mut lines = text.lines().skip(1);
    let mut all = Vec::new();
    while let (Some(history), Some(result)) = (lines.next(), lines.next()) {
        let Ok(history) = serde_json::from_str::<Value>(history) else { continue };
        let field = |name: &str| history[name].as_str().unwrap_or_default().to_owned();
        let (title, claim) = (field("title"), field("claim"));
        all.push(Carried { title, claim, result: result.to_owned() });
    }
    all
}

/// One table for each design that has failures.
pub fn page(designs: &[(String, Vec<Carried>)]) -> String {
    let mut out = String::from(HEAD);
    let all = || designs.iter().flat_map(|(_, carried)| carried);
    let shown = all().filter(|carried| carried.is_shown()).count();
    let faults = all().filter(|carried| parts(&carried.result).1.is_some()).count();
    let _ = writeln!(
        out,
        "{shown} of {} histories were carried out, {faults} of them with faults.",
        all().count()
    );
    for (id, carried) in designs.iter().filter(|(_, carried)| !carried.is_empty()) {
        let _ = write!(
            out,
            "\n## {id}\n\n| failure | what is taken away | shown | faults | with it |\n| --- | --- | --- | --- | --- |\n"
        );
        for one in carried {
            let (shown, faults, with) = parts(&one.result);
            let _ = writeln!(
                out,
                "| {} | {} | {shown} | {} | {with} |",
                one.title,
                one.claim,
                faults.unwrap_or_default()
            );
        }
    }
    out
}

/// What was shown, with which faults, and what stood in the way.
fn parts(result: &str) -> (&str, Option<&str>, &str) {
    let Some(said) = result.strip_prefix("shown: ") else { return (result, None, "") };
    let (shown, with) = said.split_once("; with it ").unwrap_or((said, ""));
    match shown.split_once(" (") {
        Some((shown, faults)) => (shown, Some(faults.trim_end_matches(')')), with),
        None => (shown, None, with),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_told_from_its_faults_and_from_what_was_not() {
        let text = "checked 1\n{\"title\":\"lost\",\"claim\":\"without a.b breaks c\",\"steps\":[]}\n\
                    shown: the goal breaks (an answer is lost); with it refused by `b`\n\
                    {\"title\":\"two\",\"claim\":\"without x\",\"steps\":[]}\nnot carried out: no\n";
        let read = read(text);
        assert_eq!(read.len(), 2);
        assert!(read[0].is_shown() && !read[1].is_shown());
        let parts = parts(&read[0].result);
        assert_eq!(parts, ("the goal breaks", Some("an answer is lost"), "refused by `b`"));
        let page = page(&[("A01".into(), read)]);
        assert!(
            page.contains("1 of 2 histories were carried out, 1 of them with faults."),
            "{page}"
        );
        assert!(page.contains("| two | without x | not carried out: no |  |  |"), "{page}");
    }
}
