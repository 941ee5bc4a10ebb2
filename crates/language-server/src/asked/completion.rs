//! What may be written at a place.

use design::{Catalog, Definition, DefinitionKind as Kind};
use gen_lsp_types::{CompletionItem, CompletionItemKind, CompletionList, Documentation};
use syntax::TokenKind;

use super::describe::noun;
use super::words;
use crate::snapshot::{Snapshot, TEXT};

pub fn complete(catalog: &dyn Catalog, snapshot: &Snapshot, offset: u32) -> CompletionList {
    let items = match before(snapshot, offset) {
        None => Vec::new(),
        Some(before) if before.previous == "use" => archetypes(catalog, before.begun),
        Some(before) => {
            let mut found = names(snapshot, offset);
            if !before.after_dot {
                found.extend(keywords(&before));
            }
            found
        }
    };
    let items = items.into_iter().enumerate().map(|(at, item)| {
        // the nearest first, whatever the editor thinks of the names
        CompletionItem { sort_text: Some(format!("{at:05}")), ..item }
    });
    CompletionList { items: items.collect(), ..CompletionList::default() }
}

/// What stands before a place.
struct Before<'s> {
    /// the part of a word that is written already
    begun: &'s str,
    /// the word or sign before it
    previous: &'s str,
    after_dot: bool,
    /// nothing is open: an item may begin here
    outside: bool,
    line_begins: bool,
}

/// None: inside of a comment or a text.
fn before(snapshot: &Snapshot, offset: u32) -> Option<Before<'_>> {
    let text = snapshot.text.get(..offset as usize)?;
    let tokens = snapshot.tokens();
    let end = tokens.partition_point(|token| token.span.start < offset);
    let mut earlier = &tokens[..end];
    let mut begun = "";
    if let Some(last) = earlier.last().filter(|last| offset <= last.span.end) {
        match last.kind {
            TokenKind::Comment => return None,
            TokenKind::Text if offset < last.span.end => return None,
            TokenKind::Word => {
                begun = text.get(last.span.start as usize..).unwrap_or_default();
                earlier = &earlier[..earlier.len() - 1];
            }
            _ => {}
        }
    }
    let open: i64 = earlier
        .iter()
        .map(|token| match token.kind {
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => 1,
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => -1,
            _ => 0,
        })
        .sum();
    let written = text.strip_suffix(begun).unwrap_or(text);
    let line = written.rsplit(['\n', '\r']).next().unwrap_or_default();
    let previous = earlier.last();
    Some(Before {
        begun,
        previous: previous.map_or("", |token| token.span.text(&snapshot.text)),
        after_dot: previous.is_some_and(|token| token.kind == TokenKind::Dot),
        outside: open <= 0,
        line_begins: line.trim().is_empty(),
    })
}

fn names(snapshot: &Snapshot, offset: u32) -> Vec<CompletionItem> {
    let analysis = snapshot.analysis();
    let mut found: Vec<CompletionItem> = Vec::new();
    for id in analysis.complete(&snapshot.compiled.sources, TEXT, offset) {
        let definition = analysis.definition(id);
        let item = CompletionItem {
            label: definition.name.clone(),
            kind: Some(of_kind(definition.kind)),
            detail: Some(detail(snapshot, definition)),
            ..CompletionItem::default()
        };
        if !found.iter().any(|held| held.label == item.label && held.detail == item.detail) {
            found.push(item);
        }
    }
    found
}

/// `attribute of SeatState: int`
fn detail(snapshot: &Snapshot, definition: &Definition) -> String {
    let analysis = snapshot.analysis();
    let mut text = noun(definition.kind).to_string();
    if let Some(owner) = definition.owner {
        text.push_str(&format!(" of {}", snapshot.definition(owner).name));
    }
    let at = definition.span;
    let ty = analysis.type_at(at.file, at.start).filter(|(span, _)| *span == at);
    if let Some((_, ty)) = ty {
        text.push_str(&format!(": {}", analysis.type_name(ty)));
    }
    text
}

fn keywords(before: &Before<'_>) -> Vec<CompletionItem> {
    let items = words::ITEMS.iter().filter(|_| before.outside && before.line_begins);
    let inner = words::INNER.iter().filter(|_| !before.outside);
    let types = words::TYPES.iter().filter(|_| before.previous == ":");
    let all = types.chain(items).chain(inner);
    let begun = all.filter(|(word, _)| word.starts_with(before.begun));
    let made = begun.map(|(word, meaning)| CompletionItem {
        label: (*word).to_string(),
        kind: Some(CompletionItemKind::Keyword),
        documentation: Some(Documentation::String((*meaning).to_string())),
        ..CompletionItem::default()
    });
    made.collect()
}

fn archetypes(catalog: &dyn Catalog, begun: &str) -> Vec<CompletionItem> {
    let ids = catalog.ids().into_iter();
    let ids = ids.filter(|id| id.to_lowercase().starts_with(&begun.to_lowercase()));
    let made = ids.map(|id| CompletionItem {
        kind: Some(CompletionItemKind::Module),
        detail: words::archetype_title(catalog, &id),
        label: id,
        ..CompletionItem::default()
    });
    made.collect()
}

fn of_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Actor => CompletionItemKind::Interface,
        Kind::Subject | Kind::Blob => CompletionItemKind::Class,
        Kind::State => CompletionItemKind::Struct,
        Kind::Attribute | Kind::Key | Kind::Memory => CompletionItemKind::Field,
        Kind::Constant => CompletionItemKind::EnumMember,
        Kind::Define | Kind::View => CompletionItemKind::Function,
        Kind::Operation => CompletionItemKind::Method,
        Kind::Parameter | Kind::Local => CompletionItemKind::Variable,
        Kind::Event => CompletionItemKind::Event,
        Kind::Clause | Kind::Goal => CompletionItemKind::Constant,
        Kind::Protocol | Kind::World => CompletionItemKind::Module,
    }
}
