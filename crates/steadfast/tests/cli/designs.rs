//! Beside each design of the catalog stands its verdict, and each archetype has a page; both are still true.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::support::{root, run_in};

fn designs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            designs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "design") {
            found.push(path);
        }
    }
}

#[test]
fn every_design_has_the_verdict_and_the_page_that_are_kept() {
    let mut paths = Vec::new();
    designs(&root().join("designs"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    let mut again = 0;
    for path in &paths {
        let beside = fs::read_to_string(path.with_extension("verdict")).unwrap_or_default();
        let has_a_page = path
            .parent()
            .is_some_and(|folder| folder.ends_with("infra") || folder.ends_with("product"));
        let name = path.to_string_lossy();
        let mark = run_in(&root(), &["check", "--mark", &name]).out;
        if let Ok(flat) = fs::read_to_string(path.with_extension("flat"))
            && flat != run_in(&root(), &["show", &name, "--flat"]).out
        {
            wrong.push(format!("{name}: what it uses is another now, see `show --flat`"));
        }
        if !beside.starts_with(&format!("checked {mark}")) {
            wrong.push(format!("{}: the verdict is of another text, or by other rules", name));
            continue;
        }
        if states(&beside) > STATES_MAX {
            // The verdict on exactly this text is kept; `cargo xtask designs` makes it again.
            wrong.extend(has_a_page.then(|| page_is_old(path, None)).flatten());
            continue;
        }
        again += 1;
        let mut words = vec!["check", "--golden", &name];
        if has_a_page {
            // of several shortest histories one thread always finds the same
            words.extend(["--traces", "--threads", "1"]);
        }
        let ran = run_in(&root(), &words);
        let (verdict, traces) = ran.out.split_once("\n\n").unwrap_or((&ran.out, ""));
        if verdict.trim_end() != beside.trim_end() {
            wrong.push(format!("{}\n--- kept\n{beside}--- now\n{verdict}", path.display()));
        }
        if has_a_page {
            wrong.extend(page_is_old(path, Some(traces)));
        }
    }
    assert!(again >= 5, "only {again} designs were checked again");
    assert!(
        wrong.is_empty(),
        "{}\nhelp: `cargo xtask designs` writes them anew; read what changed before you commit it",
        wrong.join("\n")
    );
}

/// Designs with more states are not checked again by every run of the tests.
const STATES_MAX: u64 = 10_000;

/// How many states a verdict was found in.
fn states(verdict: &str) -> u64 {
    let line = verdict.lines().find_map(|line| line.strip_prefix("states "));
    line.and_then(|states| states.parse().ok()).unwrap_or(0)
}

/// What the page of an archetype does not have as it is now. `traces`: if they were found anew.
fn page_is_old(design: &Path, traces: Option<&str>) -> Option<String> {
    let name = design.file_stem()?.to_string_lossy().into_owned();
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let page = read(root().join(format!("docs/catalog/{name}.md")));
    let explained = |words: &[&str]| {
        let path = design.to_string_lossy();
        let words: Vec<&str> =
            ["explain", &path].into_iter().chain(words.iter().copied()).collect();
        run_in(&root(), &words).out
    };
    let sheet = explained(&[]);
    let (title, sheet) = sheet.split_once('\n')?;
    let parts = [
        ("title", title),
        ("sheet", sheet),
        ("traces", traces.unwrap_or_default().trim_end()),
        ("drive", &read(design.with_extension("drive"))),
    ];
    let old = parts.iter().find(|(_, part)| !page.contains(part.trim_end()));
    if let Some((what, _)) = old {
        return Some(format!("docs/catalog/{name}.md: the {what} is another one"));
    }
    let drawn = read(root().join(format!("docs/catalog/{name}.svg")));
    let now = explained(&["--format", "svg"]);
    (drawn != now).then(|| format!("docs/catalog/{name}.svg is another one"))
}
