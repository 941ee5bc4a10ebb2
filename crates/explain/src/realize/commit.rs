//! One commit, before any engine: what is read, what must still be so, what is written.

use design::model::*;
use serde::Serialize;

use super::bytes::{self, Size};
use super::counters;
use super::key::KeyForm;
use crate::facts::{Facts, Origin, Unit};

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CommitForm {
    pub operation: String,
    /// records that are read before the step is evaluated
    pub reads: Vec<Record>,
    pub writes: Vec<WriteForm>,
    /// one entry: the changed records and the events
    pub feed: Option<Size>,
    /// at most so many writes, loops unrolled
    pub writes_max: u64,
    pub events: Vec<String>,
}

/// A record that the guard or the body looks at; the commit checks that it is as it was read.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Record {
    /// fit for a placeholder: `seat`, `seat_booking`
    pub name: String,
    pub path: String,
    pub key: KeyForm,
    /// counted from 1: a record behind a reference is read in the round after
    pub round: u32,
    pub expected: Expected,
    /// only then is it read
    pub when: Option<String>,
    pub written: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    Version,
    Absent,
    /// either, as it was found
    AsRead,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WriteForm {
    pub name: String,
    pub what: String,
    pub key: KeyForm,
    pub kind: WriteKind,
    pub when: Option<String>,
    pub size: Size,
    /// how often, in one commit
    pub times: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteKind {
    /// of a record that was absent
    Create,
    /// of a record that was read, at the version it had
    Update,
    /// of a record that was read, at the version it had
    Remove,
    /// whatever was there: index entries
    Put,
    Delete,
}

pub fn form(unit: &Unit<'_>, facts: &Facts<'_>) -> CommitForm {
    let mut form = CommitForm {
        operation: unit.name(),
        reads: Vec::new(),
        writes: Vec::new(),
        feed: None,
        writes_max: 0,
        events: facts.emits.iter().map(|e| unit.design.events[e.index()].name.clone()).collect(),
    };
    for at in 0..facts.places.len() {
        place(unit, facts, at, &mut form);
    }
    for at in 0..facts.places.len() {
        parent(unit, facts, at, &mut form);
    }
    outbox(unit, facts, &mut form);
    idempotency(unit, &mut form);
    form.writes_max = form.writes.iter().map(|write| write.times).sum();
    if form.writes.iter().any(|write| write.name != "idempotency") && !reads_only(unit) {
        let changed = form
            .writes
            .iter()
            .filter(|w| w.what == "record")
            .fold(Size::exactly(16), |sum, write| sum.and(write.size));
        form.feed = Some(Size { open: true, ..changed });
    }
    form
}

fn reads_only(unit: &Unit<'_>) -> bool {
    matches!(unit.operation.kind, OperationKind::Read { .. })
}

/// Letters, digits and underscores.
pub fn plain(path: &str) -> String {
    let mut name = String::new();
    for letter in path.chars() {
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_owned()
}

fn repairs(design: &Design, subject: SubjectId) -> Vec<(OperationId, &Operation)> {
    design
        .operations
        .iter()
        .enumerate()
        .filter(|(_, op)| {
            matches!(op.kind, OperationKind::Repair { .. })
                && op.params.first().is_some_and(|param| param.ty.subject() == Some(subject))
        })
        .map(|(at, op)| (OperationId::of(at), op))
        .collect()
}

/// How often a place is written in one commit, and under which condition.
fn times(unit: &Unit<'_>, facts: &Facts<'_>, at: usize) -> (u64, Option<String>) {
    let place = &facts.places[at];
    let times =
        if place.origin == (Origin::Made { in_loop: true }) || is_loop_local(unit, &place.path) {
            loop_bound(unit)
        } else {
            1
        };
    let mut conditions = facts.writes.iter().filter(|w| w.place == at).map(|w| &w.when);
    let first = conditions.next();
    let same =
        first.is_some_and(|first| !first.is_empty() && conditions.all(|other| other == first));
    let when = first.filter(|_| same).map(|when| {
        let scope = unit.scope();
        let parts: Vec<String> = when
            .iter()
            .map(|(condition, holds)| {
                let text = scope.text(condition);
                if *holds { text } else { format!("not ({text})") }
            })
            .collect();
        parts.join(" and ")
    });
    (times, when)
}

fn is_loop_local(unit: &Unit<'_>, path: &str) -> bool {
    let root = path.split('.').next().unwrap_or_default();
    let is_param = unit.operation.params.iter().any(|param| param.name == root);
    let is_local = unit.operation.locals.iter().any(|local| local.name == root);
    is_local && !is_param && loop_bound(unit) > 1
}

/// The largest number of rounds that the loops of the body can make.
fn loop_bound(unit: &Unit<'_>) -> u64 {
    fn of(block: &[Stmt]) -> u64 {
        block
            .iter()
            .map(|stmt| match &stmt.kind {
                StmtKind::For { domain, body, .. } => {
                    let rounds = match domain.ty.required() {
                        Type::List { max, .. } | Type::Set { max, .. } | Type::Map { max, .. } => {
                            u64::from(*max)
                        }
                        _ => 1,
                    };
                    rounds * of(body).max(1)
                }
                StmtKind::If { then, otherwise, .. } => of(then).max(of(otherwise)),
                _ => 1,
            })
            .max()
            .unwrap_or(1)
    }
    of(unit.body())
}

fn place(unit: &Unit<'_>, facts: &Facts<'_>, at: usize, form: &mut CommitForm) {
    let place = &facts.places[at];
    let design = unit.design;
    let subject = &design.subjects[place.subject.index()];
    let name = plain(&place.path);
    let key = KeyForm::record(design, place.subject, &place.path);
    let logged = facts.appends.iter().filter(|(place, _)| *place == at);
    let deleted = facts.deletes.contains(&at);
    let truth = |attr: AttrId| {
        subject.states[subject.attributes[attr.index()].state.index()].kind == StateKind::Truth
    };
    let written = place.is_made()
        || deleted
        || logged.clone().count() > 0
        || facts.writes.iter().any(|write| write.place == at && truth(write.attr));
    let (times, when) = times(unit, facts, at);
    let looked = facts.reads.iter().any(|read| read.place == at);
    let expected = match place.origin {
        Origin::NewParam | Origin::Made { .. } => Expected::Absent,
        _ if subject.implicit => Expected::AsRead,
        _ => Expected::Version,
    };
    let only_when = if looked && place.origin != Origin::Followed { None } else { when.clone() };
    let round = 1 + place.path.matches('.').count() as u32;
    form.reads.push(Record {
        name: name.clone(),
        path: place.path.clone(),
        key: key.clone(),
        round,
        expected,
        when: only_when,
        written,
    });
    for (_, log) in logged {
        let fields = subject.states[log.index()].attributes.iter();
        let size = fields.fold(Size::NOTHING, |sum, attr| {
            sum.and(bytes::of_type(design, &subject.attributes[attr.index()].ty))
        });
        form.writes.push(WriteForm {
            name: format!("{name}_{}", plain(&subject.states[log.index()].name)),
            what: "log entry".into(),
            key: KeyForm::log_entry(&key, *log, &place.path),
            kind: WriteKind::Put,
            when: when.clone(),
            size,
            times,
        });
    }
    if !written {
        return;
    }
    let repairs = repairs(design, place.subject);
    let kind = match (place.is_made(), deleted) {
        (true, _) => WriteKind::Create,
        (false, true) => WriteKind::Remove,
        (false, false) => WriteKind::Update,
    };
    form.writes.push(WriteForm {
        name: name.clone(),
        what: "record".into(),
        key: key.clone(),
        kind,
        when: when.clone(),
        size: if deleted {
            Size::NOTHING
        } else {
            bytes::of_record(design, place.subject, repairs.len())
        },
        times,
    });
    for (id, repair) in repairs {
        due_entries(form, &name, &key, (id, repair), kind, times);
    }
}

/// The places of a record in the index by time, one for each of its repairs.
fn due_entries(
    form: &mut CommitForm,
    name: &str,
    record: &KeyForm,
    (id, repair): (OperationId, &Operation),
    kind: WriteKind,
    times: u64,
) {
    let mut entry = |suffix: &str, at: &str, kind: WriteKind, when: String| {
        form.writes.push(WriteForm {
            name: format!("{name}_{}_{suffix}", plain(&repair.name)),
            what: "due-time index".into(),
            key: KeyForm::due('t', &format!("{name}.{}.{at}", repair.name), id, record.tail()),
            kind,
            when: Some(when),
            size: Size::NOTHING,
            times,
        });
    };
    if kind != WriteKind::Create {
        entry(
            "was_due",
            "due_before",
            WriteKind::Delete,
            format!("{} was due at another time", repair.name),
        );
    }
    if kind != WriteKind::Remove {
        entry("due", "due", WriteKind::Put, format!("{} can become due", repair.name));
    }
}

/// The parent that keeps counters over this record.
fn parent(unit: &Unit<'_>, facts: &Facts<'_>, at: usize, form: &mut CommitForm) {
    let Some(parent) = counters::parent(unit, facts, at) else { return };
    let design = unit.design;
    let child = &facts.places[at];
    let first = &design.subjects[child.subject.index()].keys[0].name;
    let path = format!("{}.{first}", child.path);
    let name = plain(&path);
    let known = facts.places.iter().any(|p| p.subject == parent && p.origin == Origin::Param);
    if known
        && form.writes.iter().any(|w| {
            w.what == "record"
                && form.reads.iter().any(|r| {
                    r.name == w.name
                        && r.key.0.get(2) == KeyForm::record(design, parent, "").0.get(2)
                })
        })
    {
        return;
    }
    let key = KeyForm::record(design, parent, &path);
    let repairs = repairs(design, parent);
    form.reads.push(Record {
        name: name.clone(),
        path: path.clone(),
        key: key.clone(),
        round: 1 + child.path.matches('.').count() as u32,
        expected: if design.subjects[parent.index()].implicit {
            Expected::AsRead
        } else {
            Expected::Version
        },
        when: None,
        written: true,
    });
    form.writes.push(WriteForm {
        name: name.clone(),
        what: "record".into(),
        key: key.clone(),
        kind: WriteKind::Update,
        when: Some("a counter under it changes".into()),
        size: bytes::of_record(design, parent, repairs.len()),
        times: 1,
    });
    for (id, repair) in repairs {
        due_entries(form, &name, &key, (id, repair), WriteKind::Update, 1);
    }
}

fn outbox(unit: &Unit<'_>, facts: &Facts<'_>, form: &mut CommitForm) {
    let scope = unit.scope();
    for (at, send) in facts.sends.iter().enumerate() {
        let sent = &unit.design.operations[send.operation.index()];
        let args: Vec<String> = send.args.iter().map(|arg| scope.text(arg)).collect();
        let effect = matches!(sent.kind, OperationKind::Effect(_));
        let tail = if effect { args.join(", ") } else { format!("commit, {at}") };
        let size = sent.params.iter().fold(Size::between(6, 20), |sum, param| {
            sum.and(bytes::of_type(unit.design, &param.ty))
        });
        entry(form, &sent.name, send.operation, &tail, size, effect && !send.fresh);
    }
    if unit.answer.is_some() {
        let names: Vec<&str> = unit.operation.params.iter().map(|p| p.name.as_str()).collect();
        let tail = names.join(", ");
        let name = format!("outbox_{}", plain(&unit.operation.name));
        let key = KeyForm::outbox(unit.id, &tail);
        form.reads.push(Record {
            name: name.clone(),
            path: format!("outbox {}", unit.operation.name),
            key: key.clone(),
            round: 1,
            expected: Expected::Version,
            when: None,
            written: true,
        });
        form.writes.push(WriteForm {
            name: name.clone(),
            what: "outbox entry, closed".into(),
            key: key.clone(),
            kind: WriteKind::Remove,
            when: None,
            size: Size::NOTHING,
            times: 1,
        });
        form.writes.push(WriteForm {
            name: format!("{name}_next"),
            what: "outbox by time".into(),
            key: KeyForm::due('p', &format!("{name}.next"), unit.id, &key.tail()[1..]),
            kind: WriteKind::Delete,
            when: Some("the entry is open, not dead".into()),
            size: Size::NOTHING,
            times: 1,
        });
    }
}

/// An entry that is opened.
fn entry(
    form: &mut CommitForm,
    effect: &str,
    id: OperationId,
    tail: &str,
    size: Size,
    again: bool,
) {
    let name = format!("outbox_{}", plain(effect));
    let key = KeyForm::outbox(id, tail);
    let when = again.then(|| "the entry is not open already".to_owned());
    form.reads.push(Record {
        name: name.clone(),
        path: format!("outbox {effect}"),
        key: key.clone(),
        round: 1,
        expected: Expected::AsRead,
        when: None,
        written: true,
    });
    form.writes.push(WriteForm {
        name: name.clone(),
        what: "outbox entry, open".into(),
        key: key.clone(),
        kind: if again { WriteKind::Update } else { WriteKind::Create },
        when: when.clone(),
        size: Size { open: true, ..size },
        times: 1,
    });
    form.writes.push(WriteForm {
        name: format!("{name}_next"),
        what: "outbox by time".into(),
        key: KeyForm::due('p', &format!("{name}.next"), id, &key.tail()[1..]),
        kind: WriteKind::Put,
        when,
        size: Size::NOTHING,
        times: 1,
    });
}

fn idempotency(unit: &Unit<'_>, form: &mut CommitForm) {
    let OperationKind::Step { keyed } = unit.operation.kind else { return };
    let when = (!keyed).then(|| "the call carries an idempotency key".to_owned());
    let key = KeyForm::idempotency();
    form.reads.insert(
        0,
        Record {
            name: "idempotency".into(),
            path: "idempotency".into(),
            key: key.clone(),
            round: 1,
            expected: Expected::Absent,
            when: when.clone(),
            written: true,
        },
    );
    form.writes.push(WriteForm {
        name: "idempotency".into(),
        what: "idempotency outcome".into(),
        key: key.clone(),
        kind: WriteKind::Create,
        when: when.clone(),
        size: Size { min: 24, max: 40, open: true },
        times: 1,
    });
    form.writes.push(WriteForm {
        name: "idempotency_until".into(),
        what: "idempotency by time".into(),
        key: KeyForm::due('j', "idempotency.until", OperationId(0), key.tail()),
        kind: WriteKind::Put,
        when,
        size: Size::NOTHING,
        times: 1,
    });
}
