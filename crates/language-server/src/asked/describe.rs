//! What a definition is, in Markdown.

use design::{Definition, DefinitionKind as Kind};
use syntax::tree::{Clause, OperationItem, WithoutKind};

use super::effects::effects;
use super::parts::{Parts, Prevented, operation_of};
use super::symbols::{operation_word, state_word};
use crate::snapshot::Snapshot;

/// So much of a text is shown of one thing.
const LINES_MAX: usize = 24;

/// What a definition is; `ty` is its type, where it has one.
pub fn describe(snapshot: &Snapshot, definition: &Definition, ty: Option<&str>) -> String {
    let parts = Parts::of(snapshot);
    let name = definition.name.as_str();
    let owner = definition.owner.map(|owner| snapshot.definition(owner).name.as_str());
    let plain = || match (noun(definition.kind), ty) {
        (noun, Some(ty)) => format!("{noun}\n{}", code(&format!("{name}: {ty}"))),
        (noun, None) => format!("{noun} `{name}`"),
    };
    let known = match (definition.kind, owner) {
        (Kind::Operation, _) => parts.operation(name).map(|held| operation(&parts, held)),
        (Kind::Clause, Some(of)) => parts.clause(of, name).map(|held| clause(&parts, of, held)),
        (Kind::Actor, _) => parts.actor(name).map(|_| actor(&parts, name)),
        (Kind::Subject, _) => parts.subject(name).map(|held| {
            let keys: Vec<&str> =
                held.keys.iter().map(|key| parts.text(key.name.span.to(key.ty.span))).collect();
            let mut text = code(&format!("subject {name}({})", keys.join(", ")));
            for state in &held.states {
                text.push_str(&code(parts.text(state.span)));
            }
            text
        }),
        (Kind::State, _) => parts.state(name).map(|(subject, state)| {
            let word = state_word(&state.kind);
            format!("{word} of `{}`\n{}", subject.name.text, code(parts.text(state.span)))
        }),
        (Kind::Attribute, Some(of)) => parts.attribute(of, name).map(|held| {
            format!("attribute of `{of}`\n{}", code(parts.text(held.span).trim_end_matches(',')))
        }),
        (Kind::Goal, _) => parts.goal(name).map(|goal| {
            let body = code(&format!("{} {name}: {}", goal.word, parts.text(goal.body.span)));
            format!("{}\n{body}", promise(goal.word)) + &broken(&parts, name)
        }),
        (Kind::View, _) => parts.written("view", name).map(|text| {
            format!("view: derived, may lag behind truth, and no guard reads it\n{}", code(text))
        }),
        (Kind::Define, _) => parts.written("define", name).map(code),
        (Kind::Protocol, _) => parts.written("protocol", name).map(code),
        (Kind::World, _) => parts.written("check", name).map(code),
        (Kind::Constant, Some(of)) => Some(format!("`{name}`, a value of `{of}`")),
        (Kind::Memory, Some(of)) => Some(match ty {
            Some(ty) => format!("what `{of}` remembers\n{}", code(&format!("{name}: {ty}"))),
            None => format!("`{name}`, what `{of}` remembers"),
        }),
        _ => None,
    };
    known.unwrap_or_else(plain)
}

/// What a definition is called, by its kind.
pub fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Actor => "actor",
        Kind::Memory => "memory",
        Kind::Blob => "blob",
        Kind::Subject => "subject",
        Kind::Key => "key",
        Kind::State => "state",
        Kind::Attribute => "attribute",
        Kind::Constant => "constant",
        Kind::Define => "define",
        Kind::Operation => "operation",
        Kind::Parameter => "parameter",
        Kind::Local => "local",
        Kind::Clause => "clause",
        Kind::View => "view",
        Kind::Event => "event",
        Kind::Goal => "goal",
        Kind::Protocol => "protocol",
        Kind::World => "world",
    }
}

fn promise(word: &str) -> &'static str {
    match word {
        "invariant" => "holds in every reachable state",
        "recovers" => "comes to hold again from every reachable state, with every client silent",
        _ => "whenever the first holds, the second comes to hold",
    }
}

fn operation(parts: &Parts<'_>, held: &OperationItem) -> String {
    let params: Vec<&str> = held.params.iter().map(|param| parts.text(param.span)).collect();
    let (word, name) = (operation_word(&held.kind), &held.name.text);
    let head = format!("{word} {}[{name}({})]", held.actor.text, params.join(", "));
    let mut text = code(&head);
    text.push_str(&format!("\nactor: `{}`\n", held.actor.text));
    if held.guard.is_empty() {
        text.push_str("\nguard: none\n");
    } else {
        text.push_str("\nguard:\n");
        for clause in &held.guard {
            text.push_str(&format!("- `{}`\n", one_line(parts.text(clause.span))));
        }
    }
    let effects = effects(parts, held);
    if !effects.is_empty() {
        text.push_str("\neffects:\n");
        effects.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    let of_it = |kind: &WithoutKind| operation_of(kind) == name;
    text.push_str(&failures("prevents", &parts.prevented(of_it, None)));
    text
}

fn clause(parts: &Parts<'_>, operation: &str, held: &Clause) -> String {
    let name = held.name.as_ref().map_or("", |name| name.text.as_str());
    let mut text = format!("clause of `{operation}`\n{}", code(parts.text(held.span)));
    let of_it = |kind: &WithoutKind| {
        matches!(kind, WithoutKind::Clause { operation: of, clause }
            if of.text == operation && clause.text == name)
    };
    let prevented = parts.prevented(of_it, None);
    match (prevented.is_empty(), parts.defence(operation, name)) {
        (true, Some(reason)) => text.push_str(&format!("\nkept in defence: {reason}\n")),
        (true, None) => text.push_str("\nno failure names it\n"),
        (false, _) => text.push_str(&failures("prevents", &prevented)),
    }
    text.push_str(&format!("\na call for which it is false is refused by `{name}`\n"));
    text
}

fn actor(parts: &Parts<'_>, name: &str) -> String {
    let mut text = code(&format!("actor {name}"));
    let held = parts.actor(name);
    if let Some(of) = held.and_then(|held| held.continues.as_ref()) {
        text.push_str(&format!("\ncontinues `{}`\n", of.text));
    }
    for field in held.into_iter().flat_map(|held| &held.memory) {
        let field = parts.text(field.name.span.to(field.ty.span));
        text.push_str(&format!("- remembers `{field}`\n"));
    }
    let does = parts.operations_of(name);
    if !does.is_empty() {
        text.push('\n');
    }
    for operation in does {
        let word = operation_word(&operation.kind);
        text.push_str(&format!("- {word} `{}`\n", operation.name.text));
    }
    text
}

/// The failures that show that a goal can be broken.
fn broken(parts: &Parts<'_>, goal: &str) -> String {
    failures("is what these failures would break", &parts.prevented(|_| true, Some(goal)))
}

fn failures(word: &str, found: &[Prevented<'_>]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{word}:\n");
    for failure in found {
        text.push_str(&format!("- {}, which breaks `{}`\n", failure.title, failure.breaks));
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A stretch of a design.
pub fn code(text: &str) -> String {
    // what stands inside of braces is moved to the left as far as it goes
    let inner = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = inner.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        0 => line,
        _ => line.get(indent..).unwrap_or_else(|| line.trim_start()),
    });
    let lines: Vec<&str> = lines.collect();
    let shown = lines.len().min(LINES_MAX);
    let more = if shown < lines.len() { "\n…" } else { "" };
    format!("```steadfast\n{}{more}\n```\n", lines[..shown].join("\n"))
}
