//! Nothing committed knows the machine that it was written on, nor where packages come from.

use super::problem::Problem;
use crate::repo::File;

/// Put together from halves so that this file does not contain them.
const PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("deb.debian", ".org"),
];

/// Cargo writes the address of the registry into its lock file itself.
const WRITTEN_BY_CARGO: &str = "Cargo.lock";

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path != WRITTEN_BY_CARGO) {
        for (number, line) in file.lines() {
            for path in PATHS.iter().filter(|path| contains_path(line, path)) {
                let message = format!("`{path}` is a path of one machine");
                let help = "use a path from the root of the repository";
                problems.push(Problem::at(&file.path, number, message).help(help));
            }
            for host in REGISTRIES.iter().filter(|host| line.contains(*host)) {
                let message = format!("`{host}` is the host of a package registry");
                let help = "name the package; the client knows where it comes from";
                problems.push(Problem::at(&file.path, number, message).help(help));
            }
        }
    }
    problems
}

/// Whether an absolute path begins with `path` here; `a/home/b` is a relative one.
fn contains_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | '~'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn every_path_and_host_is_caught() {
        for word in PATHS.iter().chain(REGISTRIES) {
            let planted = file("docs/a.md", &format!("fine\nsee `{word}x`\n"));
            assert_eq!(places(&check(&[planted])), ["docs/a.md:2"], "{word}");
        }
    }

    #[test]
    fn a_relative_path_and_the_lock_file_pass() {
        let relative = file("a.md", &format!("see docs{}page.md\n", PATHS[2]));
        let lock = file("Cargo.lock", &format!("source = \"{}\"\n", REGISTRIES[0]));
        assert_eq!(check(&[relative, lock]), []);
    }
}
