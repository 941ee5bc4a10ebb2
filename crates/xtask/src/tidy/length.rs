//! One construct, one file: a long Rust file is asking to be two.

use super::problem::Problem;
use crate::repo::File;

const LINES_MAX: usize = 600;

/// A file that may be longer, and why it cannot be two.
pub struct Excuse {
    pub path: &'static str,
    pub reason: &'static str,
}

pub const EXCUSES: &[Excuse] = &[];

pub fn check(files: &[File], excuses: &[Excuse]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.extension() == "rs") {
        let lines = file.text.lines().count();
        let excused = excuses.iter().any(|excuse| excuse.path == file.path);
        if lines > LINES_MAX && !excused {
            let message = format!("{lines} lines, of at most {LINES_MAX}");
            problems.push(Problem::in_file(&file.path, message).help("split it by construct"));
        }
    }
    for excuse in excuses {
        let needed =
            files.iter().any(|f| f.path == excuse.path && f.text.lines().count() > LINES_MAX);
        if !needed {
            let message = format!("is excused (`{}`) and needs no excuse", excuse.reason);
            problems.push(Problem::in_file(excuse.path, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;

    fn long(lines: usize) -> File {
        file("long.rs", &"x\n".repeat(lines))
    }

    #[test]
    fn a_file_may_be_as_long_as_the_limit_and_no_longer() {
        assert_eq!(check(&[long(LINES_MAX)], &[]), []);
        assert_eq!(check(&[long(LINES_MAX + 1)], &[]).len(), 1);
        assert_eq!(check(&[file("long.md", &"x\n".repeat(9999))], &[]), []);
    }

    #[test]
    fn an_excuse_holds_only_while_it_is_needed() {
        let excuses = [Excuse { path: "long.rs", reason: "one table" }];
        assert_eq!(check(&[long(LINES_MAX + 1)], &excuses), []);
        assert_eq!(check(&[long(LINES_MAX)], &excuses).len(), 1);
        assert_eq!(check(&[], &excuses).len(), 1);
    }
}
