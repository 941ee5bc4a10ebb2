//! `use`, and what its block changes.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{AnswerKind, ItemKind, MoreEffects, Name, UseChange, UseChangeKind, UseItem};
use crate::{Diagnostic, TokenKind};

/// Words that follow the name of something that is changed.
const CHANGES: &[&str] = &["also", "as", "instead"];

const EXAMPLES: &str = "a line is `actor user is buyer`, `subject SeatBooking is Booking`, `NAME also { … }`, \
                        `NAME as NAME`, `hide NAME`, `NAME instead { step … }` or `without goal NAME because \"…\"`";

impl Parser<'_> {
    /// `use A08 as Seat { … }`
    pub(super) fn use_archetype(&mut self) -> ItemKind {
        self.bump();
        let archetype = self.name("the identifier of an archetype");
        self.expect_word("as", "and the noun that takes the place of `X`");
        let noun = self.name("the noun that takes the place of `X`");
        let mut changes = Vec::new();
        if !self.lost && self.at(TokenKind::OpenBrace) {
            let open = self.at;
            self.bump();
            self.changes(open, &mut changes);
            self.close_body(open);
        }
        ItemKind::Use(UseItem { archetype, noun, changes })
    }

    fn changes(&mut self, open: usize, changes: &mut Vec<UseChange>) {
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let (start, first) = (self.at, self.span());
            let kind = self.change();
            let span = self.since(first);
            changes.push(UseChange { kind, span });
            if self.lost {
                self.resync(open, start, |p| p.piece(0).line_start && p.at(TokenKind::Word));
                if self.lost {
                    return;
                }
            }
        }
    }

    fn change(&mut self) -> UseChangeKind {
        let named = CHANGES.contains(&self.word(1)) || self.nth(1) == TokenKind::Dot;
        match self.word(0) {
            _ if named => self.change_of_name(),
            "actor" => {
                let (name, is) = self.is_bound("an actor of the archetype");
                UseChangeKind::Actor { name, is }
            }
            "subject" => {
                let (name, is) = self.is_bound("a subject of the archetype");
                UseChangeKind::Subject { name, is }
            }
            "hide" => {
                self.bump();
                UseChangeKind::Hide { operation: self.name("the operation that nobody may call") }
            }
            "without" => {
                self.bump();
                self.expect_word("goal", "after `without`");
                let goal = self.scoped_name("the goal that is left out");
                self.expect_word("because", "and the reason why it is left out");
                let because = self.text("the reason why it is left out");
                UseChangeKind::WithoutGoal { goal, because }
            }
            _ => self.no_change(),
        }
    }

    fn is_bound(&mut self, what: &str) -> (Name, Name) {
        self.bump();
        let name = self.name(what);
        self.expect_word("is", "and what it is in this design");
        (name, self.name("what it is in this design"))
    }

    /// `NAME also …`, `NAME as NAME`, `NAME.NAME as NAME`, `NAME instead …`
    fn change_of_name(&mut self) -> UseChangeKind {
        let name = self.name("the name of what is changed");
        if self.eat(TokenKind::Dot) {
            let (owner, name) = (Some(name), self.name("the name of what is changed"));
            self.expect_word("as", "and the name that it has here");
            let to = self.name("the name that it has here");
            return UseChangeKind::Rename { owner, name, to };
        }
        match self.word(0) {
            "as" => {
                self.bump();
                UseChangeKind::Rename {
                    owner: None,
                    name,
                    to: self.name("the name that it has here"),
                }
            }
            "instead" => {
                self.bump();
                self.instead(name)
            }
            _ => {
                self.bump();
                self.also(name)
            }
        }
    }

    /// `{ step … }`
    fn instead(&mut self, operation: Name) -> UseChangeKind {
        let open = self.at;
        let mut items = Vec::new();
        if self.enter() {
            if self.open_body("the operation that takes its place", |_| false) {
                items = self.items(Some(open));
                self.close_body(open);
            }
            self.leave();
        }
        UseChangeKind::Instead { operation, items }
    }

    /// States, clauses or effects: what begins in the braces says which.
    fn also(&mut self, name: Name) -> UseChangeKind {
        let into = self.eat_word("into");
        let on = self.on_answer();
        if !self.lost && self.at(TokenKind::OpenBrace) && !into && on.is_none() {
            let open = self.at;
            self.bump();
            let (states, clauses) = (self.at_state_start(), self.at_label());
            self.at = open;
            if states {
                return UseChangeKind::States { subject: name, states: self.states() };
            }
            if clauses {
                return UseChangeKind::Clauses { operation: name, clauses: self.guard() };
            }
        }
        if !self.lost && !self.at(TokenKind::OpenBrace) {
            let message = format!("expected `{{` and what is added, found {}", self.found());
            let help =
                "add states `truth N { … }`, clauses `name: …`, or effects `State.attribute := …`";
            self.fail(Diagnostic::error("E0109", self.here(), message).help(help));
        }
        let body = self.block();
        UseChangeKind::Effects(MoreEffects { operation: name, into, on, body })
    }

    /// `on ok`
    fn on_answer(&mut self) -> Option<AnswerKind> {
        if !self.eat_word("on") {
            return None;
        }
        let answer = match self.word(0) {
            "ok" => AnswerKind::Ok,
            "refused" => AnswerKind::Refused,
            "unknown" => AnswerKind::Unknown,
            _ => {
                let message = format!("an effect is not answered with {}", self.found());
                let help = "the answers are `ok`, `refused` and `unknown`";
                self.fail(Diagnostic::error("E0117", self.here(), message).help(help));
                return None;
            }
        };
        self.bump();
        Some(answer)
    }

    fn no_change(&mut self) -> UseChangeKind {
        let message = format!("expected what this `use` changes, found {}", self.found());
        let diagnostic = Diagnostic::error("E0126", self.span(), message);
        let words = ["actor", "subject", "hide", "without"];
        let help = match (nearest(self.word(0), &words), nearest(self.word(1), CHANGES)) {
            (Some(meant), _) | (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => EXAMPLES.to_string(),
        };
        self.fail(diagnostic.help(help));
        UseChangeKind::Error
    }
}
