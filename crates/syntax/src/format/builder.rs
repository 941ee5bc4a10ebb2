//! Walks an item's tokens in order while the tree says what they are. Every token is printed as
//! it was written and in its place; only white space, comments and commas move.

use super::comments::{Slot, Slots};
use super::doc::{Doc, Group, Hang, Line, Stay};
use super::tokens::{Sig, Tokens};
use crate::{Span, TokenKind};

pub(super) struct Builder<'t, 's> {
    pub tokens: &'t Tokens<'s>,
    /// the next token
    pub pos: usize,
    /// the first token that is not the item's
    end: usize,
    out: Vec<Doc<'s>>,
    pub slots: Slots<'s>,
    /// where a comment goes that stands where no line may end: before the innermost element
    slot: usize,
    /// comments before this one have found their place
    placed: usize,
    passed: Passed<'s>,
    /// the tree and the tokens do not agree: the item stays as it was written
    pub lost: bool,
}

/// What stood before a comma that was passed over and belongs to the place after it.
#[derive(Default)]
struct Passed<'s> {
    comments: Vec<(&'s str, u32)>,
    newlines: u32,
}

/// Where in a list a line may end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Open,
    Between,
    Close,
}

impl<'t, 's> Builder<'t, 's> {
    /// For the tokens from `pos` to before `end`; slot 0 stands before the first of them.
    pub fn new(tokens: &'t Tokens<'s>, pos: usize, end: usize) -> Builder<'t, 's> {
        let mut slots = Slots::default();
        let slot = slots.add(Slot::default());
        Builder {
            tokens,
            pos,
            end,
            out: Vec::new(),
            slots,
            slot,
            placed: tokens.sigs[pos].comments.end,
            passed: Passed::default(),
            lost: false,
        }
    }

    /// The document; or nothing if tree and tokens did not agree.
    pub fn finish(mut self) -> Option<(Vec<Doc<'s>>, Slots<'s>)> {
        if self.lost || self.pos != self.end || !self.passed.comments.is_empty() {
            return None;
        }
        let slots = self.slots;
        super::doc::settle(&mut self.out, &|slot| slots.occupied(slot));
        Some((self.out, slots))
    }

    pub fn peek(&self) -> Option<&'t Sig<'s>> {
        self.tokens.sigs[..self.end].get(self.pos)
    }

    pub fn at(&self, kind: TokenKind) -> bool {
        self.peek().is_some_and(|sig| sig.kind == kind)
    }

    pub fn at_word(&self, word: &str) -> bool {
        self.peek().is_some_and(|sig| sig.kind == TokenKind::Word && sig.text == word)
    }

    /// The token after the last one inside a span.
    pub fn end_of(&self, span: Span) -> usize {
        self.tokens.inside(span).end
    }

    pub fn start_of(&self, span: Span) -> usize {
        self.tokens.at_or_after(span.start)
    }

    /// Prints the next token, whatever it is.
    pub fn token(&mut self) {
        let Some(sig) = self.peek() else {
            self.lost = true;
            return;
        };
        for index in self.placed.max(sig.comments.start)..sig.comments.end {
            self.slots.hoist(self.slot, self.tokens.comments[index].text);
        }
        self.placed = self.placed.max(sig.comments.end);
        self.out.push(Doc::Text(sig.text));
        self.pos += 1;
    }

    /// Prints the next token, which must be of this kind.
    pub fn expect(&mut self, kind: TokenKind) {
        if self.at(kind) {
            self.token();
        } else {
            self.lost = true;
        }
    }

    /// Prints the next token, which must be this word.
    pub fn word(&mut self, word: &str) {
        if self.at_word(word) {
            self.token();
        } else {
            self.lost = true;
        }
    }

    pub fn space(&mut self) {
        self.out.push(Doc::Text(" "));
    }

    /// A word and the space after it.
    pub fn lead(&mut self, word: &str) {
        self.word(word);
        self.space();
    }

    /// Prints the tokens of a span without any space between them: names, literals.
    pub fn solid(&mut self, span: Span) {
        let range = self.tokens.inside(span);
        if range.start != self.pos || range.is_empty() {
            self.lost = true;
        }
        while self.pos < range.end && !self.lost {
            self.token();
        }
    }

    /// Commas, if any were written here; the place after them takes what stood before them.
    pub fn pass_commas(&mut self) {
        while let Some(sig) = self.peek().filter(|sig| sig.kind == TokenKind::Comma) {
            for index in self.placed.max(sig.comments.start)..sig.comments.end {
                let comment = self.tokens.comments[index];
                self.passed.comments.push((comment.text, comment.newlines));
            }
            self.placed = self.placed.max(sig.comments.end);
            self.passed.newlines = self.passed.newlines.max(sig.newlines);
            self.pos += 1;
        }
    }

    pub fn text(&mut self, text: &'static str) {
        self.out.push(Doc::Text(text));
    }

    pub fn if_broken(&mut self, text: &'static str) {
        self.out.push(Doc::IfBroken(text));
    }

    /// A place where the line may end. Says whether the author ended it here.
    pub fn line(&mut self, at: At, flat: &'static str) -> bool {
        let mut slot = Slot::default();
        let Some(sig) = self.peek() else {
            self.lost = true;
            return false;
        };
        let passed = std::mem::take(&mut self.passed);
        let here = self.placed.max(sig.comments.start)..sig.comments.end;
        self.placed = self.placed.max(sig.comments.end);
        let here =
            self.tokens.comments[here].iter().map(|comment| (comment.text, comment.newlines));
        let ended = passed.newlines > 0 || sig.newlines > 0;
        for (index, (text, newlines)) in passed.comments.into_iter().chain(here).enumerate() {
            if index == 0 && newlines == 0 {
                slot.trailing = Some(text);
            } else {
                slot.own.push((text, newlines > 1));
            }
        }
        slot.blank = sig.newlines > 1 || slot.is_empty() && passed.newlines > 1;
        match at {
            At::Open => slot.drop_first_blank(),
            At::Between => {}
            At::Close => slot.blank = false,
        }
        self.slot = self.slots.add(slot);
        self.out.push(Doc::Line(Line { flat, slot: self.slot, closing: at == At::Close }));
        ended
    }

    /// Like [`Builder::line`], inside an expression: blank lines are not kept.
    pub fn soft_line(&mut self, at: At, flat: &'static str) -> bool {
        let ended = self.line(at, flat);
        self.slots.drop_blanks(self.slot);
        ended
    }

    /// What `f` builds, instead of printing it.
    fn collect(&mut self, f: impl FnOnce(&mut Self)) -> Vec<Doc<'s>> {
        let outer = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// Comments after what `f` prints go where those before it went.
    pub fn scope(&mut self, f: impl FnOnce(&mut Self)) {
        let slot = self.slot;
        f(self);
        self.slot = slot;
    }

    /// A group; `f` says whether the author broke it.
    pub fn group(&mut self, f: impl FnOnce(&mut Self) -> bool) {
        let mut broken = false;
        let docs = self.collect(|b| b.scope(|b| broken = f(b)));
        self.out.push(Doc::Group(Group { docs, broken }));
    }

    pub fn indent(&mut self, f: impl FnOnce(&mut Self)) {
        let docs = self.collect(f);
        self.out.push(Doc::Indent(docs));
    }

    pub fn align(&mut self, back: usize, f: impl FnOnce(&mut Self)) {
        let docs = self.collect(f);
        self.out.push(Doc::Align { back, docs });
    }

    pub fn hang(&mut self, stay: Stay, f: impl FnOnce(&mut Self)) {
        let docs = self.collect(f);
        self.out.push(Doc::Hang(Hang { docs, stay, broken: false, widest: 0 }));
    }
}
