//! The pages about the codes of this crate: each shows a text that gives its code and nothing
//! else, and one that gives no message.

use std::collections::BTreeSet;
use syntax::{FileId, parse};

/// The codes of this crate, lexical and syntactic.
fn is_ours(code: &str) -> bool {
    code.starts_with("E00") || code.starts_with("E01")
}

/// (page, its text) for each page about a code of this crate.
fn pages() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the pages exist") {
        let path = entry.expect("the folder can be read").path();
        let name =
            path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if is_ours(&name) {
            pages.push((name, std::fs::read_to_string(&path).expect("the page can be read")));
        }
    }
    pages.sort();
    pages
}

/// (what stands after the fence, the text) of each fenced block.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

#[test]
fn each_page_shows_its_code_and_the_remedy() {
    let mut seen = BTreeSet::new();
    for (code, page) in pages() {
        assert!(page.starts_with(&format!("# {code}: ")), "{code} begins with its title");
        let (mut failing, mut mended) = (0, 0);
        for (fence, text) in blocks(&page) {
            let codes: Vec<&str> =
                parse(text, FileId(0)).diagnostics.iter().map(|d| d.code).collect();
            if fence == "design" {
                assert_eq!(codes, [""; 0], "{code}: the mended text");
                mended += 1;
            } else {
                // the place is held against the compiler in `crates/design/tests`
                assert!(fence.starts_with(&format!("design fails {code} at ")), "{fence}");
                assert_eq!(codes, [code.as_str()], "{code}: the failing text");
                failing += 1;
            }
        }
        // a source of more than 16 MiB is not shown
        let shown = usize::from(code != "E0008");
        assert_eq!((failing, mended), (shown, 1), "{code}");
        seen.insert(code);
    }
    assert_eq!(seen.len(), 37, "{seen:?}");
}

#[test]
fn each_code_of_the_table_of_mistakes_has_a_page() {
    let pages: BTreeSet<String> = pages().into_iter().map(|(code, _)| code).collect();
    let table = include_str!("data/mistakes.txt");
    let met: BTreeSet<String> = table
        .split("=== ")
        .filter_map(|entry| entry.split(' ').next())
        .filter(|code| is_ours(code))
        .map(String::from)
        .collect();
    let unmet: Vec<_> = pages.difference(&met).collect();
    assert_eq!(unmet, ["E0008", "E0112"], "made in tests of their own");
    assert!(met.is_subset(&pages));
}
