//! A span: something that took time, and what it was a part of.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::ids;
use crate::trace::Trace;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Internal,
    /// a request that is answered
    Server,
    /// a request that is made
    Client,
    /// a message that is sent
    Producer,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Attribute {
    Text(String),
    Whole(i64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Attribute {
        Attribute::Text(text.to_string())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Attribute {
        Attribute::Text(text)
    }
}

impl From<i64> for Attribute {
    fn from(number: i64) -> Attribute {
        Attribute::Whole(number)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    pub(crate) trace: Trace,
    /// none: it began the trace
    pub(crate) parent: Option<[u8; 8]>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) began: SystemTime,
    timer: Instant,
    pub(crate) took: Duration,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
    /// why it did not do what it was there for
    pub(crate) error: Option<String>,
}

impl Span {
    /// Begins now, as a part of what this context says.
    pub fn within(trace: &Trace, kind: Kind, name: impl Into<String>) -> Span {
        let mut span = Span::begin(trace.within(ids::span()), kind, name);
        span.parent = Some(trace.span);
        span
    }

    /// Begins now, and begins a trace.
    pub fn first(kind: Kind, name: impl Into<String>) -> Span {
        Span::begin(Trace::fresh(), kind, name)
    }

    fn begin(trace: Trace, kind: Kind, name: impl Into<String>) -> Span {
        Span {
            trace,
            parent: None,
            name: name.into(),
            kind,
            began: SystemTime::now(),
            timer: Instant::now(),
            took: Duration::ZERO,
            attributes: Vec::new(),
            error: None,
        }
    }

    /// For what happens within it.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        self.attributes.push((name, value.into()));
    }

    pub fn fail(&mut self, why: impl Into<String>) {
        self.error = Some(why.into());
    }

    pub(crate) fn end(&mut self) {
        self.took = self.timer.elapsed();
    }

    /// Nanoseconds since 1970 at its beginning and its end.
    pub(crate) fn nanos(&self) -> [u128; 2] {
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        [began, began + self.took.as_nanos()]
    }
}
