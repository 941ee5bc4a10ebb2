//! What may be done instead of a refused step, and whether a step would be refused.

use std::cell::RefCell;

use design::model::{BlobId, OperationId, StateId, SubjectId, Type};
use engine::{
    Command, Fetch, HashPart, LegalStep, Need, Outcome, Scratch, Truth, Word, legal_steps,
};
use layout::Pool;
use serde_json::{Map, Value, json};
use store::{Decision, Transaction};

use super::perform::fetch;
use super::reply::CallError;
use super::request::{Arguments, Asked, IfMatch, Request, arguments};
use crate::core::{Desk, Loaded, ReadError, Runtime, Schema, Source};
use crate::sight::{self, Eye, Looked, Mask};
use crate::values;

/// So often what the guards of other steps look at is fetched; each time leads one reference
/// further.
const ROUNDS_MAX: usize = 4;

/// After a refusal: the steps of the same actor that could be taken now, with the parameters that
/// were filled in.
pub fn legal(
    schema: &Schema,
    command: &Command<'_>,
    pool: &RefCell<Pool>,
    source: &dyn Source,
    eye: Option<&Eye<'_>>,
) -> Result<Vec<Value>, ReadError> {
    let mut loaded = Loaded::new(pool);
    let mut words = Vec::new();
    let mut refused = Scratch::default();
    while engine::step(&schema.program, &loaded, command, &mut refused) == Outcome::Need {
        if !fetch(schema, &mut loaded, refused.needs(), source, &mut words)? {
            return Ok(Vec::new());
        }
    }
    let mut scratch = Scratch::default();
    let mut steps = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let asking = Asking { loaded: &loaded, missing: RefCell::default() };
        steps = legal_steps(&schema.program, &asking, command, &refused, &mut scratch);
        let missing = asking.missing.into_inner();
        if missing.is_empty() || !fetch(schema, &mut loaded, &missing, source, &mut words)? {
            break;
        }
    }
    // a step that compares a secret is not told: what was given for one would be tried on another
    let guesses = |step: &LegalStep| schema.secret_places.compares(step.operation);
    steps.retain(|step| schema.is_callable(step.operation) && !guesses(step));
    if let Some(eye) = eye {
        let mut told = Vec::with_capacity(steps.len());
        for step in steps {
            if may_know(schema, command, &step, &loaded, source, eye)? {
                told.push(step);
            }
        }
        steps = told;
    }
    let pool = pool.borrow();
    Ok(steps.iter().map(|step| written(schema, step, &pool)).collect())
}

/// A step is told to a viewer who may take it, who sees the records that were filled in or named
/// them, and who sees of them what its guard looks at: that it holds tells of that.
fn may_know(
    schema: &Schema,
    command: &Command<'_>,
    step: &LegalStep,
    loaded: &Loaded<'_>,
    source: &dyn Source,
    eye: &Eye<'_>,
) -> Result<bool, ReadError> {
    let operation = &schema.design.operations[step.operation.index()];
    if !eye.acts_as(operation.actor) {
        return Ok(false);
    }
    let mentions = sight::guard(&schema.design, operation);
    let mut hidden: Vec<_> = mentions.states.into_iter().collect();
    hidden.retain(|(subject, state)| !eye.always(*subject, *state));
    let called = &schema.design.operations[command.operation.index()];
    let layout = schema.program.params(command.operation);
    for (param, filled) in operation.params.iter().zip(&step.params) {
        let (Type::Ref(subject), Some(key)) = (param.ty.required(), filled) else { continue };
        let named = called.params.iter().zip(&layout.fields).any(|(given, field)| {
            given.ty.required() == param.ty.required()
                && command.params[field.offset as usize] == *key
        });
        let words = loaded.find(*subject, *key).and_then(|at| loaded.words(at));
        let looked = Looked { subject: *subject, key: *key, words };
        let mask = eye.mask(looked, loaded.pool, Some(source))?;
        if mask == Mask::Nothing && !named {
            return Ok(false);
        }
        hidden.retain(|(of, state)| of != subject || !mask.shows(*state));
    }
    Ok(hidden.is_empty())
}

fn written(schema: &Schema, step: &LegalStep, pool: &Pool) -> Value {
    let design = &schema.design;
    let operation = &design.operations[step.operation.index()];
    let mut params = Map::new();
    for (param, filled) in operation.params.iter().zip(&step.params) {
        // what the server chooses is not sent
        if let (Some(word), None) = (filled, &param.generated) {
            let value = values::write(design, &param.ty, std::slice::from_ref(word), pool);
            params.insert(param.name.clone(), value);
        }
    }
    let actor = &design.actors[operation.actor.index()].name;
    json!({ "actor": actor, "operation": operation.name, "params": params })
}

/// Notes what was asked for and is not known.
struct Asking<'l, 's> {
    loaded: &'l Loaded<'s>,
    missing: RefCell<Vec<Need>>,
}

impl Truth for Asking<'_, '_> {
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        let found = self.loaded.record(subject, key);
        if matches!(found, Fetch::Unknown) {
            self.missing.borrow_mut().push(Need::Record { subject, key });
        }
        found
    }

    fn cache(&self, subject: SubjectId, state: StateId, key: Word, principal: Word) -> Fetch<'_> {
        self.loaded.cache(subject, state, key, principal)
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.loaded.key_part(subject, key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.loaded.key_of(subject, parts)
    }

    fn stored(&self, blob: BlobId, digest: Word) -> Option<bool> {
        let known = self.loaded.stored(blob, digest);
        if known.is_none() {
            self.missing.borrow_mut().push(Need::Stored { blob, digest });
        }
        known
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        self.loaded.hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        self.loaded.verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        self.loaded.included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        self.loaded.next_of(schedule, after)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        self.loaded.stored_time(subject, key)
    }
}

/// Is the record that the step is about as the caller last saw it? That is the record of its first
/// parameter that refers to one.
pub(crate) fn precondition(
    schema: &Schema,
    asked: &Asked<'_>,
    expected: &IfMatch,
    transaction: &dyn Transaction,
    pool: &Pool,
) -> Result<(), CallError> {
    let operation = &schema.design.operations[asked.id.index()];
    let layout = schema.program.params(asked.id);
    let about = operation.params.iter().enumerate().find_map(|(at, param)| match param.ty {
        Type::Ref(subject) if !param.new && param.generated.is_none() => {
            Some((subject, layout.fields[at].offset as usize))
        }
        _ => None,
    });
    let Some((subject, at)) = about else { return Err(CallError::Precondition) };
    let key = schema.codec().record_key(subject, asked.arguments.params[at], pool);
    let found = transaction.get(&key).map(|(version, _)| version.0);
    let implicit = schema.design.subjects[subject.index()].implicit;
    let holds = match (found.or(implicit.then_some(0)), expected) {
        (None, _) => false,
        (Some(_), IfMatch::Exists) => true,
        (Some(version), IfMatch::Versions(versions)) => versions.contains(&version),
    };
    if holds { Ok(()) } else { Err(CallError::Precondition) }
}

impl Runtime {
    /// Would this call be carried out now? Nothing is changed and nothing is counted; a refusal says
    /// what is legal instead.
    pub fn would(&self, request: &Request) -> Result<(), CallError> {
        let id = self.callable(request)?;
        let mut desk = self.desk();
        let surroundings = &*self.settings.surroundings;
        let read = arguments(&self.schema, id, request, surroundings, &mut desk.pool.borrow_mut());
        let request = Request { legal: true, ..request.clone() };
        let done = read.and_then(|mut arguments| {
            match self.schema.design.operations[id.index()].takes() {
                Some(_) => self.would_take(id, &request, &mut arguments, &mut desk),
                None => self.would_do(id, &request, &arguments, &mut desk),
            }
        });
        self.give_back(desk);
        done
    }

    pub(super) fn would_do(
        &self,
        id: OperationId,
        request: &Request,
        arguments: &Arguments,
        desk: &mut Desk,
    ) -> Result<(), CallError> {
        let mut decided = Err(CallError::NotFetched);
        let now = self.clock.now_ms();
        let asked = Asked { id, request, arguments, idempotent: None, now };
        self.transact(&mut |transaction| {
            decided = self.decide(&asked, transaction, desk).map(|_| ());
            Decision::Abandon
        })?;
        decided
    }
}
