//! The values that keys, actors, parameters, answers and attributes have in the small world.

use super::Compiler;
use super::check::Entries;
use super::relevance::Site;
use crate::model::visit::{each, each_statement, statement_exprs};
use crate::model::*;
use rustc_hash::FxHashSet;
use syntax::tree::CheckValue;

impl Compiler {
    pub(super) fn key_domains(&mut self, world: &mut World, entries: &mut Entries) {
        for at in 0..self.design.subjects.len() {
            let subject = self.design.subjects[at].clone();
            for (part, key) in subject.keys.iter().enumerate() {
                let values = match &key.ty {
                    Type::Ref(parent) => Values::Refs(*parent),
                    Type::Bool | Type::Enum(_) => Values::Whole,
                    Type::Actor => Values::Principals,
                    Type::Error => Values::Irrelevant,
                    ty => match entries.find(&[&subject.name, &key.name]) {
                        Some(entry) => self.values(entry, ty, key.range),
                        None => {
                            self.no_domain(
                                world.span,
                                &key.name,
                                key.span,
                                &format!("{}: 2", key.name),
                            );
                            Values::Irrelevant
                        }
                    },
                };
                world.keys[at][part] = values;
            }
        }
    }

    pub(super) fn actor_counts(&mut self, world: &mut World, entries: &mut Entries) {
        for at in 0..self.design.actors.len() {
            let id = ActorId::of(at);
            let actor = self.design.actors[at].clone();
            let count = match entries.find(&[&actor.name]) {
                Some(entry) => match &entry.value {
                    CheckValue::Number(number) => self.at_least_one(number),
                    _ => {
                        let span = entry.span;
                        self.wrong_value(span, "how many of them there are");
                        1
                    }
                },
                None => {
                    if actor.continues.is_none() && self.tells_principals_apart(id) {
                        let example = format!("{}: 2", actor.name);
                        self.no_domain(world.span, &actor.name, actor.span, &example);
                    }
                    1
                }
            };
            world.actors[at] = count;
        }
        for at in 0..self.design.actors.len() {
            world.actors[at] = world.actors[self.root_actor(ActorId::of(at)).index()];
        }
    }

    /// Does it matter which principal of this actor calls?
    fn tells_principals_apart(&self, actor: ActorId) -> bool {
        self.design.operations.iter().any(|operation| {
            if self.root_actor(operation.actor) != actor {
                return false;
            }
            let mut found = !operation.memory.is_empty();
            let mut look = |value: &Expr| {
                each(value, &mut |part| found |= matches!(part.kind, ExprKind::Me));
            };
            for clause in &operation.guard {
                look(&clause.body);
            }
            each_statement(&operation.body, &mut |statement| {
                statement_exprs(statement, &mut look);
            });
            found
        })
    }

    pub(super) fn param_domains(
        &mut self,
        world: &mut World,
        entries: &mut Entries,
        looked: &FxHashSet<Site>,
    ) {
        for at in 0..self.design.operations.len() {
            let operation = self.design.operations[at].clone();
            // what an event of this design tells comes from whoever emits it
            let told = operation.hears.as_ref().is_some_and(|hears| hears.design.is_none());
            let called = !told
                && operation.each.is_none()
                && matches!(
                    operation.kind,
                    OperationKind::Step { .. } | OperationKind::Read { .. }
                );
            for (place, param) in operation.params.iter().enumerate() {
                let site = Site::Local(OperationId::of(at), param.local);
                let is_looked = looked.contains(&site);
                if param.ty.fields().is_some() {
                    world.params[at][place] = self.struct_domain(
                        (&operation.name, param),
                        entries,
                        is_looked && called,
                        world.span,
                    );
                    continue;
                }
                let entry = entries.find(&[&operation.name, &param.name]);
                world.params[at][place] = self.domain_of(
                    (&param.ty, param.range),
                    &param.name,
                    param.span,
                    entry,
                    is_looked && called,
                    world.span,
                    param.default.as_ref(),
                );
            }
        }
    }

    pub(super) fn answer_domains(
        &mut self,
        world: &mut World,
        entries: &mut Entries,
        looked: &FxHashSet<Site>,
    ) {
        for at in 0..self.design.operations.len() {
            let operation = self.design.operations[at].clone();
            let OperationKind::Effect(effect) = &operation.kind else {
                continue;
            };
            let Some(local) = effect.on_ok.param else {
                continue;
            };
            let known = operation.locals[local.index()].clone();
            let is_looked = looked.contains(&Site::Local(OperationId::of(at), local));
            let entry = entries.find(&[&operation.name, &known.name]);
            world.answers[at] = Some(self.domain_of(
                (&known.ty, effect.on_ok.range),
                &known.name,
                operation.head,
                entry,
                is_looked,
                world.span,
                None,
            ));
        }
    }

    pub(super) fn attribute_bounds(&mut self, world: &mut World, entries: &mut Entries) {
        for entry in entries.list.iter_mut().filter(|entry| !entry.used) {
            let [state, attribute] = entry.words.as_slice() else {
                continue;
            };
            let Some([(subject, state)]) = self.names.states.get(state).map(Vec::as_slice) else {
                continue;
            };
            let (subject, state) = (*subject, *state);
            let owner = &self.design.subjects[subject.index()];
            let attr = owner.states[state.index()]
                .attributes
                .iter()
                .find(|attr| owner.attributes[attr.index()].name == *attribute)
                .copied();
            let Some(attr) = attr else { continue };
            entry.used = true;
            let ty = owner.attributes[attr.index()].ty.required().clone();
            let range = owner.attributes[attr.index()].range;
            let span = entry.span;
            if !matches!(ty, Type::Int | Type::Decimal | Type::Money(_) | Type::Duration) {
                let name = self.type_name(&ty);
                self.wrong_value(span, &format!("nothing: `{name}` is finite as it is"));
                continue;
            }
            let value = entry.value.clone();
            match value {
                CheckValue::Range(low, high) => {
                    // of a duration: so many units
                    let of = if ty == Type::Duration { Type::Int } else { ty.clone() };
                    let low = self.whole(&low, &of);
                    let high = self.whole(&high, &of);
                    if let (Some(low), Some(high)) = (low, high) {
                        if low > high {
                            self.wrong_value(span, "the smaller number first");
                            continue;
                        }
                        if ty != Type::Duration {
                            self.values_within(&Values::Range(low, high), &ty, range, span);
                        }
                        world.bounds.push(Bound { subject, attr, low, high });
                    }
                }
                _ => self.wrong_value(span, "a range, as in `0..5`"),
            }
        }
    }
}
