//! The catalog's protocols, read as they are written: every step head whose guard is an
//! expression, and every whole protocol that is made of such heads.

use syntax::{FileId, parse_expression, parse_protocol};

const PROTOCOLS: &str = include_str!("data/protocols.txt");

/// Step heads without a guard: (archetype, operation).
const WITHOUT_GUARD: &[(&str, &str)] =
    &[("I05", "process"), ("I18", "emit_sample"), ("I20", "recompute_from_input_or_checkpoint")];

/// Step heads whose guard is a remark in English: (archetype, operation, why it is none of ours).
const PROSE: &[(&str, &str, &str)] = &[
    ("I01", "commit", "`quorum reachable` is two names without an operator"),
    ("I01", "acquire_leadership", "`and quorum reachable` is two names without an operator"),
    ("I20", "release_stage", "`all upstream StageState…` has no `in` and no `:`"),
    ("I20", "commit_output", "`all partitions complete` has no `in` and no `:`"),
    ("I20", "detect_failed_attempt", "`heartbeat expired` is two names without an operator"),
    ("I21", "verify_signature", "`fresh` is no operator after a name"),
];

#[derive(Debug)]
struct Head<'t> {
    archetype: &'t str,
    operation: &'t str,
    guard: Option<&'t str>,
}

/// (title, text) of each protocol.
fn protocols() -> Vec<(&'static str, &'static str)> {
    let sections = PROTOCOLS.split("## ").filter(|section| !section.trim().is_empty());
    sections.filter_map(|section| section.split_once('\n')).collect()
}

/// The heads of a protocol, cut out by their brackets alone.
fn heads<'t>(title: &'t str, text: &'t str) -> Vec<Head<'t>> {
    let archetype = title.split(' ').next().unwrap_or("");
    let inside = text.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    inside
        .map(|head| {
            let (operation, guard) = match head.split_once('{') {
                Some((operation, guard)) => (operation, guard.trim_end().strip_suffix('}')),
                None => (head, None),
            };
            Head { archetype, operation: operation.trim(), guard }
        })
        .collect()
}

fn is_prose(head: &Head<'_>) -> bool {
    PROSE.iter().any(|(archetype, operation, _)| {
        *archetype == head.archetype && *operation == head.operation
    })
}

#[test]
fn every_guard_that_is_an_expression_is_read() {
    let (mut all, mut read) = (0, 0);
    let mut without_guard = Vec::new();
    for (title, text) in protocols() {
        for head in heads(title, text) {
            all += 1;
            let Some(guard) = head.guard else {
                without_guard.push((head.archetype, head.operation));
                continue;
            };
            let (_, diagnostics) = parse_expression(guard, FileId(0));
            if is_prose(&head) {
                assert!(!diagnostics.is_empty(), "{head:?} was read as an expression");
            } else {
                assert_eq!(diagnostics, [], "{head:?}");
                read += 1;
            }
        }
    }
    assert_eq!((all, read), (111, 102));
    assert_eq!(without_guard, WITHOUT_GUARD);
    assert_eq!(all - read, WITHOUT_GUARD.len() + PROSE.len());
}

#[test]
fn a_protocol_is_read_whole_unless_it_holds_prose() {
    let (mut whole, mut steps_seen) = (0, 0);
    for (title, text) in protocols() {
        let heads = heads(title, text);
        let (paths, diagnostics) = parse_protocol(text, FileId(0));
        let prose = heads.iter().filter(|head| is_prose(head)).count();
        assert_eq!(diagnostics.len(), prose, "{title}: {diagnostics:#?}");
        for diagnostic in &diagnostics {
            assert_eq!(diagnostic.code, "E0124", "{title}");
        }
        whole += usize::from(prose == 0);

        // recovery keeps every step of a protocol, also around a guard that is prose
        assert_eq!(paths.len(), 1, "{title}");
        let mut steps: Vec<&syntax::tree::PathStep> = paths[0].steps.iter().collect();
        for branch in &paths[0].branches {
            assert_eq!(branch.branches, [], "{title}");
            steps.extend(&branch.steps);
        }
        let operations: Vec<&str> = steps.iter().map(|step| step.operation.text.as_str()).collect();
        let expected: Vec<&str> = heads.iter().map(|head| head.operation).collect();
        assert_eq!(operations, expected, "{title}");
        for (step, head) in steps.iter().zip(&heads) {
            assert_eq!(step.guard.len(), usize::from(head.guard.is_some()), "{title}: {head:?}");
        }
        steps_seen += steps.len();
    }
    assert_eq!(steps_seen, 111);
    assert_eq!((protocols().len(), whole), (43, 38));
}

#[test]
fn arrows_and_outcomes_are_read() {
    let outcome = |text: &str| {
        let (paths, diagnostics) = parse_protocol(text, FileId(0));
        assert_eq!(diagnostics, []);
        let name = |path: &syntax::tree::Path| path.outcome.as_ref().map(|name| name.text.clone());
        (name(&paths[0]), paths[0].branches.iter().map(name).collect::<Vec<_>>())
    };
    let text = protocols()
        .into_iter()
        .find(|(title, _)| *title == "I07 Read/fill protocol")
        .map(|(_, text)| text)
        .expect("the catalog has this protocol");
    assert_eq!(outcome(text), (Some("done".into()), vec![Some("done".into())]));
    assert_eq!(outcome("a[b] -> c[d]"), (None, vec![]));
}
