//! `cargo xtask plants`: bugs are planted in the source of the store and the runtime, and the simulator has to find each of
//! them.
//!
//! Everything happens in a copy of the repository below the target directory. All bugs are planted in it, each with a
//! switch that the environment turns on, so that it is built once. First the copy is hunted with all switches off: there
//! nothing may be found.

mod bugs;

use std::fs;
use std::path::Path;

use crate::repo::{self, File};
use crate::{Answer, cargo};
pub use bugs::{BUGS, Bug};

/// So many seconds of the processor a hunt takes at most, unless `--seconds` says otherwise.
const SECONDS: u64 = 600;
/// Where nothing is planted, so many are enough.
const SOUND_SECONDS: u64 = 60;
/// The environment says with it which bug is wanted.
const PLANTED: &str = "STEADFAST_PLANTED";

pub fn run(words: &[&str]) -> Answer {
    let (seconds, names) = match words {
        ["--seconds", seconds, names @ ..] => {
            let number = seconds.parse::<u64>();
            (number.map_err(|_| format!("`{seconds}` is no number of seconds"))?, names)
        }
        names => (SECONDS, names),
    };
    let chosen = chosen(names)?;
    let root = repo::root()?;
    let mut files = repo::files(&root)?;
    plant_all(&mut files)?;
    let garden = root.join("target").join("plants");
    write_out(&files, &garden)?;
    if names.is_empty() {
        println!("nothing is planted:");
        match hunt(&garden, None, seconds.min(SOUND_SECONDS))? {
            None => println!("  nothing is found, as it should be"),
            Some(found) => {
                println!("  {found}\n  the simulator finds something in what is not planted");
                return Ok(false);
            }
        }
    }
    let mut missed = Vec::new();
    for bug in chosen {
        println!("{}:", bug.name);
        match hunt(&garden, Some(bug), seconds)? {
            Some(found) => println!("  {found}"),
            None => {
                println!("  not found in {seconds} s");
                missed.push(bug.name);
            }
        }
    }
    if !missed.is_empty() {
        println!("not found: {}", missed.join("; "));
    }
    Ok(missed.is_empty())
}

fn chosen(names: &[&str]) -> Result<Vec<&'static Bug>, String> {
    let all: Vec<&str> = BUGS.iter().map(|bug| bug.name).collect();
    for name in names {
        if !BUGS.iter().any(|bug| bug.name.contains(name)) {
            return Err(format!("no plant is called `{name}`; there are:\n  {}", all.join("\n  ")));
        }
    }
    let is_chosen = |bug: &&Bug| names.is_empty() || names.iter().any(|it| bug.name.contains(it));
    Ok(BUGS.iter().filter(is_chosen).collect())
}

/// The text with the bug in it, behind its switch.
pub fn plant(bug: &Bug, text: &str) -> Result<String, String> {
    match text.matches(bug.from).count() {
        1 => Ok(text.replacen(bug.from, &bug.to.replace("PLANTED", &switch(bug)), 1)),
        times => {
            Err(format!("`{}` is planted where this stands {times} times:\n{}", bug.name, bug.from))
        }
    }
}

/// Whether this bug is wanted: asked of the environment once.
fn switch(bug: &Bug) -> String {
    format!(
        "std::convert::identity({{ static ON: std::sync::OnceLock<bool> = std::sync::OnceLock::new(); *ON.get_or_init(|| \
         std::env::var({PLANTED:?}).is_ok_and(|it| it == {:?})) }})",
        bug.name
    )
}

fn plant_all(files: &mut [File]) -> Result<(), String> {
    for bug in BUGS {
        let file = files.iter_mut().find(|file| file.path == bug.file);
        let file = file.ok_or_else(|| format!("there is no `{}`", bug.file))?;
        file.text = plant(bug, &file.text)?;
    }
    Ok(())
}

/// Every file that differs is written: what is the same keeps its time, and is not built again.
fn write_out(files: &[File], garden: &Path) -> Result<(), String> {
    for file in files {
        write_if_other(&garden.join(&file.path), &file.text)?;
    }
    Ok(())
}

fn write_if_other(path: &Path, text: &str) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if fs::read_to_string(path).is_ok_and(|held| held == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(cannot)?;
    fs::write(path, text).map_err(cannot)
}

/// What the simulator finds in the copy; none: nothing, in so many seconds.
fn hunt(garden: &Path, bug: Option<&Bug>, seconds: u64) -> Result<Option<String>, String> {
    let mut test = cargo::command(garden);
    test.args(["test", "--quiet", "--release", "--package", "simulator", "--test", "it"]);
    test.args(["--", "--exact", "hunt::what_is_planted", "--nocapture"]);
    test.env("STEADFAST_HUNT", seconds.to_string());
    test.env("CARGO_TARGET_DIR", garden.join("target"));
    test.env(PLANTED, bug.map_or("", |bug| bug.name));
    let printed = cargo::output(&mut test)?;
    let line = printed.lines().find_map(|line| line.split_once("hunt: "));
    match line.map(|(_, found)| found) {
        Some("nothing") => Ok(None),
        Some(found) => Ok(Some(found.to_string())),
        None => Err(format!("the hunt said nothing:\n{printed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who changes the source changes what is planted there.
    #[test]
    fn every_plant_fits_the_source() {
        let root = repo::root().unwrap();
        for bug in BUGS {
            let text = fs::read_to_string(root.join(bug.file)).unwrap();
            let planted = plant(bug, &text).unwrap();
            assert!(planted.contains(PLANTED) && bug.to.contains("PLANTED"), "{}", bug.name);
        }
        // several of them in one file
        plant_all(&mut repo::files(&root).unwrap()).unwrap();
    }

    #[test]
    fn an_unknown_plant_is_an_error_that_lists_the_known_ones() {
        let problem = chosen(&["a wormhole"]).err().unwrap();
        assert!(problem.contains("a wormhole") && problem.contains("a claim without expiry"));
        assert_eq!(chosen(&["fence"]).unwrap().len(), 1);
    }
}
