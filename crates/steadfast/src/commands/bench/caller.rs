//! One client: any step, any parameters, and what it remembers.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Instant;

use design::model::{Design, OperationKind, SubjectId, Type};
use runtime::{CallError, Remembered, Reply, Request, Runtime};
use serde_json::{Map, Value, json};
use store::Seeded;

use crate::problem::Problem;

/// Records that were made lately are called about most.
const RECENT: usize = 64;

/// What clients make is numbered apart: each has so many numbers.
const NUMBERS: u64 = 10_000_000_000;

/// What one client saw.
#[derive(Default)]
pub struct Tally {
    /// of each answer, in microseconds
    pub waits: Vec<u32>,
    /// by step: how often it was done, and refused by which clause
    pub steps: BTreeMap<String, (u64, BTreeMap<String, u64>)>,
}

pub struct Caller<'r> {
    runtime: &'r Runtime,
    random: Seeded,
    number: u64,
    /// the numbers of the records that it calls about
    keys: Range<u64>,
    made: u64,
    steps: Vec<usize>,
    recent: HashMap<SubjectId, Vec<Value>>,
    memory: Remembered,
    pub tally: Tally,
}

impl<'r> Caller<'r> {
    /// What it makes is numbered from the first of the keys as well: no other run on the store has made it.
    pub fn new(runtime: &'r Runtime, number: u64, keys: Range<u64>) -> Caller<'r> {
        let operations = runtime.design().operations.iter().enumerate();
        let steps = operations
            .filter(|(_, known)| matches!(known.kind, OperationKind::Step { .. }))
            .map(|(at, _)| at)
            .collect();
        Caller {
            runtime,
            random: Seeded::new(number),
            number,
            made: keys.start,
            keys,
            steps,
            recent: HashMap::new(),
            memory: Remembered::default(),
            tally: Tally::default(),
        }
    }

    /// Calls, and holds up its thread until it is answered.
    pub fn call(&mut self) -> Result<(), Problem> {
        let (operation, request) = self.ask();
        let begun = Instant::now();
        let answer = self.runtime.call(&request);
        self.hear(operation, request, begun, answer)
    }

    /// The same, without a thread that waits.
    pub async fn call_async(&mut self) -> Result<(), Problem> {
        let (operation, request) = self.ask();
        let begun = Instant::now();
        let answer = self.runtime.call_async(&request).await;
        self.hear(operation, request, begun, answer)
    }

    /// The next call, and where its operation stands.
    fn ask(&mut self) -> (usize, Request) {
        let design = self.runtime.design();
        let at = self.steps[self.random.below(self.steps.len() as u64) as usize];
        let operation = &design.operations[at];
        let actor = &design.actors[operation.actor.index()].name;
        let mut request =
            Request::new(actor, &operation.name, &format!("client-{}", self.number)).brief();
        for param in &operation.params {
            if param.default.is_some() || param.generated.is_some() {
                continue;
            }
            let value = match &param.ty {
                Type::Ref(subject) if param.new => self.made(design, *subject),
                ty => self.value(design, ty),
            };
            request.params.insert(param.name.clone(), value);
        }
        request.memory = self.memory.given(design, operation, &request.params);
        if matches!(operation.kind, OperationKind::Step { keyed: true }) {
            self.made += 1;
            request.idempotency_key = Some(format!("{}-{}", self.number, self.made));
        }
        (at, request)
    }

    fn hear(
        &mut self,
        operation: usize,
        mut request: Request,
        begun: Instant,
        answer: Result<Reply, CallError>,
    ) -> Result<(), Problem> {
        let design = self.runtime.design();
        let operation = &design.operations[operation];
        let wait = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
        let step = self.tally.steps.entry(operation.name.clone()).or_default();
        match answer {
            Ok(reply) => {
                step.0 += 1;
                request.params.extend(reply.result.as_object().cloned().unwrap_or_default());
                self.memory.keep(design, operation, &request.params, &reply.memory);
            }
            Err(CallError::Refused(refused)) => *step.1.entry(refused.clause).or_default() += 1,
            Err(error) => {
                return Err(Problem::new(format!("`{}`: {error}", operation.name)));
            }
        }
        self.tally.waits.push(wait);
        Ok(())
    }

    /// The key of a record that is not there yet.
    fn made(&mut self, design: &Design, subject: SubjectId) -> Value {
        self.made += 1;
        let number = self.number * NUMBERS + self.made;
        let key = self.key(design, subject, Some(number));
        let recent = self.recent.entry(subject).or_default();
        if recent.len() < RECENT {
            recent.push(key.clone());
        } else {
            recent[(self.made % RECENT as u64) as usize] = key.clone();
        }
        key
    }

    fn reference(&mut self, design: &Design, subject: SubjectId) -> Value {
        let known = self.recent.get(&subject).map_or(0, Vec::len) as u64;
        if known > 0 && self.random.percent(90) {
            let at = self.random.below(known) as usize;
            return self.recent[&subject][at].clone();
        }
        self.key(design, subject, None)
    }

    fn key(&mut self, design: &Design, subject: SubjectId, number: Option<u64>) -> Value {
        let mut parts = Vec::new();
        for part in &design.subjects[subject.index()].keys {
            let value = match &part.ty {
                Type::Ref(other) => self.reference(design, *other),
                Type::Int => json!(number.unwrap_or_else(|| self.drawn())),
                Type::Text | Type::Bytes | Type::Actor | Type::PublicKey => {
                    let number = number.unwrap_or_else(|| self.drawn());
                    json!(format!("{}-{number}", part.name))
                }
                ty => self.value(design, ty),
            };
            match value {
                Value::Array(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        Value::Array(parts)
    }

    fn drawn(&mut self) -> u64 {
        self.keys.start + self.random.below(self.keys.end - self.keys.start)
    }

    fn value(&mut self, design: &Design, ty: &Type) -> Value {
        match ty {
            Type::Ref(subject) => self.reference(design, *subject),
            Type::Int => json!(self.random.below(10)),
            Type::Bool => json!(self.random.percent(50)),
            Type::Decimal | Type::Money(_) => json!(format!("{}.50", self.random.below(100))),
            Type::Time => json!("2030-01-01T00:00:00Z"),
            Type::Duration => json!("1s"),
            Type::Schedule => json!("*/15 * * * *"),
            Type::Json => json!({ "n": self.random.below(10) }),
            Type::Point => json!([self.random.below(90), self.random.below(90)]),
            Type::Enum(id) => {
                let constants = &design.enumerations[id.index()].constants;
                json!(constants[self.random.below(constants.len() as u64) as usize])
            }
            Type::Optional(_) => Value::Null,
            Type::List { of, .. } | Type::Set { of, .. } => json!([self.value(design, of)]),
            Type::Struct(fields) => {
                let mut record = Map::new();
                for field in fields {
                    let value = match field.range {
                        Some(range) if field.ty.required() == &Type::Int => json!(range.low),
                        _ => self.value(design, &field.ty),
                    };
                    record.insert(field.name.clone(), value);
                }
                Value::Object(record)
            }
            Type::Map { .. } => json!({}),
            _ => json!(format!("text-{}", self.drawn())),
        }
    }
}
