//! `steadfast check`

mod files;
mod outcome;

use std::path::PathBuf;

use clap::Args;
use model_checker::Options;
use model_checker::render::{Checked, Traces};
use serde_json::{Value, json};

use super::Answer;
use crate::exit::Exit;
use crate::heap;
use crate::output::Output;
use crate::size;
use crate::verdicts::VerdictOptions;
use outcome::Outcome;

pub use files::write as write_file;

/// States of one search, if nothing else is said: about a minute.
const STATES_MAX: usize = 4_000_000;

/// Compile designs, then explore them
///
/// Every order of steps, faults and ticks in the small world of `check { … }` is tried: invariants,
/// recovery, each failure both as written and with its protection taken away, and whether everything
/// the protocols name is ever seen. Prints the verdict, what was explored, and the shortest trace of
/// anything broken. The verdict on each text is kept, and `serve` and `replace` know it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast check tickets
  steadfast check shop.design --traces
  steadfast check shop.design --report shop.html --replay replays/
  steadfast check shop.design --larger
  steadfast check tickets.design billing.design --together
  steadfast check shop.design --max-states 20000000 --max-memory 8GB")]
pub struct Check {
    /// Paths, or names of designs in the catalog
    #[arg(required = true, value_name = "DESIGN")]
    designs: Vec<String>,
    /// Explore the designs as one system, in which each hears the events that the others emit
    #[arg(long, conflicts_with_all = ["replay", "golden", "mark"])]
    together: bool,
    /// Only compile; explore nothing
    #[arg(long)]
    compile_only: bool,
    /// Also print the histories that load-bearing guards and repairs prevent
    #[arg(long)]
    traces: bool,
    /// Write a page with the verdict and every trace drawn as swim lanes
    #[arg(long, value_name = "FILE.html", conflicts_with = "compile_only")]
    report: Option<PathBuf>,
    /// Write a shell script for each trace that makes its calls on a live server
    #[arg(long, value_name = "DIR", conflicts_with = "compile_only")]
    replay: Option<PathBuf>,
    /// For a script: one object with diagnostics and verdict of each design
    #[arg(long)]
    json: bool,
    /// Give up, with exit code 3, beyond so many states in one search; 4,000,000 if not given
    #[arg(long, value_name = "N", value_parser = size::count)]
    max_states: Option<usize>,
    /// Give up, with exit code 3, beyond so much memory: 512MB, 4GB; 4GB if not given
    #[arg(long, value_name = "SIZE", value_parser = size::bytes)]
    max_memory: Option<usize>,
    /// How many threads explore; as many as there are cores if not given
    #[arg(long, value_name = "N", value_parser = size::threads)]
    threads: Option<usize>,
    /// Demand that every reachable state was seen: exit code 3 if a goal holds within bounds only
    #[arg(long)]
    closed: bool,
    /// Also try each number of the world one larger, in turn
    #[arg(long, conflicts_with = "compile_only")]
    larger: bool,
    /// Do not look for clauses that nothing needs
    #[arg(long)]
    no_free: bool,
    /// Explore the whole design at once, not each goal in what it reads
    #[arg(long)]
    whole: bool,
    /// The form that is kept beside a design, for `cargo xtask designs`; with `--larger`, of that alone
    #[arg(long, hide = true, conflicts_with_all = ["json", "compile_only"])]
    golden: bool,
    /// The histories of failures, each carried out on a server, for `cargo xtask designs`
    #[arg(long, hide = true, value_name = "FILE", requires = "golden", conflicts_with = "larger")]
    kept: Option<PathBuf>,
    /// What a verdict that is kept beside a design is known by: its text, and the rules of the checker
    #[arg(long, hide = true, conflicts_with_all = ["json", "compile_only", "golden"])]
    mark: bool,
    #[command(flatten)]
    verdicts: VerdictOptions,
}

/// The same designs, explored with a clock that moves by fixed steps: a script must say how far.
fn stepped(outcomes: &[Outcome], options: &Options, output: &mut Output) -> Vec<Outcome> {
    let options = Options { regions: false, witnesses: false, free: false, ..options.clone() };
    let mut stepped = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.traces() > 0) {
        let again = Outcome::of(&outcome.word, Some(&options), false, output);
        if again.traces() < outcome.traces() {
            output.tell(&format!(
                "not every trace of `{}` has a script: some need finer times\n",
                outcome.word
            ));
        }
        stepped.push(again);
    }
    stepped
}

impl Check {
    pub fn run(self, output: &mut Output) -> Answer {
        heap::share();
        if self.mark {
            for word in &self.designs {
                let mark = Outcome::of(word, None, false, output).mark();
                output.print(&format!("{mark}\n"));
            }
            return Ok(Exit::Yes);
        }
        let options = self.options();
        if self.golden && self.larger {
            let options = Options { failures: false, witnesses: false, free: false, ..options };
            for word in &self.designs {
                let outcome = Outcome::of(word, Some(&options), false, output);
                output.print(&outcome.larger_golden(&options));
            }
            return Ok(Exit::Yes);
        }
        let verdicts = self.verdicts.open();
        let mut outcomes = Vec::new();
        let whole = [self.designs.join(" ")];
        for word in if self.together { &whole[..] } else { &self.designs[..] } {
            let tell = !self.json && !self.golden;
            let explored = (!self.compile_only).then_some(&options);
            let outcome = match self.together {
                true => Outcome::together(&self.designs, explored, tell, output),
                false => Outcome::of(word, explored, tell, output),
            };
            outcome.keep(&verdicts);
            if let Some(file) = &self.kept {
                files::write(file, &outcome.kept_histories())?;
            }
            if !self.json {
                self.show(&outcome, output);
                if self.larger {
                    outcome.larger(&options, output);
                }
            }
            outcomes.push(outcome);
        }
        if self.json {
            let designs: Vec<Value> =
                outcomes.iter().map(|outcome| outcome.json(self.closed)).collect();
            let all = json!({ "format": "steadfast-check/1", "designs": designs });
            output.print(&format!("{all:#}\n"));
        }
        self.write_report(&outcomes, output)?;
        if let Some(folder) = &self.replay {
            let stepped = stepped(&outcomes, &options, output);
            files::write_replays(folder, &stepped, output, self.json)?;
        }
        Ok(outcomes.iter().map(|outcome| outcome.exit(self.closed)).max().unwrap_or(Exit::Yes))
    }

    fn options(&self) -> Options {
        let standard = Options::default();
        Options {
            max_states: self.max_states.unwrap_or(STATES_MAX),
            max_memory: self.max_memory.unwrap_or(standard.max_memory),
            threads: self.threads.unwrap_or(standard.threads),
            free: !self.no_free,
            slices: !self.whole,
            ..standard
        }
    }

    fn show(&self, outcome: &Outcome, output: &mut Output) {
        if self.golden {
            output.print(&outcome.golden());
            if self.traces {
                output.print(&format!("\n{}", outcome.told()));
            }
            return;
        }
        // What is broken was told as soon as it was found.
        let which = if self.traces { Traces::Prevented } else { Traces::None };
        outcome.show(output, which, self.designs.len() > 1);
    }

    fn write_report(
        &self,
        outcomes: &[Outcome],
        output: &mut Output,
    ) -> Result<(), crate::problem::Problem> {
        let Some(file) = &self.report else { return Ok(()) };
        let checked: Vec<Checked<'_>> = outcomes.iter().filter_map(Outcome::checked).collect();
        if checked.is_empty() {
            output.tell(&format!("`{}` is not written: nothing was explored\n", file.display()));
            return Ok(());
        }
        files::write(file, &model_checker::render::html(&checked))?;
        if !self.json {
            output.print(&format!("wrote {}\n", file.display()));
        }
        Ok(())
    }
}
