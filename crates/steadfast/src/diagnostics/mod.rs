//! What a person, or a script, is told about a text.

mod drawn;
mod json;

pub use json::to_json;

use design::Sources;
use syntax::Diagnostic;

use crate::output::{HELP, Output};

/// Draws every diagnostic, then says how many there were and where to read more.
pub fn tell(output: &mut Output, name: &str, diagnostics: &[Diagnostic], sources: &Sources) {
    if diagnostics.is_empty() {
        return;
    }
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&drawn::draw(diagnostic, sources, output.err_is_coloured()));
        text.push_str("\n\n");
    }
    text.push_str(&summary(name, diagnostics));
    output.tell(&text);
}

fn summary(name: &str, diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let mut parts = Vec::new();
    for (count, noun) in [(errors, "error"), (diagnostics.len() - errors, "warning")] {
        match count {
            0 => {}
            1 => parts.push(format!("1 {noun}")),
            n => parts.push(format!("{n} {noun}s")),
        }
    }
    let mut codes: Vec<&str> = Vec::new();
    for diagnostic in diagnostics {
        if !codes.contains(&diagnostic.code) {
            codes.push(diagnostic.code);
        }
    }
    let more = match codes.as_slice() {
        [one] => format!("`steadfast error {one}` explains it"),
        [first, ..] => format!("`steadfast error {first}` explains the first of {}", list(&codes)),
        [] => String::new(),
    };
    format!("{name}: {}\n{HELP}help{HELP:#}: {more}\n", parts.join(", "))
}

fn list(codes: &[&str]) -> String {
    const MOST: usize = 6;
    let mut text = codes.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if codes.len() > MOST {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use syntax::Span;

    use super::*;

    #[test]
    fn the_summary_counts_and_names_what_to_read() {
        let error = Diagnostic::error("E0301", Span::default(), "x");
        let warning = Diagnostic::warning("W0701", Span::default(), "x");
        let said =
            |list: &[Diagnostic]| summary("a.design", list).lines().next().map(str::to_owned);
        assert_eq!(said(std::slice::from_ref(&error)).unwrap(), "a.design: 1 error");
        assert_eq!(
            said(&[error.clone(), error, warning]).unwrap(),
            "a.design: 2 errors, 1 warning"
        );
    }
}
