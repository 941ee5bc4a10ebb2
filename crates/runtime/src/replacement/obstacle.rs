//! What stands in the way of a change.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

/// One reason, and the first few of the records that give it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obstacle {
    /// `Seat.SeatState.note`, `network.authorize`
    pub on: String,
    pub why: String,
    /// keys, in order
    pub records: Vec<String>,
    pub count: u64,
}

/// Keys that are named.
const NAMED: usize = 5;

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.on, self.why)?;
        if !self.records.is_empty() {
            write!(f, " ({}", self.records.join(", "))?;
            let more = self.count - self.records.len() as u64;
            if more > 0 {
                write!(f, " and {more} more")?;
            }
            write!(f, ")")?;
        }
        Ok(())
    }
}

impl Obstacle {
    pub fn to_json(&self) -> Value {
        json!({ "on": self.on, "why": self.why, "records": self.records, "count": self.count })
    }
}

/// Everything that was found, by what it is about.
#[derive(Default)]
pub struct Obstacles(BTreeMap<(String, String), (Vec<String>, u64)>);

impl Obstacles {
    pub fn add(&mut self, on: impl Into<String>, why: impl Into<String>, record: String) {
        let (records, count) = self.0.entry((on.into(), why.into())).or_default();
        *count += 1;
        if records.len() < NAMED {
            records.push(record);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn list(self) -> Vec<Obstacle> {
        let each = self.0.into_iter();
        each.map(|((on, why), (records, count))| Obstacle { on, why, records, count }).collect()
    }
}
