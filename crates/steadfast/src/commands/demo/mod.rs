//! `steadfast demo NAME`

mod auction;
mod payments;
mod plan;
mod provider;
mod report;
mod scenario;
mod scheduler;
mod screen;
mod stage;
mod tickets;
mod without;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::Answer;
use crate::catalog::Embedded;
use crate::load::load;
use crate::output::{Output, STRONG};
use crate::problem::Problem;

use auction::Auction;
use payments::Payments;
use report::Report;
use scenario::Scenario;
use scheduler::Scheduler;
use screen::{Screen, refusals};
use stage::Stage;
use tickets::Tickets;

/// Clauses that are named in the report.
const CLAUSES: usize = 6;
/// Between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Put hostile load on one of the systems of the catalog, and count the damage
///
/// All calls are drawn from a seed before the first one is made, and every one of them is made, whatever is
/// answered: the same seed makes the same calls, also on a design without one of its guards. They are made
/// in this process and without HTTP, many at a time, on the real runtime with its workers, and on a store on
/// disk that is removed afterwards. Time passes on a clock of the demo's own, so that nobody waits for a
/// hold to run out. In the end what is stored is counted, without any guard of the design.
///
///   tickets    1,000 seats and 10,000 impatient buyers: all seats are sold, none twice
///   auction    5,000 bids in the last second: one winner, the highest
///   scheduler  10,000 jobs and 20 workers that die: each job is done once
///   payments   5,000 payments through a provider that loses a third of its answers: none is charged twice
///
/// With `--without STEP.CLAUSE` the same calls are made to the design without this clause, and the damage is
/// counted. A wrong name lists those that can be taken away.
///
/// Exits with 0 if everything that is promised holds, and with 1 if not; with `--without`, with 0 if there
/// is damage to be seen.
#[derive(Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  steadfast demo tickets
  steadfast demo tickets --without hold.free
  steadfast demo tickets --seed 7 --json"
)]
pub struct Demo {
    #[arg(value_name = "NAME")]
    name: Name,
    /// Which calls are drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Take this clause out of the design
    #[arg(long, value_name = "STEP.CLAUSE")]
    without: Option<String>,
    /// How many seats, bids, jobs or payments; without it, as many as the list above says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=100_000))]
    size: Option<u64>,
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    Tickets,
    Auction,
    Scheduler,
    Payments,
}

impl Demo {
    pub fn run(self, output: &mut Output) -> Answer {
        match self.name {
            Name::Tickets => {
                let seats = self.size.unwrap_or(1_000);
                self.play("tickets", output, |seed| Tickets::new(seats, seed))
            }
            Name::Auction => {
                let bids = self.size.unwrap_or(5_000);
                self.play("auction", output, |seed| Auction::new(bids, seed))
            }
            Name::Scheduler => {
                let jobs = self.size.unwrap_or(10_000);
                self.play("scheduler", output, |seed| Scheduler::new(jobs, seed))
            }
            Name::Payments => {
                let payments = self.size.unwrap_or(5_000);
                self.play("payments", output, |seed| Payments::new(payments, seed))
            }
        }
    }

    fn play<S: Scenario>(
        &self,
        name: &'static str,
        output: &mut Output,
        scenario: impl FnOnce(u64) -> S,
    ) -> Answer {
        let loaded = load(name)?;
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        let mut design = compiled
            .design
            .ok_or_else(|| Problem::new(format!("`{}` does not compile", loaded.name)))?;
        let mut without = None;
        if let Some(word) = &self.without {
            let (weak, taken) = without::weakened(&design, word, S::DAMAGING)?;
            (design, without) = (weak, Some(taken));
        }
        let scenario = scenario(self.seed);
        let digest = scenario.plan().digest(|call| scenario.request(call));
        let mut stage = Stage::set(design, without.is_some(), scenario.outside())?;
        let begun = Instant::now();
        let (elapsed, settled) = self.watched(&stage, &scenario, begun, output)?;
        stage.stop();
        let judged = scenario.judge(&stage)?;
        let mut counted = Vec::new();
        for (operation, _, refused) in stage.runtime.counters().all() {
            let named =
                |(clause, count): (&String, &u64)| (format!("{operation}.{clause}"), *count);
            counted.extend(refused.iter().map(named));
        }
        let progress = &stage.progress;
        let report = Report {
            name,
            title: scenario.title(),
            seed: self.seed,
            calls: scenario.plan().calls.len() as u64,
            digest,
            elapsed,
            lost: progress.lost.load(Ordering::Relaxed),
            replayed: progress.replayed.load(Ordering::Relaxed),
            refused: refusals(&stage, CLAUSES),
            refusals: counted,
            passed_ms: stage.passed_ms(),
            durability: stage.durability(),
            without,
            settled,
            judged,
        };
        stage.close()?;
        output.print(&if self.json { report.json() } else { report.text() });
        Ok(report.exit())
    }

    /// Makes the calls, and lets the rest happen, while somebody may look on.
    fn watched<S: Scenario>(
        &self,
        stage: &Stage,
        scenario: &S,
        begun: Instant,
        output: &mut Output,
    ) -> Result<(Duration, bool), Problem> {
        let mut screen = Screen::of(output, self.json);
        if !self.json {
            let without =
                self.without.as_ref().map_or(String::new(), |clause| format!(", without {clause}"));
            output.tell(&format!(
                "{STRONG}{}{STRONG:#}{without}; {} answers will be lost\n",
                scenario.title(),
                screen::grouped(scenario.plan().lost() as u64)
            ));
        }
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            let playing = scope.spawn(|| {
                let played = stage.play(scenario).and_then(|()| {
                    let elapsed = begun.elapsed();
                    Ok((elapsed, stage.settle_all(scenario.settling_ms())?))
                });
                over.store(true, Ordering::Release);
                played
            });
            let mut said = begun;
            while !over.load(Ordering::Acquire) {
                std::thread::sleep(screen::BETWEEN);
                match &mut screen {
                    Some(screen) => screen.draw(stage, scenario, begun.elapsed()),
                    None if !self.json && said.elapsed() >= BETWEEN_LINES => {
                        said = Instant::now();
                        let answered = stage.progress.answered.load(Ordering::Relaxed);
                        let all = scenario.plan().calls.len() as u64;
                        output.tell(&format!(
                            "  {} of {} calls\n",
                            screen::grouped(answered),
                            screen::grouped(all)
                        ));
                    }
                    None => {}
                }
            }
            playing.join().unwrap_or_else(|_| Err(Problem::new("a client panicked")))
        })?;
        if let Some(screen) = &mut screen {
            screen.draw(stage, scenario, ended.0);
        }
        Ok(ended)
    }
}
