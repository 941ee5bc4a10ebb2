//! Every link between the pages of this repository leads somewhere.

use super::problem::Problem;
use crate::repo::File;

pub fn check(files: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for page in files.iter().filter(|file| is_page(&file.path)) {
        let mut in_fence = false;
        for (number, line) in page.lines() {
            if line.trim_start().starts_with("```") {
                in_fence = !in_fence;
            }
            if in_fence {
                continue;
            }
            for target in targets(line).filter(|target| is_local(target)) {
                let (path, _anchor) = target.split_once('#').unwrap_or((target, ""));
                let resolved = resolve(&page.path, path);
                if !resolved.as_deref().is_some_and(|path| exists(files, path)) {
                    let message = format!("the link to `{target}` leads nowhere");
                    problems.push(Problem::at(&page.path, number, message));
                }
            }
        }
    }
    problems
}

/// Pages at the root, under `docs/` and under `designs/`.
fn is_page(path: &str) -> bool {
    let folder = path.split_once('/').map_or("", |(folder, _)| folder);
    path.ends_with(".md") && matches!(folder, "" | "docs" | "designs")
}

fn is_local(target: &str) -> bool {
    !target.starts_with('#') && !target.contains("://") && !target.starts_with("mailto:")
}

/// What stands in the round brackets of `[text](target)`, outside of code in backticks.
pub fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').step_by(2).flat_map(|prose| {
        prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
    })
}

/// A link's path from the root of the repository; none when it leads out of it.
pub fn resolve(page: &str, target: &str) -> Option<String> {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (start, rest) = target.strip_prefix('/').map_or((folder, target), |rest| ("", rest));
    let mut parts: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn exists(files: &[File], path: &str) -> bool {
    let folder = format!("{path}/");
    path.is_empty() || files.iter().any(|f| f.path == path || f.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::file;
    use crate::tidy::problem::places;

    fn found(path: &str, text: &str) -> Vec<String> {
        let there = [file("LICENSE", ""), file("docs/language/steps.md", ""), file(path, text)];
        places(&check(&there))
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "[a](LICENSE) [b](docs/language/) [c](docs/language/steps.md#guards)\n\
            [d](https://example.org/x) [e](#here) `[f](code.md)`\n```\n[g](fenced.md)\n```\n";
        assert_eq!(found("README.md", text), [""; 0]);
        assert_eq!(found("docs/a/b.md", "[a](../../LICENSE) [b](../language/steps.md)\n"), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_caught() {
        assert_eq!(found("README.md", "fine\n[a](LICENCE)\n"), ["README.md:2"]);
        assert_eq!(found("README.md", "`x` [a](docs/none.md#b)\n"), ["README.md:1"]);
        assert_eq!(found("docs/a.md", "[a](LICENSE)\n"), ["docs/a.md:1"]);
        assert_eq!(found("docs/a.md", "[a](../../LICENSE)\n"), ["docs/a.md:1"]);
        assert_eq!(found("README.md", "```\n```\n[a](after.md)\n"), ["README.md:3"]);
    }
}
