//! `from VERSION { … }`: what becomes of truth that an earlier version stored.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{FromItem, FromLine, FromLineKind, ItemKind, Name};
use crate::{Diagnostic, TokenKind};

const LINES: &[&str] = &["rename", "default", "convert"];

const EXAMPLES: &str = "a line is `rename OLD as NEW`, `default State.attribute = value` or \
                        `convert State.attribute(old: type) = expression`";

impl Parser<'_> {
    /// `from "3f9a2c7104be" { … }`
    pub(super) fn earlier_version(&mut self) -> ItemKind {
        self.bump();
        let version = self.text("the version that stored it, such as `\"3f9a2c7104be\"`");
        let mut lines = Vec::new();
        if !self.lost {
            let open = self.at;
            if self.open_body("what becomes of what it stored", |p| LINES.contains(&p.word(0))) {
                self.earlier_lines(open, &mut lines);
                self.close_body(open);
            }
        }
        ItemKind::From(FromItem { version, lines })
    }

    fn earlier_lines(&mut self, open: usize, lines: &mut Vec<FromLine>) {
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let (start, first) = (self.at, self.span());
            let kind = self.earlier_line();
            let span = self.since(first);
            lines.push(FromLine { kind, span });
            if self.lost {
                self.resync(open, start, |p| p.piece(0).line_start && p.at(TokenKind::Word));
                if self.lost {
                    return;
                }
            }
        }
    }

    fn earlier_line(&mut self) -> FromLineKind {
        match self.word(0) {
            "rename" => {
                self.bump();
                let path = self.path_of("what the earlier version calls it");
                self.expect_word("as", "and the name that it has here");
                FromLineKind::Rename { path, to: self.name("the name that it has here") }
            }
            "default" => {
                self.bump();
                let path = self.path_of("the attribute that is new");
                self.expect(TokenKind::Equal, "=", "and the value that stored records get");
                FromLineKind::Default { path, value: self.expr() }
            }
            "convert" => {
                self.bump();
                let path = self.path_of("the attribute that gets another value");
                let params = self.optional_params();
                self.expect(TokenKind::Equal, "=", "and an expression over what was stored");
                FromLineKind::Convert { path, params, value: self.expr() }
            }
            _ => self.no_from_line(),
        }
    }

    /// `Item.ItemState.note`
    fn path_of(&mut self, what: &str) -> Vec<Name> {
        let mut path = vec![self.name(what)];
        while self.eat(TokenKind::Dot) {
            path.push(self.name(what));
        }
        path
    }

    fn no_from_line(&mut self) -> FromLineKind {
        let message = format!("expected what becomes of stored truth, found {}", self.found());
        let diagnostic = Diagnostic::error("E0128", self.span(), message);
        let help = match nearest(self.word(0), LINES) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => EXAMPLES.to_string(),
        };
        self.fail(diagnostic.help(help));
        FromLineKind::Error
    }
}
