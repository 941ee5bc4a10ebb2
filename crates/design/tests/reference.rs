//! The reference and the error pages are the test: every snippet is compiled and does what stands
//! above it.

use crate::common;

use common::{Expected, errors, plain, snippets, tree};
use design::{from_json, to_json};

#[test]
fn every_snippet_does_what_its_page_says() {
    let mut wrong = Vec::new();
    for snippet in snippets() {
        let compiled = common::compiled(&snippet.text);
        let found = errors(&compiled);
        let warnings: Vec<&str> =
            compiled.diagnostics.iter().filter(|d| !d.is_error()).map(|d| d.code).collect();
        let fine = match &snippet.expected {
            Expected::Compiles => found.is_empty() && warnings.iter().all(|code| *code == "W0701"),
            Expected::Warns(code) => found.is_empty() && warnings == [code.as_str()],
            Expected::Fails(expected) => found == *expected,
        };
        if !fine {
            let said: String = compiled.diagnostics.iter().map(plain).collect();
            wrong.push(format!("{}: found {found:?}\n{said}", snippet.place));
        }
        assert_eq!(compiled.design.is_some(), found.is_empty(), "{}", snippet.place);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_messages_that_a_page_shows_are_the_messages() {
    let mut shown = 0;
    for snippet in snippets() {
        let Some(expected) = &snippet.shown else {
            continue;
        };
        let compiled = common::compiled(&snippet.text);
        let said: String = compiled
            .diagnostics
            .iter()
            .filter(|problem| problem.code != "W0701")
            .map(plain)
            .collect();
        assert_eq!(said, *expected, "{}", snippet.place);
        shown += 1;
    }
    assert!(shown >= 10, "{shown} messages are shown");
}

#[test]
fn there_are_enough_snippets() {
    let all = snippets();
    let failing = all.iter().filter(|s| matches!(s.expected, Expected::Fails(_))).count();
    let reference = all.iter().filter(|s| s.place.starts_with("docs/language")).count();
    println!("{} snippets, {failing} of them fail; {reference} in the reference", all.len());
    assert!(reference >= 120, "{reference} snippets in the reference");
    assert!(failing >= 60, "{failing} snippets that must fail");
}

#[test]
fn mistakes_about_what_is_used_show_both_places() {
    let all = snippets();
    let mine: Vec<_> =
        all.iter().filter(|s| s.place.starts_with("docs/language/composition.md")).collect();
    let both = mine.iter().filter(|snippet| {
        let compiled = common::compiled(&snippet.text);
        let shows = |problem: &syntax::Diagnostic| {
            let places = problem.secondary.iter().map(|label| label.span);
            problem.is_error() && places.into_iter().any(|span| span != problem.primary.span)
        };
        compiled.diagnostics.iter().any(shows)
    });
    let (count, both) = (mine.len(), both.count());
    println!("{count} snippets about `use`, {both} fail and show both places");
    assert!(count >= 40 && both >= 20, "{count} and {both}");
}

#[test]
fn formatting_a_snippet_keeps_its_tree() {
    for snippet in snippets() {
        let formatted = syntax::format(&snippet.text).text;
        assert_eq!(tree(&formatted), tree(&snippet.text), "{}", snippet.place);
        assert_eq!(syntax::format(&formatted).text, formatted, "{}", snippet.place);
    }
}

#[test]
fn snippets_are_shown_in_the_one_layout() {
    for snippet in snippets() {
        let formatted = syntax::format(&snippet.text);
        if formatted.diagnostics.is_empty() {
            assert_eq!(formatted.text, snippet.text, "{}", snippet.place);
        }
    }
}

#[test]
fn the_json_form_of_a_snippet_reads_back() {
    for snippet in snippets() {
        if let Some(design) = common::compiled(&snippet.text).design {
            let read = from_json(&to_json(&design));
            assert_eq!(read.as_ref(), Ok(&design), "{}", snippet.place);
        }
    }
}

#[test]
fn every_page_is_about_its_code() {
    for (path, page) in common::files("docs/errors", "md") {
        let code = path.rsplit('/').next().and_then(|name| name.strip_suffix(".md"));
        let code = code.expect("a page has a name");
        if code == "README" {
            continue;
        }
        assert!(page.starts_with(&format!("# {code}: ")), "{path} begins with its title");
        // these need a catalog or a source of many megabytes; they have tests of their own
        let fences = page.lines().filter(|line| line.starts_with("```design ")).count();
        let elsewhere = ["E0008", "E0802", "E0803"].contains(&code);
        assert!(elsewhere || fences >= 1, "{path} shows what it is about");
        for line in page.lines().filter(|line| line.starts_with("```design ")) {
            assert!(line.contains(code), "{path}: {line}");
        }
    }
}

#[test]
fn the_list_of_codes_names_every_page() {
    let pages = common::files("docs/errors", "md");
    let (_, list) = pages.iter().find(|(path, _)| path.ends_with("README.md")).expect("a list");
    let mut count = 0;
    for (path, page) in pages.iter().filter(|(path, _)| !path.ends_with("README.md")) {
        let title = page.lines().next().and_then(|line| line.strip_prefix("# "));
        let (code, title) = title.and_then(|t| t.split_once(": ")).expect("a title");
        let entry = format!("- [{code}]({code}.md): {title}");
        assert!(list.lines().any(|line| line == entry), "{path} is not in the list: {entry}");
        count += 1;
    }
    assert_eq!(list.lines().filter(|line| line.starts_with("- ")).count(), count);
}

#[test]
fn every_family_is_in_the_reference_as_it_is() {
    let pages = common::files("docs/language", "md");
    let (_, page) = pages.iter().find(|(path, _)| path.ends_with("families.md")).expect("a page");
    for family in design::families() {
        let mut text = family.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for param in family.params {
            text = text.replace(&format!("{{{param}}}"), param);
        }
        assert!(page.contains(&format!("`{text}`")), "{}: `{text}`", family.name);
        let call = format!("`{}({})`", family.name, family.params.join(", "));
        assert!(page.contains(&call), "{call}");
    }
}
