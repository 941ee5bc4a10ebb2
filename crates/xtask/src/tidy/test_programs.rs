//! A crate has one program of tests, because linking one for each file takes longer than the tests.
//! Cargo is then told not to look for others, and a file that nobody names would never run: so each
//! file of tests is named.

use std::collections::BTreeMap;

use super::problem::Problem;
use crate::repo::File;

/// Crates that have another program of tests, and why.
const APART: &[(&str, &str)] = &[("crates/engine", "allocation")];

pub fn check(files: &[File]) -> Vec<Problem> {
    let texts: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let mut programs: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in files {
        if let Some((home, name)) = program(&file.path) {
            programs.entry(home).or_default().push((name, &file.path));
        }
    }
    let mut problems = Vec::new();
    for (home, named) in programs {
        let root = format!("{home}/tests/main.rs");
        let Some(main) = texts.get(root.as_str()) else {
            for (name, path) in named.iter().skip(1) {
                let message = format!("`{name}` is a second program of tests of this crate");
                let help = format!("make it a module of `{root}`, with `autotests = false`");
                problems.push(Problem::in_file(path, message).help(help));
            }
            continue;
        };
        for (name, path) in named {
            let is_module = main.lines().any(|line| line.trim() == format!("mod {name};"));
            if !is_module && !APART.contains(&(home, name)) {
                let message = format!("these tests never run: `{root}` has no `mod {name};`");
                problems.push(Problem::in_file(path, message).help("add the line"));
            }
        }
    }
    problems
}

/// The crate and the name of what cargo would take for a program of tests.
fn program(path: &str) -> Option<(&str, &str)> {
    let (home, rest) = path.split_once("/tests/")?;
    let name = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"))?;
    (home.starts_with("crates/") && name != "main" && !name.contains('/')).then_some((home, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn a_file_that_no_program_names_is_found() {
        let files = [
            file("crates/a/tests/main.rs", "mod first;\n#[path = \"third/main.rs\"]\nmod third;\n"),
            file("crates/a/tests/first.rs", ""),
            file("crates/a/tests/second.rs", ""),
            file("crates/a/tests/third/main.rs", ""),
            file("crates/a/tests/third/part.rs", ""),
            file("crates/a/tests/fourth/main.rs", ""),
        ];
        let found = places(&check(&files));
        assert_eq!(found, ["crates/a/tests/second.rs:0", "crates/a/tests/fourth/main.rs:0"]);
    }

    #[test]
    fn one_program_needs_no_main_and_two_do() {
        let one = [file("crates/a/tests/http/main.rs", ""), file("crates/b/tests/b.rs", "")];
        assert_eq!(check(&one), []);
        let two = [file("crates/a/tests/a.rs", ""), file("crates/a/tests/b.rs", "")];
        assert_eq!(places(&check(&two)), ["crates/a/tests/b.rs:0"]);
    }
}
