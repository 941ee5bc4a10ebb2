//! Nothing unfinished is committed, and no test is left aside.

use super::problem::Problem;
use crate::repo::File;

/// The markers are put together from halves so that this file does not contain them.
const MARKERS: &[(&str, &str)] = &[
    (concat!("to", "do!"), "finish it, or leave the part out until it works"),
    (concat!("unimple", "mented!"), "finish it, or leave the part out until it works"),
    (concat!("#[ig", "nore"), "make the test pass, or delete it"),
    (concat!("FIX", "ME"), "mend it now, or write down why it is right as it is"),
];

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files.iter().filter(|f| matches!(f.extension(), "rs" | "design" | "toml")) {
        for (number, line) in file.lines() {
            for (marker, help) in MARKERS.iter().filter(|(marker, _)| line.contains(marker)) {
                let message = format!("`{marker}` in the source");
                problems.push(Problem::at(&file.path, number, message).help(*help));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn every_marker_is_caught_wherever_it_stands() {
        for (marker, _) in MARKERS {
            let planted = file("a.rs", &format!("fn f() {{\n    {marker}\n}}\n"));
            assert_eq!(places(&check(&[planted])), ["a.rs:2"], "{marker}");
        }
    }

    #[test]
    fn ordinary_words_pass() {
        let text = "/// What remains to do, and what to ignore.\n#[test]\nfn to_do() {}\n";
        assert_eq!(check(&[file("a.rs", text)]), []);
    }
}
