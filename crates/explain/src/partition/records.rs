//! The records of one operation, each with its partition.

use design::model::*;
use serde::Serialize;

use super::roots::{Looked, Root, Roots};
use super::{Class, Placed};
use crate::facts::{Answered, Origin, ReadOf};
use crate::realize::counters;
use crate::spell::Scope;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RecordPlace {
    pub subject: String,
    /// how the operation reaches it: `seat`, `booking.seat`, `Slot(job, 1)`
    pub path: String,
    pub read: bool,
    pub written: bool,
    /// the value that its partition is named by
    pub partition: String,
    /// nothing has to be read to know it
    pub known: bool,
    /// one for each round of a loop
    pub many: bool,
    #[serde(skip)]
    pub(super) id: SubjectId,
}

/// Records and partitions of an operation, with the subjects keyed as `roots` has them.
pub struct Reached {
    pub records: Vec<(RecordPlace, Root)>,
    /// asked for by a view whose rows may lie anywhere
    pub views: Vec<String>,
}

pub fn placed(roots: &Roots<'_, '_>, one: &Looked<'_>) -> Placed {
    let reached = reach(roots, one);
    let class = reached.class();
    let mut found_by: Vec<String> = reached.views.clone();
    for (record, root) in &reached.records {
        if !root.known {
            found_by.push(found_through(one, record, root));
        }
    }
    found_by.dedup();
    Placed {
        operation: one.unit.name(),
        class,
        records: reached.records.into_iter().map(|(record, _)| record).collect(),
        found_by,
        otherwise: Vec::new(),
        why_not: None,
    }
}

fn found_through(one: &Looked<'_>, record: &RecordPlace, root: &Root) -> String {
    if let Some((param, next)) = one.unit.operation.takes() {
        let mut taken = false;
        visit::each(&root.value, &mut |part| {
            taken |= matches!(part.kind, ExprKind::Local(local) if local == param.local);
        });
        if taken {
            return format!("the next row of {}", next.text(one.unit.design, one.unit.operation));
        }
    }
    match record.many {
        true => format!("{}, one for each round of a loop", record.path),
        false => record.path.clone(),
    }
}

impl Reached {
    pub fn class(&self) -> Class {
        if !self.views.is_empty() || self.records.iter().any(|(_, root)| !root.known) {
            return Class::Found;
        }
        match self.partitions() {
            0 | 1 => Class::Local,
            _ => Class::Known,
        }
    }

    /// How many there are, with what a loop reaches counted as two.
    pub fn partitions(&self) -> usize {
        let mut distinct: Vec<&Root> = Vec::new();
        for (_, root) in &self.records {
            if !distinct.iter().any(|held| held.is(root)) {
                distinct.push(root);
            }
        }
        let loops = distinct.iter().filter(|root| root.many).count();
        distinct.len() + loops
    }
}

pub fn reach(roots: &Roots<'_, '_>, one: &Looked<'_>) -> Reached {
    let (unit, facts) = (&one.unit, &one.facts);
    let design = unit.design;
    let mut records: Vec<(RecordPlace, Root)> = Vec::new();
    let mut add = |id: SubjectId, path: String, base: &Expr, read: bool, written: bool| {
        let root = roots.root(one, base);
        let same = |known: &&mut (RecordPlace, Root)| known.0.id == id && known.0.path == path;
        if let Some((known, _)) = records.iter_mut().find(same) {
            known.read |= read;
            known.written |= written;
            return;
        }
        let record = RecordPlace {
            subject: design.subjects[id.index()].name.clone(),
            path,
            read,
            written,
            partition: text(design, unit.scope(), &root.value),
            known: root.known,
            many: root.many,
            id,
        };
        records.push((record, root));
    };
    for (at, place) in facts.places.iter().enumerate() {
        let subject = &design.subjects[place.subject.index()];
        let read = facts.reads.iter().any(|read| {
            // a record that nobody makes is always there: only what it holds is read
            read.place == at && (read.of != ReadOf::Presence || !subject.implicit)
        });
        let written = place.is_made()
            || facts.deletes.contains(&at)
            || facts.appends.iter().any(|(place, _)| *place == at)
            || facts.writes.iter().any(|write| write.place == at);
        // what is made must not be there yet
        let read = read || matches!(place.origin, Origin::NewParam | Origin::Made { .. });
        if read || written {
            add(place.subject, place.path.clone(), &place.base, read, written);
        }
        if let Some(parent) = counters::parent(unit, facts, at) {
            let base = Box::new(place.base.clone());
            let kind = ExprKind::KeyPart { base, part: 0 };
            let first = Expr { kind, ty: Type::Ref(parent), span: place.base.span };
            let path = format!("{}.{}", place.path, subject.keys[0].name);
            add(parent, path, &first, true, true);
        }
    }
    // a signature is taken only if it is one of what was to be signed: both are looked at again with the answer
    if let (OperationKind::Effect(effect), Some(Answered::Ok)) = (&unit.operation.kind, unit.answer)
    {
        for value in effect.sign.iter().flat_map(|sign| [&sign.digest, &sign.key]) {
            visit::each(value, &mut |part| {
                if let ExprKind::Attr { base, .. } = &part.kind
                    && let Some(id) = base.ty.required().subject()
                {
                    add(id, text(design, unit.scope(), base), base, true, false);
                }
            });
        }
    }
    Reached { views: views(roots, one), records }
}

/// Views that are asked, and whose rows do not all begin with one value that the call brings along.
fn views(roots: &Roots<'_, '_>, one: &Looked<'_>) -> Vec<String> {
    let mut found = Vec::new();
    visit::operation_exprs(one.unit.operation, &mut |value| {
        visit::each(value, &mut |part| {
            let ExprKind::View { view, args } = &part.kind else { return };
            let first = roots.row_part(one, *view, args, 0).map(|first| roots.root(one, &first));
            if first.is_none_or(|root| !root.known || root.many) {
                let name = &one.unit.design.views[view.index()].name;
                found.push(format!("the view {name}, which has rows of every partition"));
            }
        });
    });
    found.sort();
    found.dedup();
    found
}

/// A value in few words: the one part of a key is named like its record.
pub fn text(design: &Design, scope: Scope<'_>, value: &Expr) -> String {
    match &value.kind {
        ExprKind::KeyPart { base, part } => {
            let of = text(design, scope, base);
            match base.ty.required().subject().map(|id| &design.subjects[id.index()].keys) {
                Some(keys) if keys.len() > 1 => format!("{of}.{}", keys[*part as usize].name),
                _ => of,
            }
        }
        ExprKind::Attr { base, attr } => {
            let subject = base.ty.required().subject().map(|id| &design.subjects[id.index()]);
            let name = subject.map_or("?", |subject| &subject.attributes[attr.index()].name);
            format!("{}.{name}", text(design, scope, base))
        }
        _ => scope.text(value),
    }
}
