//! How far to look: what `check` bounds, and what the world has no room for.

use design::model::{ActorId, AttrId, Fault, MemoryId, StateId, StateKind, SubjectId, Type};

use super::flow::{Class, Place};
use super::world::World;

pub(super) fn bounds(world: &World<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (index, subject) in world.design.subjects.iter().enumerate() {
        let id = SubjectId::of(index);
        if world.grows(id) {
            let there = world.there(id);
            all.push(format!("DOMAIN {there} \\subseteq {}", world.keys(id)));
        }
        for (at, attribute) in subject.attributes.iter().enumerate() {
            let attr = AttrId::of(at);
            if !world.kept(id, attr) {
                continue;
            }
            let name = world.attr(id, attr);
            match attribute.ty.required() {
                Type::List { max, .. } => {
                    let room = world.setting("list", 4);
                    if room < i64::from(*max) {
                        all.push(format!("\\A k \\in DOMAIN {name} : Len({name}[k]) <= {room}"));
                    }
                }
                Type::Int | Type::Decimal | Type::Money(_) | Type::Duration => {
                    let what = || {
                        let state = &subject.states[attribute.state.index()].name;
                        format!("{state}.{}", attribute.name)
                    };
                    all.extend(number(
                        world,
                        Place::Attr(id, attr),
                        &name,
                        attribute.ty.is_optional(),
                        &what,
                    ));
                }
                _ => {}
            }
        }
        for (at, state) in subject.states.iter().enumerate() {
            if let StateKind::Log { .. } = state.kind {
                let end = world.log(id, StateId::of(at), true);
                let most = world.setting("log", 3);
                all.push(format!("\\A k \\in DOMAIN {end} : {end}[k] <= {most}"));
            }
        }
    }
    for (index, actor) in world.design.actors.iter().enumerate() {
        for (at, field) in actor.memory.iter().enumerate() {
            let (id, memory) = (ActorId::of(index), MemoryId::of(at));
            if matches!(field.ty.required(), Type::Int | Type::Decimal | Type::Money(_)) {
                let name = world.memory(id, memory);
                let what = || format!("{}.{}", actor.name, field.name);
                all.extend(number(world, Place::Memory(id, memory), &name, true, &what));
            }
        }
    }
    if world.targets.contains(&true) {
        let most = world.setting("messages", 2);
        let set = world.on(Fault::DoubledMessage) && world.budget(Fault::DoubledMessage).is_none();
        let count = if set { "Cardinality" } else { "BagCardinality" };
        all.push(format!("{count}(Messages) <= {most}"));
    }
    all
}

/// The bound of a number, if it has one; one that is computed must.
fn number(
    world: &World<'_>,
    place: Place,
    name: &str,
    optional: bool,
    what: &dyn Fn() -> String,
) -> Option<String> {
    let class = world.flow.class(place)?;
    match bound(world, class) {
        Some((low, high)) => {
            let null = if optional { format!("{name}[k] = Null \\/ ") } else { String::new() };
            Some(format!("\\A k \\in DOMAIN {name} : {null}{name}[k] \\in {low}..{high}"))
        }
        None if class.computed => {
            world.refuse(format!(
                "`{0}`, a number without a bound (add `{0}: 0..4` to `check`)",
                what()
            ));
            None
        }
        None => None,
    }
}

/// Of all that `check` says of places of one class, the widest.
fn bound(world: &World<'_>, class: &Class) -> Option<(i64, i64)> {
    let given = world.design.world.bounds.iter();
    let own = given.filter(|bound| class.places.contains(&Place::Attr(bound.subject, bound.attr)));
    own.fold(None, |all: Option<(i64, i64)>, bound| {
        let ty = &world.subject(bound.subject).attributes[bound.attr.index()].ty;
        let unit = if *ty.required() == Type::Duration { world.clock.steps } else { 1 };
        let (low, high) = (bound.low * unit, bound.high * unit);
        let (least, most) = all.unwrap_or((low, high));
        Some((least.min(low), most.max(high)))
    })
}
