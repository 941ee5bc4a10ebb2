//! The finite domain of each class of values.

pub(crate) use design::model::visit::message_targets;
use design::model::{
    ActorId, AttrId, Const, Design, OperationId, OperationKind, Range, SubjectId, Type, Values,
};
use engine::{Program, Word};
use rustc_hash::FxHashMap;

use super::flow::{Class, Flow, PlaceOf, Scope, fields_of};
use super::sizes::setting;

/// A class of values with its domain in the small world.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sort {
    pub(crate) domain: SortDomain,
    /// its opaque values are the handles from here on
    pub(crate) opaque_first: Word,
    pub(crate) opaque_len: u32,
    /// its opaque values can be told apart, and nothing more
    pub(crate) symmetric: bool,
    /// what values of it are called: `resource`
    pub(crate) name: String,
    pub(crate) places: Vec<PlaceOf>,
    /// literals that its values are compared with
    pub(crate) compared: Vec<Word>,
    /// of records in a list: the classes of their fields
    pub(crate) columns: Vec<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SortDomain {
    /// exactly these
    Finite(Vec<Word>),
    /// kept by rank; of each record by itself, or of all together
    Ranked {
        global: bool,
    },
    /// beyond this, histories are cut
    Bounded {
        low: Word,
        high: Word,
    },
    Endless,
}

/// Where to stop counting, since ranks will not do.
pub(crate) const NO_RANKS: SortDomain = SortDomain::Bounded { low: 0, high: 4 };

pub(crate) struct Sorts {
    pub(crate) list: Vec<Sort>,
    of_place: FxHashMap<PlaceOf, usize>,
    /// handles of texts: those of the program, then those of `check`, then opaque ones
    pub(crate) pool: Vec<String>,
}

impl Sorts {
    /// `ranks`: may this class (by its number) be kept by rank?
    pub(crate) fn of(design: &Design, program: &Program, ranks: &dyn Fn(usize) -> bool) -> Sorts {
        let mut flow = Flow::of(design);
        let targets = message_targets(design);
        let world = &design.world;
        for (subject, parts) in world.keys.iter().enumerate() {
            for (part, values) in parts.iter().enumerate() {
                let node = flow.node(PlaceOf::Key(SubjectId::of(subject), part as u32));
                give(&mut flow, node, values);
            }
        }
        for (index, operation) in design.operations.iter().enumerate() {
            let scope = Scope::Operation(index as u32);
            let outside =
                matches!(operation.kind, OperationKind::Step { .. } | OperationKind::Read { .. })
                    && !targets[index];
            for (at, param) in operation.params.iter().enumerate() {
                let node = flow.node(PlaceOf::Local(scope, param.local));
                if outside && let Some(values) = world.params.get(index).and_then(|p| p.get(at)) {
                    give(&mut flow, node, values);
                    param.default.iter().for_each(|value| literals(flow.class(node), value));
                }
            }
            if let OperationKind::Effect(effect) = &operation.kind
                && let Some(local) = effect.on_ok.param
                && let Some(Some(values)) = world.answers.get(index)
            {
                let node = flow.node(PlaceOf::Local(scope, local));
                give(&mut flow, node, values);
            }
        }
        let log_max = setting(design, "log", 3);
        let mut pool = program.texts().to_vec();
        let mut places: Vec<PlaceOf> = Vec::new();
        for (subject, held) in design.subjects.iter().enumerate() {
            let subject = SubjectId::of(subject);
            for (state, _) in held.states.iter().enumerate() {
                places.push(PlaceOf::LogEnd(subject, design::model::StateId::of(state)));
            }
        }
        for place in places {
            let node = flow.node(place);
            let _ = flow.class(node).ranges.insert((0, log_max));
        }
        let mut sorts =
            Sorts { list: Vec::new(), of_place: FxHashMap::default(), pool: Vec::new() };
        let mut roots: FxHashMap<u32, usize> = FxHashMap::default();
        let nodes = flow.nodes_in_order();
        for (place, node) in nodes {
            let root = flow.root(node);
            let number = *roots.entry(root).or_insert_with(|| {
                sorts.list.push(resolve(
                    design,
                    flow.class(root),
                    sorts.list.len(),
                    ranks,
                    &mut pool,
                ));
                sorts.list.len() - 1
            });
            sorts.of_place.insert(place, number);
        }
        for (root, number) in &roots {
            let columns = flow.class(*root).columns.clone();
            let of = columns.into_iter().map(|node| roots[&flow.root(node)]);
            sorts.list[*number].columns = of.collect();
        }
        sorts.pool = pool;
        sorts
    }

    /// The class of a field of the records whose class this is.
    pub(crate) fn column(&self, records: Option<usize>, field: usize) -> Option<usize> {
        self.list[records?].columns.get(field).copied()
    }

    /// The class of what things are signed with: all keys are one.
    pub(crate) fn of_keys(&self, design: &Design) -> Option<usize> {
        let is_key = |place: &PlaceOf| {
            type_of(design, *place).is_some_and(|ty| *element(&ty).required() == Type::PublicKey)
        };
        self.list.iter().position(|sort| sort.places.iter().any(is_key))
    }

    /// Does this text only stand for some text?
    pub(crate) fn is_opaque(&self, handle: Word) -> bool {
        let stands = |sort: &Sort| {
            (sort.opaque_first..sort.opaque_first + Word::from(sort.opaque_len)).contains(&handle)
        };
        self.list.iter().any(stands)
    }

    pub(crate) fn place(&self, place: PlaceOf) -> Option<usize> {
        self.of_place.get(&place).copied()
    }

    /// The actors whose principals are compared with those of this one, itself among them.
    pub(crate) fn meets(&self, actor: ActorId) -> Vec<ActorId> {
        let Some(sort) = self.place(PlaceOf::Me(actor)) else { return vec![actor] };
        let actors = self.list[sort].places.iter().filter_map(|place| match place {
            PlaceOf::Me(actor) => Some(*actor),
            _ => None,
        });
        actors.collect()
    }

    pub(crate) fn local(
        &self,
        operation: OperationId,
        local: design::model::LocalId,
    ) -> Option<usize> {
        self.place(PlaceOf::Local(Scope::Operation(operation.0), local))
    }
}

fn give(flow: &mut Flow<'_>, node: u32, values: &Values) {
    let class = flow.class(node);
    match values {
        Values::Fields(columns) => {
            let nodes = class.columns.clone();
            for (node, values) in nodes.into_iter().zip(columns) {
                give(flow, node, values);
            }
        }
        Values::Opaque(count) => {
            class.opaque.insert(*count);
        }
        Values::Range(low, high) => {
            class.ranges.insert((*low, *high));
        }
        Values::Listed(list) => {
            for value in list {
                literals(class, value);
            }
        }
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            give(flow, node, inner);
        }
        Values::Units(..) => unreachable!("durations are in words"),
        Values::Irrelevant => {
            class.opaque.insert(0);
        }
        Values::Whole | Values::Refs(_) | Values::Principals | Values::PrincipalsOf(_) => {}
    }
}

fn literals(class: &mut Class, value: &Const) {
    match value {
        Const::Null => {}
        Const::Set(list) | Const::List(list) => list.iter().for_each(|v| literals(class, v)),
        Const::Map(pairs) => pairs.iter().for_each(|(key, _)| literals(class, key)),
        value => {
            class.literals.insert(value.clone());
        }
    }
}

/// The word of a scalar constant.
pub(crate) fn word(value: &Const, pool: &mut Vec<String>) -> Word {
    match value {
        Const::Null => engine::NULL,
        Const::Bool(value) => Word::from(*value),
        Const::Int(value) | Const::Decimal(value) | Const::Duration(value) => *value,
        Const::Enum(_, index) => Word::from(*index),
        Const::Text(text) => {
            let at = pool.iter().position(|held| held == text).unwrap_or_else(|| {
                pool.push(text.clone());
                pool.len() - 1
            });
            at as Word
        }
        Const::Set(_) | Const::List(_) | Const::Map(_) => 0,
    }
}

fn resolve(
    design: &Design,
    class: &Class,
    number: usize,
    ranks: &dyn Fn(usize) -> bool,
    pool: &mut Vec<String>,
) -> Sort {
    let ty = class.places.iter().find_map(|place| type_of(design, *place));
    // Called after a key if there is one among its places.
    let keys = class.places.iter().filter(|place| matches!(place, PlaceOf::Key(..)));
    // What the compiler bound has no name.
    let named = |place: &PlaceOf| name_of(design, *place).filter(|name| !name.is_empty());
    let name = keys.chain(&class.places).find_map(named).unwrap_or_default();
    let scalar = ty.as_ref().map(|ty| element(ty).required().clone()).unwrap_or(Type::Null);
    let evidence = matches!(scalar, Type::Hash | Type::Signature | Type::Proof);
    let opaque_type = scalar.is_opaque() && !evidence;
    let mut sort = Sort {
        domain: SortDomain::Endless,
        opaque_first: 0,
        opaque_len: 0,
        symmetric: false,
        name,
        places: class.places.clone(),
        compared: class.compared.iter().map(|value| word(value, pool)).collect(),
        columns: Vec::new(),
    };
    let opaque_len = class.opaque.iter().max().copied().unwrap_or(0);
    if opaque_type {
        let mut values: Vec<Word> = class.literals.iter().map(|v| word(v, pool)).collect();
        values.sort_unstable();
        values.dedup();
        // At least one value to stand for all that are never looked at.
        let len = opaque_len.max(u32::from(!class.opaque.is_empty() || values.is_empty()));
        sort.opaque_first = pool.len() as Word;
        sort.opaque_len = len;
        for at in 0..len {
            pool.push(format!("{}-{}", sort.name, at + 1));
            values.push(sort.opaque_first + Word::from(at));
        }
        sort.symmetric = len > 1 && class.opaque.len() == 1 && !class.ordered;
        sort.domain = SortDomain::Finite(values);
        return sort;
    }
    if !matches!(scalar, Type::Int | Type::Decimal | Type::Money(_) | Type::Duration) {
        return sort;
    }
    let zero = [Const::Int(0)];
    let pinned_only = class.literals.iter().all(|value| zero.contains(value));
    let from_outside = !class.ranges.is_empty() || opaque_len > 0;
    let advances = class.increments
        && !class.computed
        && !class.measured
        && !class.hashed
        && pinned_only
        && !from_outside
        && matches!(scalar, Type::Int)
        && range_of(design, class).is_none();
    if advances && !class.fresh && ranks(number) {
        sort.domain = SortDomain::Ranked { global: class.global || !one_subject(design, class) };
        return sort;
    }
    let bounds = design
        .world
        .bounds
        .iter()
        .filter(|bound| class.places.contains(&PlaceOf::Attr(bound.subject, bound.attr)));
    let bound = bounds.fold(None, |all: Option<(i64, i64)>, bound| {
        let (low, high) = all.unwrap_or((bound.low, bound.high));
        Some((low.min(bound.low), high.max(bound.high)))
    });
    if let Some((low, high)) = bound {
        sort.domain = SortDomain::Bounded { low, high };
        return sort;
    }
    if class.computed || class.increments {
        // No step goes beyond a range.
        if let Some(Range { low, high }) = range_of(design, class) {
            sort.domain = SortDomain::Bounded { low, high };
        }
        if advances && class.fresh {
            sort.domain = NO_RANKS;
        }
        return sort;
    }
    let mut values: Vec<Word> = class.literals.iter().map(|value| word(value, pool)).collect();
    for (low, high) in &class.ranges {
        values.extend(*low..=*high);
    }
    values.extend(0..Word::from(opaque_len.max(u32::from(!class.opaque.is_empty()))));
    values.sort_unstable();
    values.dedup();
    sort.domain = SortDomain::Finite(values);
    sort
}

/// What all attributes of a class lie in, if each has a range.
fn range_of(design: &Design, class: &Class) -> Option<Range> {
    let mut all: Option<Range> = None;
    for place in &class.places {
        let range = match place {
            PlaceOf::Attr(subject, attr) => {
                design.subjects[subject.index()].attributes[attr.index()].range?
            }
            PlaceOf::AttrField(subject, attr, field) => {
                fields_of(attr_type(design, *subject, *attr))[*field as usize].range?
            }
            _ => continue,
        };
        let held = all.unwrap_or(range);
        all = Some(Range { low: held.low.min(range.low), high: held.high.max(range.high) });
    }
    all
}

/// Do all places belong to records of one subject?
fn one_subject(design: &Design, class: &Class) -> bool {
    let mut subjects = class.places.iter().filter_map(|place| match place {
        PlaceOf::Attr(subject, _)
        | PlaceOf::MapValue(subject, _)
        | PlaceOf::AttrField(subject, ..) => Some(Some(*subject)),
        PlaceOf::Memory(actor, field) => {
            Some(design.actors[actor.index()].memory[field.index()].of)
        }
        PlaceOf::Key(..) | PlaceOf::LogEnd(..) => Some(None),
        PlaceOf::Local(..)
        | PlaceOf::LocalField(..)
        | PlaceOf::Me(_)
        | PlaceOf::Blob(_)
        | PlaceOf::Inner(_) => None,
    });
    let Some(Some(first)) = subjects.next() else { return false };
    subjects.all(|subject| subject == Some(first))
}

/// The type of what a collection holds; of a map, of its keys.
pub(crate) fn element(ty: &Type) -> &Type {
    match ty.required() {
        Type::List { of, .. } | Type::Set { of, .. } => of,
        Type::Map { key, .. } => key,
        _ => ty,
    }
}

fn attr_type(design: &Design, subject: SubjectId, attr: AttrId) -> &Type {
    &design.subjects[subject.index()].attributes[attr.index()].ty
}

fn type_of(design: &Design, place: PlaceOf) -> Option<Type> {
    Some(match place {
        PlaceOf::Attr(subject, attr) => element(attr_type(design, subject, attr)).clone(),
        PlaceOf::MapValue(subject, attr) => match attr_type(design, subject, attr).required() {
            Type::Map { value, .. } => (**value).clone(),
            _ => return None,
        },
        PlaceOf::Key(subject, part) => {
            design.subjects[subject.index()].keys.get(part as usize)?.ty.clone()
        }
        PlaceOf::LogEnd(..) => Type::Int,
        PlaceOf::Me(_) => Type::Actor,
        PlaceOf::Blob(blob) => Type::Digest(blob),
        PlaceOf::Memory(actor, field) => {
            element(&design.actors[actor.index()].memory[field.index()].ty).clone()
        }
        PlaceOf::Local(Scope::Operation(operation), local) => {
            let operation = &design.operations[operation as usize];
            element(&operation.locals.get(local.index())?.ty).clone()
        }
        PlaceOf::AttrField(subject, attr, field) => {
            fields_of(attr_type(design, subject, attr))[field as usize].ty.clone()
        }
        PlaceOf::LocalField(Scope::Operation(operation), local, field) => {
            let operation = &design.operations[operation as usize];
            fields_of(&operation.locals.get(local.index())?.ty)[field as usize].ty.clone()
        }
        PlaceOf::Local(..) | PlaceOf::LocalField(..) | PlaceOf::Inner(_) => return None,
    })
}

fn name_of(design: &Design, place: PlaceOf) -> Option<String> {
    Some(match place {
        PlaceOf::Attr(subject, attr) | PlaceOf::MapValue(subject, attr) => {
            design.subjects[subject.index()].attributes[attr.index()].name.clone()
        }
        PlaceOf::Key(subject, part) => {
            design.subjects[subject.index()].keys.get(part as usize)?.name.clone()
        }
        PlaceOf::Memory(actor, field) => {
            design.actors[actor.index()].memory[field.index()].name.clone()
        }
        PlaceOf::Local(Scope::Operation(operation), local) => {
            design.operations[operation as usize].locals.get(local.index())?.name.clone()
        }
        PlaceOf::AttrField(subject, attr, field) => {
            fields_of(attr_type(design, subject, attr))[field as usize].name.clone()
        }
        PlaceOf::LocalField(Scope::Operation(operation), local, field) => {
            let operation = &design.operations[operation as usize];
            fields_of(&operation.locals.get(local.index())?.ty)[field as usize].name.clone()
        }
        PlaceOf::Local(..)
        | PlaceOf::LocalField(..)
        | PlaceOf::Me(_)
        | PlaceOf::Blob(_)
        | PlaceOf::Inner(_)
        | PlaceOf::LogEnd(..) => {
            return None;
        }
    })
}
