//! Calls drawn from the types and bounds of a design.

use std::collections::{BTreeMap, VecDeque};

use design::model::{
    Const, Design, Expr, ExprKind, OperationId, OperationKind, Param, Range, SubjectId, Type,
    Values, quantity_text, visit,
};
use serde_json::{Map, Value, json};
use store::Seeded;
use store_embedded::disk::{AfterName, Faults};

use crate::literals::Literals;
use crate::people::{Person, Stands};
use crate::script::{Act, Kill, Server};

/// So many names a part of a key has: few, so that calls meet at the same records.
const NAMES: u64 = 3;
/// So many of each kind are remembered, to be called about.
const RECENT: usize = 12;
/// Nobody rests much longer: meanwhile whatever repeats goes on repeating.
const REST_MS_MAX: u64 = 6 * 3_600_000;
/// Where the design compares something with a literal, so many arguments are close to it.
const LITERAL_PERCENT: u64 = 20;
/// No list that is given is longer.
const FULL_MAX: u64 = 32;
/// Ten years: nothing that is asked for takes longer.
const LENGTH_MAX: i64 = 3_650 * 24 * 3_600_000;
/// So many steps that were said to be possible.
const SUGGESTED: usize = 24;

pub struct Drawing {
    seeded: Seeded,
    /// what callers have to stand
    stands: Stands,
    /// lengths of time that the design speaks of, in milliseconds
    lengths: Vec<i64>,
    literals: Literals,
    names: Vec<String>,
    recent: BTreeMap<SubjectId, Vec<Value>>,
    /// what answers said, by the name of the attribute
    told: BTreeMap<String, Vec<Value>>,
    /// what refusals said could be done instead
    suggested: VecDeque<(String, Map<String, Value>)>,
    made: u64,
    number: u64,
}

impl Drawing {
    pub fn new(design: &Design, people: &[Person], stands: Stands, seed: u64) -> Drawing {
        Drawing {
            seeded: Seeded::new(seed),
            stands,
            lengths: lengths(design),
            literals: Literals::of(design),
            names: people.iter().map(|person| person.name.clone()).collect(),
            recent: BTreeMap::new(),
            told: BTreeMap::new(),
            suggested: VecDeque::new(),
            made: 0,
            number: 0,
        }
    }

    /// What the disk does in one life; the last one is left in peace.
    pub fn faults(&mut self) -> Faults {
        let at = |seeded: &mut Seeded, most| Some(1 + seeded.below(most));
        let mut faults = Faults::default();
        match self.seeded.below(10) {
            0 => faults.short_write_at = at(&mut self.seeded, 80),
            1 => faults.failed_sync_at = at(&mut self.seeded, 60),
            2 => faults.capacity_bytes = Some(60_000 + self.seeded.below(40_000)),
            3 => {}
            4 => faults.crash_at = at(&mut self.seeded, 30),
            5 | 6 => {
                let (name, operations) = (1 + self.seeded.below(24), 1 + self.seeded.below(12));
                faults.crash_after_name = Some(AfterName { name, operations });
            }
            _ => faults.crash_at = at(&mut self.seeded, 300),
        }
        faults
    }

    /// What a network does in one life.
    pub fn network(&mut self) -> store::Faults {
        let delays = [0, 500, 5_000, 50_000];
        store::Faults {
            delay_us_max: delays[self.seeded.below(delays.len() as u64) as usize],
            conflicts_percent: self.seeded.below(10),
            lost_percent: self.seeded.below(15),
        }
    }

    /// One of several servers in one life.
    pub fn server(&mut self) -> Server {
        let killed = match self.seeded.below(10) {
            0..=2 => None,
            3 => Some(Kill::Request(1 + self.seeded.below(400))),
            _ => {
                let (calls, request) = (self.seeded.below(15), 1 + self.seeded.below(3));
                Some(Kill::Call { calls, request })
            }
        };
        let skew_ms = match self.seeded.below(10) {
            0 => 5_000,
            1 => -5_000,
            2..=5 => self.seeded.below(801) as i64 - 400,
            _ => 0,
        };
        Server { killed, skew_ms }
    }

    /// The next version takes the place of the one that runs, from now on.
    pub fn replaced(&mut self, design: &Design) {
        self.lengths = lengths(design);
        self.literals = Literals::of(design);
        // numbers of subjects are others
        self.recent.clear();
    }

    /// After how many of these calls the next version comes; none: not in this life.
    pub fn replaced_after(&mut self, calls: usize) -> Option<usize> {
        self.seeded.percent(60).then(|| self.seeded.below(calls as u64 + 1) as usize)
    }

    /// By how much the clock is wrong after a restart.
    pub fn clock_ms(&mut self) -> i64 {
        if !self.stands.clock_steps || self.seeded.percent(60) {
            return 0;
        }
        let length = self.length();
        let by = self.seeded.below(length.unsigned_abs() + 1_000) as i64;
        if self.seeded.percent(50) { by } else { -by }
    }

    pub fn act(&mut self, design: &Design, caller: usize, person: &Person) -> Act {
        let at = self.seeded.below(person.operations.len() as u64) as usize;
        let (mut operation, mut params) = (person.operations[at], Map::new());
        if self.seeded.percent(50)
            && let Some((suggested, given)) = self.suggestion(design, person)
        {
            (operation, params) = (suggested, given);
        }
        let declared = &design.operations[operation.index()];
        for (at, param) in declared.params.iter().enumerate() {
            if params.contains_key(&param.name) {
                continue;
            }
            if param.generated.is_some() || param.default.is_some() && self.seeded.percent(50) {
                continue;
            }
            let value = self.param(design, operation, at, param, &person.name);
            params.insert(param.name.clone(), value);
        }
        let is_step = matches!(declared.kind, OperationKind::Step { .. });
        self.number += 1;
        Act {
            number: self.number,
            caller,
            actor: design.actors[declared.actor.index()].name.clone(),
            operation: declared.name.clone(),
            params,
            lost: is_step && self.stands.lost_replies && self.seeded.percent(8),
            forgets: self.stands.crashes && self.seeded.percent(3),
            doubled: is_step && self.stands.duplicates && self.seeded.percent(8),
            rest_us: self.rest_us(),
        }
    }

    /// Something that could be done when somebody was refused.
    fn suggestion(
        &mut self,
        design: &Design,
        person: &Person,
    ) -> Option<(OperationId, Map<String, Value>)> {
        let own = |name: &str| {
            let mut operations = person.operations.iter();
            operations.find(|id| design.operations[id.index()].name == name).copied()
        };
        let fitting: Vec<(OperationId, usize)> = (0..self.suggested.len())
            .filter_map(|at| Some((own(&self.suggested[at].0)?, at)))
            .collect();
        let (operation, at) = *fitting.get(self.seeded.below(fitting.len() as u64) as usize)?;
        let params = self.suggested[at].1.clone();
        let declared = &design.operations[operation.index()];
        let known = |name: &String| {
            declared.params.iter().any(|param| param.name == *name && param.generated.is_none())
        };
        Some((operation, params.into_iter().filter(|(name, _)| known(name)).collect()))
    }

    pub fn suggest(&mut self, legal: &[Value]) {
        for step in legal {
            let (Some(name), Some(params)) =
                (step["operation"].as_str(), step["params"].as_object())
            else {
                continue;
            };
            let suggested = (name.to_string(), params.clone());
            if self.suggested.contains(&suggested) {
                continue;
            }
            if self.suggested.len() >= SUGGESTED {
                self.suggested.pop_front();
            }
            self.suggested.push_back(suggested);
        }
    }

    fn rest_us(&mut self) -> u64 {
        match self.seeded.below(20) {
            0..12 => self.seeded.below(3_000),
            12..17 => self.seeded.below(1_000_000),
            _ => {
                let length = self.length().unsigned_abs().min(REST_MS_MAX).saturating_mul(1_500);
                self.seeded.below(length)
            }
        }
    }

    /// One of the lengths that the design speaks of.
    fn length(&mut self) -> i64 {
        let at = self.seeded.below(self.lengths.len() as u64) as usize;
        self.lengths.get(at).copied().unwrap_or(1_000)
    }

    fn param(
        &mut self,
        design: &Design,
        operation: OperationId,
        at: usize,
        param: &Param,
        me: &str,
    ) -> Value {
        if let (Type::Ref(subject), true) = (param.ty.required(), param.new) {
            return self.fresh(design, *subject, me);
        }
        // what an answer said under the same name is often what is meant
        if self.seeded.percent(50)
            && !matches!(param.ty.required(), Type::Ref(_))
            && let Some(told) = self.told.get(&param.name)
        {
            let told = told[self.seeded.below(told.len() as u64) as usize].clone();
            if fits(param.range, &told) {
                return told;
            }
        }
        // beyond what is enough for a small world
        if let Some(value) = self.literal(&param.ty, param.range) {
            return value;
        }
        let domain = design.world.params.get(operation.index()).and_then(|of| of.get(at));
        if let Some(value) = domain.and_then(|domain| self.of_check(design, param, domain)) {
            return value;
        }
        self.value(design, &param.ty, param.range, me)
    }

    /// A value that `check` lists, as far as it lists any.
    fn of_check(&mut self, design: &Design, param: &Param, values: &Values) -> Option<Value> {
        let values = match values {
            Values::OrNull(_) if self.seeded.percent(20) => return Some(Value::Null),
            Values::OrNull(within) => within,
            values => values,
        };
        match values {
            Values::Range(low, high) => {
                let within = |range: Range| (range.low.max(*low), range.high.min(high + 2));
                let (low, high) = param.range.map_or((*low, high + 2), within);
                let count = high.checked_sub(low)?.checked_add(1)?;
                let value = low + self.seeded.below(u64::try_from(count).ok()?) as i64;
                Some(number(&param.ty, value))
            }
            Values::Listed(listed) => {
                let at = self.seeded.below(listed.len() as u64) as usize;
                constant(design, &param.ty, listed.get(at)?)
            }
            _ => None,
        }
    }

    fn value(&mut self, design: &Design, ty: &Type, range: Option<Range>, me: &str) -> Value {
        if let Some(value) = self.literal(ty, range) {
            return value;
        }
        match ty {
            Type::Optional(_) if self.seeded.percent(25) => Value::Null,
            Type::Optional(of) => self.value(design, of, range, me),
            Type::Ref(subject) => self.reference(design, *subject, me),
            Type::Actor => self.somebody(me),
            Type::Int | Type::Decimal | Type::Money(_) => {
                let scale = if *ty == Type::Int { 1 } else { 1_000_000 };
                let (low, high) = range.map_or((0, 9 * scale), |range| {
                    (range.low, range.high.min(range.low.saturating_add(9 * scale)))
                });
                let steps = high.saturating_sub(low).unsigned_abs() / scale.unsigned_abs();
                let value = low + self.seeded.below(steps + 1) as i64 * scale;
                number(ty, value)
            }
            Type::Duration => {
                let (low, high) = range.map_or((1, i64::MAX), |range| (range.low, range.high));
                number(ty, self.length().clamp(low, high))
            }
            Type::Time => {
                let seconds = self.seeded.below(3_600);
                json!(runtime::time::write_time(1_700_000_000_000 + seconds as i64 * 1_000))
            }
            Type::Bool => json!(self.seeded.percent(50)),
            Type::Schedule => json!("*/15 * * * *"),
            Type::Json => json!({ "n": self.seeded.below(10) }),
            Type::Point => json!([self.seeded.below(90), self.seeded.below(90)]),
            Type::Enum(id) => {
                let constants = &design.enumerations[id.index()].constants;
                json!(constants[self.seeded.below(constants.len() as u64) as usize])
            }
            Type::List { of, max } | Type::Set { of, max } => {
                let most = u64::from(*max);
                // as full as it may be, now and then
                let count = match self.seeded.percent(10) {
                    true => most.min(FULL_MAX),
                    false => self.seeded.below(most.min(3) + 1),
                };
                let list: Vec<Value> =
                    (0..count).map(|_| self.value(design, of, None, me)).collect();
                let mut kept: Vec<Value> = Vec::new();
                for value in list {
                    if !kept.contains(&value) {
                        kept.push(value);
                    }
                }
                Value::Array(kept)
            }
            Type::Struct(fields) => {
                let mut record = Map::new();
                for field in fields {
                    let value = self.value(design, &field.ty, field.range, me);
                    record.insert(field.name.clone(), value);
                }
                Value::Object(record)
            }
            Type::Map { .. } => json!({}),
            Type::Digest(_) | Type::Hash => json!(format!("{:064x}", self.seeded.below(NAMES))),
            Type::PublicKey => json!(format!("{:064x}", self.seeded.below(NAMES))),
            Type::Signature => json!(format!("{:0128x}", self.seeded.below(NAMES))),
            _ => json!(format!("t{}", self.seeded.below(NAMES))),
        }
    }

    /// What stands in the design, now and then.
    fn literal(&mut self, ty: &Type, range: Option<Range>) -> Option<Value> {
        let wanted = self.seeded.percent(LITERAL_PERCENT);
        wanted.then(|| self.literals.near(ty.required(), range, &mut self.seeded)).flatten()
    }

    fn somebody(&mut self, me: &str) -> Value {
        if self.names.is_empty() || self.seeded.percent(60) {
            return json!(me);
        }
        json!(self.names[self.seeded.below(self.names.len() as u64) as usize])
    }

    /// The key of a record that is not there yet, most likely.
    fn fresh(&mut self, design: &Design, subject: SubjectId, me: &str) -> Value {
        if self.seeded.percent(15) {
            return self.reference(design, subject, me);
        }
        self.made += 1;
        let key = self.key(design, subject, Some(self.made), me);
        keep(self.recent.entry(subject).or_default(), key.clone(), self.made);
        key
    }

    fn reference(&mut self, design: &Design, subject: SubjectId, me: &str) -> Value {
        let known = self.recent.get(&subject).map_or(0, Vec::len) as u64;
        if known > 0 && self.seeded.percent(80) {
            return self.recent[&subject][self.seeded.below(known) as usize].clone();
        }
        self.key(design, subject, None, me)
    }

    fn key(&mut self, design: &Design, subject: SubjectId, new: Option<u64>, me: &str) -> Value {
        let mut parts = Vec::new();
        for part in &design.subjects[subject.index()].keys {
            let value = match &part.ty {
                Type::Ref(other) => self.reference(design, *other, me),
                Type::Text | Type::Bytes => match new {
                    Some(number) => json!(format!("{}{number}", part.name)),
                    None => self.literal(&part.ty, part.range).unwrap_or_else(|| {
                        json!(format!("{}-{}", part.name, self.seeded.below(NAMES)))
                    }),
                },
                ty => self.value(design, ty, part.range, me),
            };
            match value {
                Value::Array(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        Value::Array(parts)
    }

    /// What an answer says is called about later.
    pub fn learn(&mut self, design: &Design, answer: &Value) {
        for changed in answer.as_array().into_iter().flatten() {
            let subject = design.subjects.iter().position(|it| it.name == changed["subject"]);
            let Some(subject) = subject.map(SubjectId::of) else { continue };
            self.made += 1;
            let (key, at) = (changed["key"].clone(), self.made);
            keep(self.recent.entry(subject).or_default(), key, at);
            let states = changed["truth"].as_object().into_iter().flatten();
            for (name, value) in states.filter_map(|(_, state)| state.as_object()).flatten() {
                if value.is_number() || value.is_string() {
                    keep(self.told.entry(name.clone()).or_default(), value.clone(), at);
                }
            }
        }
    }

    /// What the world outside answers.
    pub fn answer(&mut self, design: &Design, ty: Option<&Type>) -> Value {
        ty.map_or(Value::Null, |ty| self.value(design, ty.required(), None, "outside"))
    }

    pub fn percent(&mut self, share: u64) -> bool {
        self.seeded.percent(share)
    }
}

fn keep(list: &mut Vec<Value>, value: Value, at: u64) {
    if list.contains(&value) {
        return;
    }
    if list.len() < RECENT {
        list.push(value);
    } else {
        list[(at % RECENT as u64) as usize] = value;
    }
}

fn fits(range: Option<Range>, value: &Value) -> bool {
    range.is_none_or(|range| value.as_i64().is_some_and(|value| range.contains(value)))
}

/// A quantity as clients write it.
fn number(ty: &Type, value: i64) -> Value {
    match ty.required() {
        Type::Int => json!(value),
        Type::Duration => json!(runtime::time::write_duration(value)),
        ty => json!(quantity_text(ty, value)),
    }
}

fn constant(design: &Design, ty: &Type, constant: &Const) -> Option<Value> {
    Some(match constant {
        Const::Null => Value::Null,
        Const::Bool(value) => json!(value),
        Const::Int(value) => number(ty, *value),
        Const::Text(text) => json!(text),
        Const::Enum(id, at) => {
            json!(design.enumerations[id.index()].constants.get(*at as usize)?)
        }
        _ => return None,
    })
}

/// Lengths of time that stand in a design, also as the least and the most that may be asked for; each once, the longest
/// last.
pub fn lengths(design: &Design) -> Vec<i64> {
    let mut lengths = vec![1_000];
    for operation in &design.operations {
        if let OperationKind::Repair { after, every, .. } = operation.kind {
            lengths.extend(after.into_iter().chain(every));
        }
        visit::operation_exprs(operation, &mut |value| {
            visit::each(value, &mut |part: &Expr| {
                if let ExprKind::Literal(Const::Duration(ms)) = part.kind {
                    lengths.push(ms);
                }
            });
        });
    }
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    let ranges = params.filter(|param| *param.ty.required() == Type::Duration);
    lengths.extend(ranges.filter_map(|param| param.range).flat_map(|it| [it.low, it.high]));
    lengths.retain(|ms| (1..=LENGTH_MAX).contains(ms));
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}
