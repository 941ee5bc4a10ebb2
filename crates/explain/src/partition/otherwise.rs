//! Which keys would let more operations stay in one partition.
//!
//! Every other key that the design's structure allows is tried: all operations are placed anew with it.

use design::model::{Design, ExprKind, OperationKind};
use serde::Serialize;

use super::lead::{Candidate, Leads, candidates};
use super::records::{Reached, reach};
use super::roots::{Looked, Roots};
use super::{Class, Placed};

/// Other keys, and what comes of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Otherwise {
    /// `Booking(seat, booking)`
    pub keys: Vec<String>,
    /// where the operation would be then; of the whole design: nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// the partition that it would stay in
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays_in: Option<String>,
    /// of the operations that commit, so many stay in one partition now
    pub local_now: usize,
    /// and so many with these keys
    pub local_then: usize,
}

/// All operations with some keys.
struct Tried {
    keys: Vec<Candidate>,
    reached: Vec<Reached>,
    local: usize,
}

struct Trial<'d, 'a> {
    design: &'a Design,
    units: &'d [Looked<'a>],
}

impl Trial<'_, '_> {
    /// None: there can be no such keys.
    fn with(&self, keys: &[Candidate]) -> Option<Tried> {
        let leads = keys.iter().fold(Leads::default(), |leads, one| leads.with(*one));
        if !leads.end(self.design) {
            return None;
        }
        let roots = Roots::of(self.design, self.units, leads);
        let reached: Vec<Reached> = self.units.iter().map(|one| reach(&roots, one)).collect();
        let commits = self.units.iter().zip(&reached).filter(|(one, _)| !is_read(one));
        let local = commits.filter(|(_, reached)| reached.class() == Class::Local).count();
        Some(Tried { keys: keys.to_vec(), reached, local })
    }

    fn told(&self, tried: &Tried, now: &Tried, at: Option<usize>) -> Otherwise {
        let reached = at.map(|at| &tried.reached[at]);
        let class = reached.map(Reached::class);
        let stays = reached.filter(|_| class == Some(Class::Local));
        Otherwise {
            keys: tried.keys.iter().map(|one| one.text(self.design)).collect(),
            class,
            stays_in: stays
                .and_then(|it| it.records.first())
                .map(|(record, _)| record.partition.clone()),
            local_now: now.local,
            local_then: tried.local,
        }
    }
}

fn is_read(one: &Looked<'_>) -> bool {
    matches!(one.unit.operation.kind, OperationKind::Read { .. })
}

/// At most so many are told of an operation.
const TOLD_MAX: usize = 3;

/// Says it of each operation that crosses, and gives those of the whole design.
pub fn say(design: &Design, units: &[Looked<'_>], placed: &mut [Placed]) -> Vec<Otherwise> {
    let trial = Trial { design, units };
    let Some(now) = trial.with(&[]) else { return Vec::new() };
    let mut singles: Vec<Tried> =
        candidates(design, units).into_iter().filter_map(|one| trial.with(&[one])).collect();
    singles.sort_by_key(|tried| std::cmp::Reverse(tried.local));
    for (at, one) in placed.iter_mut().enumerate().filter(|(_, one)| one.class != Class::Local) {
        let touched = |tried: &&Tried| {
            tried.keys.iter().all(|key| one.records.iter().any(|record| record.id == key.subject))
        };
        let mine: Vec<&Tried> = singles.iter().filter(touched).collect();
        let stays = |tried: &Tried| tried.reached[at].class() == Class::Local;
        let mut found: Vec<Otherwise> = mine
            .iter()
            .filter(|tried| stays(tried))
            .map(|tried| trial.told(tried, &now, Some(at)))
            .collect();
        if found.is_empty() {
            let mut pairs = pairs(&trial, &mine, &stays);
            pairs.sort_by_key(|tried| std::cmp::Reverse(tried.local));
            found = pairs.iter().map(|tried| trial.told(tried, &now, Some(at))).collect();
        }
        if found.is_empty() {
            let before = (now.reached[at].class(), now.reached[at].partitions());
            let fewer = mine.iter().filter(|tried| {
                (tried.reached[at].class(), tried.reached[at].partitions()) < before
            });
            found = fewer.map(|tried| trial.told(tried, &now, Some(at))).collect();
        }
        found.truncate(TOLD_MAX);
        if found.is_empty() {
            one.why_not = Some(why_not(one, &units[at]));
        }
        one.otherwise = found;
    }
    let better = singles.iter().filter(|tried| tried.local > now.local);
    better.take(TOLD_MAX).map(|tried| trial.told(tried, &now, None)).collect()
}

fn pairs(trial: &Trial<'_, '_>, mine: &[&Tried], stays: &dyn Fn(&Tried) -> bool) -> Vec<Tried> {
    let mut found = Vec::new();
    for (at, first) in mine.iter().enumerate() {
        for second in &mine[at + 1..] {
            let (first, second) = (first.keys[0], second.keys[0]);
            if first.subject != second.subject {
                found.extend(trial.with(&[first, second]).filter(|tried| stays(tried)));
            }
        }
    }
    found
}

fn why_not(one: &Placed, looked: &Looked<'_>) -> String {
    if let Some(record) = one.records.iter().find(|record| record.many) {
        return format!("`{}` is another record in each round of a loop", record.path);
    }
    let twice = one.records.iter().enumerate().find_map(|(at, record)| {
        let other = one.records[at + 1..]
            .iter()
            .find(|other| other.subject == record.subject && other.partition != record.partition)?;
        Some((record, other))
    });
    if let Some((first, second)) = twice {
        return format!(
            "`{}` and `{}` are two of one kind: no part of the key of a {} ties them together",
            first.path, second.path, first.subject
        );
    }
    let changes = looked.facts.places.iter().find_map(|place| match &place.base.kind {
        ExprKind::Attr { .. } => Some(&place.path),
        _ => None,
    });
    match changes {
        Some(path) => {
            format!("`{path}` may be nothing or become another one, and a key never changes")
        }
        None if one.found_by.is_empty() => {
            "neither a part of a key nor a reference that is set once ties its records together"
                .into()
        }
        None => format!("it is {} that says which record it is", one.found_by[0]),
    }
}
