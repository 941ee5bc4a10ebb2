//! One text as it was compiled: everything that is asked about it is answered from here.

use std::cell::OnceCell;

use design::{Analysis, Catalog, Compiled, Definition, DefinitionId, Reference};
use gen_lsp_types::{Position, Range};
use syntax::tree::Item;
use syntax::{FileId, Parsed, Span, Token, TokenKind};

use crate::lines::Lines;

/// The text itself; other files are what it uses.
pub const TEXT: FileId = FileId(0);

pub struct Snapshot {
    pub text: String,
    pub lines: Lines,
    pub compiled: Compiled,
    /// the text as it is written
    written: OnceCell<Parsed>,
    /// with everything that it uses written out
    whole: OnceCell<Parsed>,
}

impl Snapshot {
    pub fn of(text: &str, lines: &Lines, catalog: &dyn Catalog) -> Snapshot {
        Snapshot {
            text: text.to_string(),
            lines: lines.clone(),
            // messages of the compiler name no file: the editor knows which one it is
            compiled: design::compile("this text", text, catalog),
            written: OnceCell::new(),
            whole: OnceCell::new(),
        }
    }

    pub fn analysis(&self) -> &Analysis {
        &self.compiled.analysis
    }

    fn written(&self) -> &Parsed {
        self.written.get_or_init(|| syntax::parse(&self.text, TEXT))
    }

    /// The items of the text as they are written.
    pub fn items(&self) -> &[Item] {
        &self.written().tree.items
    }

    pub fn tokens(&self) -> &[Token] {
        &self.written().tokens
    }

    /// The text in which every name is the one that is used in this design.
    pub fn whole_text(&self) -> &str {
        self.compiled.flat.as_deref().unwrap_or(&self.text)
    }

    /// The items of [`Snapshot::whole_text`].
    pub fn whole_items(&self) -> &[Item] {
        if self.compiled.flat.is_none() {
            return self.items();
        }
        &self.whole.get_or_init(|| syntax::parse(self.whole_text(), TEXT)).tree.items
    }

    pub fn offset(&self, position: Position) -> u32 {
        self.lines.offset(&self.text, position)
    }

    pub fn range(&self, span: Span) -> Range {
        self.lines.range(&self.text, span)
    }

    pub fn definition(&self, id: DefinitionId) -> &Definition {
        self.analysis().definition(id)
    }

    /// The id of the definition at this place of the list.
    pub fn definition_id(&self, at: usize) -> Option<DefinitionId> {
        self.analysis().ids().nth(at)
    }

    /// What the name at this place stands for. A stretch that is longer than a word is not a name: what a `use` brings
    /// without a word of its own has the whole `use` for its place.
    pub fn definitions_at(&self, offset: u32) -> Vec<DefinitionId> {
        let Some(token) = self.token_at(offset).filter(|token| token.kind == TokenKind::Word)
        else {
            return Vec::new();
        };
        let word = token.span;
        let mut found = self.analysis().definitions_at(TEXT, word.start);
        let references = self.analysis().references();
        let from = references.partition_point(|held| held.span < word);
        let here = |held: &&Reference| held.span.file == TEXT && held.span.start == word.start;
        let named: Vec<DefinitionId> = references[from.saturating_sub(found.len())..]
            .iter()
            .skip_while(|held| !here(held))
            .take_while(here)
            .filter(|held| held.span.end <= word.end)
            .map(|held| held.definition)
            .collect();
        found.retain(|id| named.contains(id) || self.definition(*id).span == word);
        found
    }

    /// Does its name stand somewhere? What a `use` brings may have a name that nobody wrote: its place is the whole
    /// `use` then.
    pub fn is_written(&self, definition: &Definition) -> bool {
        let text = self.compiled.sources.text(definition.span);
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    }

    /// The token that an offset stands in or at the end of; a word comes before what it touches.
    pub fn token_at(&self, offset: u32) -> Option<Token> {
        let tokens = self.tokens();
        let end = tokens.partition_point(|token| token.span.start <= offset);
        let mut near = tokens[..end].iter().rev().take(2).filter(|token| offset <= token.span.end);
        let first = near.next().copied();
        match first {
            Some(token) if token.kind == TokenKind::Word => first,
            _ => near.find(|token| token.kind == TokenKind::Word).copied().or(first),
        }
    }
}
