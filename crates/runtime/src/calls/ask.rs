//! A call that is ready to be decided. Everything it needs is its own, so that whoever leads its group
//! can decide it.

use std::cell::RefCell;

use design::model::{OperationId, SubjectId, Type};
use engine::{NULL, Word};
use layout::{OutcomeKey, Pool};
use store::Keys;
use telemetry::Trace;

use super::idempotency;
use super::reply::Reply;
use super::request::{Arguments, IfMatch, Request};
use crate::core::Schema;
use crate::sight::Viewer;

/// Its room is used again from call to call.
pub struct Ask {
    pub id: OperationId,
    /// holds the handles of its arguments
    pub pool: RefCell<Pool>,
    pub arguments: Arguments,
    pub terms: Terms,
    pub expected: Expected,
    /// where its answer is written in JSON; none: it is a [`Reply`]
    pub text: Option<Vec<u8>>,
}

/// What a call asks for besides its arguments.
#[derive(Default)]
pub struct Terms {
    /// whose eyes the answer is for; none: nothing is left out
    pub viewer: Option<Viewer>,
    /// a refusal tells what is legal instead
    pub legal: bool,
    /// the answer need not tell the truth of what was changed
    pub brief: bool,
    pub if_match: Option<IfMatch>,
    /// where its outcome is kept, and what a second call must agree with
    pub idempotent: Option<(OutcomeKey, u128)>,
    /// which request this is a part of
    pub trace: Option<Trace>,
}

/// An answer that waits until it may be told.
pub enum Told {
    Reply(Reply),
    /// in JSON
    Text(Vec<u8>),
}

/// The records that a call is sure to read, because its parameters refer to them.
#[derive(Default)]
pub struct Expected {
    pub records: Vec<(SubjectId, Word)>,
    /// where each of them lies in the store
    pub keys: Keys,
}

impl Ask {
    pub fn new(schema: &Schema) -> Ask {
        Ask {
            id: OperationId(0),
            pool: RefCell::new(Pool::new(schema.program.texts())),
            arguments: Arguments::default(),
            terms: Terms::default(),
            expected: Expected::default(),
            text: None,
        }
    }

    /// Another call takes its place.
    pub fn begin(&mut self, id: OperationId) {
        self.id = id;
        self.pool.get_mut().reset();
        self.arguments.clear();
        self.expected.clear();
    }

    pub fn set_terms(&mut self, schema: &Schema, request: &Request) {
        let key = request.idempotency_key.as_ref();
        self.terms = Terms {
            viewer: request.viewer.clone(),
            legal: request.legal,
            brief: request.brief,
            if_match: request.if_match.clone(),
            idempotent: key.map(|key| {
                (idempotency::key(schema.number, request, key), idempotency::payload(request))
            }),
            trace: request.trace.clone(),
        };
    }

    /// Finds out which records it is sure to read.
    pub fn expect(&mut self, schema: &Schema) {
        let Ask { id, pool, arguments, expected, .. } = self;
        let operation = &schema.design.operations[id.index()];
        let fields = &schema.program.params(*id).fields;
        for (param, field) in operation.params.iter().zip(fields) {
            let Type::Ref(subject) = param.ty.required() else { continue };
            let key = arguments.params[field.offset as usize];
            if key != NULL {
                expected.add(schema, *subject, key, pool.get_mut());
            }
        }
    }
}

impl Expected {
    fn clear(&mut self) {
        self.records.clear();
        self.keys.clear();
    }

    fn add(&mut self, schema: &Schema, subject: SubjectId, key: Word, pool: &Pool) {
        if self.records.contains(&(subject, key)) {
            return;
        }
        self.records.push((subject, key));
        self.keys.push_with(|out| schema.codec().put_record_key(out, subject, key, pool));
    }
}
