//! Other worlds for the same design: each of its numbers one larger, or one smaller.

use design::model::{Design, Fault, Range, StateKind, Type, Values, visit};

use crate::world::sizes::setting;
use crate::{Options, Progress, Report, Stop, Verdict, WorldError, check};

/// One number of a world.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Number {
    /// the values of every part of a key that has this name
    Key(String),
    Actor(usize),
    /// the values of every parameter that has this name
    Param(String),
    Bound(usize),
    /// with what it is where `check` does not say
    Setting(&'static str, i64),
    Budget(usize),
}

/// What became of a world with one number that is larger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Larger {
    /// `resource: 3`
    pub world: String,
    pub outcome: LargerOutcome,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LargerOutcome {
    /// every goal is as it was
    Same,
    /// which goal, and why
    NotKnown { goal: String, why: String },
    /// which goal breaks, in how many steps
    Violated { goal: String, steps: usize },
    /// this world cannot be explored
    Cannot(String),
}

/// Which number of the world makes it so large.
#[derive(Clone, PartialEq, Debug)]
pub struct Hint {
    /// `resource: 2`
    pub number: String,
    /// how many times as many states there are as with one less
    pub factor: f64,
}

/// States of one short run.
const SHORT: usize = 30_000;

/// Checks the goals again in each world that has one number one larger.
pub fn larger(
    design: &Design,
    report: &Report,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Vec<Larger> {
    let options = goals_alone(options);
    let mut all = Vec::new();
    for one in design.each_world() {
        // The default world may be there for its witnesses alone.
        if one.design.goals().next().is_none() {
            continue;
        }
        for number in numbers(&one.design) {
            let Some((number, larger)) = changed(&one.design, &number, 1) else { continue };
            let world = match &one.name {
                Some(name) => format!("{name}: {number}"),
                None => number,
            };
            let outcome = match check(&larger, &options, &mut |at| {
                progress(&Progress { arm: world.clone(), violated: None, ..at.clone() });
            }) {
                Ok(found) => compared(report, &found),
                Err(why) => LargerOutcome::Cannot(why.to_string()),
            };
            all.push(Larger { world, outcome });
        }
    }
    all
}

fn goals_alone(options: &Options) -> Options {
    Options { failures: false, witnesses: false, free: false, ..options.clone() }
}

/// The worst of what the goals have become.
fn compared(before: &Report, after: &Report) -> LargerOutcome {
    let was = |name: &str| before.goals.iter().find(|goal| goal.name == name);
    let mut outcome = LargerOutcome::Same;
    for goal in &after.goals {
        let held = was(&goal.name).map(|goal| &goal.verdict);
        match &goal.verdict {
            Verdict::Violated(trace) if !matches!(held, Some(Verdict::Violated(_))) => {
                let steps = trace.steps.len();
                return LargerOutcome::Violated { goal: goal.name.clone(), steps };
            }
            Verdict::Unknown(why) => {
                outcome = LargerOutcome::NotKnown { goal: goal.name.clone(), why: why.clone() };
            }
            _ => {}
        }
    }
    outcome
}

/// Which number multiplies the states most, by short runs with one less of each: of the first world that
/// such a run does not see all of.
pub fn hint(design: &Design, options: &Options) -> Result<Option<Hint>, WorldError> {
    for one in design.each_world() {
        if let Some(found) = hint_in(&one.design, options)? {
            let number = match &one.name {
                Some(name) => format!("{name}: {}", found.number),
                None => found.number,
            };
            return Ok(Some(Hint { number, ..found }));
        }
    }
    Ok(None)
}

fn hint_in(design: &Design, options: &Options) -> Result<Option<Hint>, WorldError> {
    let options = Options {
        max_states: SHORT,
        recovery: false,
        symmetry: options.symmetry,
        ..goals_alone(options)
    };
    let states = |design: &Design| -> Result<(u64, u32, bool), WorldError> {
        let report = check(design, &options, &mut |_| ())?;
        Ok((report.base.states, report.base.depth, report.base.closed))
    };
    let (_, depth, closed) = states(design)?;
    if closed || depth < 2 {
        return Ok(None);
    }
    // As deep as the short run came, all worlds are compared.
    let shallow = |design: &Design| {
        let mut design = design.clone();
        design.world.settings.retain(|(name, _)| name != "depth");
        design.world.settings.push(("depth".into(), i64::from(depth - 1)));
        design
    };
    let (most, ..) = states(&shallow(design))?;
    let mut best: Option<Hint> = None;
    for number in numbers(design) {
        let Some((_, smaller)) = changed(design, &number, -1) else { continue };
        let Ok((fewer, ..)) = states(&shallow(&smaller)) else { continue };
        let factor = most as f64 / fewer.max(1) as f64;
        if factor > 1.05 && best.as_ref().is_none_or(|best| factor > best.factor) {
            let named = changed(design, &number, 0).map_or_else(String::new, |(name, _)| name);
            best = Some(Hint { number: named, factor });
        }
    }
    Ok(best)
}

impl Stop {
    /// Would a larger budget, or a smaller world, help?
    pub fn is_budget(self) -> bool {
        self != Stop::Depth
    }
}

/// Every number of a world that can be another one.
fn numbers(design: &Design) -> Vec<Number> {
    let mut all = Vec::new();
    let mut add = |number: Number| {
        if !all.contains(&number) {
            all.push(number);
        }
    };
    for subject in &design.subjects {
        subject.keys.iter().for_each(|key| add(Number::Key(key.name.clone())));
    }
    (0..design.actors.len()).for_each(|actor| add(Number::Actor(actor)));
    for operation in &design.operations {
        operation.params.iter().for_each(|param| add(Number::Param(param.name.clone())));
    }
    (0..design.world.bounds.len()).for_each(|bound| add(Number::Bound(bound)));
    let on = |fault: Fault| design.world.faults.iter().any(|held| held.fault == fault);
    if on(Fault::Late) || on(Fault::Duplicate) {
        add(Number::Setting("calls", 1));
    }
    // A network that is kept as a set has room for every message.
    let set = crate::network::may_be_set(design, &crate::Options::default());
    if visit::message_targets(design).contains(&true) && !set {
        add(Number::Setting("messages", 2));
    }
    let states = || design.subjects.iter().flat_map(|subject| &subject.states);
    if states().any(|state| matches!(state.kind, StateKind::Log { .. })) {
        add(Number::Setting("log", 3));
    }
    let attributes = || design.subjects.iter().flat_map(|subject| &subject.attributes);
    if attributes().any(|attribute| matches!(attribute.ty.required(), Type::List { .. })) {
        add(Number::Setting("list", 4));
    }
    (0..design.world.faults.len()).for_each(|fault| add(Number::Budget(fault)));
    all
}

/// The same design with one number so much larger, and what that number then is.
fn changed(design: &Design, number: &Number, by: i64) -> Option<(String, Design)> {
    let mut other = design.clone();
    let world = &mut other.world;
    let mut shown = None;
    match number {
        Number::Key(name) => {
            for (subject, parts) in design.subjects.iter().zip(&mut world.keys) {
                for (key, values) in subject.keys.iter().zip(parts) {
                    if key.name == *name {
                        shown = raise(values, by).or(shown);
                    }
                }
            }
            let shown = shown?;
            Some((format!("{name}: {shown}"), other))
        }
        Number::Param(name) => {
            for (operation, given) in design.operations.iter().zip(&mut world.params) {
                for (param, values) in operation.params.iter().zip(given) {
                    if param.name == *name {
                        shown = raise(values, by).or(shown);
                    }
                }
            }
            let shown = shown?;
            Some((format!("{name}: {shown}"), other))
        }
        Number::Actor(at) => {
            let actor = &design.actors[*at];
            if actor.continues.is_some() || actor.is_world {
                return None;
            }
            let count = i64::from(world.actors[*at]) + by;
            world.actors[*at] = u32::try_from(count).ok().filter(|count| *count > 0)?;
            Some((format!("{}: {count}", actor.name), other))
        }
        Number::Bound(at) => {
            let bound = &mut world.bounds[*at];
            let subject = &design.subjects[bound.subject.index()];
            let attribute = &subject.attributes[bound.attr.index()];
            bound.high += by * one(&attribute.ty);
            if bound.high < bound.low {
                return None;
            }
            let state = &subject.states[attribute.state.index()].name;
            let range = Range { low: bound.low, high: bound.high }.text(&attribute.ty);
            let line = format!("{state}.{}: {range}", attribute.name);
            Some((line, other))
        }
        Number::Setting(name, otherwise) => {
            let value = setting(design, name, *otherwise) + by;
            if value < 1 {
                return None;
            }
            world.settings.retain(|(held, _)| held != name);
            world.settings.push(((*name).to_string(), value));
            Some((format!("{name}: {value}"), other))
        }
        Number::Budget(at) => {
            let held = &mut world.faults[*at];
            let budget = i64::from(held.budget?) + by;
            held.budget = Some(u32::try_from(budget).ok()?);
            Some((format!("{} {budget}", held.fault.name()), other))
        }
    }
}

/// What a number is raised by: a `decimal` counts in millionths, and the next of those is hardly larger.
fn one(ty: &Type) -> i64 {
    match ty.required() {
        Type::Decimal | Type::Money(_) => 1_000_000,
        _ => 1,
    }
}

/// Makes room for one value more; answers what there is then.
fn raise(values: &mut Values, by: i64) -> Option<String> {
    match values {
        Values::Opaque(count) => {
            *count = u32::try_from(i64::from(*count) + by).ok().filter(|count| *count > 0)?;
            Some(count.to_string())
        }
        Values::Range(low, high) if *high + by >= *low => {
            *high += by;
            Some(format!("{low}..{high}"))
        }
        Values::Units(low, high) => {
            let raised = u32::try_from(i64::from(*high) + by).ok().filter(|n| n >= low)?;
            *high = raised;
            Some(format!("{low}..{high}"))
        }
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            raise(inner, by)
        }
        Values::Fields(columns) => {
            let raised: Vec<String> =
                columns.iter_mut().filter_map(|values| raise(values, by)).collect();
            (!raised.is_empty()).then(|| raised.join(", "))
        }
        _ => None,
    }
}
