//! Every design that a document shows and that compiles is served, and every one with a `check` is
//! checked: what a reader copies keeps what it promises.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use design::Catalog;
use design::model::{Design, OperationKind};
use model_checker::{Options, Report, Verdict};
use runtime::{CallError, Request, Runtime, Settings};
use server::sample;
use store::Memory;

struct Snippet {
    /// `docs/language/steps.md:12`
    place: String,
    design: Design,
    tests: Vec<design::model::Test>,
    /// the page says that its check finds something
    violated: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// The archetypes of the catalog.
struct Shelf(BTreeMap<String, String>);

impl Shelf {
    fn new() -> Shelf {
        let mut all = BTreeMap::new();
        for folder in ["infra", "product"] {
            for entry in fs::read_dir(root().join("designs").join(folder)).expect("it is there") {
                let path = entry.expect("it can be read").path();
                if path.extension().is_some_and(|ending| ending == "design") {
                    let id = path.file_stem().expect("it has a name").to_string_lossy();
                    all.insert(id.into_owned(), fs::read_to_string(&path).expect("it is text"));
                }
            }
        }
        Shelf(all)
    }
}

impl Catalog for Shelf {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// The fenced designs of all documents, but for those that must not compile: these have tests of
/// their own.
fn snippets() -> Vec<Snippet> {
    let mut paths = vec![root().join("README.md")];
    pages(&root().join("docs"), &mut paths);
    paths.sort();
    let mut snippets = Vec::new();
    let shelf = Shelf::new();
    for path in paths {
        let page = fs::read_to_string(&path).expect("it is text");
        let name = path.strip_prefix(root()).expect("it is in here").display().to_string();
        let mut lines = page.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let Some(info) = line.strip_prefix("```") else { continue };
            let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let text = body.collect::<Vec<_>>().join("\n") + "\n";
            if !info.starts_with("design") || info.starts_with("design fails") {
                continue;
            }
            let place = format!("{name}:{}", number + 1);
            let compiled = design::compile(&place, &text, &shelf);
            let design = compiled.design.unwrap_or_else(|| panic!("{place} does not compile"));
            let violated = info.ends_with(" violated");
            snippets.push(Snippet { place, design, tests: compiled.tests, violated });
        }
    }
    snippets
}

/// What is wrong with a report, if something is.
fn wrong(report: &Report) -> Option<String> {
    if report.ok() {
        return None;
    }
    let goals = report.goals.iter().map(|goal| format!("{}: {:?}", goal.name, goal.verdict));
    let failures = report.failures.iter().filter(|failure| !failure.expected());
    let failures = failures.map(|failure| format!("{}: {:?}", failure.title, failure.status));
    let unseen = report.unwitnessed.iter().map(|what| format!("never seen: {what}"));
    Some(goals.chain(failures).chain(unseen).collect::<Vec<_>>().join("\n    "))
}

#[test]
fn what_is_shown_with_a_check_holds() {
    let options = Options { max_states: 300_000, threads: 1, ..Options::default() };
    let mut checked = 0;
    let mut found = Vec::new();
    for snippet in snippets().iter().filter(|snippet| snippet.design.world.written) {
        checked += 1;
        match model_checker::check(&snippet.design, &options, &mut |_| {}) {
            Ok(report) if snippet.violated => {
                let broken = report.goals.iter().any(|g| matches!(g.verdict, Verdict::Violated(_)));
                if !broken {
                    found.push(format!("{}\n    is not violated", snippet.place));
                }
            }
            Ok(report) => {
                let wrong = wrong(&report);
                found.extend(wrong.map(|wrong| format!("{}\n    {wrong}", snippet.place)));
            }
            Err(why) => found.push(format!("{}\n    {why}", snippet.place)),
        }
    }
    assert!(found.is_empty(), "{} of {checked}:\n{}", found.len(), found.join("\n"));
    assert!(checked >= 15, "{checked} snippets have a `check`");
}

#[test]
fn tests_that_are_shown_pass() {
    let mut ran = 0;
    for Snippet { place, design, tests, .. } in snippets() {
        let report = rehearsal::rehearse(&design, &tests);
        let report = report.unwrap_or_else(|why| panic!("{place}: {why}"));
        for told in report.tests {
            assert_eq!(told.failure, None, "{place}: {}", told.title);
            ran += 1;
        }
    }
    assert!(ran >= 6, "{ran} tests are shown");
}

#[test]
fn what_is_shown_is_served() {
    let mut called = 0;
    let mut not_yet = Vec::new();
    for Snippet { place, design, .. } in snippets() {
        let store = Arc::new(Memory::new());
        let settings =
            Settings { secrets: Some(steadfast::passing_secrets()), ..Settings::default() };
        let runtime = match Runtime::open(design.clone(), store, settings) {
            Ok(runtime) => runtime,
            // what compiles and is not served yet says so
            Err(why) if format!("{why:?}").contains("served yet") => {
                not_yet.push(place);
                continue;
            }
            Err(why) => panic!("{place} cannot be served: {why:?}"),
        };
        let sent = design::model::visit::message_targets(&design);
        for (operation, by_messages) in design.operations.iter().zip(sent) {
            let actor = &design.actors[operation.actor.index()];
            let is_step = matches!(operation.kind, OperationKind::Step { .. });
            if !is_step || actor.is_world || by_messages {
                continue;
            }
            let mut request = Request::new(&actor.name, &operation.name, "ann").keyed("once");
            request.params = sample::params(&design, operation);
            // an answer, be it a refusal: nothing is misunderstood, and nothing breaks
            match runtime.call(&request) {
                Ok(_) | Err(CallError::Refused(_)) => called += 1,
                Err(why) => panic!("{place}: {}: {why:?}", operation.name),
            }
        }
    }
    assert!(called >= 100, "{called} steps were called");
    assert!(not_yet.len() <= 3, "too many are not served: {not_yet:?}");
}
