//! Every error code has a page, and every page is about a code that can really be met.

use std::collections::{BTreeMap, BTreeSet};

use super::code_text::without_comments;
use super::problem::Problem;
use crate::repo::File;

/// The crates whose diagnostics carry codes.
const SOURCES: &[&str] = &["crates/syntax/src/", "crates/design/src/"];
const PAGES: &str = "docs/errors/";

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut used: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for file in files {
        let is_source = SOURCES.iter().any(|folder| file.path.starts_with(folder));
        if is_source && file.extension() == "rs" {
            for (index, line) in without_comments(&file.text).lines().enumerate() {
                for code in codes(line) {
                    used.entry(code.into()).or_insert((&file.path, index + 1));
                }
            }
        }
    }
    let pages: BTreeSet<&str> = files.iter().filter_map(page_of).collect();
    let mut problems = Vec::new();
    for (code, (path, line)) in &used {
        if !pages.contains(code.as_str()) {
            let message = format!("`{code}` has no page");
            problems
                .push(Problem::at(path, *line, message).help(format!("write `{PAGES}{code}.md`")));
        }
    }
    for page in pages.into_iter().filter(|page| !used.contains_key(*page)) {
        let path = format!("{PAGES}{page}.md");
        problems.push(Problem::in_file(&path, format!("no source uses the code `{page}`")));
    }
    problems
}

/// The name of an error page, without folder and extension; the index is no such page.
fn page_of(file: &File) -> Option<&str> {
    let name = file.path.strip_prefix(PAGES)?.strip_suffix(".md")?;
    (name != "README").then_some(name)
}

/// The codes that stand in a line as words of their own: `E` or `W` and four digits.
fn codes(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| {
        word.len() == 5
            && word.starts_with(['E', 'W'])
            && word[1..].bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;

    fn found(files: &[File]) -> Vec<String> {
        check(files).iter().map(|p| format!("{}:{}: {}", p.path, p.line, p.message)).collect()
    }

    #[test]
    fn a_code_and_its_page_pass() {
        let source = file("crates/design/src/a.rs", "let code = \"E0101\"; // not E0102\n");
        let page = file("docs/errors/E0101.md", "# E0101\n");
        assert_eq!(found(&[source, page, file("docs/errors/README.md", "")]), [""; 0]);
    }

    #[test]
    fn a_code_without_a_page_is_caught() {
        let source = file("crates/syntax/src/a.rs", "\n\"W0007\"\n");
        assert_eq!(found(&[source]), ["crates/syntax/src/a.rs:2: `W0007` has no page"]);
    }

    #[test]
    fn a_page_without_a_use_is_caught() {
        let elsewhere = file("crates/xtask/src/a.rs", "\"E0101\"\n");
        let page = file("docs/errors/E0101.md", "# E0101\n");
        assert_eq!(
            found(&[elsewhere, page]),
            ["docs/errors/E0101.md:0: no source uses the code `E0101`"]
        );
    }

    #[test]
    fn only_whole_words_are_codes() {
        assert_eq!(
            codes("E0101 xE0102 E01033 `W0004` E_105 E0x06").collect::<Vec<_>>(),
            ["E0101", "W0004"]
        );
    }
}
