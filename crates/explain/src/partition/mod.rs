//! What stays in one partition, and what crosses.
//!
//! A partition is what begins with one value: the first part of a record's key. Children lie with their parent, whose
//! key theirs begins with. Everything is derived from keys and from how an operation reaches its records.

mod along;
mod lead;
mod otherwise;
mod records;
mod roots;

use design::model::{Design, OperationKind};
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Answered, Unit};
use lead::Leads;
use roots::{Looked, Roots};

pub use along::Along;
pub use otherwise::Otherwise;
pub use records::RecordPlace;

/// Where the records of one operation lie.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// in one partition, which is known when the call arrives
    Local,
    /// in several, all of them known when the call arrives
    Known,
    /// in some that are known only after something has been read
    Found,
}

impl Class {
    pub fn text(self) -> &'static str {
        match self {
            Class::Local => "one partition",
            Class::Known => "several, known from the call",
            Class::Found => "several, found by reading",
        }
    }
}

/// One step, repair, answer of an effect, or read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Placed {
    /// `buyer[hold]`, `network[authorize] on ok`
    pub operation: String,
    pub class: Class,
    pub records: Vec<RecordPlace>,
    /// what is read to find a partition: `booking.seat`, `the next row of Runnable(queue)`
    pub found_by: Vec<String>,
    /// keys with which it would stay in one partition, or cross fewer
    pub otherwise: Vec<Otherwise>,
    /// why no key would do
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// of these, in one partition: those that touch one record at most
    pub one_record: usize,
    /// those that touch several records of one partition
    pub several_records: usize,
    pub known: usize,
    pub found: usize,
}

impl Totals {
    pub fn local(&self) -> usize {
        self.one_record + self.several_records
    }

    pub fn all(&self) -> usize {
        self.local() + self.known + self.found
    }

    fn of<'p>(placed: impl Iterator<Item = &'p Placed>) -> Totals {
        let mut totals = Totals::default();
        for one in placed {
            *match one.class {
                Class::Local if one.records.len() <= 1 => &mut totals.one_record,
                Class::Local => &mut totals.several_records,
                Class::Known => &mut totals.known,
                Class::Found => &mut totals.found,
            } += 1;
        }
        totals
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Partitioning {
    pub design: String,
    pub title: String,
    /// what commits
    pub operations: Vec<Placed>,
    /// what only reads
    pub reads: Vec<Placed>,
    pub totals: Totals,
    pub read_totals: Totals,
    /// other keys, those with which most operations stay in one partition first
    pub keyed_otherwise: Vec<Otherwise>,
    /// what is written along with records, and where it lies today
    pub along: Vec<Along>,
}

pub fn partition(design: &Design) -> Partitioning {
    let units: Vec<Looked<'_>> =
        units(design).into_iter().filter(commits_or_reads).map(Looked::at).collect();
    let roots = Roots::of(design, &units, Leads::default());
    let mut placed: Vec<Placed> = units.iter().map(|one| records::placed(&roots, one)).collect();
    let keyed_otherwise = otherwise::say(design, &units, &mut placed);
    let is_read = |one: &Looked<'_>| matches!(one.unit.operation.kind, OperationKind::Read { .. });
    let (mut operations, mut reads) = (Vec::new(), Vec::new());
    for (one, unit) in placed.into_iter().zip(&units) {
        if is_read(unit) { &mut reads } else { &mut operations }.push(one);
    }
    Partitioning {
        design: design.name.clone(),
        title: design.title.clone(),
        totals: Totals::of(operations.iter()),
        read_totals: Totals::of(reads.iter()),
        operations,
        reads,
        keyed_otherwise,
        along: along::of(design),
    }
}

/// A call to the world outside commits nothing, and an answer that nobody wrote down touches no record.
fn commits_or_reads(unit: &Unit<'_>) -> bool {
    let OperationKind::Effect(effect) = &unit.operation.kind else { return true };
    match unit.answer {
        None => false,
        Some(Answered::Ok) => effect.on_ok.written,
        Some(Answered::Refused) => effect.on_refused.written,
        Some(Answered::Unknown) => effect.on_unknown.written,
    }
}

impl Partitioning {
    pub fn to_json(&self) -> String {
        let value = serde_json::json!({ "format": "steadfast-partition/1", "partitioning": self });
        format!("{value:#}\n")
    }
}
