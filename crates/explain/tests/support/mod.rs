//! The designs of the catalog, as they lie in the repository.

pub mod actions;
pub mod programs;

use std::path::{Path, PathBuf};

use design::model::Design;

pub struct Found {
    /// `tickets`, `I02`
    pub name: String,
    pub text: String,
    pub design: Design,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every `.design` under `designs/` that compiles; one that does not is another test's to tell.
pub fn designs() -> Vec<Found> {
    let mut paths = Vec::new();
    collect(&root().join("designs"), &mut paths);
    paths.sort();
    let texts: Vec<(String, String)> = paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    let catalog = Texts(texts.clone());
    let found: Vec<Found> = texts
        .into_iter()
        .filter_map(|(name, text)| {
            let design = design::compile(&name, &text, &catalog).design?;
            Some(Found { name, text, design })
        })
        .collect();
    assert!(found.len() >= 5, "only {} designs compile", found.len());
    found
}

/// One of the designs that tests change the text of: kept apart from the catalog, which goes on.
pub fn design(name: &str) -> Found {
    let path = format!("{}/tests/data/designs/{name}.design", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let design = compiled(&text);
    Found { name: name.into(), text, design }
}

/// Compiles a text that must be right.
pub fn compiled(text: &str) -> Design {
    let compiled = design::compile("text", text, &design::NoCatalog);
    let messages: Vec<String> =
        compiled.diagnostics.iter().filter(|d| d.is_error()).map(|d| format!("{d:?}")).collect();
    assert!(messages.is_empty(), "{messages:#?}\n{text}");
    compiled.design.unwrap()
}

/// The text with one place changed; it must be there exactly once.
pub fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?}");
    text.replacen(from, to, 1)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|end| end == "design") {
            paths.push(path);
        }
    }
}

struct Texts(Vec<(String, String)>);

impl design::Catalog for Texts {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == id).map(|(_, text)| text.as_str())
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The rows of a table in `tests/data`, without its heading.
pub fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    text.lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split('\t').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}
