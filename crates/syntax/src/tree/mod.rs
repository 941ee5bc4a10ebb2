//! The tree that parsing returns: what was written, with spans, and nothing about its meaning.
//!
//! The tree is bounded in depth by [`crate::MAX_DEPTH`], so walking it recursively is safe.
//! What could not be read is left out of the tree (or stands in it as an `Error` node) and is
//! named in a diagnostic.

mod composition;
mod earlier;
mod expr;
mod item;
mod operation;
mod proof;
mod stmt;
mod test;
mod view;

pub use composition::*;
pub use earlier::*;
pub use expr::*;
pub use item::*;
pub use operation::*;
pub use proof::*;
pub use stmt::*;
pub use test::*;
pub use view::*;

use crate::span::Span;

/// A word as it was written.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A quoted text, unescaped; the span covers the quotes.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Text {
    pub value: String,
    pub span: Span,
}

/// One source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct File {
    pub items: Vec<Item>,
    pub span: Span,
}
