//! Every page says in its first paragraph what it is for, and can be reached from the list of pages.

use std::collections::BTreeSet;

use super::links::{resolve, targets};
use super::problem::Problem;
use crate::repo::File;

/// Whoever has read so many words knows whether this is the page that they look for.
const FIRST_WORDS_MAX: usize = 100;

/// Where readers begin.
const LIST: &str = "docs/README.md";

pub fn check(files: &[File]) -> Vec<Problem> {
    let pages: Vec<&File> = files.iter().filter(|file| is_page(&file.path)).collect();
    let mut problems: Vec<Problem> = pages.iter().filter_map(|page| opening(page)).collect();
    let reached = reached(files);
    for page in pages.iter().filter(|page| !reached.contains(page.path.as_str())) {
        let message = format!("no link leads here from `{LIST}`");
        problems.push(Problem::at(&page.path, 1, message).help("link it where it belongs"));
    }
    problems
}

fn is_page(path: &str) -> bool {
    path.starts_with("docs/") && path.ends_with(".md")
}

/// What is wrong with how a page begins.
fn opening(page: &File) -> Option<Problem> {
    let mut lines = page.lines().filter(|(_, line)| !line.is_empty());
    let (number, title) = lines.next().unwrap_or((1, ""));
    if !title.starts_with("# ") {
        return Some(Problem::at(&page.path, number, "a page begins with its title, `# …`"));
    }
    let Some((number, first)) = lines.next() else {
        return Some(Problem::at(&page.path, number, "a title, and nothing after it"));
    };
    let other = ["#", "```", "|", "- ", "    ", "> ", "1. ", "!["];
    if other.iter().any(|begins| first.starts_with(begins)) {
        let message = "below its title a page says in a sentence what it is for";
        return Some(Problem::at(&page.path, number, message));
    }
    let paragraph = page.lines().skip_while(|(at, _)| *at < number);
    let words = paragraph
        .take_while(|(_, line)| !line.is_empty())
        .map(|(_, line)| line.split_whitespace().count())
        .sum::<usize>();
    (words > FIRST_WORDS_MAX).then(|| {
        let message = format!("the first paragraph has {words} words, more than {FIRST_WORDS_MAX}");
        Problem::at(&page.path, number, message).help("say what the page is for, and go on below")
    })
}

/// The pages that links lead to from the list, one after the other.
fn reached(files: &[File]) -> BTreeSet<&str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![LIST.to_string()];
    while let Some(path) = next.pop() {
        let found = files.iter().find(|file| file.path == path && path.ends_with(".md"));
        let Some(page) = found.filter(|page| reached.insert(page.path.as_str())) else { continue };
        for (_, line) in page.lines() {
            for target in targets(line) {
                let (target, _) = target.split_once('#').unwrap_or((target, ""));
                let Some(path) = resolve(&page.path, target) else { continue };
                next.push(format!("{path}/README.md"));
                next.push(path);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    fn found(text: &str) -> Vec<String> {
        let list = file(LIST, "# Documents\n\nAll of them: [a](a.md), [b](b/).\n");
        places(&check(&[list, file("docs/a.md", text)]))
    }

    #[test]
    fn a_page_that_says_what_it_is_for_passes() {
        assert_eq!(found("# A\n\nThis page is about a.\n\n- more\n"), [""; 0]);
    }

    #[test]
    fn a_page_that_does_not_is_caught() {
        for wrong in ["This page is about a.\n", "# A\n", "# A\n\n## Part\n", "# A\n\n- one\n"] {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
        assert_eq!(found("# A\n\n    code\n"), ["docs/a.md:3"]);
        let long = "word ".repeat(FIRST_WORDS_MAX);
        assert_eq!(found(&format!("# A\n\n{long}\nend\n")), ["docs/a.md:3"]);
        assert_eq!(found(&format!("# A\n\n{long}\n\nend\n")), [""; 0]);
    }

    #[test]
    fn a_page_that_no_link_leads_to_is_caught() {
        let page = |path: &str, text: &str| file(path, &format!("# A\n\nAbout it. {text}\n"));
        let list = page(LIST, "[a](a.md) [b](b)");
        let there = [list, page("docs/a.md", "[c](b/c.md#x)"), page("docs/b/README.md", "")];
        let lost = [page("docs/b/c.md", ""), page("docs/lost.md", "[a](a.md)")];
        let files: Vec<File> = there.into_iter().chain(lost).collect();
        assert_eq!(places(&check(&files)), ["docs/lost.md:1"]);
    }
}
