//! Which role each word of a text has, for colours. The lexer knows no keywords: a word is one where the compiler does
//! not know it as a name.

use design::{Definition, DefinitionKind as Kind};
use gen_lsp_types::{SemanticToken, SemanticTokens};
use rustc_hash::FxHashMap;
use syntax::{KEYWORDS, TokenKind};

use crate::snapshot::{Snapshot, TEXT};

pub const TYPES: [&str; 16] = [
    "keyword",
    "comment",
    "string",
    "number",
    "interface",
    "class",
    "struct",
    "property",
    "enumMember",
    "function",
    "method",
    "parameter",
    "variable",
    "event",
    "decorator",
    "namespace",
];

pub const MODIFIERS: [&str; 1] = ["declaration"];

/// Into [`TYPES`].
fn of_kind(kind: Kind) -> u32 {
    match kind {
        Kind::Actor => 4,
        Kind::Subject | Kind::Blob => 5,
        Kind::State => 6,
        Kind::Attribute | Kind::Key | Kind::Memory => 7,
        Kind::Constant => 8,
        Kind::Define | Kind::View => 9,
        Kind::Operation => 10,
        Kind::Parameter => 11,
        Kind::Local => 12,
        Kind::Event => 13,
        Kind::Clause | Kind::Goal => 14,
        Kind::Protocol | Kind::World => 15,
    }
}

pub fn tokens(snapshot: &Snapshot) -> SemanticTokens {
    let analysis = snapshot.analysis();
    let mut names: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
    for reference in analysis.references().iter().filter(|held| held.span.file == TEXT) {
        let kind = of_kind(snapshot.definition(reference.definition).kind);
        names.entry(reference.span.start).or_insert((kind, 0));
    }
    let here = |held: &&Definition| held.span.file == TEXT && snapshot.is_written(held);
    for definition in analysis.definitions().iter().filter(here) {
        names.insert(definition.span.start, (of_kind(definition.kind), 1));
    }
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    for token in snapshot.tokens() {
        let text = token.span.text(&snapshot.text);
        let role = match token.kind {
            TokenKind::Comment => Some((1, 0)),
            TokenKind::Text => Some((2, 0)),
            TokenKind::Int | TokenKind::Decimal | TokenKind::Duration | TokenKind::Length => {
                Some((3, 0))
            }
            TokenKind::Word => {
                let name = names.get(&token.span.start).copied();
                name.or_else(|| KEYWORDS.contains(&text).then_some((0, 0)))
            }
            _ => None,
        };
        let Some((token_type, token_modifiers_bitset)) = role else { continue };
        let start = snapshot.lines.position(&snapshot.text, token.span.start);
        let length = text.chars().map(char::len_utf16).sum::<usize>() as u32;
        let delta_line = start.line - line;
        let delta_start = if delta_line == 0 { start.character - column } else { start.character };
        (line, column) = (start.line, start.character);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset,
        });
    }
    SemanticTokens { result_id: None, data }
}
