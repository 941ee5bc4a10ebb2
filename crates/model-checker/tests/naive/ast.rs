//! What a random design is made of. It is written out as text for the checker, and interpreted as
//! it is here: the interpreter never sees what the compiler makes of the text.

use std::collections::BTreeSet;

/// Which record: of a subject, under a parent (-1: it has none), with its own part of the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rec {
    pub subject: usize,
    pub parent: i64,
    pub own: i64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Enum(usize),
    /// one of those that `check` counts
    Given(usize),
    /// one that is written in the design
    Written(&'static str),
    Ref(Rec),
    Person(usize),
    /// in steps of 1/K unit, from the clock of the state before the event
    Time(i64),
    /// in the design: units of five seconds; while it is explored: steps of 1/K unit
    Span(i64),
    Set(BTreeSet<Value>),
    List(Vec<Value>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    Bool,
    Int,
    Enum,
    Text,
    Time,
    Span,
    Actor,
    Ref(usize),
    /// references to records of a subject
    Set(usize),
    /// texts
    List,
    /// records of a text and a number from 0 to 1; each is a list of the two
    Lines,
}

/// What the fields of the records in a list are called.
pub const FIELDS: [&str; 2] = ["mark", "n"];

pub const WORDS: [&str; 3] = ["P", "Q", "R"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    Lit(Value),
    Param(usize),
    Local(usize),
    Me,
    Now,
    /// an attribute of a record
    Attr(Box<Expr>, usize, usize),
    /// the record that a child is of, and its subject
    Parent(Box<Expr>, usize),
    /// the record of a subject with this key: its parent's, if it has one, and its own part
    Keyed(usize, Option<Box<Expr>>, Box<Expr>),
    /// the own part of the key of a record of this subject
    Own(Box<Expr>, usize),
    /// the end (or the start) of a log: record, subject
    LogEnd(Box<Expr>, usize),
    LogStart(Box<Expr>, usize),
    /// the next instant of some schedule after a time: one or two units later, or none
    Next(Box<Expr>),
    /// what the caller remembers of the record that is this parameter
    Memory(usize, usize),
    /// the caller's copy of the record that is this parameter
    Copied(usize),
    CopyThere(usize),
    Old(Box<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Cmp(Cmp, Box<Expr>, Box<Expr>),
    Plus(Box<Expr>, Box<Expr>),
    Minus(Box<Expr>, Box<Expr>),
    Min(Box<Expr>, Box<Expr>),
    Max(Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Size(Box<Expr>),
    SetOf(Vec<Expr>),
    /// a field of the record in this local, which is one of this list
    Field(usize, usize, Box<Expr>),
    /// a record for a list
    Line(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Quant {
        all: bool,
        local: usize,
        over: Domain,
        filter: Option<Box<Expr>>,
        body: Box<Expr>,
    },
    /// without a value: how many
    Total {
        local: usize,
        over: Domain,
        filter: Option<Box<Expr>>,
        value: Option<Box<Expr>>,
    },
    /// how often the world has done this effect for this record
    Done(usize, Box<Expr>),
    /// what the principal in this local remembers: as which actor, which field, of which record
    Remembered(usize, usize, usize, Box<Expr>),
    /// of the message or the open entry in this local, a parameter
    Arg(usize, Row, usize),
    /// how many records of a subject have this value of an attribute: a view of that number
    View(usize, usize, Value),
}

/// What a variable over messages or entries of the outbox is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Row {
    Message(usize),
    Entry(usize),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Domain {
    Subject(usize),
    Children(usize, Box<Expr>),
    Elements(Box<Expr>),
    /// everybody who may act as this actor
    People(usize),
    /// messages under way to an operation, or open entries of an effect
    Rows(Row),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Set,
    Add,
    Take,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// record, subject, attribute, how, with what
    Assign(Expr, usize, usize, Change, Expr),
    /// field, the parameter it is of, value
    Remember(usize, usize, Expr),
    /// the parameter whose copy it is, value
    Copy(usize, Expr),
    /// subject, parent, own part of the key, one attribute with its value
    New(usize, Option<Expr>, Expr),
    Delete(Expr),
    /// to the log of this record, of this subject
    Append(Expr, usize),
    /// an operation that takes messages, and its arguments
    Tell(usize, Vec<Expr>),
    /// an effect and its arguments
    Ask(usize, Vec<Expr>),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    For(usize, Expr, Vec<Stmt>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attr {
    pub name: String,
    pub ty: Ty,
    pub optional: bool,
    pub default: Value,
    /// a crash of its place takes it away
    pub volatile: bool,
    /// of a number: no step leaves it outside
    pub range: Option<(i64, i64)>,
}

impl Attr {
    /// The name of the state that it is in.
    pub fn state(&self, subject: &Subject) -> String {
        format!("{}{}", subject.name, if self.volatile { "Soft" } else { "State" })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    pub name: &'static str,
    /// how parameters and keys are called
    pub low: &'static str,
    pub parent: Option<usize>,
    pub count: usize,
    /// its own part of the key is a number
    pub number_key: bool,
    /// some step makes it
    pub made: bool,
    /// it lives at a place, named by its key
    pub place: bool,
    pub attrs: Vec<Attr>,
    pub log: bool,
    /// how many entries the log keeps
    pub retain: Option<i64>,
    /// the actor that keeps copies of one number
    pub copies: Option<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: &'static str,
    pub ty: Ty,
    pub of: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    pub name: &'static str,
    pub count: usize,
    pub fields: Vec<Field>,
    pub apart: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Step,
    Repair,
    Read,
    /// a step that is called by messages alone
    Heard,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    pub name: String,
    pub ty: Ty,
    pub new: bool,
    pub default: Option<Value>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Op {
    pub name: String,
    pub kind: Kind,
    pub actor: usize,
    pub params: Vec<Param>,
    pub guard: Vec<(String, Expr)>,
    pub body: Vec<Stmt>,
    pub keyed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effect {
    pub name: String,
    pub actor: usize,
    /// a record, which is the key, and perhaps a number
    pub params: Vec<Param>,
    pub guard: Vec<(String, Expr)>,
    /// the answer is a number, the parameter after the others
    pub answers: bool,
    pub on_ok: Vec<Stmt>,
    pub on_refused: Vec<Stmt>,
    pub on_unknown: Vec<Stmt>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    pub name: String,
    pub recovers: bool,
    /// It is a `leads_to`, and these operations are owed. Its body is `all x in SUBJECT: p implies q`.
    pub leads: Option<Vec<usize>>,
    pub uses_old: bool,
    pub body: Expr,
}

impl Goal {
    /// Is it about whole histories?
    pub fn of_histories(&self) -> bool {
        self.recovers || self.leads.is_some()
    }
}

/// What a failure takes away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Without {
    Clause(usize, usize),
    Exists(usize),
    Fresh(usize),
    Repair(usize),
    /// the outbox of an operation
    Outbox(usize),
    Key(usize),
    /// the idempotency key of a step
    Keyed(usize),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub without: Without,
    pub breaks: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    Crash,
    Pause,
    LostReply,
    Late,
    Duplicate,
    ClockStep,
    Partition,
    LostMessage,
    DoubledMessage,
    Evict,
    Stale,
}

impl Fault {
    pub const ALL: [(Fault, &'static str); 11] = [
        (Fault::Crash, "crash"),
        (Fault::Pause, "pause"),
        (Fault::LostReply, "lost_reply"),
        (Fault::Late, "late"),
        (Fault::Duplicate, "duplicate"),
        (Fault::ClockStep, "clock_step"),
        (Fault::Partition, "partition"),
        (Fault::LostMessage, "lost_message"),
        (Fault::DoubledMessage, "doubled_message"),
        (Fault::Evict, "evict"),
        (Fault::Stale, "stale"),
    ];

    pub fn name(self) -> &'static str {
        Fault::ALL.iter().find(|held| held.0 == self).map_or("", |held| held.1)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Check {
    /// every number in truth
    pub bound: (i64, i64),
    /// the values of a parameter that is a number
    pub given: (i64, i64),
    /// how many texts callers give
    pub texts: usize,
    /// how many units a duration that callers give takes
    pub spans: (i64, i64),
    /// the actors that an `actor` parameter is narrowed to
    pub to: Option<usize>,
    pub time: Option<i64>,
    pub horizon: Option<i64>,
    pub calls: usize,
    pub messages: usize,
    pub list: usize,
    pub log: i64,
    /// `unknowns: 0`
    pub never_unknown: bool,
    /// none: any number of times
    pub faults: Vec<(Fault, Option<u32>)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Design {
    pub seed: u64,
    pub actors: Vec<Actor>,
    pub subjects: Vec<Subject>,
    pub ops: Vec<Op>,
    pub effects: Vec<Effect>,
    pub goals: Vec<Goal>,
    pub failures: Vec<Failure>,
    pub check: Check,
    /// a world of their own for some goals
    pub other: Option<Box<Other>>,
    /// what is told is an event, and what hears it is its handler
    pub events: bool,
}

/// `check other for GOALS { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Other {
    /// the goals that it is for
    pub goals: BTreeSet<usize>,
    pub check: Check,
    /// of each subject, of each actor
    pub subjects: Vec<usize>,
    pub actors: Vec<usize>,
}

impl Design {
    /// How many elements lists have room for. Records that callers give are never cut: that is a bound.
    pub fn list_room(&self) -> usize {
        let lines = |op: &Op| op.params.iter().any(|param| param.ty == Ty::Lines);
        if self.ops.iter().any(lines) { 2 } else { self.check.list }
    }

    /// The design with the sizes of its other world.
    pub fn in_other(&self, other: &Other) -> Design {
        let mut design = self.clone();
        design.check = other.check.clone();
        for (subject, count) in design.subjects.iter_mut().zip(&other.subjects) {
            subject.count = *count;
        }
        for (actor, count) in design.actors.iter_mut().zip(&other.actors) {
            actor.count = *count;
        }
        design.other = None;
        design
    }

    pub fn fault(&self, fault: Fault) -> Option<Option<u32>> {
        self.check.faults.iter().find(|held| held.0 == fault).map(|held| held.1)
    }

    pub fn has(&self, fault: Fault) -> bool {
        self.fault(fault).is_some()
    }
}
