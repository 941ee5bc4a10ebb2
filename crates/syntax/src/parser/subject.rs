//! Subjects and the state they hold.

use super::Parser;
use super::suggest::nearest;
use super::words::{ITEM_WORDS, OPERATOR_WORDS, STATE_WORDS};
use crate::tree::{Attribute, ItemKind, KeyField, StateItem, StateKind, SubjectItem, Visible};
use crate::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// `subject S(key: type, …) at node { … }`
    pub(super) fn subject(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the subject");
        let keys = self.keys();
        let at = self.eat_word("at").then(|| self.name("the key that names the place"));
        let states = self.states();
        ItemKind::Subject(SubjectItem { name, keys, at, states })
    }

    fn keys(&mut self) -> Vec<KeyField> {
        if self.lost || !self.at(TokenKind::OpenParen) {
            let found = self.found();
            let message = format!("expected `(` and the key of the subject, found {found}");
            let help = "write the key in parentheses: `subject Seat(seat: text) { … }`";
            self.fail(Diagnostic::error("E0122", self.here(), message).help(help));
            self.skip_to_body();
            return Vec::new();
        }
        self.named_list(|p| {
            let name = p.name("the name of a part of the key");
            p.label_colon();
            KeyField { name, ty: p.ty() }
        })
    }

    /// Lost in a head: goes to the brace that opens the body, if that stands on the same line.
    pub(super) fn skip_to_body(&mut self) {
        let mut index = self.at;
        while index + 1 < self.pieces.len() {
            let piece = self.pieces[index];
            if piece.kind == TokenKind::OpenBrace {
                self.at = index;
                self.lost = false;
                return;
            }
            self.ticks.set(self.ticks.get() + 1);
            index += 1;
            if self.pieces[index].line_start {
                return;
            }
        }
    }

    pub(super) fn states(&mut self) -> Vec<StateItem> {
        let open = self.at;
        if !self.open_body("the state of the subject", |p| p.at_state_start()) {
            return Vec::new();
        }
        let mut states = Vec::new();
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at_item_start() && self.column() > self.item_column && self.enter() {
                self.misplaced_item();
                self.leave();
                continue;
            }
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                break;
            }
            let start = self.at;
            states.extend(self.state());
            if self.lost {
                self.resync(open, start, |p| p.piece(0).line_start && p.at(TokenKind::Word));
                if self.lost {
                    break;
                }
            }
        }
        self.close_body(open);
        states
    }

    /// An item inside the subject: it is read, so that its mistakes are told too, and left out.
    fn misplaced_item(&mut self) {
        let word = self.word(0);
        let message = format!("`{word}` does not stand inside a subject");
        let diagnostic = Diagnostic::error("E0107", self.span(), message);
        self.report(diagnostic.help("put it after the closing `}` of the subject"));
        self.item_called(word);
    }

    /// `truth N`, `log N` …: a word for a kind of state, and a name.
    pub(super) fn at_state_start(&self) -> bool {
        STATE_WORDS.contains(&self.word(0))
            && self.nth(1) == TokenKind::Word
            && !OPERATOR_WORDS.contains(&self.word(1))
    }

    fn state(&mut self) -> Option<StateItem> {
        let first = self.span();
        let written = self.word(0);
        let word =
            if STATE_WORDS.contains(&written) { written } else { self.unknown_state(written)? };
        self.bump();
        let name = self.name("the name of the state");
        let mut kind = match word {
            "log" => StateKind::Log { retain: None },
            "cache" => {
                self.expect_word("at", "and an actor: `cache Copy at edge { … }`");
                StateKind::Cache { at: self.name("the actor that keeps the copy") }
            }
            "ephemeral" => {
                let ttl = self.eat_word("ttl").then(|| self.sum_level());
                StateKind::Ephemeral { ttl }
            }
            "volatile" => StateKind::Volatile,
            _ => StateKind::Truth,
        };
        let attributes = self.attributes();
        let mut visible = Vec::new();
        loop {
            let here = self.span();
            if let StateKind::Log { retain } = &mut kind
                && self.eat_word("retain")
            {
                if retain.replace(self.sum_level()).is_some() {
                    let problem = Diagnostic::error("E0116", here, "`retain` is said twice");
                    self.report(problem.help("leave one of them out"));
                }
            } else if self.at_visible() && !self.lost {
                visible.push(self.visible());
            } else {
                break;
            }
        }
        let span = self.since(first);
        Some(StateItem { kind, name, attributes, visible, span })
    }

    /// Not a kind of state. One that is nearly right is read as what it was meant to be.
    fn unknown_state(&mut self, written: &str) -> Option<&'static str> {
        if written.is_empty() {
            let found = self.found();
            let message = format!("expected a state, found {found}");
            let help = "a state is `truth`, `volatile`, `log`, `cache` or `ephemeral`";
            self.fail(Diagnostic::error("E0107", self.span(), message).help(help));
            return None;
        }
        let message = format!("no kind of state is called `{written}`");
        let diagnostic = Diagnostic::error("E0115", self.span(), message);
        let meant = nearest(written, STATE_WORDS).filter(|_| self.nth(1) == TokenKind::Word);
        match meant {
            Some(meant) => self.report(diagnostic.help(format!("did you mean `{meant}`?"))),
            None if self.nth(1) == TokenKind::Colon => {
                let help = "attributes stand inside a state: `truth N { … }`";
                self.fail(diagnostic.help(help));
            }
            None if ITEM_WORDS.contains(&written) => {
                self.fail(diagnostic.help(format!("`{written}` stands at the top level")));
            }
            None => {
                let help = "a state is `truth`, `volatile`, `log`, `cache` or `ephemeral`";
                self.fail(diagnostic.help(help));
            }
        }
        meant
    }

    fn at_visible(&self) -> bool {
        self.at_word("visible") && self.word(1) == "to"
    }

    /// `{ name: type = default, … }`
    fn attributes(&mut self) -> Vec<Attribute> {
        let open = self.at;
        if !self.open_body("the attributes of the state", |p| p.at_label()) {
            return Vec::new();
        }
        let mut attributes = Vec::new();
        loop {
            while self.eat(TokenKind::Comma) {}
            let over = self.at(TokenKind::CloseBrace) || self.at(TokenKind::End);
            if over || self.at_item_start() {
                break;
            }
            if self.at_state_start() || self.at_visible() || self.at_retain() {
                self.unclosed(open);
                return attributes;
            }
            let start = self.at;
            attributes.push(self.attribute());
            if !self.lost && !self.attribute_ends() {
                let found = self.found();
                let message = format!("expected `,` or `}}` after the attribute, found {found}");
                self.fail(Diagnostic::error("E0122", self.here(), message));
            }
            if self.lost {
                let begins = |p: &Self| p.at_label() || p.at_state_start();
                self.resync(open, start, begins);
                if self.lost {
                    break;
                }
            }
        }
        self.close_body(open);
        attributes
    }

    /// `retain 7d`
    fn at_retain(&self) -> bool {
        self.at_word("retain") && matches!(self.nth(1), TokenKind::Duration | TokenKind::Int)
    }

    fn attribute_ends(&self) -> bool {
        match self.kind() {
            TokenKind::Comma | TokenKind::CloseBrace | TokenKind::End => true,
            _ if self.at_state_start() || self.at_visible() || self.at_retain() => true,
            _ => self.piece(0).line_start,
        }
    }

    fn attribute(&mut self) -> Attribute {
        let first = self.span();
        let name = self.name("the name of an attribute");
        self.label_colon();
        let ty = self.ty();
        let default = self.eat(TokenKind::Equal).then(|| self.expr());
        Attribute { name, ty, default, span: self.since(first) }
    }

    /// `visible to a, b where condition`
    fn visible(&mut self) -> Visible {
        let first = self.span();
        self.bump();
        self.bump();
        let mut to = vec![self.name("an actor")];
        while self.eat(TokenKind::Comma) {
            to.push(self.name("an actor"));
        }
        let condition = self.eat_word("where").then(|| self.expr());
        Visible { to, condition, span: self.since(first) }
    }
}
