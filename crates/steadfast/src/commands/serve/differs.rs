//! What differs between the version that a store holds and the one that is to be served.

use design::model::Design;

/// So many lines of the texts are shown.
const LINES_MAX: usize = 40;
/// Beyond so many pairs of lines, texts are not compared line by line.
const PAIRS_MAX: usize = 4_000_000;

/// For a person: what changes for truth, for what is in flight and for callers, and the lines.
pub fn told(old: &Design, new: &Design, texts: Option<(&str, &str)>) -> String {
    let mut told = String::new();
    let found = explain::against(old, new);
    if !found.is_empty() {
        told.push_str(&explain::difference(&found));
        told.push('\n');
    }
    if let Some((old, new)) = texts {
        let lines = changed(old, new);
        for (sign, line) in lines.iter().take(LINES_MAX) {
            // what moves a cursor does not reach the terminal
            let line: String = line.chars().filter(|letter| !letter.is_control()).collect();
            told.push_str(&format!("{sign} {line}\n"));
        }
        if lines.len() > LINES_MAX {
            told.push_str(&format!("  and {} lines more\n", lines.len() - LINES_MAX));
        }
        told.push('\n');
    } else if found.is_empty() {
        told.push_str("what its operations do, or what is promised of it, is not the same\n\n");
    }
    told
}

/// Which of what is used is written out differently. `used` are the lines that it begins with, as comments.
pub fn sections(old: &str, new: &str, used: &[String]) -> Vec<String> {
    let part = |text: &str, of: &String| -> Vec<String> {
        let begins = |line: &&str| line.strip_prefix("// ") == Some(of.as_str());
        let other = |line: &str| {
            let held = line.strip_prefix("// ");
            held.is_some_and(|held| held != of && used.iter().any(|other| other == held))
        };
        let lines = text.lines().skip_while(|line| !begins(line)).take_while(|line| !other(line));
        lines.map(str::to_string).collect()
    };
    let differ = |of: &&String| part(old, of) != part(new, of);
    used.iter().filter(differ).cloned().collect()
}

/// Lines that are only in the one (`-`) or only in the other (`+`).
fn changed<'a>(old: &'a str, new: &'a str) -> Vec<(char, &'a str)> {
    let (mut old, mut new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let ahead = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..ahead);
    new.drain(..ahead);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - behind);
    new.truncate(new.len() - behind);
    let gone = |line: &&'a str| ('-', *line);
    let added = |line: &&'a str| ('+', *line);
    if old.len() * new.len() > PAIRS_MAX {
        return old.iter().map(gone).chain(new.iter().map(added)).collect();
    }
    // common[i][j]: how many lines old[i..] and new[j..] have in common, in order
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = match old[i] == new[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(gone(&old[i]));
            i += 1;
        } else {
            lines.push(added(&new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let check = |old: &str, new: &str, expected: &str| {
            let lines = changed(old, new);
            let shown: Vec<String> =
                lines.iter().map(|(sign, line)| format!("{sign}{line}")).collect();
            assert_eq!(shown.join(" "), expected);
        };
        check("a\nb\nc", "a\nb\nc", "");
        check("a\nb\nc", "a\nc", "-b");
        check("a\nc", "a\nb\nc", "+b");
        check("a\nb\nc\nd\ne", "a\nB\nc\nD\ne", "-b +B -d +D");
        check("", "a", "+a");
        check("a\na\nb", "b\na\na", "+b -b");
    }

    #[test]
    fn what_is_used_and_differs_is_named() {
        let used = ["A08 as Seat".to_string(), "I02 as Gate".to_string()];
        let old = "design D\n\n// A08 as Seat\none\n\n// I02 as Gate\ntwo\n\nactor own\n";
        assert!(sections(old, old, &used).is_empty());
        assert_eq!(sections(old, &old.replace("one", "1"), &used), ["A08 as Seat"]);
        assert_eq!(sections(old, &old.replace("two", "2"), &used), ["I02 as Gate"]);
    }

    #[test]
    fn a_body_that_differs_is_seen_too() {
        let old = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\nstep a[go(s: S)] {\n    T.n := 1\n}\n";
        let new = old.replace(":= 1", ":= 2");
        let design = |text: &str| design::compile("d", text, &design::NoCatalog).design.unwrap();
        let told_with = told(&design(old), &design(&new), Some((old, &new)));
        assert_eq!(told_with, "-     T.n := 1\n+     T.n := 2\n\n");
        assert!(told(&design(old), &design(&new), None).contains("is not the same"));
        let guarded = old.replace("(s: S)", "(s: S) { low: T.n < 1 }");
        let told = told(&design(old), &design(&guarded), Some((old, &guarded)));
        assert!(told.contains("can be refused by `low`") && told.contains("+ step a[go"), "{told}");
    }
}
