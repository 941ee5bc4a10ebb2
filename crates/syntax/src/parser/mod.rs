//! Tokens to tree: recursive descent, one construct a file.
//!
//! Three habits make one mistake give one message:
//! - after a message the parser is *lost*: it stays silent and consumes nothing until the nearest
//!   enclosing list knows where to go on (`recover.rs`);
//! - brackets are matched once, before parsing, so a lost list can jump to its own end;
//! - a missing closing bracket is named where it belongs and then taken as written.

mod check;
mod composition;
mod earlier;
mod effect;
mod expr;
mod failure;
mod guard;
mod item;
mod list;
mod operation;
mod primary;
mod protocol;
mod quantifier;
mod recover;
mod statement;
mod subject;
mod suggest;
mod test;
mod types;
mod view;
mod words;

use crate::diagnostic::Diagnostic;
use crate::lexer::{FOREIGN, unescape};
use crate::span::{FileId, Span};
use crate::token::{Token, TokenKind};
use crate::tree::{Name, Text};

/// How deep expressions, blocks and types may nest.
pub const MAX_DEPTH: usize = 200;
use std::cell::Cell;

/// A token that means something: comments and unknown characters are passed over.
#[derive(Clone, Copy)]
struct Piece {
    kind: TokenKind,
    span: Span,
    /// the first of its line
    line_start: bool,
    /// what a foreign operator stands for: `&&` is read as `and`
    spelling: Option<&'static str>,
    /// the lexer has complained right before this piece: a second message would only repeat it
    excused: bool,
}

pub(crate) struct Parser<'s> {
    source: &'s str,
    file: FileId,
    pieces: Vec<Piece>,
    /// for each opening bracket, the index of the one that closes it
    closers: Vec<Option<usize>>,
    at: usize,
    depth: usize,
    /// a message was given and no place to go on was found yet
    lost: bool,
    too_deep: bool,
    /// the end of the text was reached with something open, which was said
    cut_off: bool,
    /// how far the item that is read is indented
    item_column: usize,
    /// the innermost opening bracket around what is read
    inside: Option<usize>,
    /// `in` ends the expression: the value of a `let`
    in_ends: bool,
    /// in a `leads_to`, where `=>` is an operator
    leads: bool,
    /// `:` ends the expression: the filter of a quantifier
    colon_ends: bool,
    diagnostics: Vec<Diagnostic>,
    /// how often a token was looked at: the tests hold it against the length of the text
    ticks: Cell<u64>,
}

impl<'s> Parser<'s> {
    pub(crate) fn new(
        source: &'s str,
        file: FileId,
        tokens: &[Token],
        lexical: &[Diagnostic],
    ) -> Parser<'s> {
        let pieces = pieces(source, tokens, lexical);
        let mut parser = Parser {
            source,
            file,
            pieces,
            closers: Vec::new(),
            at: 0,
            depth: 0,
            lost: false,
            too_deep: false,
            cut_off: false,
            item_column: 0,
            inside: None,
            in_ends: false,
            leads: false,
            colon_ends: false,
            diagnostics: Vec::new(),
            ticks: Cell::new(0),
        };
        parser.closers = parser.match_brackets();
        parser
    }

    pub(crate) fn finish(self) -> (Vec<Diagnostic>, u64) {
        (self.diagnostics, self.ticks.get())
    }

    fn piece(&self, ahead: usize) -> &Piece {
        self.ticks.set(self.ticks.get() + 1);
        let last = self.pieces.len() - 1;
        &self.pieces[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> TokenKind {
        self.piece(0).kind
    }

    fn nth(&self, ahead: usize) -> TokenKind {
        self.piece(ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn text_of(&self, piece: &Piece) -> &'s str {
        piece.spelling.unwrap_or_else(|| piece.span.text(self.source))
    }

    /// The word so many tokens ahead, or an empty text if that is no word.
    fn word(&self, ahead: usize) -> &'s str {
        let piece = self.piece(ahead);
        match piece.kind {
            TokenKind::Word => self.text_of(piece),
            _ => "",
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.word(0) == word
    }

    fn span(&self) -> Span {
        self.piece(0).span
    }

    fn bump(&mut self) -> Piece {
        let piece = *self.piece(0);
        if piece.kind != TokenKind::End {
            self.at += 1;
        }
        piece
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = !self.lost && self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = !self.lost && self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// The end of the last token that was read.
    fn before(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(index) => self.pieces[index].span.after(),
            None => Span::new(self.file, 0, 0),
        }
    }

    /// From `start` to the last token that was read; empty if none was.
    fn since(&self, start: Span) -> Span {
        let end = self.before().end;
        Span::new(self.file, start.start, end.max(start.start))
    }

    /// One level down in the tree; `false` where that is too deep. Pairs with `leave`.
    fn enter(&mut self) -> bool {
        // what is left out below this level still has a node of its own
        if self.depth + 1 >= MAX_DEPTH {
            self.fail_too_deep();
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Inside the brackets opened at `open`, the words that end an expression outside have no
    /// such power.
    fn bracketed<T>(&mut self, open: usize, contents: impl FnOnce(&mut Self) -> T) -> T {
        let outside = (self.inside, self.in_ends, self.colon_ends);
        (self.inside, self.in_ends, self.colon_ends) = (Some(open), false, false);
        let result = contents(self);
        (self.inside, self.in_ends, self.colon_ends) = outside;
        result
    }

    /// The brackets around what is read are never closed: that is the mistake to name, and
    /// others may be its consequences.
    fn in_unclosed(&self) -> bool {
        self.inside.is_some_and(|open| self.closers[open].is_none())
    }

    /// The word here as a name; it must be one.
    fn take_name(&mut self) -> Name {
        let piece = self.bump();
        Name { text: self.text_of(&piece).to_string(), span: piece.span }
    }

    fn missing_name(&self) -> Name {
        Name { text: String::new(), span: self.before() }
    }

    /// A name, or a message that says what `what` would be.
    fn name(&mut self, what: &str) -> Name {
        if !self.lost && self.at(TokenKind::Word) && !self.at_item_start() {
            return self.take_name();
        }
        let message = format!("expected {what}, found {}", self.found());
        let mut diagnostic = Diagnostic::error("E0106", self.here(), message);
        if !self.piece(0).line_start && !self.at(TokenKind::End) {
            diagnostic = diagnostic.help("a name begins with a letter or `_`");
        }
        self.fail(diagnostic);
        self.missing_name()
    }

    /// `seat.one_winner`: a name that may have a scope before it.
    fn scoped_name(&mut self, what: &str) -> Name {
        let mut name = self.name(what);
        while !self.lost && self.at(TokenKind::Dot) && self.nth(1) == TokenKind::Word {
            self.bump();
            let part = self.take_name();
            name.text = format!("{}.{}", name.text, part.text);
            name.span = name.span.to(part.span);
        }
        name
    }

    fn text(&mut self, what: &str) -> Text {
        if let Some(text) = self.optional_text() {
            return text;
        }
        let found = self.found();
        let mut diagnostic = Diagnostic::error(
            "E0123",
            self.here(),
            format!("expected {what} in quotes, found {found}"),
        );
        if self.at(TokenKind::Word) {
            diagnostic = diagnostic.help(format!("write `\"{}\"`", self.word(0)));
        }
        self.fail(diagnostic);
        Text { value: String::new(), span: self.before() }
    }

    fn optional_text(&mut self) -> Option<Text> {
        if self.lost || !self.at(TokenKind::Text) {
            return None;
        }
        let piece = self.bump();
        Some(Text { value: unescape(piece.span.text(self.source)), span: piece.span })
    }
}

fn pieces(source: &str, tokens: &[Token], lexical: &[Diagnostic]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(tokens.len());
    let mut line_start = true;
    let mut excused = false;
    let mut unfinished =
        lexical.iter().filter(|d| d.code == "E0001").map(|d| d.primary.span.start).peekable();
    for token in tokens {
        line_start |= token.newlines_before > 0;
        let mut piece =
            Piece { kind: token.kind, span: token.span, line_start, spelling: None, excused };
        match token.kind {
            TokenKind::Comment => continue,
            TokenKind::Unknown => {
                let text = token.span.text(source);
                let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| *foreign == text) else {
                    excused = true;
                    continue;
                };
                piece.spelling = Some(ours);
                piece.kind = match *ours {
                    "=" => TokenKind::Equal,
                    "!=" => TokenKind::NotEqual,
                    "<=" => TokenKind::LessEqual,
                    ">=" => TokenKind::GreaterEqual,
                    "->" => TokenKind::Arrow,
                    "=>" => TokenKind::FatArrow,
                    _ => TokenKind::Word,
                };
            }
            _ => {}
        }
        excused = unfinished.next_if(|start| *start == token.span.start).is_some();
        line_start = false;
        pieces.push(piece);
    }
    pieces
}
