//! Every call that can be made: an operation, by a principal, with its arguments.

use design::model::{
    Design, ExprKind, MemoryUse, Operation, OperationId, OperationKind, Param, StateKind,
    SubjectId, Target, Type, Values, visit,
};
use engine::{Program, Word};

use crate::WorldError;
use crate::slice::LeftOut;
use crate::world::flow::PlaceOf;
use crate::world::plan::Plan;
use crate::world::sorts::Sorts;
use crate::world::universe::Universe;

/// More calls than this are not listed.
const CALLS_MAX: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InstanceKind {
    /// of a client
    Step,
    Read,
    /// of the environment
    World,
    Repair,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) kind: InstanceKind,
    pub(crate) operation: OperationId,
    pub(crate) me: Word,
    pub(crate) params: Box<[Word]>,
    /// the signatures among them
    pub(crate) shows: Vec<Word>,
    /// for each use of memory: its slot, the slot of its older value, and its place among the
    /// slots of a call in flight
    pub(crate) memory: Vec<MemorySlots>,
    /// where the records it names live; the number of the place, plus one
    pub(crate) place: Word,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MemorySlots {
    /// does the call give it along?
    pub(crate) read: bool,
    pub(crate) slot: u32,
    pub(crate) stale: Option<u32>,
    pub(crate) in_call: u32,
}

/// Does it matter who calls?
fn personal(design: &Design, operation: &Operation) -> bool {
    let mut personal = !operation.memory.is_empty();
    let is_cache = |subject: SubjectId, state: design::model::StateId| {
        let kind = design.subjects[subject.index()].states[state.index()].kind;
        matches!(kind, StateKind::Cache { .. })
    };
    visit::operation_exprs(operation, &mut |expr| {
        visit::each(expr, &mut |expr| match &expr.kind {
            ExprKind::Me => personal = true,
            ExprKind::Exists { cache, .. } => personal |= cache.is_some(),
            ExprKind::Attr { base, attr } => {
                if let Some(subject) = base.ty.subject() {
                    let held = &design.subjects[subject.index()].attributes[attr.index()];
                    personal |= is_cache(subject, held.state);
                }
            }
            _ => {}
        });
    });
    for body in visit::bodies(operation) {
        visit::each_statement(body, &mut |stmt| {
            if let design::model::StmtKind::Assign { target: Target::Attr { base, attr }, .. } =
                &stmt.kind
                && let Some(subject) = base.ty.subject()
            {
                let held = &design.subjects[subject.index()].attributes[attr.index()];
                personal |= is_cache(subject, held.state);
            }
        });
    }
    personal
}

/// All of them; those that can be in flight come first, and how many those are.
pub(crate) fn instances(
    design: &Design,
    program: &Program,
    universe: &Universe,
    targets: &[bool],
    left: &LeftOut,
) -> Result<(Vec<Instance>, usize), WorldError> {
    let mut list = Vec::new();
    let mut callable = 0;
    for wanted in
        [InstanceKind::Step, InstanceKind::World, InstanceKind::Read, InstanceKind::Repair]
    {
        for (index, operation) in design.operations.iter().enumerate() {
            let id = OperationId::of(index);
            let is_world = design.actors[operation.actor.index()].is_world;
            let kind = match operation.kind {
                OperationKind::Step { .. } if targets[index] => continue,
                OperationKind::Step { .. } if is_world => InstanceKind::World,
                OperationKind::Step { .. } => InstanceKind::Step,
                OperationKind::Read { .. } => InstanceKind::Read,
                OperationKind::Repair { .. } => InstanceKind::Repair,
                OperationKind::Effect(_) => continue,
            };
            if kind != wanted
                || left.operation(id)
                || (kind == InstanceKind::Repair && program.repair_removed(id))
            {
                continue;
            }
            for params in arguments(design, universe, id)? {
                for me in callers(design, universe, operation) {
                    if list.len() >= CALLS_MAX {
                        return Err(WorldError::TooMany { what: "calls".into() });
                    }
                    list.push(Instance {
                        kind,
                        operation: id,
                        me,
                        params: params.clone().into_boxed_slice(),
                        shows: signatures(operation, &params),
                        memory: Vec::new(),
                        place: 0,
                    });
                }
            }
        }
        if wanted == InstanceKind::Step {
            callable = list.len();
        }
    }
    Ok((list, callable))
}

/// The signatures that a call shows.
fn signatures(operation: &Operation, params: &[Word]) -> Vec<Word> {
    let params = operation.params.iter().zip(offsets(operation)).map(|(p, at)| (p, params[at]));
    params
        .filter(|(param, word)| *param.ty.required() == Type::Signature && *word > 0)
        .map(|(_, word)| word)
        .collect()
}

/// The principals that may make a difference.
pub(super) fn callers(design: &Design, universe: &Universe, operation: &Operation) -> Vec<Word> {
    let own = universe.of_actor[operation.actor.index()].0;
    match personal(design, operation) {
        true => universe.acts[operation.actor.index()].iter().map(|p| Word::from(*p)).collect(),
        false => vec![Word::from(own)],
    }
}

fn arguments(
    design: &Design,
    universe: &Universe,
    id: OperationId,
) -> Result<Vec<Vec<Word>>, WorldError> {
    let operation = &design.operations[id.index()];
    let mut all: Vec<Vec<Word>> = vec![Vec::new()];
    for (at, param) in operation.params.iter().enumerate() {
        let what = || format!("{}.{}", operation.name, param.name);
        let values = match design.world.params.get(id.index()).and_then(|list| list.get(at)) {
            Some(values) => values.clone(),
            None => match param.ty.required() {
                Type::Ref(subject) => Values::Refs(*subject),
                Type::Actor => Values::Principals,
                Type::Enum(_) | Type::Bool => Values::Whole,
                _ => return Err(WorldError::NoValues { what: what() }),
            },
        };
        let sort = universe.sorts.local(id, param.local);
        let mut list = universe.list(design, &values, &param.ty, sort)?;
        if values != Values::Irrelevant {
            also_given(universe, param, sort, &mut list);
        }
        if all.len() * list.len() > CALLS_MAX {
            return Err(WorldError::TooMany { what: what() });
        }
        all = all
            .iter()
            .flat_map(|head| {
                list.iter().map(move |words| {
                    let mut params = head.clone();
                    params.extend_from_slice(words);
                    params
                })
            })
            .collect();
    }
    Ok(all)
}

/// Besides what `check` says, callers give what is taken where they give nothing, and what their value is
/// compared with.
fn also_given(universe: &Universe, param: &Param, sort: Option<usize>, list: &mut Vec<Vec<Word>>) {
    let width = engine::width_of(&param.ty) as usize;
    let mut add = |words: Vec<Word>| {
        if !list.contains(&words) {
            list.push(words);
        }
    };
    if let Some(default) = &param.default {
        add(universe.words(default, width));
    }
    if let (1, Some(sort)) = (width, sort) {
        universe.sorts.list[sort].compared.iter().for_each(|word| add(vec![*word]));
    }
}

/// The slots of an operation's memory when `me` calls it with these arguments.
pub(crate) fn memory_slots(
    universe: &Universe,
    plan: &Plan,
    program_offsets: &dyn Fn(usize) -> usize,
    operation: &Operation,
    me: Word,
    params: &[Word],
) -> Vec<MemorySlots> {
    let turn = |usage: &MemoryUse| universe.turn(usage.actor, me);
    let mut taken: Vec<usize> = Vec::new();
    operation
        .memory
        .iter()
        .map(|usage| {
            let held = &plan.memory[usage.actor.index()][usage.field.index()];
            let record = usage.of.map_or(0, |local| {
                let at = operation.params.iter().position(|param| param.local == local);
                at.map_or(0, |at| params[program_offsets(at)].max(0) as u32)
            });
            let at = turn(usage) * held.records + record.min(held.records - 1);
            let in_call = (0..plan.calls.fields.len())
                .find(|at| {
                    plan.calls.fields[*at] == (usage.actor, usage.field) && !taken.contains(at)
                })
                .unwrap_or(0);
            taken.push(in_call);
            MemorySlots {
                read: usage.read,
                slot: held.first + at,
                stale: held.stale.map(|stale| stale + at),
                in_call: in_call as u32 + 1,
            }
        })
        .collect()
}

/// Once the state is laid out: where each call's memory is, and where it happens.
pub(crate) fn locate(
    design: &Design,
    universe: &Universe,
    plan: &Plan,
    places: &[Word],
    instances: &mut [Instance],
) {
    for instance in instances {
        let operation = &design.operations[instance.operation.index()];
        let offsets = offsets(operation);
        instance.memory = memory_slots(
            universe,
            plan,
            &|at| offsets[at],
            operation,
            instance.me,
            &instance.params,
        );
        instance.place = place_of(design, universe, places, operation, &instance.params);
    }
}

/// Where each parameter's words begin.
pub(crate) fn offsets(operation: &Operation) -> Vec<usize> {
    let mut at = 0;
    operation
        .params
        .iter()
        .map(|param| {
            let offset = at;
            at += engine::width_of(&param.ty) as usize;
            offset
        })
        .collect()
}

/// The number of the place where the records that these arguments name live, plus one.
pub(crate) fn place_of(
    design: &Design,
    universe: &Universe,
    places: &[Word],
    operation: &Operation,
    params: &[Word],
) -> Word {
    let offsets = offsets(operation);
    for (at, param) in operation.params.iter().enumerate() {
        let Some(subject) = param.ty.subject() else { continue };
        let Some(part) = design.subjects[subject.index()].place else { continue };
        let value = universe.keys[subject.index()].part(params[offsets[at]], part);
        if let Some(place) = places.iter().position(|place| *place == value) {
            return place as Word + 1;
        }
    }
    0
}

/// Every value of a key part that names a place.
pub(crate) fn places(design: &Design, universe: &Universe) -> Vec<Word> {
    let mut places = Vec::new();
    for (index, subject) in design.subjects.iter().enumerate() {
        if let Some(part) = subject.place {
            let keys = &universe.keys[index];
            places.extend((0..keys.len).map(|key| keys.part(key as Word, part)));
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Places are told apart by who can hear whom: they are not interchangeable here.
pub(crate) fn fix_places(design: &Design, sorts: &mut Sorts) {
    for (index, subject) in design.subjects.iter().enumerate() {
        let Some(part) = subject.place else { continue };
        // A place that is a reference is fixed by the parts of the key it refers to.
        let mut at = (SubjectId::of(index), part);
        while let Some(of) = design.subjects[at.0.index()].keys[at.1 as usize].ty.subject() {
            at = (of, 0);
        }
        if let Some(sort) = sorts.place(PlaceOf::Key(at.0, at.1)) {
            sorts.list[sort].symmetric = false;
        }
    }
}
