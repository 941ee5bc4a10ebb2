//! Files that import each other in a circle can only be read, tested and moved together. A circle
//! of up to three is a pair or a trio with one subject; a longer one is a missing layer.
//!
//! An edge is a `use` between two files of one crate, in the code that ships: what is under
//! `#[cfg(test)]` is left out. What a file re-exports from below itself is its face and no edge,
//! and whoever imports through a face depends on the face, not on the file behind it.

mod components;
mod imports;
mod modules;

use super::problem::Problem;
use crate::repo::File;
use modules::Modules;

const FILES_MAX: usize = 3;

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in packages(files) {
        for circle in circles(files, package) {
            let names = circle.join(", ").replace(&source_folder(package), "");
            let message = format!("{} files import each other in a circle: {names}", circle.len());
            let help = format!(
                "at most {FILES_MAX} may; move what they share into a file that imports none of \
                 them"
            );
            problems.push(Problem::in_file(&circle[0], message).help(help));
        }
    }
    problems
}

/// The crates that have source, by their folders.
fn packages(files: &[File]) -> Vec<&str> {
    let mut names: Vec<&str> = files.iter().filter_map(|file| package_of(&file.path)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn package_of(path: &str) -> Option<&str> {
    let (package, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    (rest.starts_with("src/") && rest.ends_with(".rs")).then_some(package)
}

fn source_folder(package: &str) -> String {
    format!("crates/{package}/src/")
}

/// The circles that are too long, the largest first, each as the paths of its files in order.
fn circles(files: &[File], package: &str) -> Vec<Vec<String>> {
    let source = source_folder(package);
    let mut circles = Vec::new();
    for root in ["lib.rs", "main.rs"] {
        let modules = Modules::from(files, &source, root);
        let components = components::strongly_connected(&modules.edges());
        for component in components.into_iter().filter(|c| c.len() > FILES_MAX) {
            let mut paths: Vec<String> =
                component.into_iter().map(|index| modules.file(index).path.clone()).collect();
            paths.sort();
            circles.push(paths);
        }
    }
    circles.sort_by_key(|circle: &Vec<String>| (std::cmp::Reverse(circle.len()), circle.clone()));
    circles
}

#[cfg(test)]
mod tests;
