//! The step function is pure. A dependency could be refused by its name in the layer table; the
//! standard library cannot, so its impure parts are looked for in the source.

use super::code_text::without_comments;
use super::problem::Problem;
use crate::repo::File;

const PURE: &str = "crates/engine/src/";

/// Each word, and what the engine would learn with it.
const IMPURE: &[(&str, &str)] = &[
    ("SystemTime", "a clock"),
    ("Instant", "a clock"),
    ("std::fs", "I/O"),
    ("std::net", "I/O"),
    ("std::io", "I/O"),
    ("std::env", "the process around it"),
    ("std::process", "the process around it"),
    ("std::thread", "threads"),
    ("async fn", "async"),
    ("async move", "async"),
    (".await", "async"),
    ("RandomState", "randomness"),
    ("println!", "I/O"),
    ("eprintln!", "I/O"),
];

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let pure = |f: &&File| f.path.starts_with(PURE) && f.extension() == "rs";
    for file in files.iter().filter(pure) {
        for (index, line) in without_comments(&file.text).lines().enumerate() {
            for (word, lesson) in IMPURE.iter().filter(|(word, _)| contains_word(line, word)) {
                let message = format!("`{word}`: the engine must never know of {lesson}");
                let help = "take it as an argument from the caller";
                problems.push(Problem::at(&file.path, index + 1, message).help(help));
            }
        }
    }
    problems
}

/// Whether a word stands in a line and is not the beginning or the end of a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().filter(|_| word.starts_with(part));
        let after = line[at + word.len()..].chars().next().filter(|_| word.ends_with(part));
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn every_impure_word_is_caught_in_the_engine_alone() {
        for (word, _) in IMPURE {
            let text = format!("fn f() {{\n    {word}\n}}\n");
            let planted = [
                file("crates/engine/src/a.rs", &text),
                file("crates/engine/tests/a.rs", &text),
                file("crates/steadfast/src/a.rs", &text),
            ];
            assert_eq!(places(&check(&planted)), ["crates/engine/src/a.rs:2"], "{word}");
        }
    }

    #[test]
    fn a_comment_may_speak_of_clocks() {
        let text = "// never an Instant: `now` is an argument\nfn f(now: Time) {}\n";
        assert_eq!(check(&[file("crates/engine/src/a.rs", text)]), []);
    }

    #[test]
    fn a_longer_word_is_another_word() {
        let text = "struct Instantiated;\nuse std::iobuf;\n";
        assert_eq!(check(&[file("crates/engine/src/a.rs", text)]), []);
    }
}
