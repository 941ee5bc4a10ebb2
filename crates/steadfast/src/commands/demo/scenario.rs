//! What a demo is: the calls of its clients, and an independent count of what came of them.

use std::sync::Arc;

use runtime::{Delivered, Delivery, Outside, Refused, Reply, Request};
use serde_json::Value;

use super::plan::{Plan, Planned};
use super::screen::Painted;
use super::stage::Stage;
use crate::problem::Problem;

/// What a client is told: done, or refused by a clause.
pub type Told = Result<Reply, Box<Refused>>;

pub trait Scenario: Send + Sync + 'static {
    type Move: Send + Sync;

    /// Clauses without which the damage is seen, the plainest first.
    const DAMAGING: &'static [&'static str];

    /// `1,000 seats and 10,000 impatient buyers`
    fn title(&self) -> String;

    fn plan(&self) -> &Plan<Self::Move>;

    fn request(&self, call: &Planned<Self::Move>) -> Request;

    /// A call was answered. For the picture, and for what clients were promised.
    fn answered(&self, call: &Planned<Self::Move>, told: &Told);

    fn outside(&self) -> Arc<dyn Outside> {
        Arc::new(Agreeable)
    }

    /// So much time passes on the clock of the demo after the last call.
    fn settling_ms(&self) -> i64;

    /// How it stands, as far as clients have heard.
    fn picture(&self, stage: &Stage) -> Vec<Painted>;

    /// What is stored, counted without any guard of the design.
    fn judge(&self, stage: &Stage) -> Result<Judged, Problem>;
}

/// What is stored in the end.
pub struct Judged {
    /// what was promised, as it came out: `exactly 1,000 seats are sold, none twice`
    pub kept: String,
    /// numbers of it, for JSON: `sold`
    pub facts: Vec<(&'static str, Value)>,
    pub damage: Vec<Damage>,
}

/// One kind of damage, and how much there is of it.
pub struct Damage {
    /// for JSON: `sold_twice`
    pub name: &'static str,
    pub count: u64,
    /// said when the count is not zero
    pub told: String,
}

impl Damage {
    pub fn new(name: &'static str, count: u64, told: String) -> Damage {
        Damage { name, count, told }
    }
}

/// The world outside does what it is asked, at once.
struct Agreeable;

impl Outside for Agreeable {
    fn deliver(&self, _: &Delivery) -> Delivered {
        Delivered::Ok(Value::Null)
    }
}

/// The text of the first part of a key, however it is written.
pub fn name_of(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.first().map_or_else(String::new, name_of),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The number in the name of something: 17 in `booking-17`. None: it is not one of these.
pub fn numbered(name: &str, kind: &str) -> Option<usize> {
    name.strip_prefix(kind)?.strip_prefix('-')?.parse().ok()
}
