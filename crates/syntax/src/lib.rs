//! Text to tree and back: lexer, parser, formatter. Knows nothing of types or meaning.
//!
//! Parsing never fails and never panics: it returns a tree of what could be read and every
//! diagnostic, in one pass.

mod diagnostic;
mod span;
mod token;
pub mod tree;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use span::{FileId, Span};
pub use token::{Token, TokenKind};

/// How deep expressions, blocks and types may nest.
pub const MAX_DEPTH: usize = 200;
