//! `cargo xtask bench checker`: designs of the catalog side by side with stateright; states by the second and
//! bytes by the state beside stateright and TLC on two-phase commit; the lease, every arm; and growth up to
//! twenty million states.
//!
//! `--catalog` runs the designs of the catalog alone. `--small` runs everything once on small models, holds the
//! counts against each other, and judges no speed: the tests do this, so that the benchmark cannot rot.

mod catalog;
mod growth;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::measure;
use super::scratch::Scratch;
use crate::{cargo, repo, tlc};
use report::{Series, Side};

/// How large everything is.
struct Extent {
    participants: usize,
    states: f64,
    rounds: usize,
    growth_rounds: usize,
    /// how often the grid is doubled, from its first size on
    doublings: u32,
    /// is speed judged?
    judged: bool,
}

const WHOLE: Extent = Extent {
    participants: 8,
    states: 1_745_408.0,
    rounds: 5,
    growth_rounds: 3,
    doublings: 5,
    judged: true,
};
const SMALL: Extent = Extent {
    participants: 3,
    states: 288.0,
    rounds: 1,
    growth_rounds: 1,
    doublings: 0,
    judged: false,
};

/// What one run of one of the examples found and cost.
#[derive(Clone, Debug)]
pub(super) struct Explored {
    pub(super) states: f64,
    pub(super) cpu_seconds: f64,
    pub(super) wall_seconds: f64,
    pub(super) resident_bytes: f64,
    pub(super) answer: Value,
}

pub fn run(arguments: &[&str]) -> crate::Answer {
    let extent = match arguments {
        [] => WHOLE,
        ["--small"] => SMALL,
        ["--catalog"] => WHOLE,
        _ => return Err("`bench checker` takes no arguments but `--small` or `--catalog`".into()),
    };
    let root = repo::root()?;
    let ours = cargo::release_example(&root, "model-checker", "explore")?;
    let theirs = cargo::release_example(&root, "model-checker", "stateright")?;
    let folder = Scratch::new("checker")?;
    let mut met = catalog::run(&root, &ours, &theirs, &extent)?;
    if arguments == ["--catalog"] {
        return Ok(met);
    }
    met &= side_by_side(&root, &ours, &theirs, &folder, &extent)?;
    met &= lease(&root, &ours, &extent)?;
    met &= growth::run(&ours, &folder, &extent)?;
    Ok(met)
}

/// Two-phase commit with so many participants, as a file.
fn two_phase(root: &Path, folder: &Scratch, participants: usize) -> Result<PathBuf, String> {
    let path = root.join("crates/model-checker/tests/oracle/two_phase.design");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("no two-phase commit: {e}"))?;
    let sized = text.replace("participant: 3 }", &format!("participant: {participants} }}"));
    let path = folder.0.join(format!("two_phase_{participants}.design"));
    std::fs::write(&path, sized).map_err(|e| format!("cannot write: {e}"))?;
    Ok(path)
}

fn side_by_side(
    root: &Path,
    ours: &Path,
    theirs: &Path,
    folder: &Scratch,
    extent: &Extent,
) -> crate::Answer {
    let design = two_phase(root, folder, extent.participants)?;
    let tiny = two_phase(root, folder, 1)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let own = |path: &Path, threads: usize| {
        let mut command = Command::new(ours);
        command.arg(path).args(["--plain", "--threads", &threads.to_string()]);
        command
    };
    let other = |search: &str, participants: usize, threads: usize| {
        let mut command = Command::new(theirs);
        command.args([search, &participants.to_string(), &threads.to_string()]);
        command
    };
    let mut sides = Vec::new();
    for threads in [1, threads] {
        let side = Side::new("steadfast", format!("breadth first, {threads} threads"));
        sides.push((side, own(&design, threads), own(&tiny, threads)));
    }
    for (search, name) in [("bfs", "breadth first"), ("dfs", "depth first")] {
        for threads in [1, threads] {
            let side = Side::new("stateright", format!("{name}, {threads} threads"));
            let big = other(search, extent.participants, threads);
            sides.push((side, big, other(search, 1, threads)));
        }
    }
    let mut tlc = Tlc::new(root, folder, extent)?;
    // Round by round rather than side by side: a disturbance then falls on all alike.
    for _ in 0..extent.rounds {
        for (side, big, tiny) in &mut sides {
            let floor = explore(tiny)?.resident_bytes;
            let found = explore(big)?;
            if found.states != extent.states {
                return Err(format!(
                    "{}: {} states, not {}",
                    side.name, found.states, extent.states
                ));
            }
            side.add(&found, floor);
        }
        if let Some(tlc) = &mut tlc {
            tlc.round(extent)?;
        }
    }
    let mut sides: Vec<Side> = sides.into_iter().map(|(side, ..)| side).collect();
    sides.extend(tlc.map(|tlc| tlc.side));
    Ok(report::side_by_side(&sides, extent.participants, extent.judged))
}

/// TLC on the same design, translated to TLA+.
struct Tlc {
    side: Side,
    jar: PathBuf,
    /// the folders of the module, and of the one with a single participant
    big: PathBuf,
    tiny: PathBuf,
    module: String,
}

impl Tlc {
    /// None: there is no Java here.
    fn new(root: &Path, folder: &Scratch, extent: &Extent) -> Result<Option<Tlc>, String> {
        if !tlc::has_java() {
            println!("TLC is left out: there is no `java` here\n");
            return Ok(None);
        }
        let translate = cargo::release_example(root, "model-checker", "module")?;
        let mut module = String::new();
        let mut translated = |participants: usize| {
            let design = holding(&two_phase(root, folder, participants)?)?;
            let into = folder.0.join(format!("tlc_{participants}"));
            let run = measure::run(Command::new(&translate).arg(design).arg(&into))?;
            run.stdout.trim().clone_into(&mut module);
            Ok::<PathBuf, String>(into)
        };
        let (big, tiny) = (translated(extent.participants)?, translated(1)?);
        let side = Side::new("TLC", "breadth first, 1 worker".into());
        Ok(Some(Tlc { side, jar: tlc::jar(root)?, big, tiny, module }))
    }

    fn round(&mut self, extent: &Extent) -> Result<(), String> {
        let floor = self.explore(&self.tiny)?.resident_bytes;
        let found = self.explore(&self.big)?;
        if found.states != extent.states {
            return Err(format!("TLC: {} states, not {}", found.states, extent.states));
        }
        self.side.add(&found, floor);
        Ok(())
    }

    fn explore(&self, folder: &Path) -> Result<Explored, String> {
        let run = measure::run(&mut tlc::ask(&self.jar, folder, &self.module))?;
        Ok(Explored {
            states: tlc::distinct(&run.stdout).ok_or("TLC gave no number of states")?,
            cpu_seconds: run.cpu.as_secs_f64(),
            wall_seconds: run.wall.as_secs_f64(),
            resident_bytes: run.resident_bytes_max as f64,
            answer: Value::Null,
        })
    }
}

/// The same design without the goals that break: TLC stops at the first of them.
fn holding(design: &Path) -> Result<PathBuf, String> {
    let text = std::fs::read_to_string(design).map_err(|error| error.to_string())?;
    let kept: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("invariant never_")).collect();
    let path = design.with_extension("holding.design");
    std::fs::write(&path, kept.join("\n")).map_err(|error| error.to_string())?;
    Ok(path)
}

/// The lease design, every arm.
fn lease(root: &Path, ours: &Path, extent: &Extent) -> crate::Answer {
    let path = root.join("designs/infra/I02.design");
    let mut series = Series::default();
    let mut answer = Value::Null;
    for _ in 0..extent.rounds {
        let found = explore(Command::new(ours).arg(&path))?;
        series.add(&found);
        answer = found.answer;
    }
    if answer["ok"] != true {
        return Err("the lease design is not proved".into());
    }
    Ok(report::lease(&series, &answer, extent.judged))
}

fn explore(command: &mut Command) -> Result<Explored, String> {
    let run = measure::run(command)?;
    let answer: Value = serde_json::from_str(run.stdout.trim())
        .map_err(|e| format!("the example printed no JSON: {e}"))?;
    let states = answer["states"].as_f64().ok_or("the example gave no `states`")?;
    Ok(Explored {
        states,
        cpu_seconds: run.cpu.as_secs_f64(),
        wall_seconds: run.wall.as_secs_f64(),
        resident_bytes: run.resident_bytes_max as f64,
        answer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_run_agrees_on_every_count() {
        assert_eq!(run(&["--small"]), Ok(true));
    }

    #[test]
    fn anything_else_is_wrong_usage() {
        assert!(run(&["--large"]).unwrap_err().contains("--small"));
    }
}
