//! From what the user typed to the text of a design.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::catalog;
use crate::problem::{Problem, reason};

/// A text, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// how messages call it
    pub name: String,
    pub text: String,
    /// none: from the catalog
    pub path: Option<PathBuf>,
}

/// Finds a design by its path or by its name in the catalog.
pub fn load(word: &str) -> Result<Loaded, Problem> {
    if looks_like_a_path(word) || Path::new(word).is_file() {
        return read(word);
    }
    match catalog::find(word) {
        Some(entry) => Ok(Loaded {
            name: format!("{}.design", entry.name()),
            text: entry.text.to_string(),
            path: None,
        }),
        None => Err(unknown(word)),
    }
}

fn looks_like_a_path(word: &str) -> bool {
    word.contains(std::path::is_separator) || Path::new(word).extension().is_some()
}

/// Reads a file as text.
pub fn read(path: &str) -> Result<Loaded, Problem> {
    let bytes = std::fs::read(path).map_err(|error| {
        let problem = Problem::new(format!("cannot read `{path}`: {}", reason(&error)));
        match error.kind() {
            ErrorKind::NotFound => problem.help_if(neighbour(path)).help_if(in_catalog(path)),
            ErrorKind::IsADirectory => problem.help(format!("name the designs in it: `{path}/*`")),
            _ => problem,
        }
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        Problem::new(format!("cannot read `{path}`: line {line} is not UTF-8 text"))
            .help("a design is a text in UTF-8")
    })?;
    Ok(Loaded { name: path.to_string(), text, path: Some(PathBuf::from(path)) })
}

fn unknown(word: &str) -> Problem {
    let problem = Problem::new(format!("no design `{word}` in the catalog"));
    let file = format!("{word}.design");
    if Path::new(&file).is_file() {
        return problem.help(format!("did you mean the file `{file}`?"));
    }
    problem
        .help_if(suggestion(word))
        .help("`steadfast list` prints the catalog; a design of your own is named by its path")
}

/// The name in the catalog that was probably meant.
pub fn suggestion(word: &str) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for entry in catalog::entries() {
        let declared = entry.header().name;
        if !declared.eq_ignore_ascii_case(entry.name()) {
            names.push(declared);
        }
        names.push(entry.name().to_string());
    }
    design::did_you_mean(word, names.iter().map(String::as_str))
}

/// A file beside the one that is missing, with nearly its name.
fn neighbour(path: &str) -> Option<String> {
    let path = Path::new(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let there = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = there
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".design"))
        .collect();
    let meant = path.file_name()?.to_str()?;
    design::did_you_mean(meant, names.iter().map(String::as_str))
}

fn in_catalog(path: &str) -> Option<String> {
    let stem = Path::new(path).file_stem()?.to_str()?;
    let entry = catalog::find(stem)?;
    Some(format!("the catalog has one that is called `{}`", entry.name()))
}
