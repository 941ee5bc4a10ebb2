//! The machine of an enumerated attribute: from which constants to which, by which operation.

use design::model::*;
use serde::Serialize;

use crate::derive::units;
use crate::facts::{Facts, Unit, Verdict, Write, place as at, possible};

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

/// Of the attributes that an operation changes, in the order of the text.
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
            let transitions = transitions(design, SubjectId::of(index), AttrId::of(number), *id);
            // what stays as it was made is no machine
            if transitions.iter().all(|transition| transition.created) {
                continue;
            }
            list.push(Machine {
                subject: subject.name.clone(),
                state: state.name.clone(),
                attribute: attribute.name.clone(),
                constants: design.enumerations[id.index()].constants.clone(),
                initial,
                transitions,
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
                found.extend(creations(&unit, &mut facts, place, attr, id));
                continue;
            }
            for (to, when) in moves(&unit, &mut facts, place, attr, id) {
                let from = sources(&unit, &mut facts, place, attr, id, &when);
                if from.is_empty() {
                    continue;
                }
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

/// The conditions on the way to a value, and whether each one holds there.
type When<'a> = Vec<(&'a Expr, bool)>;

/// What this operation can leave in the attribute of a record, and on which conditions.
fn moves<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    place: usize,
    attr: AttrId,
    id: EnumId,
) -> Vec<(u32, When<'a>)> {
    let writes = facts.writes.iter().filter(|write| write.place == place && write.attr == attr);
    let mut writes: Vec<(&'a Expr, When<'a>)> =
        writes.map(|write| (write.value, write.when.clone())).collect();
    // what comes before a write without a condition is written over
    let last = writes.iter().rposition(|(_, when)| when.is_empty()).unwrap_or(0);
    writes.drain(..last);
    let mut list = Vec::new();
    for (value, when) in writes {
        targets(unit, facts, (place, attr, id), value, when, &mut list);
    }
    list
}

/// The constants that an expression can be: each arm of an `if` on its condition; none where it is what the attribute
/// is anyway; all, where it is not written plainly.
fn targets<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    (place, attr, id): (usize, AttrId, EnumId),
    value: &'a Expr,
    when: When<'a>,
    list: &mut Vec<(u32, When<'a>)>,
) {
    match &facts.resolve(value).kind {
        ExprKind::Literal(Const::Enum(_, which)) => list.push((*which, when)),
        ExprKind::Literal(_) => {}
        ExprKind::If { condition, then, otherwise } => {
            for (arm, holds) in [(then, true), (otherwise, false)] {
                let mut when = when.clone();
                when.push((condition, holds));
                targets(unit, facts, (place, attr, id), arm, when, list);
            }
        }
        ExprKind::Attr { base, attr: of }
            if *of == attr && at(unit, facts, base) == Some(place) => {}
        _ => {
            let constants = unit.design.enumerations[id.index()].constants.len() as u32;
            list.extend((0..constants).map(|which| (which, when.clone())));
        }
    }
}

fn creations<'a>(
    unit: &Unit<'a>,
    facts: &mut Facts<'a>,
    place: usize,
    attr: AttrId,
    id: EnumId,
) -> Vec<Transition> {
    let mut found = moves(unit, facts, place, attr, id);
    let always =
        |write: &Write<'_>| write.place == place && write.attr == attr && write.when.is_empty();
    if !facts.writes.iter().any(always)
        && let Some(Const::Enum(_, which)) = facts.attribute(unit.design, place, attr).default
    {
        found.push((which, Vec::new()));
    }
    let made = found.into_iter().map(|(to, when)| Transition {
        operation: unit.name(),
        created: true,
        from: Vec::new(),
        to: to as usize,
        guard: guard(unit, &when),
    });
    made.collect()
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
