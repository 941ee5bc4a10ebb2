//! What a key begins with, and what it could begin with instead.

use std::collections::BTreeMap;

use design::model::*;

use super::roots::Looked;

/// The value whose partition a record belongs to: a part of its key, or an attribute that would become one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Lead {
    Part(u32),
    Attr(AttrId),
}

/// For each subject; those that are left out are led by their first part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Leads(BTreeMap<SubjectId, Lead>);

impl Leads {
    pub fn of(&self, subject: SubjectId) -> Lead {
        self.0.get(&subject).copied().unwrap_or(Lead::Part(0))
    }

    /// Does every key begin with a value? A key that begins with a record whose key begins with this one's record never
    /// comes to one.
    pub fn end(&self, design: &Design) -> bool {
        (0..design.subjects.len()).map(SubjectId::of).all(|first| {
            let mut at = first;
            for _ in 0..=design.subjects.len() {
                let subject = &design.subjects[at.index()];
                let ty = match self.of(at) {
                    Lead::Part(part) => &subject.keys[part as usize].ty,
                    Lead::Attr(attr) => &subject.attributes[attr.index()].ty,
                };
                match ty.subject() {
                    Some(next) => at = next,
                    None => return true,
                }
            }
            false
        })
    }

    #[must_use]
    pub fn with(mut self, candidate: Candidate) -> Leads {
        self.0.insert(candidate.subject, candidate.lead);
        self
    }
}

/// A subject that is keyed otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub subject: SubjectId,
    pub lead: Lead,
}

impl Candidate {
    /// `Booking(seat, booking)`
    pub fn text(self, design: &Design) -> String {
        let subject = &design.subjects[self.subject.index()];
        let mut parts: Vec<&str> = subject.keys.iter().map(|key| key.name.as_str()).collect();
        match self.lead {
            Lead::Part(part) => {
                let first = parts.remove(part as usize);
                parts.insert(0, first);
            }
            Lead::Attr(attr) => parts.insert(0, &subject.attributes[attr.index()].name),
        }
        format!("{}({})", subject.name, parts.join(", "))
    }
}

/// Every other key that the design's own structure allows: another part of the key first, or an attribute of the truth
/// that is set when the record is made and never again. What changes later can be no part of a key.
pub fn candidates(design: &Design, units: &[Looked<'_>]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (at, subject) in design.subjects.iter().enumerate() {
        let id = SubjectId::of(at);
        // the first part is the parent that keeps counters over it
        if subject.parent.is_some_and(|parent| counts(design, parent, id)) {
            continue;
        }
        for part in 1..subject.keys.len() as u32 {
            found.push(Candidate { subject: id, lead: Lead::Part(part) });
        }
        if subject.implicit {
            continue; // nobody makes it, so nobody could give it more of a key
        }
        for attr in (0..subject.attributes.len()).map(AttrId::of) {
            if is_fixed(subject, id, attr, units) {
                found.push(Candidate { subject: id, lead: Lead::Attr(attr) });
            }
        }
    }
    found
}

fn counts(design: &Design, parent: SubjectId, child: SubjectId) -> bool {
    design.subjects[parent.index()].counters.iter().any(|counter| counter.child == child)
}

fn is_fixed(subject: &Subject, id: SubjectId, attr: AttrId, units: &[Looked<'_>]) -> bool {
    let attribute = &subject.attributes[attr.index()];
    let names_something = matches!(
        attribute.ty,
        Type::Ref(_) | Type::Text | Type::Actor | Type::Int | Type::Digest(_) | Type::PublicKey
    );
    let truth = subject.states[attribute.state.index()].kind == StateKind::Truth;
    let is_itself = attribute.ty.subject() == Some(id);
    names_something
        && truth
        && !is_itself
        && attribute.default.is_none()
        && !units.iter().any(|one| {
            one.facts.writes.iter().any(|write| {
                let place = &one.facts.places[write.place];
                place.subject == id && write.attr == attr && !place.is_made()
            })
        })
}
