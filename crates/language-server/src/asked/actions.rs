//! What a diagnostic says to do, done: where its `help:` is an edit, it is offered. An edit is offered only if the text
//! compiled with it has that problem no more, and none that it did not have before.

use gen_lsp_types::{CodeAction, CodeActionKind, Range, Uri};
use syntax::tree::ItemKind;
use syntax::{Diagnostic, Span, TokenKind};

use super::diagnostics;
use super::tried::{Edit, Edits};
use crate::server::Server;
use crate::snapshot::{Snapshot, TEXT};

/// So many problems are looked at for one request: each edit is compiled.
const PROBLEMS_MAX: usize = 8;

pub fn actions(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    range: Range,
) -> Vec<CodeAction> {
    let here = |problem: &&Diagnostic| {
        let at = diagnostics::range(snapshot, problem);
        problem.primary.span.file == TEXT && at.start <= range.end && range.start <= at.end
    };
    let mut found = Vec::new();
    for problem in snapshot.compiled.diagnostics.iter().filter(here).take(PROBLEMS_MAX) {
        let mut titles: Vec<String> = Vec::new();
        for help in &problem.help {
            for (title, edit) in candidates(snapshot, problem, help) {
                let edits = Edits::of(vec![edit]);
                if titles.contains(&title) || !mends(server, snapshot, problem, &edits) {
                    continue;
                }
                titles.push(title.clone());
                found.push(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QuickFix),
                    diagnostics: Some(vec![diagnostics::one(server, uri, snapshot, problem)]),
                    is_preferred: Some(titles.len() == 1),
                    edit: Some(edits.for_editor(snapshot, uri)),
                    ..CodeAction::default()
                });
            }
        }
    }
    found
}

/// What a line of help may mean.
fn candidates(snapshot: &Snapshot, problem: &Diagnostic, help: &str) -> Vec<(String, Edit)> {
    let mut found = Vec::new();
    let written: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    // with a gap in it, it is an example
    let whole = written.iter().copied().filter(|text| !text.contains('…') && !text.is_empty());
    let at = problem.primary.span;
    let replaces = help.starts_with("did you mean `")
        || help.starts_with("here it is called `")
        || help.starts_with("write `");
    if replaces {
        for text in whole.clone().take(2) {
            let title = format!("change to `{text}`");
            found.extend(
                wrong_words(snapshot, problem)
                    .into_iter()
                    .chain([at])
                    .map(|span| (title.clone(), Edit::replace(span, text))),
            );
        }
    }
    if help.starts_with("declare it: `") {
        for text in whole.clone().take(1) {
            let title = format!("add `{text}`");
            found.push((title, Edit::insert(item_start(snapshot, at), format!("{text}\n\n"))));
        }
    }
    if help.starts_with("add `") && help.ends_with("` to `check`") {
        for text in whole.take(1) {
            let title = format!("add `{text}` to `check`");
            found.extend(
                check_end(snapshot).map(|end| (title, Edit::insert(end, format!(" {text} ")))),
            );
        }
    }
    if help.starts_with("leave ") || help.contains("; leave ") {
        let mut spans = Vec::new();
        for word in &written {
            spans.extend(words_in(snapshot, at, word));
        }
        spans.push(at);
        for span in spans {
            let span = with_gap(snapshot, span);
            let text = span.text(&snapshot.text).trim();
            let title = match text.lines().count() {
                0 | 1 => format!("leave `{text}` out"),
                _ => "leave this out".to_string(),
            };
            found.push((title, Edit::replace(span, "")));
        }
    }
    found
}

/// The words at the place of a problem that its message is about.
fn wrong_words(snapshot: &Snapshot, problem: &Diagnostic) -> Vec<Span> {
    let named: Vec<&str> = problem.message.split('`').skip(1).step_by(2).collect();
    named.iter().flat_map(|word| words_in(snapshot, problem.primary.span, word)).collect()
}

/// Where a word stands within a stretch of the text.
fn words_in(snapshot: &Snapshot, within: Span, word: &str) -> Vec<Span> {
    let tokens = snapshot.tokens().iter();
    let inside = tokens.filter(|token| {
        token.kind == TokenKind::Word
            && within.start <= token.span.start
            && token.span.end <= within.end
    });
    inside.map(|token| token.span).filter(|span| span.text(&snapshot.text) == word).collect()
}

/// With the blanks behind it, so that none are left over.
fn with_gap(snapshot: &Snapshot, span: Span) -> Span {
    let rest = snapshot.text.get(span.end as usize..).unwrap_or_default();
    let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    Span::new(TEXT, span.start, span.end + gap as u32)
}

/// The beginning of the item around a place.
fn item_start(snapshot: &Snapshot, at: Span) -> u32 {
    let around = |span: &Span| span.start <= at.start && at.end <= span.end;
    let item = snapshot.items().iter().map(|item| item.span).find(around);
    item.map_or(at.start, |span| span.start)
}

/// Right before the brace that ends the default world.
fn check_end(snapshot: &Snapshot) -> Option<u32> {
    let item = snapshot.items().iter().find(|item| match &item.kind {
        ItemKind::Check(check) => check.named.is_none(),
        _ => false,
    })?;
    item.span.text(&snapshot.text).ends_with('}').then(|| item.span.end - 1)
}

/// Is the problem gone, and no other there instead?
fn mends(server: &Server<'_>, snapshot: &Snapshot, problem: &Diagnostic, edits: &Edits) -> bool {
    let after = edits.compiled(snapshot, &*server.settings.catalog);
    let mut before: Vec<(&str, &str)> = snapshot
        .compiled
        .diagnostics
        .iter()
        .map(|held| (held.code, held.message.as_str()))
        .collect();
    let Some(at) = before.iter().position(|held| *held == (problem.code, problem.message.as_str()))
    else {
        return false;
    };
    before.remove(at);
    // each that is left was there before
    after.diagnostics.iter().all(|held| {
        let same = before.iter().position(|known| *known == (held.code, held.message.as_str()));
        same.map(|at| before.remove(at)).is_some()
    })
}
