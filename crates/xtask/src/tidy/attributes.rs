//! A lint is set aside only with a reason, and preferably by `expect`, which tells when it is stale.

use super::problem::Problem;
use crate::repo::File;

pub fn check(files: &[File]) -> Vec<Problem> {
    files.iter().filter(|file| file.extension() == "rs").flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in file.lines() {
        let attribute = line.trim_start();
        let Some(word) = ["allow(", "expect("].into_iter().find(|word| {
            attribute.starts_with(&format!("#[{word}"))
                || attribute.starts_with(&format!("#![{word}"))
        }) else {
            continue;
        };
        if !whole(file, number).contains("reason") {
            let message = format!("`#[{word}…)]` gives no reason");
            let help = "write `#[expect(…, reason = \"…\")]`";
            problems.push(Problem::at(&file.path, number, message).help(help));
        }
    }
    problems
}

/// The attribute that begins on a line, up to the line that closes it.
fn whole(file: &File, first: usize) -> String {
    let mut text = String::new();
    for (_, line) in file.lines().skip(first - 1) {
        text.push_str(line);
        if line.contains(")]") {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    #[test]
    fn an_attribute_without_a_reason_is_caught() {
        for planted in ["#[allow(dead_code)]", "    #[expect(dead_code)]", "#![allow(dead_code)]"] {
            let text = format!("\n{planted}\nfn f() {{}}\n// reason\n");
            assert_eq!(places(&check(&[file("a.rs", &text)])), ["a.rs:2"], "{planted}");
        }
    }

    #[test]
    fn a_reason_may_stand_on_a_later_line_of_the_attribute() {
        let text =
            "#[expect(\n    dead_code,\n    reason = \"used by the examples\",\n)]\nfn f() {}\n";
        assert_eq!(check(&[file("a.rs", text)]), []);
    }
}
