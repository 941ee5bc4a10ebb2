//! `steadfast test DESIGN…`

use clap::Args;
use design::{Compiled, Sources};
use rehearsal::{Coverage, Failure, Report, Told, rehearse};
use serde_json::{Value, json};

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::{Loaded, load};
use crate::output::{ERROR, GOOD, ODD, Output, STRONG};
use crate::problem::Problem;

/// Run the tests that are written in a design
///
/// A design may hold examples: who calls what, what comes of it, how time passes. Each test runs on an
/// empty store in memory, with a clock of its own, through the same engine that serves the design: repairs
/// fire when they are due, and the world outside answers what the test says. It ends at the first line
/// that comes to something else. What no test made happen is listed.
///
/// Exits with 0 if every test passes, 1 if one fails, and 2 if a design does not compile or has no tests.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast test shop.design
  steadfast test shop.design --only 'two buyers'
  steadfast test *.design --json

See docs/language/tests.md for how tests are written.")]
pub struct Test {
    /// Paths, or names of designs in the catalog
    #[arg(value_name = "DESIGN", required = true)]
    designs: Vec<String>,
    /// Only tests whose names contain this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Fail unless every step, repair, clause and answer happens in some test
    #[arg(long, conflicts_with = "only")]
    covered: bool,
    #[arg(long)]
    json: bool,
}

impl Test {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut exit = Exit::Yes;
        let mut told = Vec::new();
        for word in &self.designs {
            let loaded = load(word)?;
            let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
            diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
            if compiled.design.is_none() {
                exit = exit.max(Exit::Wrong);
                continue;
            }
            let report = self.report(&loaded, &compiled)?;
            if report.failed() > 0 {
                exit = exit.max(Exit::No);
            }
            if self.covered && report.coverage.operations.iter().any(rehearsal::Covered::lacks) {
                exit = exit.max(Exit::No);
            }
            match self.json {
                true => told.push(as_json(&loaded.name, &report, &compiled.sources)),
                false => output.print(&as_text(&loaded.name, &report, &compiled.sources)),
            }
        }
        if self.json {
            let all = json!({ "format": "steadfast-test/1", "designs": told });
            output.print(&format!("{all:#}\n"));
        }
        Ok(exit)
    }

    fn report(&self, loaded: &Loaded, compiled: &Compiled) -> Result<Report, Problem> {
        let Some(design) = &compiled.design else { return Ok(Report::default()) };
        if compiled.tests.is_empty() {
            let message = format!("`{}` has no tests", loaded.name);
            return Err(Problem::new(message).help(
                "write one into the design: `test \"a first one\" { ACTOR PRINCIPAL: STEP(…) ok }`",
            ));
        }
        let mut tests = compiled.tests.clone();
        if let Some(only) = &self.only {
            tests.retain(|test| test.title.contains(only.as_str()));
            if tests.is_empty() {
                let titles: Vec<&str> =
                    compiled.tests.iter().map(|test| test.title.as_str()).collect();
                let message = format!("no test of `{}` is called `{only}`", loaded.name);
                return Err(Problem::new(message).help(format!("there are: {}", titles.join("; "))));
            }
        }
        rehearse(design, &tests)
            .map_err(|why| Problem::new(format!("`{}` cannot be run: {why}", loaded.name)))
    }
}

fn as_text(name: &str, report: &Report, sources: &Sources) -> String {
    let mut text = format!("{STRONG}{name}{STRONG:#}\n");
    for told in &report.tests {
        match &told.failure {
            None => text.push_str(&format!("  {GOOD}ok{GOOD:#}      {}\n", told.title)),
            Some(failure) => text.push_str(&failed(told, failure, sources)),
        }
    }
    let (all, failed) = (report.tests.len(), report.failed());
    let count = if all == 1 { "1 test".to_string() } else { format!("{all} tests") };
    text.push_str(&match failed {
        0 => format!("{count} passed\n"),
        _ => format!("{count}, {ERROR}{failed} failed{ERROR:#}\n"),
    });
    text.push_str(&coverage(&report.coverage));
    text
}

fn failed(told: &Told, failure: &Failure, sources: &Sources) -> String {
    let at = sources.origin(failure.span);
    let (position, line) = (sources.position(at), sources.text(at));
    let file = sources.get(at.file).map_or("", |source| source.name.as_str());
    let mut text = format!("  {ERROR}failed{ERROR:#}  {}\n", told.title);
    text.push_str(&format!("    {file}:{}: {}\n", position.line, first_line(line)));
    text.push_str(&format!("      expected: {}\n", failure.expected));
    text.push_str(&format!("      happened: {}\n", failure.happened));
    for seen in &failure.seen {
        let key: Vec<String> = seen.key.iter().map(plain).collect();
        let truth = match seen.truth.is_null() {
            true => "there is none".to_string(),
            false => truth(&seen.truth),
        };
        text.push_str(&format!("      truth: {}({}) {truth}\n", seen.subject, key.join(", ")));
    }
    for what in &failure.meanwhile {
        text.push_str(&format!("      in this line by itself: {what}\n"));
    }
    if failure.after_ms > 0 {
        let passed = design::model::duration_text(failure.after_ms);
        text.push_str(&format!("      the test had been going on for {passed}\n"));
    }
    text
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_end();
    if lines.next().is_some() { format!("{first} …") } else { first.to_string() }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `SeatState.status HELD, SeatHoldState.expires_at 2023-…`
fn truth(truth: &Value) -> String {
    let mut parts = Vec::new();
    for (state, attributes) in truth.as_object().into_iter().flatten() {
        for (name, value) in attributes.as_object().into_iter().flatten() {
            parts.push(format!("{state}.{name} = {}", plain(value)));
        }
    }
    parts.join(", ")
}

fn coverage(coverage: &Coverage) -> String {
    let (happened, all) = coverage.counted();
    let mut text = format!("{happened} of {all} steps, repairs, clauses and answers happened\n");
    for covered in &coverage.operations {
        let lacking = |parts: &[(String, bool)]| -> Vec<String> {
            let parts = parts.iter().filter(|(_, happened)| !happened);
            parts.map(|(name, _)| format!("`{name}`")).collect()
        };
        let mut told = Vec::new();
        if covered.done == 0 {
            told.push("never done".to_string());
        }
        let (clauses, answers) = (lacking(&covered.clauses), lacking(&covered.answers));
        if !clauses.is_empty() {
            told.push(format!("never refused by {}", clauses.join(", ")));
        }
        if !answers.is_empty() {
            told.push(format!("never answered {}", answers.join(", ")));
        }
        if !told.is_empty() {
            let (kind, name) = (covered.kind, &covered.operation);
            text.push_str(&format!("  {ODD}{kind} {name}{ODD:#}: {}\n", told.join("; ")));
        }
    }
    text
}

fn as_json(name: &str, report: &Report, sources: &Sources) -> Value {
    let tests: Vec<Value> = report
        .tests
        .iter()
        .map(|told| {
            let failure = told.failure.as_ref().map(|failure| {
                let at = sources.origin(failure.span);
                let position = sources.position(at);
                let seen: Vec<Value> = failure
                    .seen
                    .iter()
                    .map(|seen| {
                        json!({ "subject": seen.subject, "key": seen.key, "truth": seen.truth })
                    })
                    .collect();
                json!({
                    "file": sources.get(at.file).map(|source| source.name.clone()),
                    "line": position.line,
                    "column": position.column,
                    "text": sources.text(at),
                    "expected": failure.expected,
                    "happened": failure.happened,
                    "truth": seen,
                    "meanwhile": failure.meanwhile,
                    "after_ms": failure.after_ms,
                })
            });
            json!({
                "name": told.title,
                "passed": told.failure.is_none(),
                "lines": told.lines,
                "failure": failure,
            })
        })
        .collect();
    let (happened, all) = report.coverage.counted();
    let parts = |parts: &[(String, bool)], called: &str| -> Vec<Value> {
        parts.iter().map(|(name, it)| json!({ "name": name, called: it })).collect()
    };
    let operations: Vec<Value> = report
        .coverage
        .operations
        .iter()
        .map(|covered| {
            json!({
                "operation": covered.operation,
                "kind": covered.kind,
                "done": covered.done,
                "clauses": parts(&covered.clauses, "refused"),
                "answers": parts(&covered.answers, "given"),
            })
        })
        .collect();
    json!({
        "design": name,
        "passed": report.failed() == 0,
        "tests": tests,
        "coverage": { "happened": happened, "of": all, "operations": operations },
    })
}
