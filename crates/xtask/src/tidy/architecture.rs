//! `ARCHITECTURE.md` names every crate, and calls existing only what exists, files included.

use super::layers::Package;
use super::problem::Problem;
use crate::repo::File;

const PAGE: &str = "ARCHITECTURE.md";
const EXISTING: &str = "## Rooms";
const PLANNED: &str = "## Planned rooms";

pub fn check(files: &[File], packages: &[Package]) -> Vec<Problem> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Problem::in_file(PAGE, "the page is missing")];
    };
    let exists = |name: &str| packages.iter().any(|package| package.name == name);
    let existing = names_in_table(page, EXISTING);
    let mut problems = Vec::new();
    for package in packages {
        if !existing.iter().any(|(_, name)| *name == package.name) {
            let message = format!("`{}` has no row under `{EXISTING}`", package.name);
            problems.push(Problem::in_file(PAGE, message));
        }
    }
    for (line, name) in existing {
        if !exists(name) {
            let message = format!("`{name}` is said to exist and is no crate of the workspace");
            problems.push(
                Problem::at(PAGE, line, message).help(format!("move its row under `{PLANNED}`")),
            );
        }
    }
    for (line, name) in names_in_table(page, PLANNED) {
        if exists(name) {
            let message = format!("`{name}` is said to be planned and exists");
            problems.push(
                Problem::at(PAGE, line, message).help(format!("move its row under `{EXISTING}`")),
            );
        }
    }
    problems.extend(missing_files(page, files));
    problems
}

/// Files of crates that the page names and that are gone.
fn missing_files(page: &File, files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in page.lines() {
        for path in line.split('`').skip(1).step_by(2).filter(|part| part.starts_with("crates/")) {
            let folder = format!("{}/", path.trim_end_matches('/'));
            let is = |file: &File| file.path == path || file.path.starts_with(&folder);
            if !files.iter().any(is) {
                let help = "say where the walk goes now";
                let message = format!("`{path}` is gone");
                problems.push(Problem::at(PAGE, number, message).help(help));
            }
        }
    }
    problems
}

/// The names in backticks in the first column of the tables of one section.
fn names_in_table<'a>(page: &'a File, section: &str) -> Vec<(usize, &'a str)> {
    let mut inside = false;
    let mut names = Vec::new();
    for (number, line) in page.lines() {
        if line.starts_with("## ") {
            inside = line == section;
        } else if inside && let Some(row) = line.strip_prefix("| `") {
            let cell = row.split('|').next().unwrap_or_default();
            names.extend(cell.split('`').step_by(2).map(|name| (number, name.trim())));
        }
    }
    names.retain(|(_, name)| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    fn found(page: &str, crates: &[&str]) -> Vec<String> {
        let package = |name: &&str| Package { name: (*name).into(), dependencies: vec![] };
        let packages: Vec<Package> = crates.iter().map(package).collect();
        check(&[file(PAGE, page)], &packages).into_iter().map(|p| p.message).collect()
    }

    const HONEST: &str = "# House\n\n## Rooms\n\n| crate | does |\n| --- | --- |\n\
        | `syntax` | reads `text` |\n\n## Planned rooms\n\n| `store`, `server` | keeps |\n";

    #[test]
    fn an_honest_page_passes() {
        assert_eq!(found(HONEST, &["syntax"]), [""; 0]);
    }

    #[test]
    fn a_crate_without_a_row_is_caught() {
        assert_eq!(found(HONEST, &["syntax", "engine"]), ["`engine` has no row under `## Rooms`"]);
    }

    #[test]
    fn a_crate_that_does_not_exist_is_caught() {
        let message = "`syntax` is said to exist and is no crate of the workspace";
        assert_eq!(found(HONEST, &[]), [message]);
    }

    #[test]
    fn a_plan_that_came_true_is_caught() {
        let message = "`server` is said to be planned and exists";
        assert!(found(HONEST, &["syntax", "server"]).contains(&message.into()));
    }

    #[test]
    fn a_missing_page_is_caught() {
        assert_eq!(check(&[], &[]).len(), 1);
    }

    #[test]
    fn a_file_that_a_walk_names_and_that_is_gone_is_found() {
        let page = file(
            "ARCHITECTURE.md",
            "1. `crates/a/src/there.rs` and `crates/a/src/`\n2. `crates/a/src/gone.rs`\n",
        );
        let files = [file("crates/a/src/there.rs", "")];
        assert_eq!(places(&missing_files(&page, &files)), ["ARCHITECTURE.md:2"]);
    }
}
