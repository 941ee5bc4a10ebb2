//! Clients that `steadfast client` writes: every design of the catalog has one that compiles strictly in its language,
//! and one of each language is used against a server that is killed meanwhile.

mod browser;
mod cut;
mod node;
mod people;
mod used;

use std::path::Path;
use std::process::Command;

use crate::openapi::python::{programs, run};
use crate::openapi::served::{catalog, folder};

fn write(design: &str, language: &str, into: &Path) {
    run(Command::new(env!("CARGO_BIN_EXE_steadfast"))
        .args(["client", design, "--language", language, "--write"])
        .arg(into));
}

/// The files of a folder that end so, in order.
fn files(folder: &Path, ending: &str) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        all.filter(|path| path.extension().is_some_and(|held| held == ending)).collect();
    found.sort();
    found
}

#[test]
fn every_design_has_a_client_in_typescript_that_compiles_strictly() {
    let folder = folder("clients-typescript");
    catalog().iter().for_each(|design| write(&design.name, "typescript", &folder));
    // names that are words of the language, and one that is no identifier there
    std::fs::write(folder.join("words.design"), WORDS).unwrap();
    write(folder.join("words.design").to_str().unwrap(), "typescript", &folder);
    let files = files(&folder, "ts");
    assert_eq!(files.len(), catalog().len() + 1);
    run(node::tsc().arg("--noEmit").args(files));
}

#[test]
fn every_design_has_a_client_in_python_that_checks_strictly() {
    let folder = folder("clients-python");
    catalog().iter().for_each(|design| write(&design.name, "python", &folder));
    std::fs::write(folder.join("words.design"), WORDS).unwrap();
    write(folder.join("words.design").to_str().unwrap(), "python", &folder);
    let files = files(&folder, "py");
    assert_eq!(files.len(), catalog().len() + 1);
    run(Command::new(programs().join("mypy"))
        .current_dir(&folder)
        .args(["--strict", "--python-version", "3.9", "--cache-dir"])
        .arg(folder.join("cache"))
        .args(&files));
    // the oldest Python that is promised has no others than these names
    run(Command::new(programs().join("python")).args(["-m", "compileall", "-q"]).args(files));
}

/// Names that other languages keep for themselves.
const WORDS: &str = r#"design Words
actor class
actor feed
actor records
subject Import(from: text, lambda: int) {
    truth ImportState { str: text = "", int: int = 0, delete: bool = false, constructor: text?, None: A | B = A }
}
subject Records(def: text) { truth RecordsState { try: Import? } }
step class[delete(import: new Import, self: int, async: text?, if_match: text = "x")] {
    ImportState.int := self
}
step class[constructor(import: Import)] { ImportState.delete := true }
step feed[str(yield: Import)] { ImportState.str := "s" }
step records[pass(def: new Records, try: Import)] { RecordsState.try := try }
read class[list(import: Import)] = ImportState
view Class(str: text) = list Import order by int
"#;
