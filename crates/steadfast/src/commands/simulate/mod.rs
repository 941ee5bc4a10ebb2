//! `steadfast simulate DESIGN`

mod drawn;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use design::model::Design;
use serde_json::{Value, json};
use simulator::{Facts, Outcome, Shrunk, Simulator, Size, TRIES_MAX, shrink};

use super::Answer;
use super::check::write_file;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::{ERROR, GOOD, Output, STRONG};
use crate::problem::Problem;
use crate::size;

/// Run a design in many worlds that a seed decides
///
/// Each world is a server with a disk of its own, in memory, and callers who take any step with any
/// arguments. The power is cut, writes and syncs fail, the disk is full, calls to the world outside and
/// their answers are lost; and as far as the design's `check` names them, callers lose answers and
/// forget, and clocks jump. Then what happened is held to what was promised: every answer is in the
/// history, no call is in it twice, what a caller is refused on was so while it waited, every transition
/// is one that the design allows, no invariant is broken, due work is done, `recovers` goals come true,
/// views are what the records say.
///
/// With `--servers` a world has so many servers that share a store which is far from them. They are killed
/// while they ask for something, their clocks are wrong, requests and answers are slow or lost; callers
/// who are not answered ask another server.
///
/// A world that goes wrong is made smaller and told, with the command that shows it again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast simulate tickets
  steadfast simulate shop.design --worlds 10000
  steadfast simulate shop.design --seed 17 --worlds 1 --story
  steadfast simulate shop.design --calls 500 --lives 6
  steadfast simulate shop.design --servers 3
  steadfast simulate shop.design --report story.html
  steadfast simulate shop.design --replace shop-next.design")]
pub struct Simulate {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// The seed of the first world; the next ones have the next numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    worlds: u64,
    /// At most this many calls in one world
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    calls: u64,
    /// How often the server of a world is started
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    lives: u64,
    /// So many servers share a store that is far away; one has a disk of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=20))]
    servers: u64,
    /// The next version of the design: in most worlds it takes the place of the first one, while calls are made
    #[arg(long, value_name = "DESIGN")]
    replace: Option<String>,
    /// Worlds that run at the same time
    #[arg(long, value_name = "N", value_parser = size::threads)]
    threads: Option<usize>,
    /// Tell what happens in the first world, also if nothing goes wrong
    #[arg(long)]
    story: bool,
    /// Draw what happened in the world that went wrong, or else in the first one, on a page of its own
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Simulate {
    pub fn run(self, output: &mut Output) -> Answer {
        let Some(design) = compiled(&self.design, output)? else { return Ok(Exit::Wrong) };
        let servers = self.servers as usize;
        let next = match &self.replace {
            Some(next) => match compiled(next, output)? {
                Some(next) => Some(next),
                None => return Ok(Exit::Wrong),
            },
            None => None,
        };
        if let Some(why) = next.as_ref().and_then(|next| simulator::unfit(&design, next, servers)) {
            return Err(Problem::new(why));
        }
        let (calls, lives) = (self.calls as usize, self.lives as usize);
        let size = Size { calls, lives, servers, sound_disk: false };
        let mut simulator = Simulator::new(design, size).map_err(Problem::new)?;
        if let Some(next) = next {
            simulator = simulator.replaced_by(next).map_err(Problem::new)?;
        }
        simulator.secrets = Some(steadfast::passing_secrets());
        // a world that panics is caught, and told with its seed
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let (facts, found, first) = self.search(&simulator);
        let found = found.map(|found| shrink(&simulator, found, TRIES_MAX));
        std::panic::set_hook(before);
        if let Some(file) = &self.report
            && let Some(told) = found.as_ref().map(|shrunk| &shrunk.outcome).or(first.as_ref())
        {
            let seed = found.as_ref().map_or(told.script.seed, |shrunk| shrunk.seed);
            let again = self.again(seed);
            write_file(file, &drawn::page((&self.design, seed), told, &again))?;
        }
        let design = simulator.design();
        if self.json {
            let text = told(&self.design, design, &facts, found.as_ref());
            output.print(&format!("{text}\n"));
        } else {
            if self.story
                && found.is_none()
                && let Some(first) = &first
            {
                output.print(&story(first));
            }
            output.print(&match &found {
                None => self.went_well(design, &facts),
                Some(shrunk) => self.went_wrong(shrunk),
            });
        }
        Ok(if found.is_some() { Exit::No } else { Exit::Yes })
    }

    /// The world with the lowest seed that goes wrong, and the first one.
    fn search(&self, simulator: &Simulator) -> (Facts, Option<Outcome>, Option<Outcome>) {
        let threads = self.threads.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
        });
        let end = self.seed.saturating_add(self.worlds);
        let next = AtomicU64::new(self.seed);
        let gathered: Mutex<(Facts, Option<Outcome>, Option<Outcome>)> = Mutex::default();
        let lock = || gathered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        let found = lock().1.as_ref().map(|found| found.script.seed);
                        if seed >= end || found.is_some_and(|found| found < seed) {
                            return;
                        }
                        let outcome = simulator.draw(seed);
                        let mut gathered = lock();
                        gathered.0.add(&outcome.facts);
                        if seed == self.seed {
                            gathered.2 = Some(outcome.clone());
                        }
                        let first =
                            gathered.1.as_ref().is_none_or(|known| seed < known.script.seed);
                        if outcome.trouble.is_some() && first {
                            gathered.1 = Some(outcome);
                        }
                    }
                });
            }
        });
        gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn went_well(&self, design: &Design, facts: &Facts) -> String {
        let worlds = self.worlds;
        let last = self.seed.saturating_add(worlds) - 1;
        let refused: u64 = facts.refused.values().sum();
        let mut out = format!(
            "{GOOD}nothing went wrong{GOOD:#} in {worlds} worlds of {} (seeds {} to {last})\n",
            self.design, self.seed
        );
        out += &format!(
            "  {} calls, {refused} refused, {} asked again, {} given again; {} transitions; {} hours passed\n",
            facts.calls,
            facts.asked_again,
            facts.replayed,
            facts.transitions,
            facts.passed_ms / 3_600_000,
        );
        let Facts { lives, kills, lost_requests, power_cuts, disk_faults, .. } = facts;
        let faults = match self.servers {
            1 => format!("{power_cuts} power cuts, {disk_faults} of the disk"),
            _ => format!("{kills} servers killed, {lost_requests} requests lost"),
        };
        out += &format!(
            "  {lives} starts; faults: {faults}, {} answers lost, {} calls doubled, {} clock jumps\n",
            facts.lost_answers, facts.doubled, facts.clock_jumps
        );
        if let Some(next) = &self.replace {
            out += &format!("  {} times {next} took its place\n", facts.replacements);
        }
        if facts.unsettled > 0 {
            out += &format!(
                "  {} worlds always had something to do: whether they recover is not known\n",
                facts.unsettled
            );
        }
        out += &list("never done", &never_done(design, facts));
        out += &list("never refused", &never_refused(design, facts));
        for unwatched in runtime::unwatched(design) {
            out += &format!("  not watched {}: {}\n", unwatched.goal, unwatched.why);
        }
        out
    }

    fn went_wrong(&self, shrunk: &Shrunk) -> String {
        let Shrunk { seed, calls, outcome, tries } = shrunk;
        let trouble = outcome.trouble.as_ref().map_or_else(String::new, ToString::to_string);
        let mut out = format!("{ERROR}wrong{ERROR:#} {}, seed {seed}: {trouble}\n", self.design);
        out += &format!(
            "{STRONG}what happened{STRONG:#}, with {} of {calls} calls ({tries} worlds tried):\n",
            outcome.script.calls()
        );
        out += &story(outcome);
        let again = self.again(*seed);
        out + &format!("again: {again}\n")
    }

    /// The command that shows the world of a seed once more.
    fn again(&self, seed: u64) -> String {
        let mut again = format!("steadfast simulate {} --seed {seed} --worlds 1", self.design);
        if let Some(next) = &self.replace {
            again += &format!(" --replace {next}");
        }
        if self.servers != 1 {
            again += &format!(" --servers {}", self.servers);
        }
        if (self.calls, self.lives) != (80, 3) {
            again += &format!(" --calls {} --lives {}", self.calls, self.lives);
        }
        again
    }
}

/// None: it does not compile, and that was told.
fn compiled(path: &str, output: &mut Output) -> Result<Option<Design>, Problem> {
    let loaded = load(path)?;
    let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
    diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
    Ok(compiled.design)
}

/// Seconds since the first event, and what happened.
fn story(outcome: &Outcome) -> String {
    let begun = outcome.story.first().map_or(0, |event| event.at_ms);
    let line = |event: &simulator::Event| {
        let ms = event.at_ms.saturating_sub(begun);
        format!("  {:>9}.{:03} s  {}\n", ms / 1_000, ms % 1_000, event.text)
    };
    outcome.story.iter().map(line).collect()
}

fn list(what: &str, names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("  {what}: {}\n", names.join(", "))
}

/// Steps and reads that nobody managed to take.
fn never_done(design: &Design, facts: &Facts) -> BTreeSet<String> {
    let called = simulator::callable(design);
    let names = called.into_iter().map(|id| design.operations[id.index()].name.clone());
    names.filter(|name| !facts.done.contains_key(name)).collect()
}

/// Clauses of what callers may take that decided nothing.
fn never_refused(design: &Design, facts: &Facts) -> BTreeSet<String> {
    let mut never = BTreeSet::new();
    for id in simulator::callable(design) {
        let operation = &design.operations[id.index()];
        for clause in &operation.guard {
            let place = (operation.name.clone(), clause.name.clone());
            if !facts.refused.contains_key(&place) {
                never.insert(format!("{}.{}", place.0, place.1));
            }
        }
    }
    never
}

fn told(name: &str, design: &Design, facts: &Facts, found: Option<&Shrunk>) -> Value {
    let wrong = found.map(|shrunk| {
        let story = shrunk.outcome.story.iter();
        json!({
            "seed": shrunk.seed,
            "trouble": shrunk.outcome.trouble.as_ref().map(ToString::to_string),
            "calls": shrunk.outcome.script.calls(),
            "calls_before": shrunk.calls,
            "tries": shrunk.tries,
            "story": story.map(|it| json!({ "at_ms": it.at_ms, "text": it.text })).collect::<Vec<_>>(),
        })
    });
    let done: Vec<Value> =
        facts.done.iter().map(|(step, n)| json!({ "step": step, "times": n })).collect();
    let refused = facts.refused.iter();
    let refused: Vec<Value> = refused
        .map(|((step, clause), n)| json!({ "step": step, "clause": clause, "times": n }))
        .collect();
    json!({
        "design": name,
        "wrong": wrong,
        "calls": facts.calls,
        "transitions": facts.transitions,
        "starts": facts.lives,
        "power_cuts": facts.power_cuts,
        "disk_faults": facts.disk_faults,
        "kills": facts.kills,
        "lost_requests": facts.lost_requests,
        "lost_answers": facts.lost_answers,
        "doubled_calls": facts.doubled,
        "clock_jumps": facts.clock_jumps,
        "replacements": facts.replacements,
        "asked_again": facts.asked_again,
        "given_again": facts.replayed,
        "done": done,
        "refused": refused,
        "never_done": never_done(design, facts),
        "never_refused": never_refused(design, facts),
    })
}
