//! What became of one design.

use design::Compiled;
use design::model::{Design, OperationKind};
use model_checker::render::{self, Checked, Paint, Traces};
use model_checker::{Options, Report};
use serde_json::{Value, json};

use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::{Loaded, load};
use crate::output::{GOOD, Output};
use crate::problem::Problem;
use crate::progress::Meter;

pub struct Outcome {
    /// what the user typed
    pub word: String,
    read: Result<Read, Problem>,
}

struct Read {
    loaded: Loaded,
    compiled: Compiled,
    /// none: it does not compile, or was not to be explored
    explored: Option<Result<Report, String>>,
}

impl Outcome {
    pub fn of(word: &str, options: Option<&Options>) -> Outcome {
        let read = load(word).map(|loaded| {
            let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
            let explored = match (&compiled.design, options) {
                (Some(design), Some(options)) => Some(explore(word, design, options)),
                _ => None,
            };
            Read { loaded, compiled, explored }
        });
        Outcome { word: word.to_string(), read }
    }

    pub fn exit(&self) -> Exit {
        match &self.read {
            Ok(read) if read.compiled.has_errors() => Exit::Wrong,
            Ok(Read { explored: Some(Ok(report)), .. }) if report.ok() => Exit::Yes,
            Ok(Read { explored: Some(Ok(report)), .. }) if report.unknown() => Exit::Unknown,
            Ok(Read { explored: Some(Ok(_)), .. }) => Exit::No,
            Ok(Read { explored: None, .. }) => Exit::Yes,
            Ok(Read { explored: Some(Err(_)), .. }) | Err(_) => Exit::Wrong,
        }
    }

    /// How the design is called: by its file's name, without folder and ending.
    pub fn name(&self) -> String {
        let name = self.read.as_ref().map_or(self.word.as_str(), |read| &read.loaded.name);
        let file = name.rsplit(std::path::is_separator).next().unwrap_or(name);
        file.strip_suffix(".design").unwrap_or(file).to_string()
    }

    /// What was explored, with its design.
    pub fn report(&self) -> Option<(&Design, &Report)> {
        let read = self.read.as_ref().ok()?;
        let report = read.explored.as_ref()?.as_ref().ok()?;
        Some((read.compiled.design.as_ref()?, report))
    }

    pub fn checked(&self) -> Option<Checked<'_>> {
        let (design, report) = self.report()?;
        Some(Checked { name: &self.word, title: &design.title, report })
    }

    pub fn show(&self, output: &mut Output, which: Traces, several: bool) {
        let read = match &self.read {
            Ok(read) => read,
            Err(problem) => {
                problem.show(output);
                return;
            }
        };
        let name = &read.loaded.name;
        diagnostics::tell(output, name, &read.compiled.diagnostics, &read.compiled.sources);
        match (&read.explored, &read.compiled.design) {
            (Some(Ok(report)), _) => {
                output.print(&render::text(&self.word, report, which, Paint::Ansi));
                if several {
                    output.print("\n");
                }
            }
            (Some(Err(why)), _) => {
                let help = "`steadfast check --compile-only` does not explore it";
                Problem::new(format!("`{name}` cannot be explored: {why}")).help(help).show(output);
            }
            (None, Some(design)) => {
                output.print(&format!("{name}: {GOOD}compiles{GOOD:#} ({})\n", contents(design)));
            }
            (None, None) => {}
        }
    }

    pub fn json(&self) -> Value {
        let read = match &self.read {
            Ok(read) => read,
            Err(problem) => {
                return json!({
                    "name": self.word,
                    "exit": self.exit().code(),
                    "problem": problem.message,
                    "help": problem.help,
                });
            }
        };
        let (report, problem) = match &read.explored {
            Some(Ok(report)) => (Some(render::json(report)), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        json!({
            "name": self.word,
            "file": read.loaded.name,
            "exit": self.exit().code(),
            "compiles": !read.compiled.has_errors(),
            "diagnostics": diagnostics::to_json(&read.compiled.diagnostics, &read.compiled.sources),
            "problem": problem,
            "report": report,
        })
    }

    /// What is kept beside a design.
    pub fn golden(&self) -> String {
        let read = match &self.read {
            Ok(read) => read,
            Err(problem) => return format!("not read: {}\n", problem.message),
        };
        let formatted = syntax::format(&read.loaded.text).text == read.loaded.text;
        let formatted = if formatted { "yes" } else { "no" };
        let verdict = match &read.explored {
            Some(Ok(report)) => render::golden(report),
            Some(Err(why)) => format!("not explored: {why}\n"),
            None => "does not compile\n".to_string(),
        };
        format!("formatted {formatted}\n{verdict}")
    }
}

fn explore(word: &str, design: &Design, options: &Options) -> Result<Report, String> {
    let mut meter = Meter::new(word);
    let report = model_checker::check(design, options, &mut |progress| meter.show(progress));
    meter.clear();
    report.map_err(|error| error.to_string())
}

/// `2 subjects, 3 steps, 1 repair`
fn contents(design: &Design) -> String {
    let count = |wanted: fn(&OperationKind) -> bool| {
        design.operations.iter().filter(|operation| wanted(&operation.kind)).count()
    };
    let parts = [
        (design.subjects.len(), "subject"),
        (count(|kind| matches!(kind, OperationKind::Step { .. })), "step"),
        (count(|kind| matches!(kind, OperationKind::Repair { .. })), "repair"),
        (count(|kind| matches!(kind, OperationKind::Effect(_))), "effect"),
        (design.invariants.len() + design.recoveries.len(), "goal"),
        (design.failures.len(), "failure"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }))
        .collect();
    parts.join(", ")
}
