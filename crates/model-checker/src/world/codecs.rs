//! In how few bits a value is kept: the codec of each type, and the slots of a value.

use super::flow::PlaceOf;
use super::parts::{Settings, SlotName};
use super::plan::Maker;
use super::sizes::{TERMS_MAX, list_room};
use super::slots::{Codec, Kind};
use super::sorts::SortDomain;
use crate::WorldError;
use design::model::{Counter, ExprKind, Type};
use engine::{Word, width_of};

impl Maker<'_> {
    /// The domain of a scalar.
    pub(crate) fn codec(
        &self,
        ty: &Type,
        sort: Option<usize>,
        what: &dyn Fn() -> String,
    ) -> Result<(Codec, Kind), WorldError> {
        let range = |count: usize| Codec::Range { low: 0, count: count as u64 };
        Ok(match ty.required() {
            Type::Bool => (range(2), Kind::Plain),
            Type::Enum(id) => {
                (range(self.design.enumerations[id.index()].constants.len()), Kind::Plain)
            }
            Type::Ref(subject) => {
                (range(self.universe.keys[subject.index()].len), Kind::Ref(subject.0))
            }
            Type::Actor => (range(self.universe.principals.len()), Kind::Principal),
            Type::Hash => (range(TERMS_MAX), Kind::Digest),
            Type::Signature => (range(self.universe.signs.len() + 1), Kind::Signature),
            Type::Proof => (range(2), Kind::Plain),
            Type::Time => {
                let settings = self.settings;
                (self.time(-settings.horizon - settings.behind, settings.duration_max), Kind::Plain)
            }
            _ => {
                // What nothing mentions never has a value.
                let Some(sort) = sort else { return Ok((Codec::of_values(&[]), Kind::Plain)) };
                let held = &self.universe.sorts.list[sort];
                let kind = if held.symmetric { Kind::Opaque(sort as u32) } else { Kind::Plain };
                match &held.domain {
                    SortDomain::Finite(values) => (Codec::of_values(values), kind),
                    // whole units only
                    SortDomain::Bounded { low, high } if *ty.required() == Type::Duration => {
                        let units = (*low..=*high).step_by(self.settings.unit as usize);
                        (Codec::of_values(&units.collect::<Vec<_>>()), kind)
                    }
                    SortDomain::Bounded { low, high } => {
                        (Codec::Range { low: *low, count: (high - low + 1) as u64 }, kind)
                    }
                    SortDomain::Ranked { .. } => {
                        (Codec::Rank { sort, count: self.ranks[sort] }, Kind::Plain)
                    }
                    SortDomain::Endless => return Err(WorldError::NoDomain { what: what() }),
                }
            }
        })
    }

    /// Times from a step before so many units to so many.
    pub(super) fn time(&self, low: Word, high: Word) -> Codec {
        let Settings { unit, regions, fractions, .. } = *self.settings;
        if regions {
            return Codec::Region { low: low - 1, high, places: fractions + 1 };
        }
        Codec::Time { low: low * unit - 1, high: high * unit }
    }

    /// Slots for a value, a collection included.
    pub(crate) fn value(
        &mut self,
        name: SlotName,
        ty: &Type,
        places: (PlaceOf, Option<PlaceOf>),
        what: &dyn Fn() -> String,
    ) -> Result<u32, WorldError> {
        let left = match name {
            SlotName::Attr { subject, attr, .. } | SlotName::CacheAttr { subject, attr, .. } => {
                self.left.attr(subject, attr)
            }
            _ => false,
        };
        if left {
            let first = self.plan.slots.list.len() as u32;
            for _ in 0..width_of(ty) {
                self.slot(name, Codec::Ignored, false, Kind::Plain);
            }
            return Ok(first);
        }
        let nullable = ty.is_optional() || self.settings.all_nullable;
        let sort = self.universe.sorts.place(places.0);
        let (of, value, max) = match ty.required() {
            Type::List { of, max } | Type::Set { of, max } => (of, None, *max),
            Type::Map { key, value, max } => (key, Some(value), *max),
            _ => {
                if let SlotName::Attr { subject, attr, .. } = name
                    && self.unread.contains(&(subject, attr))
                {
                    return Ok(self.slot(name, Codec::Ignored, false, Kind::Plain));
                }
                let (codec, kind) = self.codec(ty, sort, what)?;
                let slot = self.slot(name, codec, nullable, kind);
                if *ty.required() == Type::Time {
                    self.plan.times.push(slot);
                }
                return Ok(slot);
            }
        };
        // A list may be longer than there is room for, to be judged once.
        let room = match ty.required() {
            Type::List { .. } => max.min(list_room(self.design)),
            _ => max,
        };
        let count = u64::from(room) + 1;
        let first = self.slot(name, Codec::Range { low: 0, count }, nullable, Kind::Plain);
        if !matches!(ty.required(), Type::List { .. }) {
            self.plan.sorted.push((first, 1 + u32::from(value.is_some())));
        }
        for at in 0..max {
            let beyond = at >= room;
            let room = Some((first, Word::from(at) + 1));
            if let Type::Struct(fields) = &**of {
                for (column, field) in fields.iter().enumerate() {
                    let sort = self.universe.sorts.column(sort, column);
                    let what = || format!("{}.{}", what(), field.name);
                    let (codec, kind) = self.codec(&field.ty, sort, &what)?;
                    let codec = if beyond { Codec::Ignored } else { codec };
                    self.name(name);
                    self.plan.slots.add_in(codec, field.ty.is_optional(), kind, room);
                }
                continue;
            }
            let (codec, kind) = self.codec(of, sort, what)?;
            let codec = if beyond { Codec::Ignored } else { codec };
            self.element(name, of, (codec, kind), room);
            if let Some(value) = value {
                let sort = places.1.and_then(|place| self.universe.sorts.place(place));
                let codec = self.codec(value, sort, what)?;
                self.element(name, value, codec, room);
            }
        }
        Ok(first)
    }

    /// A slot for one value in a collection.
    fn element(
        &mut self,
        name: SlotName,
        ty: &Type,
        (codec, kind): (Codec, Kind),
        room: Option<(u32, Word)>,
    ) {
        let ages = *ty.required() == Type::Time && codec != Codec::Ignored;
        self.name(name);
        let slot = self.plan.slots.add_in(codec, ty.is_optional(), kind, room);
        if ages {
            self.plan.times.push(slot);
        }
    }

    pub(super) fn counter(&self, counter: &Counter) -> Result<Codec, WorldError> {
        let children = self.universe.keys[counter.child.index()].len as Word;
        let Some(value) = &counter.value else {
            return Ok(Codec::Range { low: 0, count: children as u64 + 1 });
        };
        let (low, high) = match &value.kind {
            ExprKind::Attr { attr, .. } => {
                let sort = self.universe.sorts.place(PlaceOf::Attr(counter.child, *attr));
                match sort.map(|sort| &self.universe.sorts.list[sort].domain) {
                    Some(SortDomain::Finite(values)) => (
                        values.iter().min().copied().unwrap_or(0),
                        values.iter().max().copied().unwrap_or(0),
                    ),
                    Some(SortDomain::Bounded { low, high }) => (*low, *high),
                    _ => (-1024, 1024),
                }
            }
            _ => (-1024, 1024),
        };
        let (low, high) = (low.min(0) * children, high.max(0) * children);
        Ok(Codec::Range { low, count: (high - low + 1) as u64 })
    }
}
