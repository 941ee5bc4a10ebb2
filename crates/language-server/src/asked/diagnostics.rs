//! What is wrong with a text: the messages and codes of `steadfast check`, where the editor shows them.

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    Message, Range, Uri,
};
use syntax::{Label, Severity, Span};

use super::places::location;
use crate::server::Server;
use crate::snapshot::{Snapshot, TEXT};

pub fn diagnostics(server: &Server<'_>, uri: &Uri, snapshot: &Snapshot) -> Vec<Diagnostic> {
    let all = snapshot.compiled.diagnostics.iter();
    all.map(|problem| one(server, uri, snapshot, problem)).collect()
}

pub fn one(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    problem: &syntax::Diagnostic,
) -> Diagnostic {
    let related: Vec<DiagnosticRelatedInformation> = std::iter::once(&problem.primary)
        .filter(|label| label.span.file != TEXT)
        .chain(&problem.secondary)
        .filter_map(|label| related(server, uri, snapshot, label))
        .collect();
    Diagnostic {
        range: range(snapshot, problem),
        severity: Some(match problem.severity {
            Severity::Error => DiagnosticSeverity::Error,
            Severity::Warning => DiagnosticSeverity::Warning,
        }),
        code: Some(Code::String(problem.code.to_string())),
        code_description: page(server, problem.code).map(|href| CodeDescription { href }),
        source: Some("steadfast".into()),
        message: Message::String(text(problem)),
        tags: None,
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}

/// The message, what is said at its place, and what to do about it.
pub fn text(problem: &syntax::Diagnostic) -> String {
    let mut text = problem.message.clone();
    if !problem.primary.text.is_empty() {
        text.push_str(&format!("\n{}", problem.primary.text));
    }
    for help in &problem.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// Where the editor shows a problem. One inside of an archetype is shown at its `use`.
pub fn range(snapshot: &Snapshot, problem: &syntax::Diagnostic) -> Range {
    let labels = std::iter::once(&problem.primary).chain(&problem.secondary);
    let here = labels.map(|label| label.span).find(|span| span.file == TEXT);
    snapshot.range(here.unwrap_or(Span::new(TEXT, 0, 0)))
}

fn related(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    label: &Label,
) -> Option<DiagnosticRelatedInformation> {
    let Location { uri, range } = location(server, uri, snapshot, label.span)?;
    let message = if label.text.is_empty() { "here" } else { &label.text };
    Some(DiagnosticRelatedInformation {
        location: Location { uri, range },
        message: message.to_string(),
    })
}

/// What explains a code, as a file.
fn page(server: &Server<'_>, code: &str) -> Option<Uri> {
    let text = (server.settings.error_page)(code)?;
    server.shelf.place("errors", &format!("{code}.md"), text)
}
