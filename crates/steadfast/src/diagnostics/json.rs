//! A diagnostic with its positions, for a script.

use design::Sources;
use serde_json::{Value, json};
use syntax::{Diagnostic, Label, Severity};

/// An array, in the order of the text. Lines and columns count from 1, offsets in bytes from 0.
pub fn to_json(diagnostics: &[Diagnostic], sources: &Sources) -> Value {
    diagnostics.iter().map(|diagnostic| one(diagnostic, sources)).collect()
}

fn one(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    json!({
        "code": diagnostic.code,
        "severity": severity,
        "message": diagnostic.message,
        "at": label(&diagnostic.primary, sources),
        "also": diagnostic.secondary.iter().map(|l| label(l, sources)).collect::<Vec<_>>(),
        "help": diagnostic.help,
    })
}

fn label(label: &Label, sources: &Sources) -> Value {
    let place = |offset: u32| {
        let position = sources.get(label.span.file).map(|source| source.position(offset));
        json!({
            "line": position.map(|p| p.line),
            "column": position.map(|p| p.column),
            "offset": offset,
        })
    };
    json!({
        "file": sources.get(label.span.file).map(|source| source.name.as_str()),
        "start": place(label.span.start),
        "end": place(label.span.end),
        "label": label.text,
    })
}
