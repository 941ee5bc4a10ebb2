//! A diagnostic with its lines of source, for a person.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use design::{Source, Sources};
use syntax::{Diagnostic, FileId, Label};

pub fn draw(diagnostic: &Diagnostic, sources: &Sources, coloured: bool) -> String {
    let level = if diagnostic.is_error() { Level::ERROR } else { Level::WARNING };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let mut group = Group::with_title(title);
    for file in files(diagnostic) {
        if let Some(source) = sources.get(file) {
            group = group.element(snippet(diagnostic, file, source));
        }
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).term_width(100).render(&[group])
}

/// The file of the primary label first, then those of the others.
fn files(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files = vec![diagnostic.primary.span.file];
    for label in &diagnostic.secondary {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

/// The lines of one file that the labels touch. Only those are handed over: the drawing takes
/// time in proportion to the text it is given, and a file may have many diagnostics.
fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    file: FileId,
    source: &'a Source,
) -> Snippet<'a, Annotation<'a>> {
    let mut labels: Vec<(AnnotationKind, &Label)> = Vec::new();
    if diagnostic.primary.span.file == file {
        labels.push((AnnotationKind::Primary, &diagnostic.primary));
    }
    let others = diagnostic.secondary.iter().filter(|label| label.span.file == file);
    labels.extend(others.map(|label| (AnnotationKind::Context, label)));

    let text = source.text.as_str();
    let first = labels.iter().map(|(_, label)| label.span.start as usize).min().unwrap_or(0);
    let last = labels.iter().map(|(_, label)| label.span.end as usize).max().unwrap_or(0);
    let (first, last) = (floor(text, first), floor(text, last));
    let begin = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);

    let line = source.position(begin as u32).line as usize;
    let mut snippet =
        Snippet::source(&text[begin..end]).path(source.name.as_str()).line_start(line);
    for (kind, label) in labels {
        let from = floor(text, label.span.start as usize) - begin;
        let to = floor(text, label.span.end as usize) - begin;
        let annotation = kind.span(from..to);
        snippet = snippet.annotation(match label.text.as_str() {
            "" => annotation,
            said => annotation.label(said),
        });
    }
    snippet
}

/// The nearest place at or before `at` where a character begins.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use syntax::Span;

    use super::*;

    fn drawn(text: &str, diagnostic: &Diagnostic) -> String {
        let mut sources = Sources::default();
        sources.add(Source::new("a.design", text));
        draw(diagnostic, &sources, false)
    }

    fn span(start: u32, end: u32) -> Span {
        Span::new(FileId(0), start, end)
    }

    #[test]
    fn places_are_given_by_line_and_column() {
        let diagnostic = Diagnostic::error("E0001", span(8, 11), "no such thing as `two`")
            .label("not known")
            .also(span(0, 3), "this is")
            .help("did you mean `one`?");
        let text = drawn("one\n    two\n", &diagnostic);
        for part in ["error[E0001]: no such thing as `two`", "--> a.design:2:5", "^^^ not known"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(text.contains("--- this is") && text.contains("help: did you mean `one`?"));
    }

    #[test]
    fn a_place_at_the_end_or_inside_a_letter_is_drawn_too() {
        for (from, to) in [(4, 4), (3, 3), (1, 2), (0, 900)] {
            let text = drawn("aß\n", &Diagnostic::error("E0001", span(from, to), "odd"));
            assert!(text.contains("a.design:"), "{text}");
        }
        assert!(drawn("", &Diagnostic::error("E0001", span(0, 0), "odd")).contains("odd"));
    }
}
