//! The pieces that the lexer cuts the text into.

use crate::span::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// how many line breaks stand between this token and the one before it
    pub newlines_before: u32,
}

/// There are no keywords here: every word is a `Word`, and its place gives it its role, so that
/// an actor may be called `repair` and an attribute `count`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TokenKind {
    Word,
    /// `123`, `1_000`
    Int,
    /// `1.50`
    Decimal,
    /// `10m`, `100ms`
    Duration,
    /// `5km`; `500m` is cut out as a duration, and its place says that it is a length
    Length,
    /// `"…"`; an unterminated one ends at the line's end and has a diagnostic
    Text,
    /// `// …` to the end of the line; the parser passes over it, the formatter keeps it
    Comment,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    Comma,
    Colon,
    /// `:=`
    Assign,
    /// `+=`
    PlusAssign,
    /// `-=`
    MinusAssign,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    /// `->`
    Arrow,
    /// `|->`
    BranchArrow,
    /// `=>`
    FatArrow,
    Pipe,
    Dot,
    /// `..`
    DotDot,
    Question,
    /// a run of characters that the language does not use; has a diagnostic
    Unknown,
    /// the end of the text; always the last token
    End,
}
