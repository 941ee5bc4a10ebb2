//! Who and what there is in the small world: principals, keys, and the values that can be given.

use design::model::{ActorId, Const, Design, OperationId, OperationKind, SubjectId, Type, Values};
use engine::{NULL, Word, width_of};
use rustc_hash::FxHashMap;

use super::actors::root_actor;
use super::flow::{PlaceOf, fields_of};
use super::sizes::list_room;
use super::sorts::{self, SortDomain, Sorts};
use crate::WorldError;

/// The clock of every state: times are kept as their distance from it.
pub(crate) const BASE: Word = 1 << 40;

/// More lists than this are not given by callers.
const LISTS_MAX: usize = 1 << 10;

/// More combinations than this are not listed.
const LIST_MAX: usize = 1 << 20;

/// The keys that a record of one subject may have; a handle is an index.
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) len: usize,
    width: usize,
    /// the parts of each key, one key after the other
    parts: Vec<Word>,
    handles: FxHashMap<Vec<Word>, Word>,
    pub(crate) all: Vec<Word>,
}

impl Keys {
    #[inline]
    pub(crate) fn part(&self, key: Word, part: u32) -> Word {
        self.parts.get(key as usize * self.width + part as usize).copied().unwrap_or(NULL)
    }

    pub(crate) fn parts(&self, key: usize) -> &[Word] {
        &self.parts[key * self.width..(key + 1) * self.width]
    }

    /// A key that is not of the small world has the handle -1.
    pub(crate) fn handle(&self, parts: &[Word]) -> Word {
        self.handles.get(parts).copied().unwrap_or(-1)
    }
}

pub(crate) struct Principal {
    /// at the root of its chain
    pub(crate) actor: ActorId,
    pub(crate) name: String,
}

pub(crate) struct Universe {
    pub(crate) sorts: Sorts,
    pub(crate) principals: Vec<Principal>,
    /// for each actor (its root's), the first of its principals and how many
    pub(crate) of_actor: Vec<(u32, u32)>,
    /// for each actor (its root's), the principals that may act as it: its own, and those of actors
    /// that may be the same person
    pub(crate) acts: Vec<Vec<u32>>,
    /// the same, as the engine sees them
    pub(crate) acting: Vec<Vec<Word>>,
    pub(crate) keys: Vec<Keys>,
    /// What a keystore can be asked to sign: the effect, and the number of the key of the call. A
    /// signature is its place here plus one; 0 is a signature of nothing.
    pub(crate) signs: Vec<(OperationId, u32)>,
}

impl Universe {
    pub(crate) fn of(design: &Design, sorts: Sorts) -> Result<Universe, WorldError> {
        let mut universe = Universe {
            sorts,
            principals: Vec::new(),
            of_actor: vec![(0, 0); design.actors.len()],
            acts: Vec::new(),
            acting: Vec::new(),
            keys: Vec::new(),
            signs: Vec::new(),
        };
        for (index, actor) in design.actors.iter().enumerate() {
            let id = ActorId::of(index);
            if root_actor(design, id) != id {
                continue;
            }
            let count = design.world.actors.get(index).copied().unwrap_or(1).max(1);
            universe.of_actor[index] = (universe.principals.len() as u32, count);
            for at in 0..count {
                let name = if actor.is_world {
                    actor.name.clone()
                } else {
                    format!("{}-{}", actor.name, at + 1)
                };
                universe.principals.push(Principal { actor: id, name });
            }
        }
        for index in 0..design.actors.len() {
            let root = root_actor(design, ActorId::of(index));
            universe.of_actor[index] = universe.of_actor[root.index()];
        }
        universe.acts = persons(design, &universe);
        let words = |acts: &Vec<u32>| acts.iter().map(|held| Word::from(*held)).collect();
        universe.acting = universe.acts.iter().map(words).collect();
        universe.keys = (0..design.subjects.len()).map(|_| Keys::default()).collect();
        let mut made = vec![false; design.subjects.len()];
        for index in 0..design.subjects.len() {
            universe.make_keys(design, SubjectId::of(index), &mut made)?;
        }
        for (index, operation) in design.operations.iter().enumerate() {
            let OperationKind::Effect(effect) = &operation.kind else { continue };
            let id = OperationId::of(index);
            if effect.sign.is_some() {
                let keys = super::effects::keys(design, &universe, id, effect)?.len();
                universe.signs.extend((0..keys as u32).map(|key| (id, key)));
            }
        }
        Ok(universe)
    }

    /// Which of those that may act as an actor a principal is.
    pub(crate) fn turn(&self, actor: ActorId, principal: Word) -> u32 {
        let at = self.acts[actor.index()].iter().position(|held| Word::from(*held) == principal);
        at.expect("a principal that may act as it") as u32
    }

    fn make_keys(
        &mut self,
        design: &Design,
        id: SubjectId,
        made: &mut [bool],
    ) -> Result<(), WorldError> {
        if std::mem::replace(&mut made[id.index()], true) {
            return Ok(());
        }
        let subject = &design.subjects[id.index()];
        let mut keys = Keys { width: subject.keys.len(), ..Keys::default() };
        let mut all: Vec<Vec<Word>> = vec![Vec::new()];
        for (at, key) in subject.keys.iter().enumerate() {
            if let Some(of) = key.ty.subject() {
                self.make_keys(design, of, made)?;
            }
            let what = || format!("{}.{}", subject.name, key.name);
            let values = match design.world.keys.get(id.index()).and_then(|parts| parts.get(at)) {
                Some(values) => values.clone(),
                None => match &key.ty {
                    Type::Ref(of) => Values::Refs(*of),
                    Type::Actor => Values::Principals,
                    Type::Enum(_) | Type::Bool => Values::Whole,
                    _ => return Err(WorldError::NoValues { what: what() }),
                },
            };
            let sort = self.sorts.place(PlaceOf::Key(id, at as u32));
            let opaque = matches!(values, Values::Opaque(_)) && key.ty.is_opaque();
            let mut values = self.list(design, &values, &key.ty, sort)?;
            if let Some(sort) = sort.filter(|_| opaque) {
                // Records are also called what the design writes: `Box("main")`.
                let of = &self.sorts.list[sort];
                let named = |word: &&Word| {
                    let text = self.sorts.pool.get(**word as usize);
                    **word < of.opaque_first && text.is_some_and(|text| !text.is_empty())
                };
                if let SortDomain::Finite(all) = &of.domain {
                    values.extend(all.iter().filter(named).map(|word| vec![*word]));
                }
            }
            if all.len() * values.len() > LIST_MAX {
                return Err(WorldError::TooMany { what: what() });
            }
            all = all
                .iter()
                .flat_map(|head| {
                    values.iter().map(move |value| {
                        let mut parts = head.clone();
                        parts.extend_from_slice(value);
                        parts
                    })
                })
                .collect();
        }
        keys.len = all.len();
        keys.all = (0..all.len() as Word).collect();
        for (handle, parts) in all.into_iter().enumerate() {
            keys.parts.extend_from_slice(&parts);
            keys.handles.insert(parts, handle as Word);
        }
        self.keys[id.index()] = keys;
        Ok(())
    }

    /// Every value, each as its words.
    pub(crate) fn list(
        &self,
        design: &Design,
        values: &Values,
        ty: &Type,
        sort: Option<usize>,
    ) -> Result<Vec<Vec<Word>>, WorldError> {
        let one = |list: &mut dyn Iterator<Item = Word>| list.map(|word| vec![word]).collect();
        let width = width_of(ty) as usize;
        Ok(match values {
            Values::Opaque(count) => {
                let first = match ty.required() {
                    Type::Int | Type::Decimal | Type::Money(_) | Type::Duration => 0,
                    _ => sort.map_or(0, |sort| self.sorts.list[sort].opaque_first),
                };
                one(&mut (first..first + Word::from(*count)))
            }
            Values::Range(low, high) => {
                let base = if *ty.required() == Type::Time { BASE } else { 0 };
                one(&mut (*low..=*high).map(|word| base + word))
            }
            Values::Listed(list) => list.iter().map(|value| self.words(value, width)).collect(),
            Values::Whole => match ty.required() {
                Type::Enum(id) => {
                    one(&mut (0..design.enumerations[id.index()].constants.len() as Word))
                }
                Type::Signature => one(&mut (0..=self.signs.len() as Word)),
                _ => one(&mut (0..2)),
            },
            Values::Refs(subject) => one(&mut (0..self.keys[subject.index()].len as Word)),
            Values::Principals => one(&mut (0..self.principals.len() as Word)),
            Values::PrincipalsOf(actors) => {
                let mut principals: Vec<Word> = actors
                    .iter()
                    .flat_map(|actor| &self.acts[actor.index()])
                    .map(|principal| Word::from(*principal))
                    .collect();
                principals.sort_unstable();
                principals.dedup();
                one(&mut principals.into_iter())
            }
            Values::Units(..) => unreachable!("durations are in words"),
            Values::OrNull(inner) => {
                let mut list = self.list(design, inner, ty, sort)?;
                let mut null = vec![0; width];
                null[0] = NULL;
                list.push(null);
                list
            }
            Values::Fields(columns) => self.records(design, columns, ty, sort)?,
            Values::ListOf(inner, max) => {
                let elements: Vec<Vec<Word>> = match &**inner {
                    Values::Fields(columns) => self.records(design, columns, ty, sort)?,
                    inner => {
                        let elements = self.elements(design, inner, ty, sort)?;
                        elements.into_iter().map(|element| vec![element]).collect()
                    }
                };
                let longest = list_room(design).min(*max) as usize;
                let mut lists: Vec<Vec<Word>> = vec![Vec::new()];
                let mut from = 0;
                for _ in 0..longest {
                    let end = lists.len();
                    for at in from..end {
                        for element in &elements {
                            let mut list = lists[at].clone();
                            list.extend_from_slice(element);
                            lists.push(list);
                        }
                    }
                    if lists.len() > LISTS_MAX {
                        return Err(WorldError::TooMany { what: "lists that callers give".into() });
                    }
                    from = end;
                }
                let stride = elements.first().map_or(1, Vec::len);
                let with_length = |list: &Vec<Word>| {
                    let mut words = collection(list, width);
                    words[0] = (list.len() / stride) as Word;
                    words
                };
                lists.iter().map(with_length).collect()
            }
            Values::SetOf(inner, max) => {
                let elements = self.elements(design, inner, ty, sort)?;
                if elements.len() > 16 {
                    return Err(WorldError::TooMany { what: "the elements of a set".into() });
                }
                (0_u32..1 << elements.len())
                    .filter(|chosen| chosen.count_ones() <= *max)
                    .map(|chosen| {
                        let mut set: Vec<Word> = (0..elements.len())
                            .filter(|at| chosen >> at & 1 == 1)
                            .map(|at| elements[at])
                            .collect();
                        set.sort_unstable();
                        collection(&set, width)
                    })
                    .collect()
            }
            Values::Irrelevant => {
                let first = sort.map_or(0, |sort| self.sorts.list[sort].opaque_first);
                let mut words = vec![0; width];
                match ty.required() {
                    Type::Hash | Type::Signature | Type::Proof => {}
                    ty if ty.is_opaque() => words[0] = first,
                    Type::Time => words[0] = BASE,
                    _ => {}
                }
                vec![words]
            }
        })
    }

    /// The records that callers put into a list: any value of each field, those that it is compared with
    /// among them.
    fn records(
        &self,
        design: &Design,
        columns: &[Values],
        ty: &Type,
        sort: Option<usize>,
    ) -> Result<Vec<Vec<Word>>, WorldError> {
        let mut all: Vec<Vec<Word>> = vec![Vec::new()];
        for (at, (values, field)) in columns.iter().zip(fields_of(ty)).enumerate() {
            let of = self.elements(design, values, &field.ty, self.sorts.column(sort, at))?;
            if all.len() * of.len() > LISTS_MAX {
                let what = "values of the records that callers give".into();
                return Err(WorldError::TooMany { what });
            }
            let with = |head: &Vec<Word>| {
                let head = head.clone();
                of.clone().into_iter().map(move |word| [&head[..], &[word]].concat())
            };
            all = all.iter().flat_map(with).collect();
        }
        Ok(all)
    }

    /// What callers put into a collection: the values of `check`, and the literals that elements are
    /// compared with.
    fn elements(
        &self,
        design: &Design,
        inner: &Values,
        ty: &Type,
        sort: Option<usize>,
    ) -> Result<Vec<Word>, WorldError> {
        let list = self.list(design, inner, sorts::element(ty), sort)?;
        let mut elements: Vec<Word> = list.into_iter().map(|words| words[0]).collect();
        elements.extend(sort.map_or(&[][..], |sort| &self.sorts.list[sort].compared));
        elements.sort_unstable();
        elements.dedup();
        Ok(elements)
    }

    /// The words of a constant.
    pub(crate) fn words(&self, value: &Const, width: usize) -> Vec<Word> {
        let scalar = |value: &Const| match value {
            Const::Text(text) => {
                self.sorts.pool.iter().position(|held| held == text).map_or(-1, |at| at as Word)
            }
            other => sorts::word(other, &mut Vec::new()),
        };
        match value {
            Const::Set(list) => {
                let mut set: Vec<Word> = list.iter().map(scalar).collect();
                set.sort_unstable();
                collection(&set, width)
            }
            Const::List(list) => {
                let list: Vec<Word> = list.iter().map(scalar).collect();
                collection(&list, width)
            }
            Const::Map(pairs) => {
                let mut pairs: Vec<(Word, Word)> =
                    pairs.iter().map(|(key, value)| (scalar(key), scalar(value))).collect();
                pairs.sort_unstable();
                let flat: Vec<Word> = pairs.iter().flat_map(|(k, v)| [*k, *v]).collect();
                let mut words = collection(&flat, width);
                words[0] = pairs.len() as Word;
                words
            }
            other => vec![scalar(other)],
        }
    }
}

/// For each actor, who may act as it. Two actors may be the same person, unless the design says that they
/// are apart; it is tried where their principals can be compared with each other.
fn persons(design: &Design, universe: &Universe) -> Vec<Vec<u32>> {
    let of = |actor: ActorId| {
        let (first, count) = universe.of_actor[actor.index()];
        first..first + count
    };
    (0..design.actors.len())
        .map(|index| {
            let own = root_actor(design, ActorId::of(index));
            let mut acts: Vec<u32> = of(own).collect();
            for other in universe.sorts.meets(own) {
                if other != own && !is_apart(design, own, other) {
                    acts.extend(of(other));
                }
            }
            acts.sort_unstable();
            acts.dedup();
            acts
        })
        .collect()
}

fn is_apart(design: &Design, one: ActorId, other: ActorId) -> bool {
    let is = |actor: ActorId, root: ActorId| root_actor(design, actor) == root;
    let actors = || design.actors.iter().enumerate().map(|(at, held)| (ActorId::of(at), held));
    let says = |from: ActorId, to: ActorId| {
        actors().any(|(id, held)| is(id, from) && held.apart.iter().any(|apart| is(*apart, to)))
    };
    says(one, other) || says(other, one)
}

fn collection(elements: &[Word], width: usize) -> Vec<Word> {
    let mut words = Vec::with_capacity(width);
    words.push(elements.len() as Word);
    words.extend_from_slice(elements);
    words.resize(width.max(1 + elements.len()), 0);
    words
}
