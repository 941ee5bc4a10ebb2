//! The outbox and the world outside: one entry, and one decision, for each key of each effect.

use design::model::{Design, Effect, Expr, ExprKind, OperationId, Type, Values};
use engine::Word;
use rustc_hash::FxHashMap;

use super::flow::{PlaceOf, Scope};
use super::plan::{Maker, SlotName};
use super::slots::{Codec, Kind};
use super::sorts::SortDomain;
use super::universe::Universe;
use crate::WorldError;

/// What the world outside has made of a key.
pub(crate) mod decision {
    use engine::Word;

    /// it has not heard of it
    pub(crate) const UNSEEN: Word = 0;
    /// it has, and has not decided
    pub(crate) const ASKED: Word = 1;
    pub(crate) const REFUSED: Word = 2;
    pub(crate) const DONE: Word = 3;
    /// only without the key's protection
    pub(crate) const DONE_TWICE: Word = 4;
}

/// For each key, from its first slot on: is the entry open; its arguments; what the world made of
/// it; the value of the answer; the arguments the world got.
pub(crate) struct EffectPlan {
    pub(crate) keys: Vec<Vec<Word>>,
    pub(crate) index: FxHashMap<Vec<Word>, u32>,
    pub(crate) first: u32,
    pub(crate) stride: u32,
    /// words of the parameters
    pub(crate) width: u32,
    /// the values that `ok(answer)` may bind
    pub(crate) answers: Vec<Word>,
    /// of a keystore: where its signatures begin among all
    pub(crate) signs: Option<u32>,
    /// what each part of a key is
    pub(crate) kinds: Vec<Kind>,
}

impl EffectPlan {
    pub(crate) fn entry(&self, key: usize) -> u32 {
        self.first + self.stride * key as u32
    }

    pub(crate) fn args(&self, key: usize) -> std::ops::Range<usize> {
        let from = (self.entry(key) + 1) as usize;
        from..from + self.width as usize
    }

    pub(crate) fn world(&self, key: usize) -> u32 {
        self.entry(key) + 1 + self.width
    }

    pub(crate) fn answer(&self, key: usize) -> u32 {
        self.world(key) + 1
    }

    /// What was signed, if it is a keystore; behind it, with which key.
    pub(crate) fn signed(&self, key: usize) -> u32 {
        self.world(key) + 2 + self.width
    }

    pub(crate) fn world_args(&self, key: usize) -> std::ops::Range<usize> {
        let from = (self.world(key) + 2) as usize;
        from..from + self.width as usize
    }
}

/// Where the value of an expression is kept.
fn place_of(operation: OperationId, expr: &Expr) -> Option<PlaceOf> {
    match &expr.kind {
        ExprKind::Local(local) => Some(PlaceOf::Local(Scope::Operation(operation.0), *local)),
        ExprKind::Attr { base, attr } => {
            base.ty.subject().map(|subject| PlaceOf::Attr(subject, *attr))
        }
        ExprKind::KeyPart { base, part } => {
            base.ty.subject().map(|subject| PlaceOf::Key(subject, *part))
        }
        _ => None,
    }
}

/// Every value that an expression can have.
fn values(
    design: &Design,
    universe: &Universe,
    operation: OperationId,
    expr: &Expr,
    what: &dyn Fn() -> String,
) -> Result<Vec<Word>, WorldError> {
    let place = place_of(operation, expr);
    let given = match expr.ty.required() {
        Type::Ref(subject) => Values::Refs(*subject),
        Type::Actor => Values::Principals,
        Type::Enum(_) | Type::Bool => Values::Whole,
        _ => {
            let sort = place.and_then(|place| universe.sorts.place(place));
            return match sort.map(|sort| &universe.sorts.list[sort].domain) {
                Some(SortDomain::Finite(values)) => Ok(values.clone()),
                Some(SortDomain::Bounded { low, high }) => Ok((*low..=*high).collect()),
                _ => Err(WorldError::NoDomain { what: what() }),
            };
        }
    };
    let list = universe.list(design, &given, &expr.ty, None)?;
    Ok(list.into_iter().map(|words| words[0]).collect())
}

/// What the key of a call is made of: all parameters, if none is written.
fn parts(design: &Design, operation: OperationId, effect: &Effect) -> Vec<Expr> {
    if !effect.key.is_empty() {
        return effect.key.clone();
    }
    design.operations[operation.index()]
        .params
        .iter()
        .map(|param| Expr {
            kind: ExprKind::Local(param.local),
            ty: param.ty.clone(),
            span: param.span,
        })
        .collect()
}

/// Every key that a call can have.
pub(crate) fn keys(
    design: &Design,
    universe: &Universe,
    operation: OperationId,
    effect: &Effect,
) -> Result<Vec<Vec<Word>>, WorldError> {
    let what = || format!("{}.key", design.operations[operation.index()].name);
    let mut keys: Vec<Vec<Word>> = vec![Vec::new()];
    for part in parts(design, operation, effect) {
        let list = values(design, universe, operation, &part, &what)?;
        keys = keys
            .iter()
            .flat_map(|head| {
                list.iter().map(move |word| {
                    let mut key = head.clone();
                    key.push(*word);
                    key
                })
            })
            .collect();
        if keys.len() > 1 << 16 {
            return Err(WorldError::TooMany { what: what() });
        }
    }
    Ok(keys)
}

pub(crate) fn plan(
    maker: &mut Maker<'_>,
    operation: OperationId,
    effect: &Effect,
) -> Result<EffectPlan, WorldError> {
    let design = maker.design;
    let held = &design.operations[operation.index()];
    let what = || format!("{}.key", held.name);
    let keys = keys(design, maker.universe, operation, effect)?;
    let parts = &parts(design, operation, effect)[..];
    let sort = effect.on_ok.param.and_then(|local| maker.universe.sorts.local(operation, local));
    let answers = match (effect.on_ok.param, design.world.answers.get(operation.index())) {
        (Some(local), Some(Some(values))) if effect.sign.is_none() => {
            let ty = &held.locals[local.index()].ty;
            let list = maker.universe.list(design, values, ty, sort)?;
            let mut answers: Vec<Word> = list.into_iter().map(|words| words[0]).collect();
            // The world also answers the texts that its answer is compared with, but none that is empty.
            let sorts = &maker.universe.sorts;
            let held = sort.filter(|_| ty.is_opaque() && *values != Values::Irrelevant);
            for word in held.into_iter().flat_map(|sort| &sorts.list[sort].compared) {
                let text = sorts.pool.get(*word as usize);
                if text.is_some_and(|text| !text.is_empty()) && !answers.contains(word) {
                    answers.push(*word);
                }
            }
            answers
        }
        _ => vec![engine::NULL],
    };
    let mut kinds = Vec::new();
    for part in parts {
        let place = place_of(operation, part);
        let sort = place.and_then(|place| maker.universe.sorts.place(place));
        kinds.push(maker.codec(&part.ty, sort, &what)?.1);
    }
    let first = maker.plan.slots.list.len() as u32;
    for (at, key) in keys.iter().enumerate() {
        let key_number = at as u32;
        let entry = SlotName::Entry { effect: operation, key: key_number };
        maker.slot(entry, Codec::Range { low: 0, count: 2 }, false, Kind::Plain);
        arguments(maker, operation, parts, key, SlotName::EntryArg)?;
        let world = SlotName::World { effect: operation, key: key_number };
        maker.slot(world, Codec::Range { low: 0, count: 5 }, false, Kind::Plain);
        let kind = match sort {
            Some(sort) if maker.universe.sorts.list[sort].symmetric => Kind::Opaque(sort as u32),
            _ => Kind::Plain,
        };
        let codec = if answers == [engine::NULL] {
            Codec::Range { low: 0, count: 0 }
        } else {
            Codec::of_values(&answers)
        };
        maker.slot(SlotName::WorldAnswer, codec, true, kind);
        arguments(maker, operation, parts, key, SlotName::WorldArg)?;
        if let Some(sign) = &effect.sign {
            for expr in [&sign.digest, &sign.key] {
                let sort = place_of(operation, expr)
                    .and_then(|place| maker.universe.sorts.place(place))
                    .or_else(|| maker.universe.sorts.of_keys(design));
                let (codec, kind) = maker.codec(&expr.ty, sort, &what)?;
                maker.slot(SlotName::Signed, codec, true, kind);
            }
        }
    }
    let width = maker.program.params(operation).width;
    let index = keys.iter().enumerate().map(|(at, key)| (key.clone(), at as u32)).collect();
    let signs = maker.universe.signs.iter().position(|(effect, _)| *effect == operation);
    let signs = signs.map(|at| at as u32);
    let stride = 3 + 2 * width + if signs.is_some() { 2 } else { 0 };
    Ok(EffectPlan { keys, index, first, stride, width, answers, signs, kinds })
}

/// Slots for the arguments of a call; what the key says already takes no room.
fn arguments(
    maker: &mut Maker<'_>,
    operation: OperationId,
    parts: &[Expr],
    key: &[Word],
    name: SlotName,
) -> Result<(), WorldError> {
    let design = maker.design;
    let held = &design.operations[operation.index()];
    for param in &held.params {
        let known = parts
            .iter()
            .position(|part| matches!(part.kind, ExprKind::Local(local) if local == param.local));
        let place = PlaceOf::Local(Scope::Operation(operation.0), param.local);
        let what = || format!("{}.{}", held.name, param.name);
        if let Some(part) = known {
            let (_, kind) = maker.codec(&param.ty, maker.universe.sorts.place(place), &what)?;
            maker.slot(name, Codec::Range { low: key[part], count: 1 }, false, kind);
            continue;
        }
        maker.value(name, &param.ty, (place, None), &what)?;
    }
    Ok(())
}
