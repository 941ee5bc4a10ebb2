//! The texts that a design is made of.

use syntax::{FileId, Span};

use crate::compose::Origins;

/// One text and how messages call it.
#[derive(Clone, Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
    line_starts: Vec<u32>,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1))
            .collect();
        Source { name: name.into(), text, line_starts }
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line.saturating_sub(1)];
        let before = self.text.get(start as usize..offset as usize).unwrap_or_default();
        Position { line: line as u32, column: before.chars().count() as u32 + 1 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// All texts of one compilation; a span's file is the index.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    /// where the pieces of the flat text come from
    origins: Option<Origins>,
}

impl Sources {
    pub fn add(&mut self, source: Source) -> FileId {
        self.list.push(source);
        FileId(self.list.len() as u16 - 1)
    }

    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.list.get(usize::from(file.0))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.list.iter()
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |source| span.text(&source.text))
    }

    pub fn position(&self, span: Span) -> Position {
        self.get(span.file)
            .map_or(Position { line: 0, column: 0 }, |source| source.position(span.start))
    }

    /// Where something was written: in the text itself, or in an archetype that it uses.
    pub fn origin(&self, span: Span) -> Span {
        self.origins.as_ref().map_or(span, |origins| origins.of(span))
    }

    pub(crate) fn put_origins(&mut self, origins: Origins) {
        self.origins = Some(origins);
    }

    /// How many more texts fit; a file's number has sixteen bits.
    pub fn is_full(&self) -> bool {
        self.list.len() >= usize::from(u16::MAX)
    }
}

/// Where `use A08 as Ticket` finds A08.
pub trait Catalog {
    /// The text of an archetype by its id.
    fn archetype(&self, id: &str) -> Option<&str>;

    /// Every id, for "did you mean".
    fn ids(&self) -> Vec<String>;
}

/// A few archetypes, each with its id.
impl<const N: usize> Catalog for [(&str, &str); N] {
    fn archetype(&self, id: &str) -> Option<&str> {
        let found = self.iter().find(|(its, _)| its.eq_ignore_ascii_case(id));
        found.map(|(_, text)| *text)
    }

    fn ids(&self) -> Vec<String> {
        self.iter().map(|(id, _)| (*id).to_string()).collect()
    }
}

/// A catalog with nothing in it.
pub struct NoCatalog;

impl Catalog for NoCatalog {
    fn archetype(&self, _id: &str) -> Option<&str> {
        None
    }

    fn ids(&self) -> Vec<String> {
        Vec::new()
    }
}
