//! Examples of what a design does, written beside it.

use super::*;
use crate::Span;

/// `test "two buyers, one seat" { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestItem {
    pub title: Text,
    pub lines: Vec<TestLine>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestLine {
    pub kind: TestLineKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestLineKind {
    /// `buyer ann: hold(A1, b1) key k1 ok`
    Call {
        actor: Name,
        principal: TestWord,
        call: TestCall,
        key: Option<TestWord>,
        outcome: TestOutcome,
    },
    /// `after 11m`
    After(Expr),
    /// `expect A1.status = HELD`
    Expect(Expr),
    /// `crash buyer ann`
    Crash {
        actor: Name,
        principal: TestWord,
    },
    /// `answer authorize(c1) ok "4711"`
    Answer {
        call: TestCall,
        answer: TestAnswer,
    },
    /// `deliver vote(n2, 1)`, `deliver vote(n2, 1) twice`
    Deliver {
        call: TestCall,
        twice: bool,
    },
    /// `lose vote(n2, 1)`
    Lose(TestCall),
    /// `Availability(north) gives [A1]`
    View {
        call: TestCall,
        gives: Expr,
    },
    Error,
}

/// A principal or a key: a word, or a text where no word will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestWord {
    Word(Name),
    Text(Text),
}

impl TestWord {
    pub fn text(&self) -> &str {
        match self {
            TestWord::Word(name) => &name.text,
            TestWord::Text(text) => &text.value,
        }
    }

    pub fn span(&self) -> Span {
        match self {
            TestWord::Word(name) => name.span,
            TestWord::Text(text) => text.span,
        }
    }
}

/// `hold(A1, b1, ttl: 5m)`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestCall {
    pub name: Name,
    pub args: Vec<TestArg>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestArg {
    /// of the parameter, where it is not the next one
    pub name: Option<Name>,
    pub value: Expr,
    pub span: Span,
}

/// What a call comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestOutcome {
    /// `ok`
    Ok,
    /// `refused CLAUSE`; `refused live.null_value` is one name
    Refused(Name),
    /// `gives VALUE`
    Gives(Expr),
    /// `again`: the answer of an earlier call under the same key
    Again,
    /// `mismatch`: the key was used with other arguments
    Mismatch,
    /// `unanswered`: it is done, and its answer never arrives
    Unanswered,
    Error,
}

/// What the world outside says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestAnswer {
    /// `ok`, `ok VALUE`
    Ok(Option<Expr>),
    /// `refused`
    Refused,
    /// `unknown`: nobody will ever say, and the design is told so
    Unknown,
    /// `nothing`: this attempt has no answer; there may be another
    Nothing,
    Error,
}
