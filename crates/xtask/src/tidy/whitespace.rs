//! No tab, no trailing space, one newline at the end, in every file that people write by hand.

use super::problem::Problem;
use crate::repo::File;

/// Snapshots and other generated files keep the bytes that they were given.
const WRITTEN_BY_HAND: &[&str] = &["rs", "md", "toml", "design"];

pub fn check(files: &[File]) -> Vec<Problem> {
    let by_hand =
        |file: &&File| WRITTEN_BY_HAND.contains(&file.extension()) || file.path.starts_with(".ci/");
    files.iter().filter(by_hand).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in file.lines() {
        if line.ends_with('\r') {
            problems.push(Problem::at(&file.path, number, "the line ends in a carriage return"));
        } else if line.ends_with([' ', '\t']) {
            problems.push(Problem::at(&file.path, number, "the line ends in blanks"));
        }
        if line.trim_end().contains('\t') {
            problems.push(
                Problem::at(&file.path, number, "the line contains a tab")
                    .help(r"indent with spaces; in a string, write `\t`"),
            );
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        problems.push(Problem::in_file(&file.path, "the last line has no newline"));
    }
    if file.text.ends_with("\n\n") {
        problems.push(Problem::in_file(&file.path, "the file ends in empty lines"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    fn found(path: &str, text: &str) -> Vec<String> {
        places(&check(&[file(path, text)]))
    }

    #[test]
    fn clean_files_pass() {
        assert_eq!(found("a.rs", "fn main() {}\n\nfn other() {}\n"), [""; 0]);
        assert_eq!(found("a.md", ""), [""; 0]);
    }

    #[test]
    fn each_blemish_is_caught_at_its_line() {
        assert_eq!(found("a.rs", "ok\n\tindented\n"), ["a.rs:2"]);
        assert_eq!(found("a.md", "ok\nblank \nok\n"), ["a.md:2"]);
        assert_eq!(found("a.toml", "ok\r\n"), ["a.toml:1"]);
        assert_eq!(found("x/a.design", "ok"), ["x/a.design:0"]);
        assert_eq!(found(".ci/run", "ok\n\n"), [".ci/run:0"]);
    }

    #[test]
    fn generated_files_keep_their_bytes() {
        assert_eq!(found("a.snap", "blank \n\ttab"), [""; 0]);
    }
}
