//! How a subject is owned while someone works on it.

use design::model::{Design, OperationKind, Type};
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Facts, TestKind};

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Ownership {
    /// `lease-backed`, `attempt-scoped`, `owner-only`; more than one if parts differ
    pub derived: Vec<String>,
    pub because: Vec<String>,
    /// what the header says
    pub stated: Vec<String>,
    /// None: the header says nothing
    pub agrees: Option<bool>,
}

pub fn of(design: &Design) -> Ownership {
    let mut leases = Vec::new();
    let mut attempts = Vec::new();
    let mut owners = Vec::new();
    for unit in units(design) {
        let facts = Facts::of(&unit);
        let name = unit.name();
        for write in &facts.writes {
            let place = &facts.places[write.place];
            let attribute = facts.attribute(design, write.place, write.attr);
            let on = format!("{}.{}", place.path, attribute.name);
            let timed = crate::derive::mentions_now(write.value);
            if *attribute.ty.required() == Type::Time
                && timed
                && expires(design, place.subject, write.attr)
            {
                leases.push(format!(
                    "`{name}` sets the deadline `{on}`, and what is over it may be taken"
                ));
            }
            let made =
                facts.places.iter().any(|p| p.is_made() && is_path(write.value, &p.path, &unit));
            if matches!(attribute.ty.required(), Type::Ref(_))
                && made
                && !place.is_made()
                && !facts.sends.is_empty()
            {
                attempts.push(format!(
                    "`{name}` makes a new attempt, names it in `{on}` and acts under its key"
                ));
            }
        }
        for test in &facts.tests {
            let attribute = facts.attribute(design, test.place, test.attr);
            let on = format!("{}.{}", facts.places[test.place].path, attribute.name);
            match test.kind {
                TestKind::Me => owners.push(format!("`{name}` is refused to all but `{on}`")),
                TestKind::Memory(_) if names_an_attempt(attribute.ty.required()) => {
                    attempts.push(format!("`{name}` is refused to all but the attempt in `{on}`"));
                }
                _ => {}
            }
        }
    }
    let found = [("lease-backed", leases), ("attempt-scoped", attempts), ("owner-only", owners)];
    let first = found.into_iter().find(|(_, because)| !because.is_empty());
    let stated = design.header.ownership.clone();
    let (derived, mut because) = match first {
        Some((name, because)) => (vec![name.to_owned()], because),
        None => (Vec::new(), vec!["no step keeps others out: every caller may act".into()]),
    };
    because.dedup();
    let agrees = (!stated.is_empty()).then(|| derived.iter().any(|name| stated.contains(name)));
    Ownership { derived, because, stated, agrees }
}

/// Does some guard let others in once this time is over?
fn expires(
    design: &Design,
    subject: design::model::SubjectId,
    attr: design::model::AttrId,
) -> bool {
    units(design).iter().any(|unit| {
        let facts = Facts::of(unit);
        !matches!(unit.operation.kind, OperationKind::Read { .. })
            && facts.tests.iter().any(|test| {
                facts.places[test.place].subject == subject
                    && test.attr == attr
                    && test.kind == TestKind::Past
            })
    })
}

fn names_an_attempt(ty: &Type) -> bool {
    matches!(ty, Type::Ref(_) | Type::Text)
}

fn is_path(value: &design::model::Expr, path: &str, unit: &crate::facts::Unit<'_>) -> bool {
    unit.scope().text(value) == path
}
