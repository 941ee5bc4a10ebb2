//! Where each part of a state stands: truth, memory, calls in flight, outbox and world outside,
//! messages, caches, what is left of each fault.

use design::model::{
    ActorId, AttrId, BlobId, CounterId, Design, Fault, MemoryId, OperationId, OperationKind,
    StateId, StateKind, SubjectId, Type,
};
use engine::Program;
use rustc_hash::FxHashSet;

use super::effects;
use super::flow::PlaceOf;
pub(crate) use super::parts::{
    CachePlan, CallPlan, MemoryPlan, MessagePlan, Network, Plan, ROWS, RecordPlan, SentPlan,
    Settings, SlotName, rows_in,
};
use super::sizes::setting;
use super::slots::{Codec, Kind};
use super::sorts::SortDomain;
use super::universe::Universe;
use super::unread::{reads_times, unread_times};
use crate::WorldError;
use crate::slice::LeftOut;

/// How to make slots for values of a type.
pub(crate) struct Maker<'a> {
    pub(crate) design: &'a Design,
    pub(crate) program: &'a Program,
    pub(crate) universe: &'a Universe,
    pub(crate) settings: &'a Settings,
    pub(crate) plan: Plan,
    /// how many members a class that is kept by rank can have
    pub(super) ranks: Vec<u64>,
    /// times that nothing reads
    pub(super) unread: FxHashSet<(SubjectId, AttrId)>,
    /// of a slice: what is not explored
    pub(super) left: &'a LeftOut,
}

impl Maker<'_> {
    pub(crate) fn slot(&mut self, name: SlotName, codec: Codec, nullable: bool, kind: Kind) -> u32 {
        self.name(name);
        self.plan.slots.add(codec, nullable, kind)
    }

    pub(super) fn name(&mut self, name: SlotName) {
        self.plan.names.push(match name {
            SlotName::Attr { key, .. } if self.plan.older.is_some() => {
                SlotName::Older { key: Some(key) }
            }
            _ if self.plan.older.is_some() => SlotName::Older { key: None },
            name => name,
        });
    }

    fn records(&mut self) -> Result<(), WorldError> {
        // Where nothing reads a time, it does not matter what a clock says.
        let clock = self.settings.on(Fault::ClockStep) && reads_times(self.design, &self.unread);
        for index in 0..self.design.subjects.len() {
            let subject = SubjectId::of(index);
            if self.left.subject(subject) {
                let first = self.plan.slots.list.len() as u32;
                self.plan.records.push(RecordPlan { first, ..RecordPlan::default() });
                continue;
            }
            let width = self.program.layout(subject).width;
            let held = &self.design.subjects[index];
            let present = u32::from(!held.implicit);
            let plan = RecordPlan {
                first: self.plan.slots.list.len() as u32,
                stride: present + width + u32::from(clock),
                width,
                present,
                timed: clock,
            };
            for key in 0..self.universe.keys[index].len as u32 {
                if !held.implicit {
                    let name = SlotName::Present { subject, key };
                    self.slot(name, Codec::Range { low: 0, count: 2 }, false, Kind::Plain);
                }
                self.record(subject, key)?;
                if clock {
                    let codec = self.time(-1, 1);
                    let slot = self.slot(SlotName::StoredTime, codec, false, Kind::Plain);
                    self.plan.times.push(slot);
                }
            }
            self.plan.records.push(plan);
        }
        Ok(())
    }

    /// The records once more, as they were in an older state.
    fn older(&mut self) -> Result<(), WorldError> {
        let records = std::mem::take(&mut self.plan.records);
        self.plan.older = Some(self.plan.slots.list.len() as u32);
        self.records()?;
        self.plan.records = records;
        Ok(())
    }

    fn record(&mut self, subject: SubjectId, key: u32) -> Result<(), WorldError> {
        let held = &self.design.subjects[subject.index()];
        for (at, attribute) in held.attributes.iter().enumerate() {
            let state = &held.states[attribute.state.index()];
            if state.kind != StateKind::Truth {
                continue;
            }
            let attr = AttrId::of(at);
            let what = || format!("{}.{}", state.name, attribute.name);
            let places = (PlaceOf::Attr(subject, attr), Some(PlaceOf::MapValue(subject, attr)));
            self.value(SlotName::Attr { subject, key, attr }, &attribute.ty, places, &what)?;
        }
        for (at, counter) in held.counters.iter().enumerate() {
            let codec = match self.left.counter(subject, CounterId::of(at)) {
                true => Codec::Ignored,
                false => self.counter(counter)?,
            };
            let name = SlotName::Counter { subject, key, counter: at as u32 };
            self.slot(name, codec, false, Kind::Plain);
        }
        let log_max = setting(self.design, "log", 3);
        for (at, state) in held.states.iter().enumerate() {
            if matches!(state.kind, StateKind::Log { .. }) {
                for end in [false, true] {
                    let name = SlotName::Log { subject, key, log: StateId::of(at), end };
                    let codec = match self.left.log(subject, StateId::of(at)) {
                        true => Codec::Ignored,
                        false => Codec::Range { low: 0, count: log_max as u64 + 1 },
                    };
                    self.slot(name, codec, false, Kind::Plain);
                }
            }
        }
        Ok(())
    }

    fn memory(&mut self) -> Result<(), WorldError> {
        let pause = self.settings.on(Fault::Pause);
        for index in 0..self.design.actors.len() {
            let actor = ActorId::of(index);
            let principals = self.universe.acts[index].clone();
            let mut fields = Vec::new();
            for at in 0..self.design.actors[index].memory.len() {
                let held = &self.design.actors[index].memory[at];
                let field = MemoryId::of(at);
                let records = held.of.map_or(1, |of| self.universe.keys[of.index()].len) as u32;
                if self.left.memory(actor, field) {
                    let first = self.plan.slots.list.len() as u32;
                    fields.push(MemoryPlan { first, records, stale: None });
                    continue;
                }
                let mut firsts = Vec::new();
                for stale in [false, true] {
                    if stale && !pause {
                        continue;
                    }
                    firsts.push(self.plan.slots.list.len() as u32);
                    for principal in &principals {
                        for record in 0..records {
                            let name = SlotName::Memory {
                                actor,
                                principal: *principal,
                                field,
                                record: held.of.map(|_| record),
                                stale,
                            };
                            let what =
                                || format!("{}.{}", self.design.actors[index].name, held.name);
                            let ty = Type::Optional(Box::new(held.ty.required().clone()));
                            let place = (PlaceOf::Memory(actor, field), None);
                            self.value(name, &ty, place, &what)?;
                        }
                    }
                }
                let stale = firsts.get(1).copied();
                fields.push(MemoryPlan { first: firsts[0], records, stale });
            }
            self.plan.memory.push(fields);
        }
        Ok(())
    }

    fn calls(&mut self, instances: usize) -> Result<(), WorldError> {
        let in_flight = self.settings.on(Fault::Late) || self.settings.on(Fault::Duplicate);
        let mut fields: Vec<(ActorId, MemoryId)> = Vec::new();
        for operation in &self.design.operations {
            let mut own: Vec<(ActorId, MemoryId)> =
                operation.memory.iter().map(|usage| (usage.actor, usage.field)).collect();
            own.sort_unstable();
            for field in &fields {
                if let Some(at) = own.iter().position(|held| held == field) {
                    own.remove(at);
                }
            }
            fields.extend(own);
        }
        fields.sort_unstable();
        self.plan.calls = CallPlan {
            first: self.plan.slots.list.len() as u32,
            stride: 1 + fields.len() as u32,
            count: if in_flight { self.settings.calls } else { 0 },
            fields: fields.clone(),
        };
        for call in 0..self.plan.calls.count {
            let codec = Codec::Range { low: 0, count: instances as u64 + 1 };
            self.slot(SlotName::Call { call }, codec, false, Kind::Call);
            for (actor, field) in &fields {
                let held = &self.design.actors[actor.index()].memory[field.index()];
                let what = || held.name.clone();
                let ty = Type::Optional(Box::new(held.ty.required().clone()));
                let place = (PlaceOf::Memory(*actor, *field), None);
                self.value(SlotName::CallMemory { call }, &ty, place, &what)?;
            }
        }
        Ok(())
    }

    fn caches(&mut self) -> Result<(), WorldError> {
        for index in 0..self.design.subjects.len() {
            let subject = SubjectId::of(index);
            for at in 0..self.design.subjects[index].states.len() {
                let StateKind::Cache { at: actor } = self.design.subjects[index].states[at].kind
                else {
                    continue;
                };
                let state = StateId::of(at);
                if self.left.cache(subject, state) {
                    continue;
                }
                let principals = self.universe.acts[actor.index()].clone();
                let first = self.plan.slots.list.len() as u32;
                let keys = self.universe.keys[index].len as u32;
                let width = self.program.state(subject, state).width;
                for key in 0..keys {
                    for principal in principals.iter().copied() {
                        let name = SlotName::CachePresent { subject, state, key, principal };
                        self.slot(name, Codec::Range { low: 0, count: 2 }, false, Kind::Plain);
                        for (attr, _) in self.program.state(subject, state).fields.clone() {
                            let attribute = &self.design.subjects[index].attributes[attr.index()];
                            let what = || attribute.name.clone();
                            let name = SlotName::CacheAttr { subject, state, key, principal, attr };
                            let places = (
                                PlaceOf::Attr(subject, attr),
                                Some(PlaceOf::MapValue(subject, attr)),
                            );
                            self.value(name, &attribute.ty, places, &what)?;
                        }
                    }
                }
                let stride = 1 + width;
                self.plan.caches.push(CachePlan {
                    subject,
                    state,
                    first,
                    stride,
                    width,
                    principals,
                    keys,
                });
            }
        }
        Ok(())
    }

    fn rest(&mut self, places: usize) {
        for index in 0..self.design.blobs.len() {
            if self.left.blob(BlobId::of(index)) {
                self.plan.blobs.push(None);
                continue;
            }
            let sort = self.universe.sorts.place(PlaceOf::Blob(BlobId::of(index)));
            let first = self.plan.slots.list.len() as u32;
            let len = sort.map_or(0, |sort| match &self.universe.sorts.list[sort].domain {
                SortDomain::Finite(values) => values.len(),
                _ => 0,
            });
            for _ in 0..len {
                self.slot(SlotName::Blob, Codec::Range { low: 0, count: 2 }, false, Kind::Plain);
            }
            self.plan.blobs.push(sort.map(|sort| (first, sort)));
        }
        for (fault, budget) in &self.settings.faults {
            if let Some(budget) = budget {
                let codec = Codec::Range { low: 0, count: u64::from(*budget) + 1 };
                let slot = self.slot(SlotName::Budget(*fault), codec, false, Kind::Plain);
                self.plan.budgets.push((*fault, slot));
            }
        }
        if self.settings.on(Fault::Partition) && places > 1 && !self.settings.network.is_set() {
            let codec = Codec::Range { low: 0, count: 1 << (places - 1) };
            self.plan.cut = Some(self.slot(SlotName::Cut, codec, false, Kind::Plain));
        }
    }

    /// How many values of each ranked class there can be at once, at most.
    fn count_ranks(&mut self) {
        let universe = self.universe;
        let pause = if self.settings.on(Fault::Pause) { 2 } else { 1 };
        let older = if self.settings.older { 2 } else { 1 };
        let mut ranks = Vec::new();
        for sort in &universe.sorts.list {
            let SortDomain::Ranked { global } = sort.domain else {
                ranks.push(0);
                continue;
            };
            let mut count = 2 + 2 * u64::from(self.settings.calls);
            for place in &sort.places {
                count += match place {
                    PlaceOf::Attr(subject, _) => {
                        let records = if global { universe.keys[subject.index()].len } else { 1 };
                        older * records as u64
                    }
                    PlaceOf::Memory(actor, field) => {
                        let of = self.design.actors[actor.index()].memory[field.index()].of;
                        let records = match of {
                            Some(of) if global => universe.keys[of.index()].len as u64,
                            _ => 1,
                        };
                        pause * records * universe.acts[actor.index()].len() as u64
                    }
                    PlaceOf::Local(super::flow::Scope::Operation(_), _) => {
                        2 * u64::from(self.settings.messages) + 2
                    }
                    _ => 0,
                };
            }
            ranks.push(count);
        }
        self.ranks = ranks;
    }
}

/// Lays out the state. `instances`, `places`: how many different calls and places there are.
pub(crate) fn plan(
    design: &Design,
    program: &Program,
    universe: &Universe,
    settings: &Settings,
    left: &LeftOut,
    (instances, places): (usize, usize),
) -> Result<Plan, WorldError> {
    let mut maker = Maker {
        design,
        program,
        universe,
        settings,
        plan: Plan::default(),
        ranks: Vec::new(),
        unread: unread_times(design),
        left,
    };
    maker.count_ranks();
    maker.records()?;
    maker.plan.truth = maker.plan.slots.list.len() as u32;
    for index in 0..design.operations.len() {
        let made = match &design.operations[index].kind {
            OperationKind::Effect(effect) => {
                Some(effects::plan(&mut maker, OperationId::of(index), effect)?)
            }
            _ => None,
        };
        maker.plan.effects.push(made);
    }
    maker.memory()?;
    maker.calls(instances)?;
    maker.messages(places)?;
    maker.caches()?;
    maker.rest(places);
    if settings.older {
        maker.older()?;
    }
    Ok(maker.plan)
}
