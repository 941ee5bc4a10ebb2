//! What a call may be refused by.

use design::model::{Design, NONE_LEFT, Operation, OperationKind};

/// What the guard of a refusal may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusals {
    /// the clauses of its guard, in their order
    pub clauses: Vec<String>,
    /// what is written in no guard and may stand in the way all the same
    pub implicit: Vec<&'static str>,
}

impl Refusals {
    /// Clauses and what is implicit. What may befall every step is [`engine::FAULTS`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().map(String::as_str).chain(self.implicit.iter().copied())
    }
}

pub fn refusals(design: &Design, operation: &Operation) -> Refusals {
    let is_step = matches!(operation.kind, OperationKind::Step { .. });
    let referred = |new: bool| {
        let params = operation.params.iter().filter(move |param| param.new == new);
        params.filter_map(|param| param.ty.subject())
    };
    let explicit = |subject: &design::model::SubjectId| !design.subjects[subject.index()].implicit;
    let exists = referred(false).any(|subject| explicit(&subject))
        || referred(true).any(|subject| design.explicit_parent(subject).is_some());
    let fresh = referred(true).next().is_some();
    let apart = is_step && !design.actors[operation.actor.index()].apart.is_empty();
    let ranges = design.subjects.iter().any(|subject| {
        subject.keys.iter().any(|key| key.range.is_some())
            || subject.attributes.iter().any(|held| held.range.is_some() || held.ty.has_ranges())
    });
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    let ranges = ranges || params.clone().any(|it| it.range.is_some() || it.ty.has_ranges());
    let all = [
        (exists, "exists"),
        (fresh, "fresh"),
        (apart, "apart"),
        (ranges && is_step, "range"),
        (operation.takes().is_some(), NONE_LEFT),
    ];
    Refusals {
        clauses: operation.guard.iter().map(|clause| clause.name.clone()).collect(),
        implicit: all.into_iter().filter(|(may, _)| *may).map(|(_, name)| name).collect(),
    }
}
