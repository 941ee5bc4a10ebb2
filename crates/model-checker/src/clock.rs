//! The clock of the small world: durations become words, in proportion.
//!
//! A unit is the greatest common divisor of all durations. Where times are kept by region a unit is
//! divided so finely that each stored time has a place of its own between two whole numbers of units;
//! only the order of these places is kept. Else a unit is so many steps, and a tick is one step.

use std::iter;

use design::Scale;
use design::model::{Const, Design, Expr, ExprKind, Fault, Range, Type, Values, visit};
use engine::Word;

use crate::distances::{are_whole, fold};
use crate::gaps;
use crate::slice::{LeftOut, Slice, project};
use crate::world::sizes::stored_times;

/// Words of a unit where times are kept by region: room for this many times, half as much.
pub(crate) const REGION_UNIT: Word = 1 << 12;

/// How times and durations are kept.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    pub(crate) scale: Scale,
    /// words of a unit
    pub(crate) per_unit: Word,
    /// by region: whole units, and the order of the fractions
    pub(crate) regions: bool,
    /// how many times can be stored at once, at most
    stored: usize,
    /// ranges of durations are not looked at
    loses_ranges: bool,
    /// is nothing compared but whole durations, and how far one time lies from another?
    pub(crate) whole: bool,
}

impl Clock {
    pub(crate) fn of(design: &Design, by_region: bool) -> Clock {
        let scale = Scale::of(design);
        let stored = stored_times(design);
        let steps = design.world.setting("time");
        let whole = are_whole(design, scale.divided);
        let regions = by_region && steps.is_none() && !hashes_times(design) && whole;
        let per_unit = match steps {
            _ if regions => REGION_UNIT,
            Some(steps) => steps,
            None if stored <= 1 => 2,
            None => stored as Word + 1,
        };
        let loses_ranges = loses_ranges(design, &scale);
        Clock { scale, per_unit, regions, stored, loses_ranges, whole }
    }

    /// What is not told apart, if there is such a thing.
    pub(crate) fn bounds(&self) -> Vec<String> {
        let mut bounds = Vec::new();
        if !self.scale.exact {
            bounds.push("time: sums of 4".to_string());
        }
        let coarse = self.stored > 1 || self.per_unit < 2 || !self.whole;
        if !self.regions && coarse && self.stored > 0 {
            let unit =
                self.scale.unit.map_or_else(|| "a unit".into(), design::model::duration_text);
            bounds.push(format!("time: 1/{} of {unit}", self.per_unit));
        }
        if self.loses_ranges {
            bounds.push("time: ranges of durations are not looked at".into());
        }
        bounds
    }

    /// So many words a duration is. One that nobody asks for here is not told apart from the next longer one.
    fn words(&self, milliseconds: i64) -> Word {
        let known = &self.scale.durations;
        let next = known.partition_point(|(ms, _)| *ms < milliseconds.abs());
        let units = match known.get(next).or(known.last()) {
            _ if milliseconds == 0 => 0,
            Some((_, units)) => *units,
            None => 1,
        };
        units * milliseconds.signum() * self.per_unit
    }

    /// Does it tell the same durations apart with fewer units, or exactly where the other does not?
    fn is_better_than(&self, other: &Clock) -> bool {
        let worse =
            self.loses_ranges && !other.loses_ranges || !self.scale.exact && other.scale.exact;
        let fewer = |(ms, units): &(i64, i64)| units * other.per_unit < other.words(*ms);
        let exact = self.scale.exact && !other.scale.exact;
        !worse && (exact || self.scale.durations.iter().any(fewer))
    }

    /// How long a word is, where every duration is a whole number of them.
    pub(crate) fn tick_ms(&self) -> Option<i64> {
        let unit = self.scale.unit.filter(|_| self.scale.exact)?;
        let exact = self.scale.durations.iter().all(|(ms, units)| *ms == units * unit);
        (exact && unit % self.per_unit == 0).then_some(unit / self.per_unit)
    }

    /// A duration as one would say it.
    pub(crate) fn show(&self, words: Word) -> String {
        let units = words.div_euclid(self.per_unit);
        let whole = words.rem_euclid(self.per_unit) == 0;
        let shown = |units: Word| match self.scale.unit {
            Some(ms) => design::model::duration_text(units * ms),
            None if units == 1 => "1 unit".into(),
            None => format!("{units} units"),
        };
        if whole {
            return shown(units);
        }
        format!("{} to {}", shown(units), shown(units + 1))
    }
}

/// A design with its durations in words.
#[derive(Clone)]
pub(crate) struct Scaled {
    pub(crate) design: Design,
    pub(crate) clock: Clock,
    /// of a slice: the whole design, which says what values there are
    pub(crate) whole: Option<Box<Design>>,
    pub(crate) left: LeftOut,
    /// With durations as they are written, for slices with a clock of their own; none: there are no such slices.
    written: Option<Box<Design>>,
}

impl Scaled {
    pub(crate) fn of(design: &Design, by_region: bool) -> Scaled {
        let design = &folded(design);
        let clock = Clock::of(design, by_region);
        let own = clock.regions && !counts_units(design);
        let written = own.then(|| Box::new(without_units(design, &clock.scale)));
        let design = in_words(design, &clock);
        Scaled { design, clock, whole: None, left: LeftOut::nothing(), written }
    }

    /// In fixed steps, each so many words long.
    pub(crate) fn in_steps_of(design: &Design, words: Word) -> Scaled {
        let design = &folded(design);
        let mut clock = Clock::of(design, false);
        clock.per_unit *= words;
        let design = in_words(design, &clock);
        Scaled { design, clock, whole: None, left: LeftOut::nothing(), written: None }
    }

    /// The same, of which one thing stands for several. It has no slices.
    pub(crate) fn reduced(&self, design: Design) -> Scaled {
        let whole = self.whole.clone();
        Scaled { design, clock: self.clock.clone(), whole, left: self.left.clone(), written: None }
    }

    /// With one invariant more, made of this one; its number is the last. None: nothing can be made of it.
    pub(crate) fn with_goal(&self, of: u32, make: &dyn Fn(&mut Expr) -> bool) -> Option<Scaled> {
        let mut all = self.clone();
        for design in iter::once(&mut all.design).chain(all.written.as_deref_mut()) {
            let mut goal = design.invariants[of as usize].clone();
            if !make(&mut goal.body) {
                return None;
            }
            design.invariants.push(goal);
        }
        Some(all)
    }

    /// A part of the design. Where its own durations alone make a better clock, it has that one.
    pub(crate) fn slice(&self, slice: &Slice) -> Scaled {
        if let Some(own) = self.on_its_own_clock(slice) {
            return own;
        }
        let (design, left) = project(&self.design, slice);
        let whole = Some(Box::new(self.design.clone()));
        Scaled { design, clock: self.clock.clone(), whole, left, written: None }
    }

    /// What a part does at which time depends on its own durations only. They are often fewer, and then it
    /// takes fewer units to tell them apart.
    fn on_its_own_clock(&self, slice: &Slice) -> Option<Scaled> {
        let written = self.written.as_deref()?;
        let (part, mut left) = project(written, slice);
        let clock = Clock::of(&part, true);
        if !clock.is_better_than(&self.clock) {
            return None;
        }
        left.own_clock = true;
        let whole = Some(Box::new(in_words(written, &clock)));
        Some(Scaled { design: in_words(&part, &clock), clock, whole, left, written: None })
    }

    /// The design that says what values there are.
    pub(crate) fn whole(&self) -> &Design {
        self.whole.as_deref().unwrap_or(&self.design)
    }
}

/// Does the world say more in units than which values a parameter has?
fn counts_units(design: &Design) -> bool {
    let world = &design.world;
    let bounded = world.bounds.iter().any(|bound| {
        let attribute = &design.subjects[bound.subject.index()].attributes[bound.attr.index()];
        *attribute.ty.required() == Type::Duration
    });
    let steps = world.faults.iter().any(|setting| setting.fault == Fault::ClockStep);
    bounded || steps || world.horizon.is_some() || gaps::has_next(design)
}

/// With durations instead of units, where a unit is so many milliseconds.
fn without_units(design: &Design, scale: &Scale) -> Design {
    let mut design = design.clone();
    let Some(unit) = scale.unit else { return design };
    let world = &mut design.world;
    let given = world.params.iter_mut().flatten().chain(world.answers.iter_mut().flatten());
    given.for_each(|values| in_milliseconds(values, unit));
    design
}

fn in_milliseconds(values: &mut Values, unit: i64) {
    match values {
        Values::Units(low, high) => {
            let units = i64::from(*low)..=i64::from(*high);
            *values = Values::Listed(units.map(|n| Const::Duration(n * unit)).collect());
        }
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            in_milliseconds(inner, unit);
        }
        Values::Fields(columns) => {
            columns.iter_mut().for_each(|values| in_milliseconds(values, unit));
        }
        Values::Listed(_)
        | Values::Opaque(_)
        | Values::Range(..)
        | Values::Whole
        | Values::Refs(_)
        | Values::Principals
        | Values::PrincipalsOf(_)
        | Values::Irrelevant => {}
    }
}

/// With durations that are computed of written ones put in their place.
fn folded(design: &Design) -> Design {
    let mut design = design.clone();
    // what is measured is not explored
    let failures = std::mem::take(&mut design.failures);
    visit::design_exprs_mut(&mut design, &mut fold);
    design.failures = failures;
    design
}

fn in_words(design: &Design, clock: &Clock) -> Design {
    let words = |milliseconds: i64| clock.words(milliseconds);
    let mut design = design.clone();
    // what is measured is not explored
    let failures = std::mem::take(&mut design.failures);
    visit::design_exprs_mut(&mut design, &mut |expr| {
        visit::each_mut(expr, &mut |expr| {
            if let ExprKind::Literal(value) = &mut expr.kind {
                lower(value, &words);
            }
        });
    });
    design.failures = failures;
    for attribute in design.subjects.iter_mut().flat_map(|subject| &mut subject.attributes) {
        attribute.default.iter_mut().for_each(|value| lower(value, &words));
        lower_range(&mut attribute.range, &attribute.ty, clock);
    }
    for param in design.operations.iter_mut().flat_map(|operation| &mut operation.params) {
        param.default.iter_mut().for_each(|value| lower(value, &words));
        lower_range(&mut param.range, &param.ty, clock);
    }
    for (operation, given) in design.operations.iter().zip(&mut design.world.params) {
        for (param, values) in operation.params.iter().zip(given) {
            lower_values(values, &param.ty, clock);
        }
    }
    for (operation, values) in design.operations.iter().zip(&mut design.world.answers) {
        if let (design::model::OperationKind::Effect(effect), Some(values)) =
            (&operation.kind, values)
            && let Some(local) = effect.on_ok.param
        {
            lower_values(values, &operation.locals[local.index()].ty, clock);
        }
    }
    for bound in &mut design.world.bounds {
        let attribute = &design.subjects[bound.subject.index()].attributes[bound.attr.index()];
        if *attribute.ty.required() == Type::Duration {
            bound.low *= clock.per_unit;
            bound.high *= clock.per_unit;
        }
    }
    gaps::lower(&mut design, clock.per_unit);
    design
}

/// Of a duration: the whole units that lie in it.
fn lower_range(range: &mut Option<Range>, ty: &Type, clock: &Clock) {
    if *ty.required() != Type::Duration {
        return;
    }
    *range = range.zip(clock.scale.unit).map(|(range, unit)| Range {
        low: -(-range.low).div_euclid(unit) * clock.per_unit,
        high: range.high.div_euclid(unit) * clock.per_unit,
    });
}

/// Is there a duration whose range says nothing here, because a unit is any time at all?
fn loses_ranges(design: &Design, scale: &Scale) -> bool {
    let is = |range: Option<Range>, ty: &Type| {
        range.is_some() && *ty.required() == Type::Duration && scale.unit.is_none()
    };
    let attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    attributes.into_iter().any(|attribute| is(attribute.range, &attribute.ty))
        || params.into_iter().any(|param| is(param.range, &param.ty))
}

fn lower_values(values: &mut Values, ty: &Type, clock: &Clock) {
    match values {
        Values::Listed(list) => list.iter_mut().for_each(|value| {
            lower(value, &|milliseconds| clock.words(milliseconds));
        }),
        Values::Units(low, high) => {
            let units = Word::from(*low)..=Word::from(*high);
            *values = Values::Listed(units.map(|n| Const::Duration(n * clock.per_unit)).collect());
        }
        Values::Range(low, high) if *ty.required() == Type::Time => {
            *low *= clock.per_unit;
            *high *= clock.per_unit;
        }
        Values::OrNull(inner) => lower_values(inner, ty, clock),
        Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            lower_values(inner, crate::world::sorts::element(ty), clock);
        }
        // no field is a time or a duration
        Values::Fields(_) => {}
        Values::Opaque(_)
        | Values::Range(..)
        | Values::Whole
        | Values::Refs(_)
        | Values::Principals
        | Values::PrincipalsOf(_)
        | Values::Irrelevant => {}
    }
}

fn lower(value: &mut Const, words: &dyn Fn(i64) -> i64) {
    match value {
        Const::Duration(duration) => *duration = words(*duration),
        Const::Set(list) | Const::List(list) => {
            list.iter_mut().for_each(|value| lower(value, words));
        }
        Const::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            lower(key, words);
            lower(value, words);
        }),
        Const::Null
        | Const::Bool(_)
        | Const::Int(_)
        | Const::Decimal(_)
        | Const::Text(_)
        | Const::Enum(..) => {}
    }
}

/// Does any digest have a time in it?
pub(crate) fn hashes_times(design: &Design) -> bool {
    let mut found = false;
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut |expr| {
            visit::each(expr, &mut |expr| {
                if let ExprKind::Hash(parts) = &expr.kind {
                    found |= parts.iter().any(|part| *part.ty.required() == Type::Time);
                }
            });
        });
    }
    found
}
