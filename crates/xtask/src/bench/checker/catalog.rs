//! What users run: designs of the catalog, beside the same worlds and faults written by hand against
//! stateright with packed states, and with and without slices.

use std::path::Path;
use std::process::Command;

use super::super::summary::Summary;
use super::{Explored, Extent, explore};
use crate::table::Table;

/// How many times the transitions a CPU second of stateright's breadth-first search.
const SPEED_MIN: f64 = 2.0;

/// The designs that are written by hand as well.
const DESIGNS: [&str; 3] = ["I02", "I05", "I16"];

/// One way to explore a design.
struct Way {
    name: &'static str,
    /// the options of ours; none: stateright, with this search
    how: Result<&'static [&'static str], &'static str>,
}

/// Alike on both sides: no symmetry, no slices, the invariants alone.
const OURS: usize = 0;
const THEIRS: usize = 2;
/// As users run it, but for failures and witnesses: with slices, and without.
const SLICED: usize = 4;
const WHOLE: usize = 5;

const WAYS: [Way; 6] = [
    Way { name: "steadfast, invariants", how: Ok(&["--invariants", "--whole", "--told-apart"]) },
    Way { name: "steadfast, with `recovers`", how: Ok(&["--goals", "--whole", "--told-apart"]) },
    Way { name: "stateright, breadth first", how: Err("bfs") },
    Way { name: "stateright, depth first", how: Err("dfs") },
    Way { name: "steadfast, slices and symmetry", how: Ok(&["--goals"]) },
    Way { name: "steadfast, whole, with symmetry", how: Ok(&["--goals", "--whole"]) },
];

/// All the runs of one design in one way.
#[derive(Default, Clone)]
struct Runs {
    /// of all its searches together
    states: f64,
    transitions: f64,
    cpu_seconds: Vec<f64>,
}

impl Runs {
    fn add(&mut self, found: &Explored) {
        let figure = |all: &str, own: &str| {
            found.answer[all].as_f64().or_else(|| found.answer[own].as_f64()).unwrap_or(0.0)
        };
        self.states = figure("all_states", "states");
        self.transitions = figure("all_transitions", "transitions");
        self.cpu_seconds.push(found.cpu_seconds);
    }

    /// So many transitions for each second of processor time.
    fn speed(&self, transitions: f64) -> Summary {
        let speeds: Vec<f64> =
            self.cpu_seconds.iter().map(|cpu| transitions / cpu.max(1e-6)).collect();
        Summary::of(&speeds)
    }

    /// How many times the CPU of another, round by round.
    fn times(&self, other: &Runs) -> Summary {
        let pairs = self.cpu_seconds.iter().zip(&other.cpu_seconds);
        let ratios: Vec<f64> = pairs.map(|(own, other)| own / other.max(1e-6)).collect();
        Summary::of(&ratios)
    }
}

pub fn run(root: &Path, ours: &Path, theirs: &Path, extent: &Extent) -> crate::Answer {
    let designs = if extent.judged { &DESIGNS[..] } else { &DESIGNS[1..2] };
    let mut met = true;
    for design in designs {
        let path = root.join(text_of(design));
        let mut runs = vec![Runs::default(); WAYS.len()];
        for _ in 0..extent.rounds {
            let mut alike = Vec::new();
            for (at, way) in WAYS.iter().enumerate() {
                let mut command = match way.how {
                    Ok(options) => {
                        let mut command = Command::new(ours);
                        command.arg(&path).args(["--threads", "1"]).args(options);
                        command
                    }
                    Err(search) => {
                        let mut command = Command::new(theirs);
                        command.args([search, design, "1"]);
                        command
                    }
                };
                let found = explore(&mut command)?;
                if at < SLICED {
                    alike.push(found.states);
                }
                runs[at].add(&found);
            }
            if alike.iter().any(|states| *states != alike[0]) {
                return Err(format!("{design}: not the same number of states: {alike:?}"));
            }
        }
        met &= report(design, &runs, extent.judged);
    }
    Ok(met)
}

/// Of one of them the catalog has another text by now, and the one that was written by hand is kept beside it.
fn text_of(design: &str) -> String {
    match design {
        "I05" => "crates/model-checker/tests/oracle/append_log.design".to_owned(),
        _ => format!("designs/infra/{design}.design"),
    }
}

fn report(design: &str, runs: &[Runs], judged: bool) -> bool {
    println!("{design}, 1 thread\n");
    let head = ["search", "states", "transitions", "CPU s", "transitions a CPU second"];
    let mut table = Table::new(&head);
    for (way, runs) in WAYS.iter().zip(runs) {
        table.row([
            way.name.to_owned(),
            runs.states.to_string(),
            runs.transitions.to_string(),
            format!("{:.2}", Summary::of(&runs.cpu_seconds)),
            format!("{:.0}", runs.speed(runs.transitions)),
        ]);
    }
    println!("{table}");
    let (sliced, whole) = (&runs[SLICED], &runs[WHOLE]);
    println!(
        "slices bring {:.2} times fewer states, {:.2} times less CPU",
        whole.states / sliced.states.max(1.0),
        whole.times(sliced)
    );
    // What changes nothing, such as a read, is a transition of ours and not of the model by hand. Of the same
    // transitions, the model's own, the speeds are as the CPU is.
    let ratio = runs[THEIRS].times(&runs[OURS]);
    println!(
        "of the same transitions a CPU second, {ratio:.2} times stateright's breadth-first search"
    );
    if !judged {
        println!();
        return true;
    }
    let met = ratio.median >= SPEED_MIN;
    println!("goal of {SPEED_MIN} times: {}\n", super::report::verdict(met));
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(ours: f64, theirs: f64) -> Vec<Runs> {
        let mut all =
            vec![Runs { states: 9.0, transitions: 9.0, cpu_seconds: vec![ours] }; WAYS.len()];
        all[THEIRS].cpu_seconds = vec![theirs];
        all
    }

    #[test]
    fn twice_the_transitions_meet_the_goal() {
        assert!(report("I02", &runs(1.0, 2.0), true));
        assert!(!report("I02", &runs(1.0, 1.9), true));
        assert!(report("I02", &runs(1.0, 0.1), false));
    }

    #[test]
    fn only_ours_is_asked_for_options_and_only_theirs_for_a_search() {
        assert!(WAYS[OURS].how.is_ok() && WAYS[SLICED].how.is_ok() && WAYS[WHOLE].how.is_ok());
        assert_eq!(WAYS[THEIRS].how, Err("bfs"));
    }
}
