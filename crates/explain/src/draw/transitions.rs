//! The machine of an enumerated attribute: from which constants to which, by which operation.

use design::model::*;
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Facts, Unit, Verdict, Write, possible};

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    pub subject: String,
    pub state: String,
    pub attribute: String,
    pub constants: Vec<String>,
    /// where a record begins that is there from the start
    pub initial: Option<usize>,
    pub transitions: Vec<Transition>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Transition {
    pub operation: String,
    /// made in this state, from nothing
    pub created: bool,
    /// all from which the guard can hold
    pub from: Vec<usize>,
    pub to: usize,
    /// the clauses of the guard, and the conditions on the way
    pub guard: Vec<String>,
}

pub fn machines(design: &Design) -> Vec<Machine> {
    let mut list = Vec::new();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (number, attribute) in subject.attributes.iter().enumerate() {
            let state = &subject.states[attribute.state.index()];
            let Type::Enum(id) = attribute.ty.required() else { continue };
            if state.kind != StateKind::Truth {
                continue;
            }
            let initial = match &attribute.default {
                Some(Const::Enum(_, which)) if subject.implicit => Some(*which as usize),
                _ => None,
            };
            list.push(Machine {
                subject: subject.name.clone(),
                state: state.name.clone(),
                attribute: attribute.name.clone(),
                constants: design.enumerations[id.index()].constants.clone(),
                initial,
                transitions: transitions(design, SubjectId::of(index), AttrId::of(number), *id),
            });
        }
    }
    list
}

fn transitions(design: &Design, subject: SubjectId, attr: AttrId, id: EnumId) -> Vec<Transition> {
    let mut found: Vec<Transition> = Vec::new();
    for unit in units(design) {
        let mut facts = Facts::of(&unit);
        for place in 0..facts.places.len() {
            if facts.places[place].subject != subject {
                continue;
            }
            if facts.places[place].is_made() {
                found.extend(creation(&unit, &facts, place, attr));
                continue;
            }
            let moves: Vec<(u32, Vec<(&Expr, bool)>)> = facts
                .writes
                .iter()
                .filter(|write| write.place == place && write.attr == attr)
                .flat_map(|write| {
                    targets(design, id, write).into_iter().map(|to| (to, write.when.clone()))
                })
                .collect();
            for (to, when) in moves {
                let from = sources(&unit, &mut facts, place, attr, id, &when);
                found.push(Transition {
                    operation: unit.name(),
                    created: false,
                    from,
                    to: to as usize,
                    guard: guard(&unit, &when),
                });
            }
        }
    }
    found
}

/// The constants that a write can leave behind; all, where it is not written plainly.
fn targets(design: &Design, id: EnumId, write: &Write<'_>) -> Vec<u32> {
    match &write.value.kind {
        ExprKind::Literal(Const::Enum(_, which)) => vec![*which],
        ExprKind::Literal(_) => Vec::new(),
        _ => (0..design.enumerations[id.index()].constants.len() as u32).collect(),
    }
}

fn creation(unit: &Unit<'_>, facts: &Facts<'_>, place: usize, attr: AttrId) -> Option<Transition> {
    let last = facts.writes.iter().rfind(|write| write.place == place && write.attr == attr);
    let to = match last.map(|write| &write.value.kind) {
        Some(ExprKind::Literal(Const::Enum(_, which))) => *which,
        Some(_) => return None,
        None => match &facts.attribute(unit.design, place, attr).default {
            Some(Const::Enum(_, which)) => *which,
            _ => return None,
        },
    };
    Some(Transition {
        operation: unit.name(),
        created: true,
        from: Vec::new(),
        to: to as usize,
        guard: guard(unit, &[]),
    })
}

fn sources<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    place: usize,
    attr: AttrId,
    id: EnumId,
    when: &[(&'a Expr, bool)],
) -> Vec<usize> {
    let constants = unit.design.enumerations[id.index()].constants.len();
    let mut from = Vec::new();
    for which in 0..constants {
        let value = Const::Enum(id, which as u32);
        let mut can = unit.operation.guard.iter().all(|clause| {
            possible(unit, facts, &clause.body, (place, attr), &value) != Verdict::Fails
        });
        for (condition, holds) in when {
            let never = if *holds { Verdict::Fails } else { Verdict::Holds };
            can &= possible(unit, facts, condition, (place, attr), &value) != never;
        }
        if can {
            from.push(which);
        }
    }
    from
}

fn guard(unit: &Unit<'_>, when: &[(&Expr, bool)]) -> Vec<String> {
    let scope = unit.scope();
    let clauses =
        unit.operation.guard.iter().map(|c| format!("{}: {}", c.name, scope.text(&c.body)));
    let conditions = when.iter().map(|(condition, holds)| {
        let text = scope.text(condition);
        if *holds { format!("if {text}") } else { format!("unless {text}") }
    });
    clauses.chain(conditions).collect()
}
