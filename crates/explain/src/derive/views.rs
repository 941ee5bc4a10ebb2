//! Views: maintained from the feed, read as projections.

use design::model::*;

use super::kinds::{Kind, Mechanism, Shape};
use super::touch::{Touch, TouchKind};
use super::{Clause, Derivation};
use crate::facts::children;
use crate::spell::Scope;
use crate::types::Types;

pub fn of_view(design: &Design, view: &View) -> Derivation {
    let scope = Scope::row(design, &view.locals);
    let (mechanism, phrase) = form(&view.form);
    let filter = view.filter.iter().map(|filter| Clause {
        name: "where".into(),
        text: scope.text(filter),
        implicit: false,
        defence: None,
        added: false,
    });
    let own = view.caller.iter().flat_map(|caller| {
        let picked = view.group.iter().filter(move |(local, _)| *local == caller.me);
        picked.map(|(_, value)| Clause {
            name: "of".into(),
            text: format!("{} = me", scope.text(value)),
            implicit: false,
            defence: None,
            added: false,
        })
    });
    let types = Types { design };
    let mut touches = sources(design, view);
    touches.push(Touch {
        state: view.name.clone(),
        kind: TouchKind::View,
        truth: false,
        path: view.name.clone(),
        subject: None,
        read_in_guard: false,
        read: false,
        written: true,
        shape: Some(Shape::Overwrite),
        mechanism: Some(mechanism),
        at: None,
    });
    Derivation {
        name: format!("view {}", view.name),
        kind: Kind::View,
        actor: "projector".into(),
        params: view.params.iter().map(|p| format!("{}: {}", p.name, types.text(&p.ty))).collect(),
        guard: own.chain(filter).collect(),
        touches,
        shapes: vec![Shape::Overwrite],
        mechanism: Some(mechanism),
        phrase: phrase.into(),
        fences: Vec::new(),
        restored_by: vec!["rebuild from the feed".into()],
        from: design
            .uses
            .iter()
            .find(|used| used.views.iter().any(|id| design.views[id.index()].name == view.name))
            .map(Use::told),
    }
}

fn form(form: &ViewForm) -> (Mechanism, &'static str) {
    match form {
        ViewForm::Count | ViewForm::Sum { .. } => {
            (Mechanism::Counter, "counter kept from the feed")
        }
        ViewForm::Extreme { .. } => (Mechanism::Ranking, "values in order, kept from the feed"),
        ViewForm::Average { .. } => (Mechanism::Counter, "sum and count kept from the feed"),
        ViewForm::Window { .. } => (Mechanism::Counter, "counter for each stretch of time"),
        ViewForm::List { .. } => (Mechanism::MaterializedView, "sorted list kept from the feed"),
        ViewForm::Near { .. } => (Mechanism::MaterializedView, "index by place kept from the feed"),
        ViewForm::Rank { .. } => (Mechanism::Ranking, "ranking kept from the feed"),
        ViewForm::Search { .. } => (Mechanism::SearchIndex, "inverted index kept from the feed"),
    }
}

/// The states whose changes move the view.
fn sources(design: &Design, view: &View) -> Vec<Touch> {
    let subject = &design.subjects[view.subject.index()];
    let mut states: Vec<StateId> = Vec::new();
    let mut see = |expr: &Expr| mentioned(expr, view.subject, subject, &mut states);
    view.filter.iter().for_each(&mut see);
    view.group.iter().for_each(|(_, value)| see(value));
    view.values().into_iter().for_each(&mut see);
    states.extend(view.looked_up().iter().map(|a| subject.attributes[a.index()].state));
    states.sort_unstable();
    states.dedup();
    let own = states.into_iter().map(|state| (view.subject, state));
    own.chain(shown(design, view)).map(|(of, state)| touch(design, of, state)).collect()
}

/// The states of other records that rows show.
fn shown(design: &Design, view: &View) -> Vec<(SubjectId, StateId)> {
    let told = design::mentions::columns(design, view).into_iter().flat_map(|it| it.states);
    let mut states: Vec<_> = told.filter(|(of, _)| *of != view.subject).collect();
    states.sort_unstable();
    states.dedup();
    states
}

fn touch(design: &Design, of: SubjectId, state: StateId) -> Touch {
    let subject = &design.subjects[of.index()];
    Touch {
        state: subject.states[state.index()].name.clone(),
        kind: TouchKind::Truth,
        truth: true,
        path: "feed".into(),
        subject: Some(subject.name.clone()),
        read_in_guard: false,
        read: true,
        written: false,
        shape: Some(Shape::ReadSource),
        mechanism: None,
        at: None,
    }
}

fn mentioned(expr: &Expr, of: SubjectId, subject: &Subject, states: &mut Vec<StateId>) {
    if let ExprKind::Attr { base, attr } = &expr.kind
        && base.ty.subject() == Some(of)
    {
        states.push(subject.attributes[attr.index()].state);
    }
    children(expr, &mut |child| mentioned(child, of, subject, states));
}
