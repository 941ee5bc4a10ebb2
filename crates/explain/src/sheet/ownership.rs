//! How a subject is owned while someone works on it.

use design::model::{AttrId, Design, Expr, ExprKind, OperationKind, SubjectId, Type, visit};
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Facts, Origin, TestKind, Unit};

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
    let mut numbered = Vec::new();
    let given = given_with_the_work(design);
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
                && !of_a_key(design, &facts, write.place)
                && expires(design, &given, place.subject, write.attr)
            {
                leases.push(format!(
                    "`{name}` sets the deadline `{on}`, after which others may take over"
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
        for (at, place) in facts.places.iter().enumerate() {
            let made = !design.subjects[place.subject.index()].implicit;
            if place.origin == (Origin::Keyed { own: true }) && made && needs(&unit, &facts, at) {
                owners.push(format!("`{name}` is refused to all who have no `{}`", place.path));
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
                TestKind::Memory(_)
                    if given.contains(&(facts.places[test.place].subject, test.attr)) =>
                {
                    numbered.push(format!(
                        "`{name}` is refused to all but the attempt whose number is in `{on}`"
                    ));
                }
                _ => {}
            }
        }
    }
    owners.extend(units(design).iter().flat_map(signed));
    let found = [
        ("lease-backed", leases),
        ("attempt-scoped", attempts),
        ("owner-only", owners),
        ("attempt-scoped", numbered),
    ];
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

/// Is the step refused where this record is not there? Its guard reads an attribute of it, or asks for it.
fn needs(unit: &Unit<'_>, facts: &Facts<'_>, at: usize) -> bool {
    let path = &facts.places[at].path;
    let is_it = |base: &Expr| is_path(base, path, unit);
    unit.operation.guard.iter().any(|clause| {
        let mut needed = matches!(&clause.body.kind, ExprKind::Exists { base, .. } if is_it(base));
        visit::each(&clause.body, &mut |part| {
            needed |= matches!(&part.kind, ExprKind::Attr { base, .. } if is_it(base));
        });
        needed
    })
}

/// Does some step that waits until this time is over let others in? One that only writes down which
/// attempt has failed does not: the next attempt has the next number.
fn expires(
    design: &Design,
    given: &[(SubjectId, AttrId)],
    subject: SubjectId,
    attr: AttrId,
) -> bool {
    units(design).iter().any(|unit| {
        let facts = Facts::of(unit);
        let of_given = |value: &Expr| match &value.kind {
            ExprKind::Attr { base, attr } => {
                base.ty.subject().is_some_and(|of| given.contains(&(of, *attr)))
            }
            _ => false,
        };
        let notes =
            !facts.writes.is_empty() && facts.writes.iter().all(|write| of_given(write.value));
        !matches!(unit.operation.kind, OperationKind::Read { .. })
            && !notes
            && facts.tests.iter().any(|test| {
                facts.places[test.place].subject == subject
                    && test.attr == attr
                    && test.kind == TestKind::Past
            })
    })
}

/// Is a public key written along with it? How long a key is valid keeps nobody out.
fn of_a_key(design: &Design, facts: &Facts<'_>, place: usize) -> bool {
    facts.writes.iter().any(|write| {
        let attribute = facts.attribute(design, write.place, write.attr);
        write.place == place && *attribute.ty.required() == Type::PublicKey
    })
}

/// The keys without whose private halves a step is refused.
fn signed(unit: &Unit<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for clause in &unit.operation.guard {
        visit::each(&clause.body, &mut |part| {
            if let ExprKind::Verified { key, .. } = &part.kind {
                let key = unit.scope().text(key);
                found.push(format!(
                    "`{}` is refused to all but who holds the private half of `{key}`",
                    unit.name()
                ));
            }
        });
    }
    found
}

/// Numbers that a step hands to its caller while it writes the caller's name into the same record.
fn given_with_the_work(design: &Design) -> Vec<(SubjectId, AttrId)> {
    let mut given = Vec::new();
    for unit in units(design) {
        let facts = Facts::of(&unit);
        for (place, attr) in facts.hands.iter().filter_map(|(_, from)| *from) {
            let is_number = *facts.attribute(design, place, attr).ty.required() == Type::Int;
            let takes = facts
                .writes
                .iter()
                .any(|write| write.place == place && matches!(write.value.kind, ExprKind::Me));
            if is_number && takes {
                given.push((facts.places[place].subject, attr));
            }
        }
    }
    given
}

fn names_an_attempt(ty: &Type) -> bool {
    matches!(ty, Type::Ref(_) | Type::Text)
}

fn is_path(value: &Expr, path: &str, unit: &Unit<'_>) -> bool {
    unit.scope().text(value) == path
}
