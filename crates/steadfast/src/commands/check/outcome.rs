//! What became of one design.

use design::Compiled;
use design::model::{Design, OperationKind};
use model_checker::render::{self, Checked, Paint, Traces};
use model_checker::{LargerOutcome, Options, Report, Word};
use serde_json::{Value, json};

use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::{Loaded, load};
use crate::output::{ERROR as BAD, GOOD, HELP, ODD, Output};
use crate::problem::Problem;
use crate::progress::Meter;
use crate::verdicts::{self, Verdicts};

pub struct Outcome {
    /// what the user typed
    pub word: String,
    read: Result<Read, Problem>,
}

struct Read {
    loaded: Loaded,
    compiled: Compiled,
    explored: Explored,
}

enum Explored {
    Report(Box<Report>),
    /// the small world cannot be laid out
    Cannot(String),
    /// the design has no `check`, so there is no world to explore
    NoWorld,
    /// it does not compile, or was not to be explored
    Not,
}

impl Outcome {
    /// `tell`: print violations as they are found.
    pub fn of(word: &str, options: Option<&Options>, tell: bool, output: &mut Output) -> Outcome {
        let read = load(word).map(|loaded| {
            let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
            let explored = match (&compiled.design, options) {
                (Some(design), Some(options)) => {
                    explore(word, design, options, tell.then_some(output))
                }
                _ => Explored::Not,
            };
            Read { loaded, compiled, explored }
        });
        Outcome { word: word.to_string(), read }
    }

    /// Several designs as one.
    pub fn together(
        words: &[String],
        options: Option<&Options>,
        tell: bool,
        output: &mut Output,
    ) -> Outcome {
        let word = words.join(" ");
        let texts: Result<Vec<Loaded>, Problem> = words.iter().map(|word| load(word)).collect();
        let read = texts.map(|texts| {
            let each: Vec<&str> = texts.iter().map(|loaded| loaded.text.as_str()).collect();
            let (text, compiled) = design::compile_together(&each, &Embedded);
            let explored = match (&compiled.design, options) {
                (Some(design), Some(options)) => {
                    explore(&word, design, options, tell.then_some(output))
                }
                _ => Explored::Not,
            };
            // what is kept is known by all that was read
            let loaded = Loaded { name: word.clone(), text: text + &each.concat(), path: None };
            Read { loaded, compiled, explored }
        });
        Outcome { word, read }
    }

    /// `closed`: what holds within bounds only is not enough.
    pub fn exit(&self, closed: bool) -> Exit {
        let Ok(read) = &self.read else { return Exit::Wrong };
        match &read.explored {
            _ if read.compiled.has_errors() => Exit::Wrong,
            Explored::Report(report) if report.ok() && closed && !report.bounds().is_empty() => {
                Exit::Unknown
            }
            Explored::Report(report) if report.ok() => Exit::Yes,
            Explored::Report(report) if report.unknown() => Exit::Unknown,
            Explored::Report(_) => Exit::No,
            Explored::Cannot(_) => Exit::Wrong,
            Explored::NoWorld => Exit::Unknown,
            Explored::Not => Exit::Yes,
        }
    }

    /// Keeps the verdict on this text, for whoever serves it.
    pub fn keep(&self, verdicts: &Verdicts) {
        let Ok(read) = &self.read else { return };
        let Some(design) = &read.compiled.design else { return };
        let word = match &read.explored {
            Explored::Report(report) => report.word(),
            Explored::Cannot(why) => Word::NotKnown { why: why.clone() },
            Explored::NoWorld | Explored::Not => return,
        };
        verdicts.keep(&read.loaded.text, design, &word);
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
        match &read.explored {
            Explored::Report(report) => Some((read.compiled.design.as_ref()?, report)),
            _ => None,
        }
    }

    /// How many traces there are.
    pub fn traces(&self) -> usize {
        self.report().map_or(0, |(_, report)| render::traces(report).len())
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
            (Explored::Report(report), _) => {
                output.print(&render::text(&self.word, report, which, Paint::Ansi));
                if several {
                    output.print("\n");
                }
                if let (true, Some(design)) = (!report.closed(), &read.compiled.design) {
                    self.budget_ended(design, output);
                }
            }
            (Explored::Cannot(why), _) => {
                let help = "`steadfast check --compile-only` does not explore it";
                Problem::new(format!("`{name}` cannot be explored: {why}")).help(help).show(output);
            }
            (Explored::NoWorld, Some(design)) => {
                output.print(&format!("{name}: {ODD}not explored{ODD:#} ({})\n", contents(design)));
            }
            (_, Some(design)) => {
                output.print(&format!("{name}: {GOOD}compiles{GOOD:#} ({})\n", contents(design)));
            }
            (_, None) => {}
        }
    }

    /// The budget was not enough: what would be.
    fn budget_ended(&self, design: &Design, output: &mut Output) {
        output.tell(&format!(
            "{HELP}help{HELP:#}: raise `--max-states` or `--max-memory`, or make the world of `check` \
             smaller\n"
        ));
        if let Ok(Some(hint)) = model_checker::hint(design, &Options::default()) {
            output.tell(&format!(
                "{HELP}help{HELP:#}: `{}` makes about {:.1} times as many states as one less\n",
                hint.number, hint.factor
            ));
        }
    }

    /// The same goals in worlds that are a little larger.
    pub fn larger(&self, options: &Options, output: &mut Output) {
        let Some((design, report)) = self.report() else { return };
        let mut meter = Meter::new(&self.word);
        let all = model_checker::larger(design, report, options, &mut |at| meter.show(at));
        meter.clear();
        output.print("\n  larger worlds, one number at a time\n");
        let width = all.iter().map(|one| one.world.chars().count()).max().unwrap_or(0);
        for one in &all {
            let said = match &one.outcome {
                LargerOutcome::Same => format!("{GOOD}the same{GOOD:#}"),
                LargerOutcome::NotKnown { goal, why } => {
                    format!("{ODD}not known{ODD:#}: {goal}: {why}")
                }
                LargerOutcome::Violated { goal, steps } => {
                    format!("{BAD}violated{BAD:#}: {goal} in {steps} steps")
                }
                LargerOutcome::Cannot(why) => format!("{ODD}not explored{ODD:#}: {why}"),
            };
            output.print(&format!("    {:<width$}  {said}\n", one.world));
        }
    }

    /// What is kept beside a design of its larger worlds.
    pub fn larger_golden(&self, options: &Options) -> String {
        let mut out = format!("checked {}\nbudget {} states\n", self.mark(), options.max_states);
        let Some((design, report)) = self.report() else {
            return out + "not explored\n";
        };
        let mut meter = Meter::new(&self.word);
        for one in model_checker::larger(design, report, options, &mut |at| meter.show(at)) {
            let said = match one.outcome {
                LargerOutcome::Same => "the same".to_string(),
                LargerOutcome::NotKnown { goal, why } => format!("not known, {goal}, {why}"),
                LargerOutcome::Violated { goal, steps } => {
                    format!("violated, {goal}, in {steps} steps")
                }
                LargerOutcome::Cannot(why) => format!("not explored, {why}"),
            };
            out.push_str(&format!("larger {} | {said}\n", one.world));
        }
        meter.clear();
        out
    }

    pub fn json(&self, closed: bool) -> Value {
        let read = match &self.read {
            Ok(read) => read,
            Err(problem) => {
                return json!({
                    "name": self.word,
                    "exit": self.exit(closed).code(),
                    "problem": problem.message,
                    "help": problem.help,
                });
            }
        };
        let (report, problem) = match &read.explored {
            Explored::Report(report) => (Some(render::json(report)), None),
            Explored::Cannot(why) => (None, Some(why.as_str())),
            Explored::NoWorld => (None, Some("there is no `check`, so nothing was explored")),
            Explored::Not => (None, None),
        };
        json!({
            "name": self.word,
            "file": read.loaded.name,
            "exit": self.exit(closed).code(),
            "compiles": !read.compiled.has_errors(),
            "diagnostics": diagnostics::to_json(&read.compiled.diagnostics, &read.compiled.sources),
            "problem": problem,
            "report": report,
        })
    }

    /// Every history, one after the other.
    pub fn told(&self) -> String {
        match self.read.as_ref().map(|read| &read.explored) {
            Ok(Explored::Report(report)) => render::told(report),
            _ => String::new(),
        }
    }

    /// Every history, and what came of carrying it out on a server.
    pub fn kept_histories(&self) -> String {
        let Ok(read) = &self.read else { return String::new() };
        let (Some(design), Explored::Report(report)) = (&read.compiled.design, &read.explored)
        else {
            return String::new();
        };
        let name = design.name.to_lowercase();
        let kept = steadfast::broken::kept(&name, &read.loaded.text, design, report);
        format!("checked {}\n{kept}", self.mark())
    }

    /// What the verdict on exactly this text, by these rules, is known by.
    pub fn mark(&self) -> String {
        let read = self.read.as_ref().ok();
        let mark = read.and_then(|read| {
            Some(verdicts::mark(&read.loaded.text, read.compiled.design.as_ref()?))
        });
        mark.unwrap_or_else(|| "none".into())
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
            Explored::Report(report) => render::golden(report),
            Explored::Cannot(why) => format!("not explored: {why}\n"),
            Explored::NoWorld => "not explored: there is no `check`\n".to_string(),
            Explored::Not => "does not compile\n".to_string(),
        };
        format!("checked {}\nformatted {formatted}\n{verdict}", self.mark())
    }
}

fn explore(
    word: &str,
    design: &Design,
    options: &Options,
    mut tell: Option<&mut Output>,
) -> Explored {
    if !design.world.written {
        return Explored::NoWorld;
    }
    let mut meter = Meter::new(word);
    let report = model_checker::check(design, options, &mut |progress| match (
        &progress.violated,
        &mut tell,
    ) {
        (Some((goal, trace)), Some(output)) => {
            meter.clear();
            output.print(&format!("{}\n", render::found(goal, trace, Paint::Ansi)));
        }
        (Some(_), None) => {}
        (None, _) => meter.show(progress),
    });
    meter.clear();
    match report {
        Ok(report) => Explored::Report(Box::new(report)),
        Err(error) => Explored::Cannot(error.to_string()),
    }
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
        (design.goals().count(), "goal"),
        (design.failures.len(), "failure"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" }))
        .collect();
    parts.join(", ")
}
