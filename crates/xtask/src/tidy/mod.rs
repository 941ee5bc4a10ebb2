//! Checks on the source itself. Each is a function over files in memory, so that its own tests can
//! plant the violation and see it caught.

mod architecture;
mod attributes;
mod circles;
mod code_text;
mod design_names;
mod error_codes;
mod layers;
mod length;
mod links;
mod machine_paths;
mod pages;
mod problem;
mod purity;
mod surroundings;
mod test_programs;
mod unfinished;
mod whitespace;

use crate::repo::{self, File};
use layers::Package;
use problem::Problem;

/// A check by name, and what it looks at.
struct Check {
    name: &'static str,
    find: fn(&[File], &[Package]) -> Vec<Problem>,
}

const CHECKS: &[Check] = &[
    Check { name: "layers", find: |_, packages| layers::check(packages) },
    Check { name: "architecture", find: architecture::check },
    Check { name: "circles", find: |files, _| circles::check(files) },
    Check { name: "purity", find: |files, _| purity::check(files) },
    Check { name: "test programs", find: |files, _| test_programs::check(files) },
    Check {
        name: "surroundings",
        find: |files, _| surroundings::check(files, surroundings::ALLOWED),
    },
    Check { name: "whitespace", find: |files, _| whitespace::check(files) },
    Check { name: "length", find: |files, _| length::check(files, length::EXCUSES) },
    Check { name: "unfinished", find: |files, _| unfinished::check(files) },
    Check { name: "attributes", find: |files, _| attributes::check(files) },
    Check { name: "machine paths", find: |files, _| machine_paths::check(files) },
    Check { name: "error codes", find: |files, _| error_codes::check(files) },
    Check { name: "links", find: |files, _| links::check(files) },
    Check { name: "pages", find: |files, _| pages::check(files) },
    Check { name: "design names", find: |files, _| design_names::check(files) },
];

pub fn run() -> crate::Answer {
    let root = repo::root()?;
    let files = repo::files(&root)?;
    let packages = layers::packages(&root)?;
    let mut problems = 0;
    for check in CHECKS {
        for problem in (check.find)(&files, &packages) {
            eprintln!("{}: {problem}", check.name);
            problems += 1;
        }
    }
    let checks = CHECKS.len();
    match problems {
        0 => println!("tidy: {checks} checks over {} files found nothing", files.len()),
        1 => eprintln!("tidy: 1 problem"),
        n => eprintln!("tidy: {n} problems"),
    }
    Ok(problems == 0)
}
