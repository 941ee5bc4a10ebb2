//! Collections have room for what the small world has to put into them, not for their `max`.

use design::model::{Design, Expr, OperationId, Type, visit};

use crate::world::sizes::{list_room, records};

/// Of values without end, so many can be in a collection.
const VALUES_MAX: u32 = 16;
/// How many elements more than there is room for can be computed with, to be judged.
const SPARE: u32 = 4;

/// The same design with collections that cost what the world has; and the operations that may ask for
/// more than could be computed.
pub(super) fn fit(design: &Design) -> (Design, Vec<OperationId>) {
    let mut fitted = design.clone();
    let mut short = false;
    let mut fit = |ty: &mut Type| short |= fit_type(design, ty);
    for subject in &mut fitted.subjects {
        subject.attributes.iter_mut().for_each(|attribute| fit(&mut attribute.ty));
    }
    for actor in &mut fitted.actors {
        actor.memory.iter_mut().for_each(|held| fit(&mut held.ty));
    }
    for operation in &mut fitted.operations {
        operation.params.iter_mut().for_each(|param| fit(&mut param.ty));
        operation.locals.iter_mut().for_each(|local| fit(&mut local.ty));
    }
    for goal in fitted.goals_mut() {
        goal.locals.iter_mut().for_each(|local| fit(&mut local.ty));
    }
    visit::design_exprs_mut(&mut fitted, &mut |expr: &mut Expr| {
        visit::each_mut(expr, &mut |expr| fit(&mut expr.ty));
    });
    let all = (0..fitted.operations.len()).map(OperationId::of);
    let operations = if short { all.collect() } else { Vec::new() };
    (fitted, operations)
}

/// Answers whether there is less room than the world could ask for.
fn fit_type(design: &Design, ty: &mut Type) -> bool {
    match ty {
        Type::Optional(inner) => fit_type(design, inner),
        Type::Set { of, max } | Type::Map { key: of, max, .. } => {
            let (values, all) = values(design, of);
            let short = *max > values && !all;
            *max = (*max).min(values);
            short
        }
        Type::List { max, .. } => {
            let room = list_room(design) + SPARE;
            let short = *max > room;
            *max = (*max).min(room);
            short
        }
        _ => false,
    }
}

/// How many values of a type the world has, and whether that is all of them.
fn values(design: &Design, ty: &Type) -> (u32, bool) {
    match ty.required() {
        Type::Bool => (2, true),
        Type::Enum(id) => (design.enumerations[id.index()].constants.len() as u32, true),
        Type::Ref(subject) => (records(design, *subject) as u32, true),
        Type::Actor => (design.world.actors.iter().sum(), true),
        _ => (VALUES_MAX, false),
    }
}
