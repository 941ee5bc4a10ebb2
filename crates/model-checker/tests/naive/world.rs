//! The small world of a design: its keys, its people, and every call that can be made.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::ast::*;
use super::flow::{self, Place};
use super::run::Refused;
use super::state::{Record, State};

/// A call that a client can make.
#[derive(Clone, Debug)]
pub struct Callable {
    pub op: usize,
    /// none: it does not matter who calls
    pub person: Option<usize>,
    pub args: Vec<Value>,
}

pub struct World<'d> {
    pub design: &'d Design,
    /// what is taken away for a failure's proof
    pub without: Option<Without>,
    /// steps of the clock in a unit
    pub fine: i64,
    /// how many units of five seconds the unit has
    unit: i64,
    /// in units
    pub horizon: i64,
    /// the actor of each principal
    pub people: Vec<usize>,
    pub calls: Vec<Callable>,
    /// actors that one person may be, each pair both ways round
    pub meet: BTreeSet<(usize, usize)>,
    pub has_time: bool,
    /// is the next instant of a schedule asked for?
    pub has_next: bool,
    /// (subject, attribute) of times that something reads
    pub read_times: BTreeSet<(usize, usize)>,
    /// two stored times are compared with each other
    pub times_meet: bool,
    pub seen: RefCell<Seen>,
    /// how many units later the next instant of a schedule is; 0: there is none
    pub gap: Cell<i64>,
}

/// What was seen to happen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub accepted: BTreeSet<usize>,
    pub refused: BTreeSet<(usize, Refused)>,
    pub struck: BTreeSet<Fault>,
    pub cuts: BTreeSet<&'static str>,
}

impl Seen {
    pub fn add(&mut self, other: &Seen) {
        self.accepted.extend(&other.accepted);
        self.refused.extend(other.refused.iter().cloned());
        self.struck.extend(&other.struck);
        self.cuts.extend(&other.cuts);
    }
}

impl<'d> World<'d> {
    pub fn new(design: &'d Design, fine: i64, without: Option<Without>) -> World<'d> {
        let flow = flow::Flow::of(design);
        let unit = flow.durations.iter().fold(0, |left, right| gcd(left, *right)).max(1);
        let longest: i64 = flow.durations.iter().sum::<i64>() / unit;
        let horizon = design.check.horizon.unwrap_or(2 * longest + design.check.spans.1 + 1);
        let mut people = Vec::new();
        for (at, actor) in design.actors.iter().enumerate() {
            people.extend((0..actor.count.max(1)).map(|_| at));
        }
        let mut world = World {
            design,
            without,
            fine,
            unit,
            horizon,
            people,
            calls: Vec::new(),
            meet: flow.meet.clone(),
            has_time: !flow.read_times.is_empty(),
            has_next: flow.has_next,
            times_meet: flow.times_meet,
            read_times: flow.read_times.clone(),
            seen: RefCell::default(),
            gap: Cell::new(1),
        };
        world.calls = world.callable(&flow);
        world
    }

    /// Written durations, in steps of the clock.
    pub fn steps(&self, fives: i64) -> i64 {
        fives * self.fine / self.unit
    }

    /// The first step beyond the horizon.
    pub fn beyond(&self) -> i64 {
        -(self.horizon * self.fine + 1)
    }

    pub fn defaults(&self, subject: usize) -> Vec<Value> {
        let attrs = self.design.subjects[subject].attrs.iter();
        attrs
            .map(|attr| match attr.default {
                Value::Span(units) => Value::Span(self.steps(units)),
                ref other => other.clone(),
            })
            .collect()
    }

    pub fn blank(&self, subject: usize) -> Record {
        Record { attrs: self.defaults(subject), start: 0, end: 0 }
    }

    pub fn parent(&self, record: Rec) -> Option<Rec> {
        let subject = self.design.subjects[record.subject].parent?;
        Some(Rec { subject, parent: -1, own: record.parent })
    }

    pub fn keys(&self, subject: usize) -> Vec<Rec> {
        let held = &self.design.subjects[subject];
        let parents: Vec<i64> = match held.parent {
            None => vec![-1],
            Some(parent) => self.keys(parent).iter().map(|parent| parent.own).collect(),
        };
        let count = held.count as i64;
        parents
            .iter()
            .flat_map(|parent| (0..count).map(|own| Rec { subject, parent: *parent, own }))
            .collect()
    }

    pub fn first(&self) -> State {
        let mut state = State::default();
        for (at, subject) in self.design.subjects.iter().enumerate() {
            if !subject.made {
                state.records.extend(self.keys(at).into_iter().map(|key| (key, self.blank(at))));
            }
        }
        for (fault, budget) in &self.design.check.faults {
            // Of copies that are gone there is no budget.
            if let Some(budget) = budget
                && *fault != Fault::Evict
            {
                state.left.insert(*fault, *budget);
            }
        }
        state
    }

    fn callable(&self, flow: &flow::Flow) -> Vec<Callable> {
        let mut list = Vec::new();
        for (number, op) in self.design.ops.iter().enumerate() {
            if !matches!(op.kind, Kind::Step | Kind::Read) {
                continue;
            }
            let mut all: Vec<Vec<Value>> = vec![Vec::new()];
            for (at, param) in op.params.iter().enumerate() {
                let values = self.values(param, Place::Param(number, at), flow);
                all = all
                    .iter()
                    .flat_map(|head| {
                        values.iter().map(|value| [&head[..], std::slice::from_ref(value)].concat())
                    })
                    .collect();
            }
            let people: Vec<Option<usize>> = if flow::mentions_caller(op) {
                let acts = |at: &usize| {
                    let actor = self.people[*at];
                    actor == op.actor || flow.meet.contains(&(actor, op.actor))
                };
                (0..self.people.len()).filter(acts).map(Some).collect()
            } else {
                vec![None]
            };
            for person in people {
                list.extend(all.iter().map(|args| Callable {
                    op: number,
                    person,
                    args: args.clone(),
                }));
            }
        }
        list
    }

    fn values(&self, param: &Param, place: Place, flow: &flow::Flow) -> Vec<Value> {
        let check = &self.design.check;
        let mut values: BTreeSet<Value> = match &param.ty {
            Ty::Bool => [false, true].map(Value::Bool).into(),
            Ty::Int => (check.given.0..=check.given.1).map(Value::Int).collect(),
            Ty::Enum => (0..WORDS.len()).map(Value::Enum).collect(),
            Ty::Text => (0..check.texts).map(Value::Given).collect(),
            Ty::Span => (check.spans.0..=check.spans.1)
                .map(|units| Value::Span(units * self.fine))
                .collect(),
            Ty::Actor => {
                // Whoever may act as the actor is one of them.
                let named = |at: &usize| {
                    let own = self.people[*at];
                    check.to.is_none_or(|to| own == to || flow.meet.contains(&(own, to)))
                };
                (0..self.people.len()).filter(named).map(Value::Person).collect()
            }
            Ty::Ref(subject) => self.keys(*subject).into_iter().map(Value::Ref).collect(),
            Ty::List | Ty::Lines => BTreeSet::new(),
            Ty::Time | Ty::Set(_) => panic!("no caller gives one"),
        };
        let written = |value: &Value| match value {
            Value::Span(units) => Value::Span(self.steps(*units)),
            other => other.clone(),
        };
        if matches!(param.ty, Ty::Int | Ty::Text | Ty::Span) {
            values.extend(flow.literals(place).iter().map(written));
        }
        if matches!(param.ty, Ty::List | Ty::Lines) {
            let mut elements: Vec<Value> = (0..check.texts).map(Value::Given).collect();
            elements.extend(flow.literals(place));
            if param.ty == Ty::Lines {
                let line = |mark: &Value| [0, 1].map(|n| vec![mark.clone(), Value::Int(n)]);
                elements = elements.iter().flat_map(line).map(Value::List).collect();
            }
            let mut lists = vec![Vec::new()];
            for length in 0..self.design.list_room().min(2) {
                let longer: Vec<Vec<Value>> = lists
                    .iter()
                    .filter(|list| list.len() == length)
                    .flat_map(|list| {
                        elements.iter().map(|item| [&list[..], std::slice::from_ref(item)].concat())
                    })
                    .collect();
                lists.extend(longer);
            }
            values = lists.into_iter().map(Value::List).collect();
        }
        values.extend(param.default.as_ref().map(written));
        values.into_iter().collect()
    }

    /// How many times a state has room for.
    pub fn stored_times(&self) -> usize {
        self.read_times.iter().map(|(subject, _)| self.keys(*subject).len()).sum()
    }
}

fn gcd(left: i64, right: i64) -> i64 {
    if right == 0 { left } else { gcd(right, left % right) }
}
