//! The catalog's own papers: beside each design its verdict, one page that lists them all, a ledger of
//! what they cover, and for each archetype a page in `docs/catalog/`.
//!
//! `cargo xtask designs` writes them. The tests of `steadfast` hold each verdict and each page of an
//! archetype against a fresh check, and tests here hold lists and ledger against the verdicts.

mod catalog;
mod facts;
mod larger;
mod ledger;
mod outline;
mod page;
#[cfg(test)]
mod reasons;
mod shown;
mod verdict;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::table::Table;
use crate::{Answer, cargo, repo};
use verdict::Verdict;

const PAGE: &str = "designs/README.md";
const LEDGER: &str = "designs/LEDGER.md";
const LARGER: &str = "designs/LARGER.md";
const SHOWN: &str = "designs/SHOWN.md";

/// One design of the catalog and what stands beside it.
struct Entry {
    /// `designs/systems/tickets.design`
    path: String,
    title: String,
    /// none: not written yet
    verdict: Option<Verdict>,
}

/// With names, only these designs are checked anew; the page and the ledger are written in any case.
pub fn run(names: &[&str]) -> Answer {
    let root = repo::root()?;
    if names == ["--pages"] {
        let changed = pages(&root)?;
        println!("designs: {changed} pages changed");
        return Ok(true);
    }
    if let ["--larger", names @ ..] = names {
        return make_larger(&root, names);
    }
    let program = cargo::release_binary(&root, "steadfast")?;
    let mut changed = 0;
    let all = texts(&root)?;
    known(names, &all)?;
    let mut table = Table::new(&["design", "verdict", "states", "goals", "failures", "seconds"]);
    let mut total = Duration::ZERO;
    for (path, text) in all {
        if !names.is_empty() && !names.contains(&id(&path)) {
            continue;
        }
        let traces = with_ending(&path, "traces");
        let mut words = vec!["check", "--golden", &path, "--kept", &traces];
        if catalog::has_page(&path) {
            // of several shortest histories one thread always finds the same
            words.extend(["--traces", "--threads", "1"]);
        }
        let started = Instant::now();
        let checked = said(&root, &program, &words)?;
        let took = started.elapsed();
        let (verdict, traces) = split(&checked);
        table.row(row(id(&path), &verdict::read(verdict), took));
        total += took;
        changed += write(&root, &verdict_path(&path), verdict)?;
        if catalog::has_page(&path) {
            if uses_others(&text) {
                let flat = said(&root, &program, &["show", &path, "--flat"])?;
                changed += write(&root, &with_ending(&path, "flat"), &flat)?;
            }
            let sheet = said(&root, &program, &["explain", &path])?;
            let drawings = said(&root, &program, &["explain", &path, "--format", "svg"])?;
            let page = catalog::page(&path, &sheet, traces, drive(&root, &path).as_deref());
            changed += write(&root, &catalog::page_path(id(&path)), &page)?;
            changed += write(&root, &catalog::drawings_path(id(&path)), &drawings)?;
        }
    }
    print!("{table}");
    println!(
        "both arms of every failure of these designs, with one thread: {:.1} s",
        total.as_secs_f64()
    );
    changed += pages(&root)?;
    println!("designs: {changed} files changed");
    Ok(true)
}

/// The goals of each design, or of these, once for every number of its world that can be one larger.
fn make_larger(root: &Path, names: &[&str]) -> Answer {
    let program = cargo::release_binary(root, "steadfast")?;
    let all = texts(root)?;
    known(names, &all)?;
    let mut changed = 0;
    let started = Instant::now();
    for (path, _) in all {
        if !names.is_empty() && !names.contains(&id(&path)) {
            continue;
        }
        let budget = larger::budget(id(&path)).to_string();
        let words = ["check", "--golden", "--larger", "--max-states", &budget, "--threads", "1"];
        let began = Instant::now();
        let found = said(root, &program, &[&words[..], &[path.as_str()]].concat())?;
        changed += write(root, &with_ending(&path, "larger"), &found)?;
        println!("{}: {:.1} s", id(&path), began.elapsed().as_secs_f64());
    }
    println!("in all: {:.0} s", started.elapsed().as_secs_f64());
    changed += pages(root)?;
    println!("designs: {changed} files changed");
    Ok(true)
}

fn known(names: &[&str], all: &[(String, String)]) -> Result<(), String> {
    match names.iter().find(|name| !all.iter().any(|(path, _)| id(path) == **name)) {
        Some(unknown) => Err(format!("no design `{unknown}` in `designs/`")),
        None => Ok(()),
    }
}

/// What a command of the binary prints.
fn said(root: &Path, program: &Path, words: &[&str]) -> Result<String, String> {
    let output = Command::new(program).current_dir(root).args(words).output();
    let output = output.map_err(|error| format!("cannot start `steadfast`: {error}"))?;
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`steadfast {}` printed no text", words.join(" ")))
}

/// The verdict, and the traces after the first empty line.
fn split(said: &str) -> (&str, &str) {
    match said.find("\n\n") {
        Some(at) => (&said[..=at], &said[at + 2..]),
        None => (said, ""),
    }
}

/// The script that drives a design over HTTP.
fn drive(root: &Path, design: &str) -> Option<String> {
    std::fs::read_to_string(root.join(with_ending(design, "drive"))).ok()
}

/// Is there more in a design than its text says?
fn uses_others(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("use "))
}

/// What checking a design came to: the goals that were proved, the failures that were shown both ways.
fn row(id: &str, verdict: &Verdict, took: Duration) -> [String; 6] {
    let of = |(held, all): (usize, usize)| format!("{held} of {all}");
    [
        id.to_owned(),
        if verdict.word.is_empty() { "not explored".to_owned() } else { verdict.word.clone() },
        verdict.states.map_or("-".to_owned(), |states| states.to_string()),
        of(verdict.goals),
        of(verdict.failures),
        format!("{:.1}", took.as_secs_f64()),
    ]
}

/// What is said of all designs together, from the verdicts that stand beside them.
fn pages(root: &Path) -> Result<usize, String> {
    let entries = entries(root)?;
    let facts = facts::read(&repo::files(root)?)?;
    let lists = write(root, PAGE, &page::page(&facts, &entries))?
        + write(root, catalog::INDEX, &catalog::index(&facts, &entries))?;
    let larger = write(root, LARGER, &larger::page(&larger_designs(root)?))?;
    let shown = write(root, SHOWN, &shown::page(&carried(root)?))?;
    Ok(lists + larger + shown + write(root, LEDGER, &ledger_page(root)?)?)
}

fn larger_designs(root: &Path) -> Result<Vec<larger::Design>, String> {
    let list = texts(root)?.into_iter().map(|(path, _)| {
        let beside = std::fs::read_to_string(root.join(with_ending(&path, "larger")));
        larger::Design { path, beside: beside.unwrap_or_default() }
    });
    Ok(list.collect())
}

/// The failures of each design that were carried out.
fn carried(root: &Path) -> Result<Vec<(String, Vec<shown::Carried>)>, String> {
    let list = texts(root)?.into_iter().map(|(path, _)| {
        let beside = std::fs::read_to_string(root.join(with_ending(&path, "traces")));
        (id(&path).to_owned(), shown::read(&beside.unwrap_or_default()))
    });
    Ok(list.collect())
}

fn ledger_page(root: &Path) -> Result<String, String> {
    let facts = facts::read(&repo::files(root)?)?;
    let mut designs = Vec::new();
    for ((path, text), (_, carried)) in texts(root)?.into_iter().zip(carried(root)?) {
        let beside = std::fs::read_to_string(root.join(verdict_path(&path))).unwrap_or_default();
        // what it uses counts as its own
        let flat = std::fs::read_to_string(root.join(with_ending(&path, "flat")));
        designs.push(ledger::Design {
            id: id(&path).to_owned(),
            outline: outline::outline(flat.as_ref().unwrap_or(&text)),
            verdict: verdict::read(&beside),
            carried,
            driven: drive(root, &path).map(|script| catalog::driven(&script)).unwrap_or_default(),
        });
    }
    Ok(ledger::page(&facts, &designs))
}

/// Writes a file if that changes it, and says whether it did.
fn write(root: &Path, path: &str, text: &str) -> Result<usize, String> {
    let file = root.join(path);
    if std::fs::read_to_string(&file).is_ok_and(|held| held == text) {
        return Ok(0);
    }
    std::fs::write(&file, text).map_err(|error| format!("cannot write `{path}`: {error}"))?;
    Ok(1)
}

/// Every design, by path, with its text.
fn texts(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut list: Vec<(String, String)> = repo::files(root)?
        .into_iter()
        .filter(|file| file.path.starts_with("designs/") && file.extension() == "design")
        .map(|file| (file.path, file.text))
        .collect();
    list.sort();
    Ok(list)
}

fn entries(root: &Path) -> Result<Vec<Entry>, String> {
    let list = texts(root)?.into_iter().map(|(path, text)| {
        let beside = std::fs::read_to_string(root.join(verdict_path(&path))).ok();
        Entry { title: title(&text), verdict: beside.as_deref().map(verdict::read), path }
    });
    Ok(list.collect())
}

/// `I02`, `tickets`
fn id(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".design").unwrap_or(file)
}

fn verdict_path(design: &str) -> String {
    with_ending(design, "verdict")
}

fn with_ending(design: &str, ending: &str) -> String {
    format!("{}.{ending}", design.strip_suffix(".design").unwrap_or(design))
}

/// What stands in quotes in the line that declares the design.
fn title(text: &str) -> String {
    text.lines()
        .find(|line| line.starts_with("design ") || line.starts_with("archetype "))
        .and_then(|line| line.split('"').nth(1))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_read_from_the_declaration() {
        assert_eq!(title("// a \"note\"\ndesign Shop \"A shop\"\n"), "A shop");
        assert_eq!(title("archetype I02 Claim \"Claim\"\nfamily \"x\"\n"), "Claim");
    }

    #[test]
    fn a_row_says_what_was_explored_and_how_long_it_took() {
        let verdict = verdict::read(
            "formatted yes\ndesign Shop: proved\nstates 12\ngoal a: proved\n\
             failure \"x\": without y.z breaks a: load-bearing in 3 steps\n",
        );
        let row = row("shop", &verdict, Duration::from_millis(1_240));
        assert_eq!(row, ["shop", "proved", "12", "1 of 1", "1 of 1", "1.2"]);
        let none = super::row("shop", &Verdict::default(), Duration::ZERO);
        assert_eq!(none, ["shop", "not explored", "-", "0 of 0", "0 of 0", "0.0"]);
    }

    #[test]
    fn the_page_is_what_the_verdicts_say() {
        let root = repo::root().unwrap();
        let entries = entries(&root).unwrap();
        let missing: Vec<&str> =
            entries.iter().filter(|e| e.verdict.is_none()).map(|e| e.path.as_str()).collect();
        assert_eq!(missing, [""; 0], "no verdict: run `cargo xtask designs`");
        let kept = std::fs::read_to_string(root.join(PAGE)).unwrap_or_default();
        let facts = facts::read(&repo::files(&root).unwrap()).unwrap();
        assert_eq!(
            kept,
            page::page(&facts, &entries),
            "`{PAGE}` is old: run `cargo xtask designs`"
        );
    }

    #[test]
    fn the_list_of_archetypes_is_what_designs_and_verdicts_say() {
        let root = repo::root().unwrap();
        let kept = std::fs::read_to_string(root.join(catalog::INDEX)).unwrap_or_default();
        let facts = facts::read(&repo::files(&root).unwrap()).unwrap();
        let now = catalog::index(&facts, &entries(&root).unwrap());
        assert_eq!(kept, now, "`{}` is old: run `cargo xtask designs`", catalog::INDEX);
    }

    #[test]
    fn a_verdict_ends_where_the_traces_begin() {
        assert_eq!(split("a\nb\n\n\"x\" 1\n\n2\n"), ("a\nb\n", "\"x\" 1\n\n2\n"));
        assert_eq!(split("a\n"), ("a\n", ""));
    }

    #[test]
    fn the_ledger_is_what_designs_and_verdicts_say() {
        let root = repo::root().unwrap();
        let kept = std::fs::read_to_string(root.join(LEDGER)).unwrap_or_default();
        let now = ledger_page(&root).unwrap();
        assert_eq!(kept, now, "`{LEDGER}` is old: run `cargo xtask designs`");
    }

    #[test]
    fn larger_worlds_were_looked_at_for_every_design_as_it_is_now() {
        let root = repo::root().unwrap();
        let designs = larger_designs(&root).unwrap();
        let problems: Vec<String> = designs
            .iter()
            .filter_map(|design| {
                let verdict = std::fs::read_to_string(root.join(verdict_path(&design.path)));
                let id = id(&design.path);
                let problem = larger::problem(id, &design.beside, &verdict.unwrap_or_default())?;
                Some(format!("{id}: {problem}"))
            })
            .collect();
        assert_eq!(problems, [""; 0], "run `cargo xtask designs --larger`");
        let kept = std::fs::read_to_string(root.join(LARGER)).unwrap_or_default();
        assert_eq!(
            kept,
            larger::page(&designs),
            "`{LARGER}` is old: run `cargo xtask designs --pages`"
        );
    }

    #[test]
    fn every_bound_has_its_reason_beside_it() {
        let root = repo::root().unwrap();
        let mut missing = Vec::new();
        let texts = texts(&root).unwrap();
        for (path, text) in &texts {
            let verdict = std::fs::read_to_string(root.join(verdict_path(path))).unwrap();
            let uses = |other: &str| {
                verdict.lines().any(|line| line.starts_with(&format!("uses {other} as ")))
            };
            let used = texts.iter().filter(|(path, _)| uses(id(path)));
            let used: Vec<&str> = used.map(|(_, text)| text.as_str()).collect();
            let bounds = reasons::missing(text, &used, &verdict);
            missing.extend(bounds.into_iter().map(|bound| format!("{}: {bound}", id(path))));
        }
        assert_eq!(missing, [""; 0], "say in a comment in `check` why the bound is enough");
    }

    /// The ledger reads the flat text of an archetype that uses others; a test of `steadfast` holds it against `show`.
    #[test]
    fn a_flat_text_stands_beside_archetypes_that_use_others_and_nowhere_else() {
        let root = repo::root().unwrap();
        let mut wrong = Vec::new();
        for (path, text) in texts(&root).unwrap() {
            let is_there = root.join(with_ending(&path, "flat")).exists();
            if is_there != (catalog::has_page(&path) && uses_others(&text)) {
                wrong.push(path);
            }
        }
        assert_eq!(wrong, [""; 0], "run `cargo xtask designs` for them");
    }

    #[test]
    fn nothing_is_kept_of_the_larger_worlds_of_a_design_that_is_gone() {
        let root = repo::root().unwrap();
        let files = repo::files(&root).unwrap();
        let kept = [".larger", ".flat"];
        let beside = files.iter().filter(|file| file.path.starts_with("designs/"));
        let there = |path: &str| files.iter().any(|file| file.path == path);
        let gone: Vec<&str> = beside
            .map(|file| file.path.as_str())
            .filter(|path| {
                let ending = kept.iter().find(|ending| path.ends_with(**ending));
                ending.is_some_and(|ending| !there(&path.replace(ending, ".design")))
            })
            .collect();
        assert_eq!(gone, [""; 0]);
    }
}
