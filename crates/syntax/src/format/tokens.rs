//! The tokens that matter, each with the comments before it.

use std::ops::Range;

use crate::{Span, Token, TokenKind};

/// A token that is not a comment.
#[derive(Clone, Debug)]
pub(super) struct Sig<'s> {
    pub kind: TokenKind,
    pub text: &'s str,
    pub span: Span,
    /// line breaks since the token or comment before
    pub newlines: u32,
    /// which comments stand between the token before and this one
    pub comments: Range<usize>,
    /// the bracket that closes this one, or that this one closes
    pub partner: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'s> {
    pub text: &'s str,
    pub newlines: u32,
}

/// The text, cut up. The last of `sigs` is the end of the text.
#[derive(Debug)]
pub(super) struct Tokens<'s> {
    pub sigs: Vec<Sig<'s>>,
    pub comments: Vec<Comment<'s>>,
}

impl<'s> Tokens<'s> {
    pub fn new(source: &'s str, tokens: &[Token]) -> Tokens<'s> {
        let mut sigs: Vec<Sig<'s>> = Vec::with_capacity(tokens.len());
        let mut comments = Vec::new();
        let mut first = 0;
        for token in tokens {
            let text = token.span.text(source);
            if token.kind == TokenKind::Comment {
                comments.push(Comment { text: text.trim_end(), newlines: token.newlines_before });
                continue;
            }
            sigs.push(Sig {
                kind: token.kind,
                text,
                span: token.span,
                newlines: token.newlines_before,
                comments: first..comments.len(),
                partner: None,
            });
            first = comments.len();
        }
        let mut tokens = Tokens { sigs, comments };
        tokens.pair_brackets();
        tokens
    }

    fn pair_brackets(&mut self) {
        use TokenKind::*;
        let mut open: Vec<usize> = Vec::new();
        for index in 0..self.sigs.len() {
            let opener = match self.sigs[index].kind {
                OpenBrace | OpenBracket | OpenParen => {
                    open.push(index);
                    continue;
                }
                CloseBrace => OpenBrace,
                CloseBracket => OpenBracket,
                CloseParen => OpenParen,
                _ => continue,
            };
            // A closer without its opener leaves the open ones alone: only what is well nested
            // is ever laid out.
            if open.last().is_some_and(|&last| self.sigs[last].kind == opener) {
                let partner = open.pop();
                self.sigs[index].partner = partner;
                if let Some(partner) = partner {
                    self.sigs[partner].partner = Some(index);
                }
            }
        }
    }

    /// The first token that begins at or after an offset.
    pub fn at_or_after(&self, offset: u32) -> usize {
        self.sigs.partition_point(|sig| sig.span.start < offset)
    }

    /// The tokens inside a span.
    pub fn inside(&self, span: Span) -> Range<usize> {
        let first = self.at_or_after(span.start);
        let written = &self.sigs[..self.sigs.len() - 1];
        let end = written.partition_point(|sig| sig.span.end <= span.end);
        first..end.max(first)
    }
}
