//! Tests: each line on a line of its own.

use super::builder::Builder;
use super::list::List;
use crate::TokenKind;
use crate::tree::{TestAnswer, TestArg, TestCall, TestItem, TestLine, TestLineKind, TestOutcome};

impl Builder<'_, '_> {
    /// `test "…" { … }`
    pub fn test(&mut self, test: &TestItem) {
        self.lead("test");
        self.solid(test.title.span);
        self.space();
        self.group(|b| {
            b.open_list(List::BLOCK, &test.lines, Self::test_line);
            !test.lines.is_empty()
        });
    }

    fn test_line(&mut self, line: &TestLine) {
        match &line.kind {
            TestLineKind::Call { actor, principal, call, key, outcome } => {
                self.solid(actor.span);
                self.space();
                self.solid(principal.span());
                self.expect(TokenKind::Colon);
                self.space();
                self.test_call(call);
                self.space();
                if let Some(key) = key {
                    self.lead("key");
                    self.solid(key.span());
                    self.space();
                }
                self.test_outcome(outcome);
            }
            TestLineKind::After(duration) => {
                self.lead("after");
                self.expr(duration);
            }
            TestLineKind::Expect(condition) => {
                self.lead("expect");
                self.expr(condition);
            }
            TestLineKind::Crash { actor, principal } => {
                self.lead("crash");
                self.solid(actor.span);
                self.space();
                self.solid(principal.span());
            }
            TestLineKind::Answer { call, answer } => {
                self.lead("answer");
                self.test_call(call);
                self.space();
                match answer {
                    TestAnswer::Ok(value) => {
                        self.word("ok");
                        if let Some(value) = value {
                            self.space();
                            self.expr(value);
                        }
                    }
                    TestAnswer::Refused => self.word("refused"),
                    TestAnswer::Unknown => self.word("unknown"),
                    TestAnswer::Nothing => self.word("nothing"),
                    TestAnswer::Error => self.lost = true,
                }
            }
            TestLineKind::Deliver { call, twice } => {
                self.lead("deliver");
                self.test_call(call);
                if *twice {
                    self.space();
                    self.word("twice");
                }
            }
            TestLineKind::Lose(call) => {
                self.lead("lose");
                self.test_call(call);
            }
            TestLineKind::View { call, gives } => {
                self.test_call(call);
                self.space();
                self.lead("gives");
                self.expr(gives);
            }
            TestLineKind::Error => self.lost = true,
        }
    }

    fn test_call(&mut self, call: &TestCall) {
        self.solid(call.name.span);
        if self.at(TokenKind::OpenParen) && self.pos < self.end_of(call.span) {
            self.list(List::TIGHT, &call.args, Self::test_arg);
        }
    }

    fn test_arg(&mut self, arg: &TestArg) {
        if let Some(name) = &arg.name {
            self.solid(name.span);
            self.expect(TokenKind::Colon);
            self.space();
        }
        self.expr(&arg.value);
    }

    fn test_outcome(&mut self, outcome: &TestOutcome) {
        match outcome {
            TestOutcome::Ok => self.word("ok"),
            TestOutcome::Refused(clause) => {
                self.lead("refused");
                self.solid(clause.span);
            }
            TestOutcome::Gives(value) => {
                self.lead("gives");
                self.expr(value);
            }
            TestOutcome::Again => self.word("again"),
            TestOutcome::Mismatch => self.word("mismatch"),
            TestOutcome::Unanswered => self.word("unanswered"),
            TestOutcome::Error => self.lost = true,
        }
    }
}
