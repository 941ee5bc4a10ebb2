//! Text to tree and back: lexer, parser, formatter. Knows nothing of types or meaning.
//!
//! Parsing never fails and never panics: it returns a tree of what could be read and every
//! diagnostic, in one pass.

mod diagnostic;
mod format;
mod keywords;
mod lexer;
mod parser;
mod span;
mod token;
pub mod tree;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use format::{Formatted, format};
pub use keywords::KEYWORDS;
pub use lexer::{MAX_SOURCE_BYTES, lex};
pub use parser::MAX_DEPTH;
pub use span::{FileId, Span};
pub use token::{Token, TokenKind};

use parser::Parser;

/// A source, read: what could be understood of it, and everything there is to say about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub tree: tree::File,
    /// every token, comments included
    pub tokens: Vec<Token>,
    /// in the order of the text
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a source file.
pub fn parse(source: &str, file: FileId) -> Parsed {
    parse_counting(source, file).0
}

/// Reads a source file and tells how often a token was looked at, so that tests can hold the
/// work against the length of the text.
#[doc(hidden)]
pub fn parse_counting(source: &str, file: FileId) -> (Parsed, u64) {
    let (tokens, tree, diagnostics, work) = read(source, file, |p| p.file());
    (Parsed { tree, tokens, diagnostics }, work)
}

/// Reads one expression; the whole source must be it.
pub fn parse_expression(source: &str, file: FileId) -> (tree::Expr, Vec<Diagnostic>) {
    let (_, expr, diagnostics, _) = read(source, file, |p| p.whole_expression());
    (expr, diagnostics)
}

/// Reads what stands inside `protocol n { … }`.
pub fn parse_protocol(source: &str, file: FileId) -> (Vec<tree::Path>, Vec<Diagnostic>) {
    let (_, paths, diagnostics, _) = read(source, file, |p| p.paths(None));
    (paths, diagnostics)
}

fn read<T>(
    source: &str,
    file: FileId,
    what: impl FnOnce(&mut Parser<'_>) -> T,
) -> (Vec<Token>, T, Vec<Diagnostic>, u64) {
    let (tokens, mut diagnostics) = lex(source, file);
    // nothing of a source that is too long is read
    let source = if source.len() > MAX_SOURCE_BYTES { "" } else { source };
    let mut parser = Parser::new(source, file, &tokens, &diagnostics);
    let tree = what(&mut parser);
    let (said, work) = parser.finish();
    diagnostics.extend(said);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    (tokens, tree, diagnostics, work)
}
