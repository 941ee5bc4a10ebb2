//! The records that an operation reaches: read, checked, written, with their places in the index.

use design::model::*;
use layout::{KeyForm, Size, Space, forgetting, size};

use super::counters;
use super::forms::{CommitForm, Expected, Record, WriteForm, WriteKind, plain};
use crate::facts::{Facts, Origin, Unit};

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

pub fn place(unit: &Unit<'_>, facts: &Facts<'_>, at: usize, form: &mut CommitForm) {
    let place = &facts.places[at];
    let design = unit.design;
    let subject = &design.subjects[place.subject.index()];
    // two records may be spelled alike, where what their keys are made of changes between them
    let alike = facts.places[..at].iter().filter(|other| other.path == place.path).count();
    let path = match alike {
        0 => place.path.clone(),
        before => format!("{} #{}", place.path, before + 1),
    };
    let name = plain(&path);
    let key = KeyForm::record(design, place.subject, &path);
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
    let named = !matches!(place.origin, Origin::Followed | Origin::Keyed { .. });
    let only_when = if looked && named { None } else { when.clone() };
    let round = 1 + place.path.matches('.').count() as u32;
    form.reads.push(Record {
        name: name.clone(),
        path: path.clone(),
        key: key.clone(),
        round,
        expected,
        when: only_when,
        written,
        times,
    });
    for (_, log) in logged {
        let fields = subject.states[log.index()].attributes.iter();
        // when it was appended stands before what it says
        let size = fields.fold(size::NUMBER, |sum, attr| {
            sum.and(size::of_type(design, &subject.attributes[attr.index()].ty))
        });
        form.writes.push(WriteForm {
            name: format!("{name}_{}", plain(&subject.states[log.index()].name)),
            what: "log entry".into(),
            key: KeyForm::log_entry(&key, *log, &format!("{}.end", place.path)),
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
            size::of_record(design, place.subject, repairs.len() + aged(subject).count())
        },
        times,
    });
    for (id, repair) in repairs {
        due_entries(form, &name, &key, (id, &repair.name), kind, times);
    }
    for log in aged(subject) {
        // the first entry is forgotten first: it is the one that stands there
        let appended = facts.appends.iter().any(|(place, known)| *place == at && *known == log);
        let kind = match (kind, appended) {
            (WriteKind::Remove, _) => WriteKind::Remove,
            (_, true) => WriteKind::Create,
            (_, false) => continue,
        };
        let forget = format!("forget {}", subject.states[log.index()].name);
        due_entries(form, &name, &key, (forgetting(log), &forget), kind, times);
    }
}

/// The logs that keep their entries for a time.
fn aged(subject: &Subject) -> impl Iterator<Item = StateId> {
    let aged = |kind: StateKind| matches!(kind, StateKind::Log { retain: Retention::Age(_) });
    let logs = subject.states.iter().enumerate().filter(move |(_, state)| aged(state.kind));
    logs.map(|(at, _)| StateId::of(at))
}

/// The places of a record in the index by time, one for each of its repairs.
fn due_entries(
    form: &mut CommitForm,
    name: &str,
    record: &KeyForm,
    (id, repair): (OperationId, &str),
    kind: WriteKind,
    times: u64,
) {
    let mut entry = |suffix: &str, at: &str, kind: WriteKind, when: String| {
        form.writes.push(WriteForm {
            name: format!("{name}_{}_{suffix}", plain(repair)),
            what: "due-time index".into(),
            key: KeyForm::due(
                Space::RepairDue,
                &format!("{name}.{}.{at}", plain(repair)),
                id,
                record.tail(),
            ),
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
            format!("{repair} was due at another time"),
        );
    }
    if kind != WriteKind::Remove {
        entry("due", "due", WriteKind::Put, format!("{repair} can become due"));
    }
}

/// The parent that keeps counters over this record.
pub fn parent(unit: &Unit<'_>, facts: &Facts<'_>, at: usize, form: &mut CommitForm) {
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
    // the step may have reached it already, through the same part of the child's key
    let read = form.reads.iter_mut().find(|read| read.path == path);
    let reached = read.is_some();
    if let Some(read) = read {
        read.written = true;
        if form.writes.iter().any(|write| write.what == "record" && write.name == read.name) {
            return;
        }
    }
    let new = (!reached).then(|| Record {
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
        times: 1,
    });
    form.reads.extend(new);
    form.writes.push(WriteForm {
        name: name.clone(),
        what: "record".into(),
        key: key.clone(),
        kind: WriteKind::Update,
        when: Some("a counter under it changes".into()),
        size: size::of_record(
            design,
            parent,
            repairs.len() + aged(&design.subjects[parent.index()]).count(),
        ),
        times: 1,
    });
    for (id, repair) in repairs {
        due_entries(form, &name, &key, (id, &repair.name), WriteKind::Update, 1);
    }
}
