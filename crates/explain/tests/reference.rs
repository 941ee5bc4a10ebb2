//! Every design of the language reference, whatever constructs it shows, is explained without a
//! stumble: derived, drawn without overlaps, realised on each engine, equal to itself. And what is
//! spelled of a guard means what was written.

use crate::support;

use design::model::Design;
use explain::{Engine, against, drawings, markdown, realization, realize, sheet};
use support::{designs, root};

/// The snippets of the reference that compile.
fn snippets() -> Vec<(String, String, Design)> {
    let mut found = Vec::new();
    let mut pages: Vec<_> = std::fs::read_dir(root().join("docs/language"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    pages.sort();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (at, block) in text.split("```design\n").skip(1).enumerate() {
            let text = block.split("```").next().unwrap_or_default().to_owned();
            let name = format!("{} {at}", page.file_stem().unwrap().to_string_lossy());
            if let Some(design) = design::compile(&name, &text, &design::NoCatalog).design {
                found.push((name, text, design));
            }
        }
    }
    assert!(found.len() > 40, "{} snippets", found.len());
    found
}

#[test]
fn every_snippet_is_explained() {
    for (name, _, design) in snippets() {
        let sheet = sheet(&design);
        assert!(markdown(&sheet).len() > 200, "{name}");
        for one in &sheet.operations {
            for touch in one.touches.iter().filter(|touch| touch.written) {
                assert!(touch.shape.is_some() && touch.mechanism.is_some(), "{name} {}", one.name);
            }
        }
        for drawing in drawings(&design) {
            for (at, label) in drawing.labels.iter().enumerate() {
                for other in &drawing.labels[at + 1..] {
                    assert!(!label.overlaps(other), "{name} {}: {label:?} {other:?}", drawing.name);
                }
            }
        }
        for engine in Engine::ALL {
            assert!(!realization(&realize(&design, engine)).is_empty(), "{name}");
        }
        assert!(against(&design, &design).is_empty(), "{name}");
    }
}

#[test]
fn a_spelled_guard_means_what_was_written() {
    let catalog = designs().into_iter().map(|found| (found.name, found.text, found.design));
    let mut tried = 0;
    for (name, text, design) in snippets().into_iter().chain(catalog) {
        let operations = sheet(&design).operations;
        for operation in &design.operations {
            let actor = &design.actors[operation.actor.index()].name;
            let called = format!("{actor}[{}]", operation.name);
            let derived = operations.iter().find(|one| one.name == called).unwrap();
            for clause in operation.guard.iter().filter(|clause| clause.span.file.0 == 0) {
                let spelled =
                    derived.guard.iter().find(|c| !c.implicit && c.name == clause.name).unwrap();
                let span = clause.body.span;
                let other = format!(
                    "{}{}{}",
                    &text[..span.start as usize],
                    spelled.text,
                    &text[span.end as usize..]
                );
                let compiled = design::compile(&name, &other, &design::NoCatalog);
                let again = compiled.design.unwrap_or_else(|| {
                    panic!(
                        "{name} {called}: `{}` does not compile: {:?}",
                        spelled.text, compiled.diagnostics
                    )
                });
                let again = sheet(&again).operations;
                let again = again.iter().find(|one| one.name == called).unwrap();
                assert_eq!(again.guard, derived.guard, "{name} {called}");
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
}
