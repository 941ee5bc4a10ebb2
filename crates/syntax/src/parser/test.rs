//! Tests: one line after the other, each a thing that happens or a look at what is.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{
    ItemKind, TestAnswer, TestArg, TestCall, TestItem, TestLine, TestLineKind, TestOutcome,
    TestWord,
};
use crate::{Diagnostic, TokenKind};

/// Words that begin a line, besides actors and views.
const LINES: &[&str] = &["after", "expect", "crash", "answer", "deliver", "lose"];
const OUTCOMES: &[&str] = &["ok", "refused", "gives", "again", "mismatch", "unanswered"];
const ANSWERS: &[&str] = &["ok", "refused", "unknown", "nothing"];

impl Parser<'_> {
    /// `test "…" { … }`
    pub(super) fn test(&mut self) -> ItemKind {
        self.bump();
        let title = self.text("the name of the test");
        let open = self.at;
        let mut lines = Vec::new();
        if self.open_body("what happens in the test", |p| p.at(TokenKind::Word)) {
            self.test_lines(open, &mut lines);
            self.close_body(open);
        }
        ItemKind::Test(TestItem { title, lines })
    }

    fn test_lines(&mut self, open: usize, lines: &mut Vec<TestLine>) {
        loop {
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let (start, first) = (self.at, self.span());
            let messages = self.diagnostics.len();
            let kind = self.test_line();
            let span = self.since(first);
            lines.push(TestLine { kind, span });
            if !self.lost && self.diagnostics.len() == messages && !self.test_line_ends() {
                self.no_line_end();
            }
            if self.lost {
                self.resync(open, start, |p| p.at(TokenKind::Word) && p.piece(0).line_start);
                if self.lost {
                    return;
                }
            }
            if self.at == start {
                self.bump();
            }
        }
    }

    /// A line of a test ends with its line.
    fn test_line_ends(&self) -> bool {
        self.piece(0).line_start || matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End)
    }

    fn no_line_end(&mut self) {
        let message = format!("unexpected {} after the end of the line", self.found());
        let mut diagnostic = Diagnostic::error("E0129", self.span(), message);
        diagnostic = diagnostic.help("each line of a test says one thing; begin a new line");
        self.fail(diagnostic);
    }

    fn test_line(&mut self) -> TestLineKind {
        if !self.at(TokenKind::Word) {
            return self.no_test_line();
        }
        let named = matches!(self.nth(1), TokenKind::Word | TokenKind::Text);
        if named && self.nth(2) == TokenKind::Colon {
            return self.test_step();
        }
        match self.word(0) {
            "after" => {
                self.bump();
                TestLineKind::After(self.sum_level())
            }
            "expect" => {
                self.bump();
                TestLineKind::Expect(self.expr())
            }
            "crash" if named => {
                self.bump();
                let actor = self.name("the actor that crashes");
                let principal = self.test_word("who crashes");
                TestLineKind::Crash { actor, principal }
            }
            "answer" if named => {
                self.bump();
                let call = self.test_call("the effect that is answered");
                TestLineKind::Answer { call, answer: self.test_answer() }
            }
            "deliver" if named => {
                self.bump();
                let call = self.test_call("the step that the message is for");
                TestLineKind::Deliver { call, twice: self.eat_word("twice") }
            }
            "lose" if named => {
                self.bump();
                TestLineKind::Lose(self.test_call("the step that the message is for"))
            }
            _ if self.nth(1) == TokenKind::OpenParen || self.word(1) == "gives" => {
                let call = self.test_call("the view");
                self.expect_word("gives", "and what the view shows");
                TestLineKind::View { call, gives: self.expr() }
            }
            _ => self.no_test_line(),
        }
    }

    fn no_test_line(&mut self) -> TestLineKind {
        let found = self.found();
        let message = format!("expected a line of a test, found {found}");
        let mut diagnostic = Diagnostic::error("E0129", self.span(), message);
        let followed = self.nth(1) == TokenKind::Word && self.nth(2) == TokenKind::OpenParen;
        let meant = nearest(self.word(0), LINES).filter(|_| self.at(TokenKind::Word));
        diagnostic = match meant {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None if followed => {
                diagnostic.help("who calls stands before a colon: `buyer ann: hold(A1, b1) ok`")
            }
            None => diagnostic.help(
                "a line is `ACTOR PRINCIPAL: OPERATION(…) ok`, `after 10m`, `expect CONDITION`, \
                 `VIEW(…) gives VALUE`, `answer EFFECT(…) ok`, `crash ACTOR PRINCIPAL`, \
                 `deliver STEP(…)` or `lose STEP(…)`",
            ),
        };
        self.fail(diagnostic);
        TestLineKind::Error
    }

    /// `buyer ann: hold(A1, b1) key k1 ok`
    fn test_step(&mut self) -> TestLineKind {
        let actor = self.take_name();
        let principal = self.test_word("who acts");
        self.bump();
        let call = self.test_call("the operation");
        let key = self.eat_word("key").then(|| self.test_word("the idempotency key"));
        TestLineKind::Call { actor, principal, call, key, outcome: self.test_outcome() }
    }

    fn test_word(&mut self, what: &str) -> TestWord {
        match self.optional_text() {
            Some(text) => TestWord::Text(text),
            None => TestWord::Word(self.name(what)),
        }
    }

    /// `hold(A1, b1, ttl: 5m)`, or only a name
    fn test_call(&mut self, what: &str) -> TestCall {
        let first = self.span();
        let name = self.name(what);
        let mut args = Vec::new();
        if !self.lost && self.at(TokenKind::OpenParen) && !self.piece(0).line_start {
            args = self.list(Self::test_arg);
        }
        TestCall { name, args, span: self.since(first) }
    }

    fn test_arg(&mut self) -> TestArg {
        let first = self.span();
        let name = self.at_label().then(|| {
            let name = self.take_name();
            self.bump();
            name
        });
        let value = self.expr();
        TestArg { name, value, span: self.since(first) }
    }

    fn test_outcome(&mut self) -> TestOutcome {
        let help =
            "write `ok`, `refused CLAUSE`, `gives VALUE`, `again`, `mismatch` or `unanswered`";
        match self.one_of(OUTCOMES, "what comes of it", help) {
            Some("ok") => TestOutcome::Ok,
            Some("refused") => TestOutcome::Refused(self.scoped_name("the clause that refuses")),
            Some("gives") => TestOutcome::Gives(self.expr()),
            Some("again") => TestOutcome::Again,
            Some("mismatch") => TestOutcome::Mismatch,
            Some(_) => TestOutcome::Unanswered,
            None => TestOutcome::Error,
        }
    }

    fn test_answer(&mut self) -> TestAnswer {
        let help = "write `ok`, `ok VALUE`, `refused`, `unknown` or `nothing`";
        match self.one_of(ANSWERS, "what the world outside says", help) {
            Some("ok") => {
                let given = !self.lost && !self.test_line_ends();
                TestAnswer::Ok(given.then(|| self.expr()))
            }
            Some("refused") => TestAnswer::Refused,
            Some("unknown") => TestAnswer::Unknown,
            Some(_) => TestAnswer::Nothing,
            None => TestAnswer::Error,
        }
    }

    /// One of these words on this line; one that is nearly right is taken for what it was meant to be.
    fn one_of(
        &mut self,
        words: &'static [&'static str],
        what: &str,
        help: &str,
    ) -> Option<&'static str> {
        if self.lost {
            return None;
        }
        let here = if self.piece(0).line_start { "" } else { self.word(0) };
        if let Some(known) = words.iter().copied().find(|word| *word == here) {
            self.bump();
            return Some(known);
        }
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = Diagnostic::error("E0129", self.here(), message);
        match nearest(here, words).filter(|_| !here.is_empty()) {
            Some(meant) => {
                self.report(diagnostic.help(format!("did you mean `{meant}`?")));
                self.bump();
                Some(meant)
            }
            None => {
                self.fail(diagnostic.help(help));
                None
            }
        }
    }
}
