//! What stands at a place.

use design::DefinitionKind as Kind;
use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, Uri};
use syntax::tree::ItemKind;
use syntax::{Span, TokenKind};

use super::describe::{code, describe};
use super::words;
use crate::checks::Standing;
use crate::server::Server;
use crate::snapshot::{Snapshot, TEXT};

pub fn hover(
    server: &mut Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    offset: u32,
) -> Option<Hover> {
    let token = snapshot.token_at(offset)?;
    let (span, mut value) = named(snapshot, offset)
        .or_else(|| archetype(server, snapshot, offset))
        .or_else(|| keyword(snapshot, token.kind, token.span))
        .or_else(|| typed(snapshot, offset))?;
    for id in snapshot.definitions_at(offset) {
        let definition = snapshot.definition(id);
        if definition.kind == Kind::Goal {
            value.push_str(&verdict(server, uri, snapshot, &definition.name));
        }
    }
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    Some(Hover { contents: Contents::MarkupContent(contents), range: Some(snapshot.range(span)) })
}

/// A name that leads to a definition. One that stands for two things shows both.
fn named(snapshot: &Snapshot, offset: u32) -> Option<(Span, String)> {
    let analysis = snapshot.analysis();
    let ids = snapshot.definitions_at(offset);
    let token = snapshot.token_at(offset)?;
    let type_of = |at: Span| {
        let found = analysis.type_at(at.file, at.start).filter(|(span, _)| *span == at);
        found.map(|(_, ty)| analysis.type_name(ty))
    };
    let mut texts: Vec<String> = Vec::new();
    for id in ids {
        let definition = snapshot.definition(id);
        let ty = type_of(token.span).or_else(|| type_of(definition.span));
        let mut text = describe(snapshot, definition, ty.as_deref());
        if definition.span.file != TEXT
            && let Some(source) = snapshot.compiled.sources.get(definition.span.file)
        {
            text.push_str(&format!("\nfrom `{}`\n", source.name));
        }
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| (token.span, texts.join("\n---\n")))
}

/// The `A08` of `use A08 as Seat`.
fn archetype(server: &Server<'_>, snapshot: &Snapshot, offset: u32) -> Option<(Span, String)> {
    let used = snapshot.items().iter().find_map(|item| match &item.kind {
        ItemKind::Use(used) => {
            let span = used.archetype.span;
            (span.start <= offset && offset <= span.end).then_some(used)
        }
        _ => None,
    })?;
    let title = words::archetype_title(&*server.settings.catalog, &used.archetype.text)?;
    Some((used.archetype.span, format!("archetype `{}`: {title}", used.archetype.text)))
}

fn keyword(snapshot: &Snapshot, kind: TokenKind, span: Span) -> Option<(Span, String)> {
    if kind != TokenKind::Word {
        return None;
    }
    let word = span.text(&snapshot.text);
    words::meaning(word).map(|meaning| (span, format!("`{word}`: {meaning}")))
}

/// An expression.
fn typed(snapshot: &Snapshot, offset: u32) -> Option<(Span, String)> {
    let analysis = snapshot.analysis();
    let (span, ty) = analysis.type_at(TEXT, offset)?;
    Some((span, code(&format!("{}: {}", span.text(&snapshot.text), analysis.type_name(ty)))))
}

/// What the last check of exactly this text said of a goal.
fn verdict(server: &mut Server<'_>, uri: &Uri, snapshot: &Snapshot, goal: &str) -> String {
    let design = snapshot.compiled.design.as_ref();
    let Some(Standing::Known(found)) = server.checks.standing(uri, &snapshot.text, design) else {
        return String::new();
    };
    let Some(judged) = found.goal(goal) else { return String::new() };
    let mut text = format!("\n**{}**\n", judged.said);
    if let Some(history) = &judged.history {
        text.push_str(&format!("\n```text\n{}\n```\n", history.trim_end()));
    }
    text
}
