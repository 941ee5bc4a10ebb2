//! Hot keys before they burn: which key the callers of an operation share.

use design::model::*;
use serde::Serialize;

use crate::derive::{Derivation, Mechanism, mentions_now, units};
use crate::facts::{Facts, Origin, Unit};
use crate::sheet::way_out;
use crate::spell::Scope;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HotKey {
    /// `Seat(seat)`, `Parent(parent), counter of Child`
    pub key: String,
    pub operation: String,
    /// `all` callers of the operation, or those that name the `same` key
    pub shared_by: &'static str,
    pub why: String,
    pub reads: u32,
    pub writes: u32,
    pub way_out: WayOut,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WayOut {
    /// `shard`, `bucket`, `escrow`, `widen_lease`
    pub name: &'static str,
    pub text: String,
    /// how many reads a reader of the whole pays instead of one
    pub reads: &'static str,
}

impl WayOut {
    fn of(name: &'static str) -> WayOut {
        let reads = match name {
            "shard" | "escrow" => "N",
            "bucket" => "B",
            _ => "1",
        };
        WayOut { name, text: way_out(name).unwrap_or_default().to_owned(), reads }
    }
}

pub fn hot_keys(design: &Design, derived: &[Derivation]) -> Vec<HotKey> {
    let mut found = Vec::new();
    for unit in units(design) {
        if matches!(unit.operation.kind, OperationKind::Read { .. }) {
            continue;
        }
        let facts = Facts::of(&unit);
        let mechanism =
            derived.iter().find(|d| d.name == unit.name()).and_then(|derived| derived.mechanism);
        for place in 0..facts.places.len() {
            records(&unit, &facts, place, mechanism, &mut found);
            counters(&unit, &facts, place, &mut found);
        }
    }
    views(design, &mut found);
    // What every caller touches comes first; within, by name.
    found.sort_by(|a, b| {
        (a.shared_by, &a.key, &a.operation).cmp(&(b.shared_by, &b.key, &b.operation))
    });
    found.dedup();
    found
}

fn key(design: &Design, subject: SubjectId) -> String {
    let subject = &design.subjects[subject.index()];
    let parts: Vec<&str> = subject.keys.iter().map(|key| key.name.as_str()).collect();
    format!("{}({})", subject.name, parts.join(", "))
}

/// A record that is written and that others can name as well.
fn records(
    unit: &Unit<'_>,
    facts: &Facts<'_>,
    at: usize,
    mechanism: Option<Mechanism>,
    found: &mut Vec<HotKey>,
) {
    let place = &facts.places[at];
    let writes = facts.writes.iter().filter(|write| write.place == at).count()
        + facts.deletes.iter().filter(|deleted| **deleted == at).count();
    let log = facts.appends.iter().find(|(place, _)| *place == at);
    if place.is_made() || writes == 0 && log.is_none() {
        return;
    }
    let key = key(unit.design, place.subject);
    let subject = &unit.design.subjects[place.subject.index()];
    let (why, way) = match (log, place.origin) {
        (Some((_, log)), _) => (
            format!("each append moves the end of `{}`", subject.states[log.index()].name),
            "shard",
        ),
        // each caller has its own
        (None, Origin::Keyed { own: true }) => return,
        (None, Origin::Followed) => {
            (format!("several records can refer to one `{}`", place.path), "shard")
        }
        (None, Origin::Keyed { .. }) => {
            (format!("all whose `{}` is the same take turns", place.path), "shard")
        }
        (None, _) if renews(facts, at, mechanism) => {
            ("every renewal is a commit on the record that is leased".to_owned(), "widen_lease")
        }
        (None, _) if mechanism == Some(Mechanism::Counter) => {
            (format!("one number for all who name one `{}`", place.path), "escrow")
        }
        (None, _) => (format!("all who name one `{}` take turns", place.path), "shard"),
    };
    let reads = u32::from(facts.reads.iter().any(|read| read.place == at));
    let operation = unit.name();
    let way_out = WayOut::of(way);
    found.push(HotKey { key, operation, shared_by: "same", why, reads, writes: 1, way_out });
}

fn renews(facts: &Facts<'_>, at: usize, mechanism: Option<Mechanism>) -> bool {
    let mut writes = facts.writes.iter().filter(|write| write.place == at);
    mechanism == Some(Mechanism::GuardedUpdate) && writes.all(|write| mentions_now(write.value))
}

/// A child's writer keeps the counters of its parent: one key for all children.
fn counters(unit: &Unit<'_>, facts: &Facts<'_>, at: usize, found: &mut Vec<HotKey>) {
    let place = &facts.places[at];
    let design = unit.design;
    let Some(parent) = design.subjects[place.subject.index()].parent else { return };
    let gone = facts.deletes.contains(&at);
    for counter in &design.subjects[parent.index()].counters {
        if counter.child != place.subject {
            continue;
        }
        let depends = |attr: AttrId| {
            let is = |e: &Expr| matches!(&e.kind, ExprKind::Attr { attr: a, .. } if *a == attr);
            let within = |e: &Option<Expr>| e.as_ref().is_some_and(|e| mentions(e, &is));
            within(&counter.filter) || within(&counter.value)
        };
        let moved = facts.writes.iter().any(|write| write.place == at && depends(write.attr));
        if !(gone || place.is_made() || moved) {
            continue;
        }
        let scope = Scope::row(design, &counter.locals);
        let filter =
            counter.filter.as_ref().map_or(String::new(), |f| format!(" where {}", scope.text(f)));
        let child = &design.subjects[counter.child.index()].name;
        found.push(HotKey {
            key: format!("{}, counter of {child}{filter}", key(design, parent)),
            operation: unit.name(),
            shared_by: "all",
            why: format!("a guard counts the children, so each change of a `{child}` is a write on its parent"),
            reads: 1,
            writes: 1,
            way_out: WayOut::of("escrow"),
        });
    }
}

fn mentions(expr: &Expr, is: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = is(expr);
    crate::facts::children(expr, &mut |child| found |= mentions(child, is));
    found
}

/// A view without parameters is one key for the whole design.
fn views(design: &Design, found: &mut Vec<HotKey>) {
    let one_key = |view: &&View| view.params.is_empty() && view.caller.is_none();
    for view in design.views.iter().filter(one_key) {
        let counter =
            matches!(view.form, ViewForm::Count | ViewForm::Sum { .. } | ViewForm::Average { .. });
        let subject = &design.subjects[view.subject.index()].name;
        found.push(HotKey {
            key: format!("view {}", view.name),
            operation: format!("every change of a {subject}"),
            shared_by: "all",
            why: "it has no parameter, so its one row moves with every change, behind the commit"
                .into(),
            reads: 0,
            writes: 1,
            way_out: WayOut::of(if counter { "escrow" } else { "bucket" }),
        });
    }
}
