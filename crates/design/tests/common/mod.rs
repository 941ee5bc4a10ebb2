//! The snippets of the reference and of the error pages, and the designs.

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::OnceLock;

use design::{Catalog, Compiled, compile};
use syntax::{Diagnostic, FileId};

/// One fenced design in a page.
pub struct Snippet {
    /// `docs/language/steps.md:12`
    pub place: String,
    pub text: String,
    pub expected: Expected,
    /// the messages, in plain form, if the page shows them
    pub shown: Option<String>,
}

#[derive(Debug, PartialEq)]
pub enum Expected {
    Compiles,
    /// code, line and column of each error
    Fails(Vec<(String, u32, u32)>),
    Warns(String),
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file below a folder with this ending, in order of its name.
pub fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root().join(&folder)).expect("the folder is there");
        for entry in entries {
            let entry = entry.expect("it can be read");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                let text = fs::read_to_string(entry.path()).expect("it is text");
                found.push((path.display().to_string(), text));
            }
        }
    }
    found.sort();
    found
}

/// What a variable of the environment says how many there are.
pub fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

pub fn designs() -> Vec<(String, String)> {
    files("designs", "design")
}

pub fn snippets() -> Vec<Snippet> {
    let mut snippets = Vec::new();
    for folder in ["docs/language", "docs/errors"] {
        for (path, page) in files(folder, "md") {
            snippets_of(&path, &page, &mut snippets);
        }
    }
    snippets
}

fn snippets_of(path: &str, page: &str, snippets: &mut Vec<Snippet>) {
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let mut text = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            text.push_str(line);
            text.push('\n');
        }
        let place = format!("{path}:{}", number + 1);
        match info.split_once(' ').unwrap_or((info, "")) {
            ("design", how) => {
                let expected = expected(how).unwrap_or_else(|| panic!("{place}: ```{info}"));
                snippets.push(Snippet { place, text, expected, shown: None });
            }
            ("text", "") => {
                let last = snippets.last_mut().unwrap_or_else(|| panic!("{place}: of what?"));
                assert_eq!(last.shown.replace(text), None, "{place}: shown twice");
            }
            _ => panic!("{place}: nothing is known of ```{info}"),
        }
    }
}

fn expected(how: &str) -> Option<Expected> {
    if how.is_empty() {
        return Some(Expected::Compiles);
    }
    if let Some(code) = how.strip_prefix("warns ") {
        return Some(Expected::Warns(code.into()));
    }
    let errors = how.strip_prefix("fails ")?.split(", ").map(|error| {
        let (code, at) = error.split_once(" at ")?;
        let (line, column) = at.split_once(':')?;
        Some((code.to_string(), line.parse().ok()?, column.parse().ok()?))
    });
    Some(Expected::Fails(errors.collect::<Option<_>>()?))
}

pub fn compiled(text: &str) -> Compiled {
    compile("snippet", text, &Shelf::get())
}

/// The archetypes of the catalog.
#[derive(Clone, Copy)]
pub struct Shelf(&'static [(String, String)]);

impl Shelf {
    pub fn get() -> Shelf {
        static ALL: OnceLock<Vec<(String, String)>> = OnceLock::new();
        Shelf(ALL.get_or_init(|| {
            let id = |text: &str| {
                let rest = text.lines().find_map(|line| line.strip_prefix("archetype "))?;
                rest.split_whitespace().next().map(String::from)
            };
            designs().into_iter().filter_map(|(_, text)| Some((id(&text)?, text))).collect()
        }))
    }

    pub fn all(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.iter().map(|(id, text)| (id.as_str(), text.as_str()))
    }

    pub fn text(self, id: &str) -> &'static str {
        self.all().find(|(held, _)| *held == id).map_or("", |(_, text)| text)
    }
}

impl Catalog for Shelf {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.all().find(|(held, _)| *held == id).map(|(_, text)| text)
    }

    fn ids(&self) -> Vec<String> {
        self.all().map(|(id, _)| id.to_string()).collect()
    }
}

/// The errors with their places.
pub fn errors(compiled: &Compiled) -> Vec<(String, u32, u32)> {
    let errors = compiled.diagnostics.iter().filter(|problem| problem.is_error());
    errors
        .map(|problem| {
            let at = compiled.sources.position(problem.primary.span);
            (problem.code.to_string(), at.line, at.column)
        })
        .collect()
}

pub fn codes(text: &str) -> Vec<&'static str> {
    let compiled = compiled(text);
    compiled.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect()
}

/// `error[E0301]: message` and its `help:` lines.
pub fn plain(problem: &Diagnostic) -> String {
    let word = if problem.is_error() { "error" } else { "warning" };
    let mut text = format!("{word}[{}]: {}\n", problem.code, problem.message);
    for help in &problem.help {
        text.push_str(&format!("help: {help}\n"));
    }
    text
}

/// The tree as text, without spans.
pub fn tree(source: &str) -> String {
    let dump = format!("{:?}", syntax::parse(source, FileId(0)).tree.items);
    let mut kept = String::with_capacity(dump.len());
    let mut quoted = false;
    let mut rest = dump.as_str();
    while let Some(letter) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if !quoted && digits > 0 {
            if let Some(after) = rest[digits..].strip_prefix("..") {
                rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
                continue;
            }
            kept.push_str(&rest[..digits]);
            rest = &rest[digits..];
            continue;
        }
        let escaped = quoted && letter == '\\';
        let length = letter.len_utf8() + usize::from(escaped);
        quoted ^= letter == '"';
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept
}
