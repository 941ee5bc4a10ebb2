//! A state of the small world as something to compare with.

use design::model::{ActorId, AttrId, MemoryId, OperationId, StateId, StateKind, SubjectId, Type};
use engine::{NULL, Word};

use super::value::{Reader, Value};
use super::{Record, Slot, State, Truth};
use crate::world::plan::SlotName;

impl Reader<'_> {
    pub(super) fn state(&self, words: &[Word]) -> State {
        let machine = self.machine;
        let mut state = State { ticks: self.ticks, ..State::default() };
        for index in 0..machine.design.subjects.len() {
            let subject = SubjectId::of(index);
            for key in 0..machine.universe.keys[index].len {
                let Some(parts) = self.key(subject, key as Word) else { continue };
                let truth = self.truth(subject, key, words);
                state.records.push(Record { subject, key: parts, truth });
            }
        }
        for (at, name) in machine.plan.names.iter().enumerate() {
            if let SlotName::CachePresent { .. } = name {
                state.copies += usize::from(words[at] == 1);
            }
            let SlotName::Memory { actor, principal, field, record, stale: false } = name else {
                continue;
            };
            if words[at] != NULL {
                let ty = &machine.design.actors[actor.index()].memory[field.index()].ty;
                let slot = self.slot(*actor, *principal, *field, *record);
                state.memory.push((slot, self.value(ty, &words[at..=at])));
            }
        }
        for (index, plan) in machine.plan.effects.iter().enumerate() {
            let Some(plan) = plan else { continue };
            let open = (0..plan.keys.len()).filter(|key| words[plan.entry(*key) as usize] == 1);
            for key in open {
                let effect = OperationId::of(index);
                state.open.push((effect, self.params(effect, &words[plan.args(key)])));
            }
        }
        for plan in &machine.plan.messages {
            for at in 0..plan.count {
                let slot = (plan.first + plan.stride * at) as usize;
                if words[slot] != 0 {
                    let args = &words[slot + 1..slot + plan.stride as usize];
                    state.messages.push((plan.operation, self.params(plan.operation, args)));
                }
            }
        }
        state
    }

    fn truth(&self, subject: SubjectId, key: usize, words: &[Word]) -> Option<Truth> {
        let machine = self.machine;
        let plan = &machine.plan.records[subject.index()];
        if plan.present(key).is_some_and(|slot| words[slot as usize] == 0) {
            return None;
        }
        let record = &words[plan.words(key)];
        let layout = machine.program.layout(subject);
        let declared = &machine.design.subjects[subject.index()];
        let mut truth = Truth::default();
        for (at, attribute) in declared.attributes.iter().enumerate() {
            let Some(field) = layout.attribute(AttrId::of(at)) else { continue };
            let slot = (plan.words(key).start + field.range().start) as u32;
            // a time that nothing reads is not kept
            let kept = *attribute.ty.required() != Type::Time || machine.plan.times.contains(&slot);
            let value = match kept || record[field.range()] == [NULL] {
                true => self.value(&attribute.ty, &record[field.range()]),
                false => Value::Unknown,
            };
            truth.attributes.push((at as u32, value));
        }
        for (at, state) in declared.states.iter().enumerate() {
            if let (StateKind::Log { .. }, Some(start)) =
                (state.kind, layout.log_start(StateId::of(at)))
            {
                let start = start as usize;
                truth.logs.push((StateId::of(at), record[start], record[start + 1]));
            }
        }
        Some(truth)
    }

    pub(super) fn slot(
        &self,
        actor: ActorId,
        principal: u32,
        field: MemoryId,
        record: Option<u32>,
    ) -> Slot {
        let machine = self.machine;
        let held = &machine.universe.principals[principal as usize];
        let actor = &machine.design.actors[actor.index()];
        let declared = &actor.memory[field.index()];
        let of = declared.of.zip(record);
        Slot {
            principal: held.name.clone(),
            field: format!("{}.{}", actor.name, declared.name),
            record: of.map(|(subject, key)| machine.show_key(subject, Word::from(key))),
        }
    }

    /// The arguments of an operation.
    pub(super) fn params(&self, operation: OperationId, words: &[Word]) -> Vec<Value> {
        let layout = self.machine.program.params(operation);
        let params = &self.machine.design.operations[operation.index()].params;
        let value = |(param, field): (&design::model::Param, &engine::Field)| {
            self.value(&param.ty, words.get(field.range()).unwrap_or(&[]))
        };
        params.iter().zip(&layout.fields).map(value).collect()
    }
}
