//! What stands at the top level: the list of items, and the small ones.

use super::Parser;
use super::suggest::nearest;
use super::words::{ITEM_WORDS, STATE_WORDS};
use crate::tree::{
    ActorItem, DefineItem, File, HeaderProperty, HeaderValue, Item, ItemKind, MemoryField, Name,
};
use crate::{Diagnostic, Span, TokenKind};

impl Parser<'_> {
    pub(crate) fn file(&mut self) -> File {
        let items = self.items(None);
        let span = Span::new(self.file, 0, self.source.len() as u32);
        File { items, span }
    }

    /// The items of a file, or those in braces that were opened at `open`.
    pub(super) fn items(&mut self, open: Option<usize>) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        while !self.items_end(open) {
            let (start, first) = (self.at, self.span());
            let messages = self.diagnostics.len();
            let column = self.column();
            let outside = std::mem::replace(&mut self.item_column, column);
            let kind = self.item();
            self.item_column = outside;
            if self.at == start {
                self.bump();
            }
            let same_line = !self.piece(0).line_start && !self.items_end(open);
            let silent = !self.lost && self.diagnostics.len() == messages;
            if silent && same_line && !ITEM_WORDS.contains(&self.word(0)) {
                self.left_over();
            }
            if self.lost || self.diagnostics.len() > messages {
                self.skip_to_item(open);
                self.lost = false;
            }
            let span = self.since(first);
            items.push(Item { kind, span });
        }
        items
    }

    fn items_end(&self, open: Option<usize>) -> bool {
        self.at(TokenKind::End) || open.is_some() && self.at(TokenKind::CloseBrace)
    }

    /// After an item with a mistake: what follows it is part of the mistake, up to the next line
    /// that begins an item or is at least meant to.
    fn skip_to_item(&mut self, open: Option<usize>) {
        while !self.items_end(open) {
            let piece = self.piece(0);
            let fresh = piece.line_start && piece.kind == TokenKind::Word;
            if fresh && (self.at_item_start() || self.column() == 0) {
                return;
            }
            self.at = match (open, self.closers[self.at]) {
                (Some(_), Some(closer)) => closer + 1,
                _ => self.at + 1,
            };
        }
    }

    /// How far the line's first token is indented.
    pub(super) fn column(&self) -> usize {
        let before = &self.source[..self.span().start as usize];
        before.len() - before.trim_end_matches([' ', '\t']).len()
    }

    /// Something stands on the line after the end of an item.
    fn left_over(&mut self) {
        let found = self.found();
        let closing = matches!(
            self.kind(),
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen
        );
        if closing {
            self.closes_nothing();
            self.lost = true;
            return;
        }
        let message = format!("unexpected {found} after the end of the item");
        let mut diagnostic = Diagnostic::error("E0107", self.span(), message);
        diagnostic.help.extend(self.operator_hint().map(String::from));
        self.fail(diagnostic);
    }

    fn closes_nothing(&mut self) {
        let message = format!("{} closes nothing", self.found());
        let diagnostic = Diagnostic::error("E0103", self.span(), message);
        self.report(diagnostic.help("take it away, or open it further up"));
    }

    fn item(&mut self) -> ItemKind {
        let word = match self.kind() {
            TokenKind::Word => self.word(0),
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => {
                self.closes_nothing();
                return ItemKind::Error;
            }
            _ => return self.no_item(),
        };
        if ITEM_WORDS.contains(&word) {
            return self.item_called(word);
        }
        self.unknown_item(word)
    }

    pub(super) fn item_called(&mut self, word: &str) -> ItemKind {
        match word {
            "design" => self.design(),
            "archetype" => self.archetype(),
            "family" => self.header(HeaderProperty::Family),
            "ownership" => self.header(HeaderProperty::Ownership),
            "trust" => self.header(HeaderProperty::Trust),
            "input" => self.header(HeaderProperty::Input),
            "output" => self.header(HeaderProperty::Output),
            "decorates" => self.header(HeaderProperty::Decorates),
            "use" => self.use_archetype(),
            "from" => self.earlier_version(),
            "actor" => self.actor(),
            "subject" => self.subject(),
            "blob" => {
                self.bump();
                let name = self.name("the name of the blob");
                ItemKind::Blob { name }
            }
            "define" => self.define(),
            "step" | "repair" | "effect" | "read" => self.operation(word),
            "on" => self.handler(),
            "view" => self.view(),
            "protocol" => self.protocol(),
            "invariant" => {
                let (name, body) = self.property("the name of the invariant");
                ItemKind::Invariant { name, body }
            }
            "recovers" => {
                let (name, body) = self.property("the name of what recovers");
                ItemKind::Recovers { name, body }
            }
            "leads_to" => self.leads_to(),
            "failure" => self.failure(),
            "defence" => self.defence(),
            "hotspot" => self.hotspot(),
            "check" => self.check(),
            "test" => self.test(),
            _ => self.no_item(),
        }
    }

    fn no_item(&mut self) -> ItemKind {
        let found = self.found();
        let message = format!("expected an item, found {found}");
        self.fail(
            Diagnostic::error("E0101", self.span(), message)
                .help(format!("an item begins with one of these words: {}", ITEM_WORDS.join(", "))),
        );
        ItemKind::Error
    }

    /// A word that begins no item. One that is nearly right is read as what it was meant to be.
    fn unknown_item(&mut self, word: &str) -> ItemKind {
        let message = format!("no item begins with `{word}`");
        let diagnostic = Diagnostic::error("E0114", self.span(), message);
        let follows =
            matches!(self.nth(1), TokenKind::Word | TokenKind::Text | TokenKind::OpenBrace);
        if let Some(meant) = nearest(word, ITEM_WORDS).filter(|_| follows) {
            self.report(diagnostic.help(format!("did you mean `{meant}`?")));
            return self.item_called(meant);
        }
        let help = if STATE_WORDS.contains(&word) {
            format!("`{word}` stands inside a `subject`")
        } else if self.nth(1) == TokenKind::OpenBracket {
            format!("say what it is: `step {word}[…]`, `repair`, `effect` or `read`")
        } else {
            format!("an item begins with one of these words: {}", ITEM_WORDS.join(", "))
        };
        self.fail(diagnostic.help(help));
        ItemKind::Error
    }

    fn design(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the design");
        let title = self.optional_text();
        ItemKind::Design { name, title }
    }

    fn archetype(&mut self) -> ItemKind {
        self.bump();
        let id = self.name("the archetype's identifier, such as `I02`");
        let name = self.name("the archetype's name");
        let title = self.optional_text();
        ItemKind::Archetype { id, name, title }
    }

    fn header(&mut self, property: HeaderProperty) -> ItemKind {
        self.bump();
        let values = self.header_values();
        ItemKind::Header { property, values }
    }

    /// Words and texts, divided by commas.
    pub(super) fn header_values(&mut self) -> Vec<HeaderValue> {
        let mut values = Vec::new();
        loop {
            let value = match self.optional_text() {
                Some(text) => HeaderValue::Text(text),
                None => HeaderValue::Word(self.hyphenated()),
            };
            values.push(value);
            if !self.eat(TokenKind::Comma) {
                return values;
            }
        }
    }

    /// `lease-backed`: words joined by hyphens, without spaces, are one word.
    fn hyphenated(&mut self) -> Name {
        let first = self.name("a word or a text");
        let mut span = first.span;
        while !self.lost
            && self.at(TokenKind::Minus)
            && self.span().start == span.end
            && self.nth(1) == TokenKind::Word
            && self.piece(1).span.start == self.span().end
        {
            self.bump();
            span = span.to(self.bump().span);
        }
        if span == first.span {
            return first;
        }
        let text = span.text(self.source).to_string();
        Name { text, span }
    }

    /// `actor holder continues claimant apart from author { my_epoch: int? of Resource }`
    fn actor(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the actor");
        let continues =
            self.eat_word("continues").then(|| self.name("the actor whose memory it takes over"));
        let apart = self.apart();
        let memory = if !self.lost && self.at(TokenKind::OpenBrace) {
            self.named_list(Self::memory_field)
        } else if !self.lost && self.at_label() {
            self.open_body("the memory of the actor", Self::at_label);
            self.unopened_list(Self::memory_field)
        } else {
            Vec::new()
        };
        ItemKind::Actor(ActorItem { name, continues, apart, memory })
    }

    /// `apart from author, payer`, or nothing
    fn apart(&mut self) -> Vec<Name> {
        let mut apart = Vec::new();
        if self.eat_word("apart") {
            self.expect_word("from", "and an actor after `apart`");
            apart.push(self.name("the actor that is never the same person"));
            while self.eat(TokenKind::Comma) {
                apart.push(self.name("the actor that is never the same person"));
            }
        }
        apart
    }

    fn memory_field(&mut self) -> MemoryField {
        let name = self.name("the name of what the actor keeps");
        self.label_colon();
        let ty = self.ty();
        let of = self.label_of().then(|| self.name("the subject it came from"));
        MemoryField { name, ty, of }
    }

    /// The `of` between a type and its subject; if only it is missing, the subject is read all the same.
    fn label_of(&mut self) -> bool {
        if self.eat_word("of") {
            return true;
        }
        let named = self.at(TokenKind::Word) && !self.piece(0).line_start;
        if self.lost || !named || self.piece(1).kind == TokenKind::Colon {
            return false;
        }
        let message = format!("expected `of` before the subject, found {}", self.found());
        self.report(Diagnostic::error("E0122", self.here(), message));
        true
    }

    /// The `:` between a name and its type; if only it is missing, the type is read all the same.
    pub(super) fn label_colon(&mut self) {
        if self.eat(TokenKind::Colon) {
            return;
        }
        let found = self.found();
        let message = format!("expected `:` and a type after the name, found {found}");
        let diagnostic = Diagnostic::error("E0122", self.here(), message);
        if self.at(TokenKind::Word) && !self.piece(0).line_start {
            self.report(diagnostic);
        } else {
            self.fail(diagnostic);
        }
    }

    /// `define p(a: T, …) = expr`
    fn define(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the definition");
        let params = self.optional_params();
        self.expect(TokenKind::Equal, "=", "and an expression after the head of `define`");
        let body = self.expr();
        ItemKind::Define(DefineItem { name, params, body })
    }

    /// `leads_to n: expr => expr by step, step`
    fn leads_to(&mut self) -> ItemKind {
        let outside = std::mem::replace(&mut self.leads, true);
        let (name, body) = self.property("the name of what leads to something");
        self.leads = outside;
        let mut by = Vec::new();
        if !self.lost && self.eat_word("by") {
            by.push(self.name("the step that is owed"));
            while self.eat(TokenKind::Comma) {
                by.push(self.name("the step that is owed"));
            }
        }
        ItemKind::LeadsTo { name, body, by }
    }

    /// `invariant n: expr`, `recovers n: expr`
    fn property(&mut self, what: &str) -> (Name, crate::tree::Expr) {
        self.bump();
        let name = self.scoped_name(what);
        self.expect(TokenKind::Colon, ":", "and an expression after the name");
        (name, self.expr())
    }
}
