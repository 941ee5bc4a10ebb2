//! What each engine is asked to do for each operation: what is read, what must still be so, and
//! everything that one commit writes.
//!
//! A store holds opaque keys and bytes, laid out by the runtime. The step is evaluated between the
//! reads and the commit; the commit carries the version of everything that the guard looked at, so
//! a guard that no longer holds cannot commit on any engine.

mod commit;
pub(crate) mod counters;
mod dynamodb;
mod embedded;
mod etcd;
mod forms;
mod kept;
mod postgres;
mod reached;
mod scans;
mod views;

use design::model::{Design, OperationKind};
use serde::Serialize;

use crate::derive::units;
use crate::facts::Facts;

pub use forms::{CommitForm, Expected, Record, ScanForm, WriteForm, WriteKind};
pub use layout::{KeyForm, Part, Size};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Embedded,
    Postgres,
    Etcd,
    Dynamodb,
}

impl Engine {
    pub const ALL: [Engine; 4] =
        [Engine::Embedded, Engine::Postgres, Engine::Etcd, Engine::Dynamodb];

    pub fn name(self) -> &'static str {
        match self {
            Engine::Embedded => "embedded",
            Engine::Postgres => "postgres",
            Engine::Etcd => "etcd",
            Engine::Dynamodb => "dynamodb",
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Realization {
    pub engine: Engine,
    /// made once, before anything is stored
    pub layout: Vec<String>,
    /// what an operator should know
    pub notes: Vec<String>,
    pub operations: Vec<Realized>,
    /// where the design is too large for the engine
    pub misfits: Vec<String>,
}

/// One operation on one engine. Names in braces stand for what is known only when it runs:
/// `{seat.key}`, `{seat.version}`, `{seat.value}`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Realized {
    pub operation: String,
    /// ranges of keys that are looked through first
    pub scans: Vec<Line>,
    /// in rounds: what a round reads is known after the one before
    pub reads: Vec<Line>,
    pub commit: Vec<Line>,
    pub form: CommitForm,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Line {
    /// only then; none: always
    pub when: Option<String>,
    pub text: String,
}

impl Line {
    fn always(text: impl Into<String>) -> Line {
        Line { when: None, text: text.into() }
    }
}

pub fn realize(design: &Design, engine: Engine) -> Realization {
    let mut operations = Vec::new();
    let mut misfits = Vec::new();
    for unit in units(design) {
        // A call to the world outside reads its entry; only its answers commit.
        if matches!(unit.operation.kind, OperationKind::Effect(_)) && unit.answer.is_none() {
            continue;
        }
        let facts = Facts::of(&unit);
        let form = commit::form(&unit, &facts);
        misfits.extend(match engine {
            Engine::Dynamodb => dynamodb::misfits(&form),
            Engine::Etcd => etcd::misfits(&form),
            Engine::Embedded | Engine::Postgres => Vec::new(),
        });
        let (mut scans, reads, commit) = match engine {
            Engine::Embedded => {
                (embedded::scans(&form), embedded::reads(&form), embedded::commit(&form))
            }
            Engine::Postgres => {
                (postgres::scans(&form), postgres::reads(&form), postgres::commit(&form))
            }
            Engine::Etcd => (etcd::scans(&form), etcd::reads(&form), etcd::commit(&form)),
            Engine::Dynamodb => {
                (dynamodb::scans(&form), dynamodb::reads(&form), dynamodb::commit(&form))
            }
        };
        // the same on every engine: views lie beside the runtime, and each candidate is a commit of its own
        if let Some((param, next)) = unit.operation.takes() {
            let from = next.text(design, unit.operation);
            let text = format!(
                "{{{}.key}} is the next row of {from}, which the server has in memory; another one \
                 if the guard refuses it, up to 64",
                param.name
            );
            scans.insert(0, Line::always(text));
        }
        let asked = facts.views.iter().map(|id| views::text(design, &design.views[id.index()]));
        scans.extend(asked.map(Line::always));
        // no engine knows a calendar: it stores and indexes the instant
        for expr in crate::derive::next_instants(unit.operation) {
            let text = format!(
                "`{}` is computed by the server, with version {} of the time zones, before the commit; \
                 the store sees the instant",
                unit.scope().text(expr),
                calendar::tz_version()
            );
            scans.push(Line::always(text));
        }
        operations.push(Realized { operation: unit.name(), scans, reads, commit, form });
    }
    let (layout, notes) = match engine {
        Engine::Embedded => (Vec::new(), embedded::notes()),
        Engine::Postgres => (postgres::layout(), postgres::notes()),
        Engine::Etcd => (Vec::new(), etcd::notes()),
        Engine::Dynamodb => (dynamodb::layout(), dynamodb::notes()),
    };
    Realization { engine, layout, notes, operations, misfits }
}

impl Realization {
    pub fn to_json(&self) -> String {
        let value = serde_json::json!({ "format": "steadfast-realization/1", "realization": self });
        format!("{value:#}\n")
    }
}
