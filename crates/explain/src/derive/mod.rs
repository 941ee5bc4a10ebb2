//! What each operation is, from its structure alone: what it touches, the shape of each write, the
//! mechanism behind it, what keeps a stale actor out and which repair sets things right again.

mod features;
mod fence;
mod kinds;
mod mechanism;
mod phrase;
mod restore;
mod touch;
mod units;
mod views;

use design::model::{
    ClauseRef, Design, Expr, ExprKind, NONE_LEFT, Operation, OperationKind, Use, visit,
};
use serde::Serialize;

use crate::facts::{Facts, Unit};
use crate::spell::Scope;

pub use fence::{Fence, FenceKind};
pub use kinds::{Kind, Mechanism, Shape};
pub use touch::{Touch, TouchKind};
pub use units::units;

/// Does a value depend on the clock?
pub fn mentions_now(value: &design::model::Expr) -> bool {
    touch::mentions(value, &|e| matches!(e.kind, design::model::ExprKind::Now))
}

/// One operation, one answer to an effect, or one view.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Derivation {
    /// `buyer[hold]`, `network[authorize] on ok`, `view Availability`
    pub name: String,
    pub kind: Kind,
    pub actor: String,
    /// as declared: `seat: Seat`, `booking: new Booking`
    pub params: Vec<String>,
    pub guard: Vec<Clause>,
    pub touches: Vec<Touch>,
    /// of all writes, or of the read
    pub shapes: Vec<Shape>,
    pub mechanism: Option<Mechanism>,
    /// the finer name of what it does
    pub phrase: String,
    pub fences: Vec<Fence>,
    /// the repairs that clear up when nobody comes back
    pub restored_by: Vec<String>,
    /// the archetype that it comes from: `A08 as Seat`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Clause {
    pub name: String,
    pub text: String,
    /// the engine's own: `exists`, `fresh`, `open entry`
    pub implicit: bool,
    /// why it is kept although nothing in the small world needs it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defence: Option<String>,
    /// the design itself adds it to what it uses
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
}

/// Everything of a design, in the order written, views last.
pub fn derive(design: &Design) -> Vec<Derivation> {
    let mut derived: Vec<Derivation> =
        units(design).iter().map(|unit| of_unit(design, unit)).collect();
    derived.extend(design.views.iter().map(|view| views::of_view(design, view)));
    derived
}

fn of_unit(design: &Design, unit: &Unit<'_>) -> Derivation {
    let facts = Facts::of(unit);
    let features = features::Features::of(unit, &facts);
    let mut touches = touch::touches(unit, &facts);
    mechanism::of_touches(unit, &facts, &features, &mut touches);
    let reads = matches!(unit.operation.kind, OperationKind::Read { .. });
    // who only forgets writes nothing, if its guard holds
    let forgets = (!reads).then_some(Mechanism::GuardedUpdate);
    let mechanism = mechanism::of_all(&touches).or(forgets);
    Derivation {
        name: unit.name(),
        kind: Kind::of(unit),
        actor: design.actors[unit.operation.actor.index()].name.clone(),
        params: params(unit),
        guard: clauses(unit),
        shapes: touch::shapes(&touches),
        phrase: phrase::of(unit, &facts, &features, &touches, mechanism),
        fences: fence::fences(unit, &facts),
        restored_by: restore::repairs(unit, &facts),
        mechanism,
        touches,
        from: design.used_for(unit.id).map(Use::told),
    }
}

/// Where the next instant of a schedule is asked for.
pub(crate) fn next_instants(operation: &Operation) -> Vec<&Expr> {
    let mut found = Vec::new();
    visit::operation_exprs(operation, &mut |expr| {
        visit::each(expr, &mut |part| {
            if matches!(part.kind, ExprKind::NextOf { .. }) {
                found.push(part);
            }
        });
    });
    found
}

fn params(unit: &Unit<'_>) -> Vec<String> {
    let types = crate::types::Types { design: unit.design };
    unit.operation
        .params
        .iter()
        .map(|param| {
            let new = if param.new { "new " } else { "" };
            let default = param.default.as_ref().map_or(String::new(), |value| {
                format!(" = {}", crate::spell::constant(unit.design, value))
            });
            let chosen = param.chosen_text(unit.design, unit.operation);
            if let (Some(chosen), Some(_)) =
                (&chosen, param.generated.as_ref().and_then(|it| it.next()))
            {
                return format!("{}: {chosen}", param.name);
            }
            let chosen = chosen.map(|it| format!(" = {it}")).unwrap_or_default();
            let ty = types.ranged(&param.ty, param.range);
            let from = if param.from_caller { " from caller" } else { "" };
            format!("{}: {new}{ty}{from}{default}{chosen}", param.name)
        })
        .collect()
}

fn clauses(unit: &Unit<'_>) -> Vec<Clause> {
    let scope: Scope<'_> = unit.scope();
    let defence = |clause: ClauseRef| {
        let mut known = unit.design.defences.iter();
        let kept = known.find(|it| {
            it.clause == clause
                && unit.design.operations[it.operation.index()].name == unit.operation.name
        });
        kept.map(|it| it.reason.clone())
    };
    let implicit = |name: &str, text: String| Clause {
        name: name.into(),
        text,
        implicit: true,
        defence: match name {
            "exists" => defence(ClauseRef::Exists),
            "fresh" => defence(ClauseRef::Fresh),
            _ => None,
        },
        added: false,
    };
    let mut clauses = Vec::new();
    if unit.answer.is_some() {
        clauses.push(implicit("entry", "the outbox entry is open".into()));
    }
    for param in &unit.operation.params {
        let Some(subject) = param.ty.subject() else { continue };
        if param.new {
            clauses.push(implicit("fresh", format!("{} absent", param.name)));
        } else if !unit.design.subjects[subject.index()].implicit {
            clauses.push(implicit("exists", format!("{} present", param.name)));
        }
        if let Some(next) = param.generated.as_ref().and_then(|it| it.next()) {
            let from = next.text(unit.design, unit.operation);
            clauses.push(implicit(NONE_LEFT, format!("{from} has a row that can be taken")));
        }
    }
    clauses.extend(unit.operation.guard.iter().enumerate().map(|(at, clause)| Clause {
        name: clause.name.clone(),
        text: scope.text(&clause.body),
        implicit: false,
        defence: defence(ClauseRef::Named(at as u32)),
        added: unit.design.added_to(&unit.operation.name, &clause.name).is_some(),
    }));
    clauses
}
