//! One design, asked of both checkers.

use std::path::{Path, PathBuf};

use design::model::{Design, FailureProof, Goal};
use model_checker::{FailureStatus, Options, Report, Verdict};

use super::tool::{Found, tlc};

/// The design of this name: of this test's own, a planted bug, or one that stateright is asked about too.
pub fn design(name: &str) -> Result<Design, String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let places: [PathBuf; 3] = ["tlc", "planted", "oracle"]
        .map(|folder| tests.join(folder).join(format!("{name}.design")));
    let path = places.iter().find(|path| path.is_file()).ok_or("there is no such design")?;
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let compiled = design::compile(name, &text, &design::NoCatalog);
    if compiled.has_errors() {
        return Err(format!("it does not compile: {:?}", compiled.diagnostics));
    }
    let mut design = compiled.design.ok_or("there is no design")?;
    // Both keep times in steps of a part of a unit, not by region.
    if design.world.setting("time").is_none() {
        design.world.settings.push(("time".into(), 2));
    }
    Ok(design)
}

fn options() -> Options {
    Options {
        symmetry: false,
        normalise: false,
        recovery: false,
        witnesses: false,
        free: false,
        threads: 1,
        slices: false,
        ..Options::default()
    }
}

/// What both say, in one line; or how they differ.
pub fn compare(name: &str, design: &Design) -> Result<String, String> {
    compare_with(name, design, &checked(design)?)
}

pub fn checked(design: &Design) -> Result<Report, String> {
    model_checker::check(design, &options(), &mut |_| ()).map_err(|problem| problem.to_string())
}

/// The same with what the checker said.
pub fn compare_with(name: &str, design: &Design, report: &Report) -> Result<String, String> {
    let tla = explain::tla(design, &[]).map_err(|found| found.join("; "))?;
    let all = tlc(name, &tla, &tla.whole_config())?;
    let mut verdicts = Vec::new();
    let counted = match &all.violated {
        None => all.clone(),
        // TLC stops at the first goal that breaks.
        Some(_) => tlc(name, &tla, &tla.config(&[]))?,
    };
    for goal in &tla.goals {
        let found = match &all.violated {
            None => all.clone(),
            Some(first) if *first == goal.name => all.clone(),
            Some(_) => tlc(name, &tla, &tla.config(&[goal]))?,
        };
        verdicts.push(same(&goal.name, &found, violated(report, goal.goal)?)?);
    }
    if !report.base.closed {
        return Err("the checker did not see all states".into());
    }
    if counted.distinct != report.base.states {
        let (ours, theirs) = (report.base.states, counted.distinct);
        return Err(format!("{ours} states, and TLC found {theirs}"));
    }
    let arms = arms(name, design, report)?;
    Ok(format!("{} states, {} goals, {arms} arms", counted.distinct, verdicts.len()))
}

fn violated(report: &Report, goal: Goal) -> Result<bool, String> {
    let held = report.goals.iter().find(|held| held.goal == goal).ok_or("no such goal")?;
    match &held.verdict {
        Verdict::Proved | Verdict::Holds(_) => Ok(false),
        Verdict::Violated(_) => Ok(true),
        Verdict::Unknown(why) => Err(format!("`{}` is not known: {why}", held.name)),
    }
}

fn same(what: &str, found: &Found, ours: bool) -> Result<(), String> {
    if found.violated.is_some() == ours {
        return Ok(());
    }
    let word = |violated: bool| if violated { "violated" } else { "holds" };
    let theirs = word(found.violated.is_some());
    Err(format!("`{what}`: {} here, {theirs} with TLC", word(ours)))
}

/// Every failure whose goal is an invariant that holds as written: without its protection.
fn arms(name: &str, design: &Design, report: &Report) -> Result<usize, String> {
    let mut count = 0;
    for failure in &report.failures {
        let FailureProof::Without { protections, breaks: goal @ Goal::Invariant(_), .. } =
            &failure.proof
        else {
            continue;
        };
        if violated(report, *goal)? {
            continue;
        }
        let tla = explain::tla(design, protections)
            .map_err(|found| format!("{}: {}", failure.claim, found.join("; ")))?;
        let asked = tla.goals.iter().find(|held| held.goal == *goal).ok_or("no such goal")?;
        let found = tlc(&format!("{name}-arm"), &tla, &tla.config(&[asked]))?;
        let breaks = match &failure.status {
            FailureStatus::LoadBearing(_) => true,
            FailureStatus::Redundant { .. } | FailureStatus::Vacuous { .. } => false,
            FailureStatus::Unknown { .. } if found.violated.is_none() => false,
            other => return Err(format!("{}: {other:?}", failure.claim)),
        };
        same(&failure.claim, &found, breaks)?;
        count += 1;
    }
    Ok(count)
}
