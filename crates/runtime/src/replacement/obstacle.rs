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
    /// keys, in order; none: it does not depend on what is stored
    pub records: Vec<String>,
    pub count: u64,
    /// what the new text could say, so that it is no longer in the way
    pub mend: Option<String>,
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
        match &self.mend {
            Some(mend) => write!(f, ": `{mend}` in the new text would mend it"),
            None => Ok(()),
        }
    }
}

impl Obstacle {
    pub fn to_json(&self) -> Value {
        let Obstacle { on, why, records, count, mend } = self;
        let mut told = json!({ "on": on, "why": why, "records": records, "count": count });
        if let Some(mend) = mend {
            told["mend"] = json!(mend);
        }
        told
    }
}

/// Everything that was found, by what it is about.
#[derive(Default)]
pub struct Obstacles(BTreeMap<(String, String), Found>);

#[derive(Default)]
struct Found {
    records: Vec<String>,
    count: u64,
    mend: Option<String>,
}

impl Obstacles {
    pub fn add(&mut self, on: impl Into<String>, why: impl Into<String>, record: String) {
        self.add_mended(on, why, record, None);
    }

    /// With what the new text could say.
    pub fn add_mended(
        &mut self,
        on: impl Into<String>,
        why: impl Into<String>,
        record: String,
        mend: Option<String>,
    ) {
        let found = self.0.entry((on.into(), why.into())).or_default();
        found.count += 1;
        found.mend = mend;
        if found.records.len() < NAMED {
            found.records.push(record);
        }
    }

    /// Whatever is stored.
    pub fn say(&mut self, on: impl Into<String>, why: impl Into<String>) {
        self.0.entry((on.into(), why.into())).or_default();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn list(self) -> Vec<Obstacle> {
        let each = self.0.into_iter().map(|((on, why), found)| {
            let Found { records, count, mend } = found;
            Obstacle { on, why, records, count, mend }
        });
        each.collect()
    }
}
