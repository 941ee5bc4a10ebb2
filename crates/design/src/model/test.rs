//! Examples of what a design does. They stand beside the design and are no part of it: nothing that is stored or served
//! depends on them.

use syntax::Span;

use super::*;

/// `test "…" { … }`
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    pub title: String,
    /// in the order in which they are met; local `n` of a condition is the name `n`
    pub names: Vec<TestName>,
    pub lines: Vec<TestLine>,
    pub span: Span,
}

/// A word that stands for a record, a principal or a text.
#[derive(Clone, PartialEq, Debug)]
pub struct TestName {
    pub name: String,
    pub ty: Type,
    /// it stands for what the server chose; else for the text that it is
    pub chosen: bool,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct TestLine {
    pub kind: TestLineKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TestLineKind {
    Call(Box<TestCall>),
    /// milliseconds
    After(i64),
    Expect(Box<Expectation>),
    Crash {
        actor: ActorId,
        principal: String,
    },
    Answer {
        effect: OperationId,
        args: TestArgs,
        answer: TestAnswer,
    },
    Deliver {
        operation: OperationId,
        args: TestArgs,
        twice: bool,
    },
    Lose {
        operation: OperationId,
        args: TestArgs,
    },
    View {
        view: ViewId,
        args: TestArgs,
        gives: TestValue,
    },
}

/// Parameters by their place, in the order in which they are written.
pub type TestArgs = Vec<(u32, TestValue)>;

#[derive(Clone, PartialEq, Debug)]
pub struct TestCall {
    pub actor: ActorId,
    pub principal: String,
    pub operation: OperationId,
    pub args: TestArgs,
    /// what the server chooses, and what that is to be
    pub chosen: TestArgs,
    pub key: Option<String>,
    pub outcome: TestOutcome,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TestOutcome {
    Ok,
    /// as a refusal names it
    Refused(String),
    Gives(TestValue),
    Again,
    Mismatch,
    Unanswered,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TestAnswer {
    Ok(TestValue),
    Refused,
    Unknown,
    Nothing,
}

/// A condition over the whole truth, as in an invariant.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    pub body: Expr,
    /// the names of the test that are known so far first
    pub locals: Vec<Local>,
    pub known: u32,
}

/// A value that is written in a test.
#[derive(Clone, PartialEq, Debug)]
pub enum TestValue {
    Const(Const),
    /// of the test
    Name(u32),
    /// so many milliseconds from now
    Time(i64),
    /// the record with this key
    Key(SubjectId, Vec<TestValue>),
    /// content that is uploaded, and stands here by its hash
    Content(String),
    /// as it is written
    Json(serde_json::Value),
    List(Vec<TestValue>),
    Set(Vec<TestValue>),
    /// these fields, whatever others there are
    Record(Vec<(String, TestValue)>),
    /// of a view, in this order
    Rows(Vec<TestRow>),
}

#[derive(Clone, PartialEq, Debug)]
pub enum TestRow {
    Key(TestValue),
    /// parts of the key, and attributes
    Fields(Vec<(TestField, TestValue)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestField {
    Key(u32),
    Attr(AttrId),
}
