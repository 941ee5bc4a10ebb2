//! One transition after the other, each performed again.

use std::cell::RefCell;
use std::sync::Arc;

use design::model::{Design, Goal, LocalId, MemoryUseId, OperationId, StateId, SubjectId, Type};
use engine::{Command, NULL, Word};
use layout::feed::{Asked, of_any};
use layout::{
    DesignNumber, FeedEntry, Head, OutboxEntry, OutboxKey, Pool, Reader, RecordKey, Space, Wrong,
    log_of, put_head, value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::departure::{Departure, Taken};
use super::goals::{Broken, Goals, Unwatched, Watched};
use super::world::{Memory, World};
use crate::calls::{Performed, Room, clause_name, perform};
use crate::core::{Got, Handles, Lowered, Plan, ReadError, Schema, Source};
use crate::logs::{self, Forgotten};
use crate::outbox::key_text;

/// The design does something else.
const ANOTHER: &str = "the design leaves another truth";

/// The truth that the walk has come to, as it is stored. Outbox entries are not part of it: they are closed by
/// attempts, which leave no trace in the feed when they fail.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) values: FxHashMap<Vec<u8>, Vec<u8>>,
    /// records that something happened to before the walk begins, which is not known any more
    unknown: FxHashSet<Vec<u8>>,
    /// it does not begin at the beginning
    pub(super) partial: bool,
}

impl Source for Walked {
    fn get(&self, key: &[u8]) -> Got<'_> {
        match self.values.get(key) {
            Some(value) => Got::Present(1, value),
            None if self.unknown.contains(key) => Got::Later,
            None => Got::Absent,
        }
    }

    /// Content is not in the feed. What was done with it was done while it was there.
    fn stored(&self, _digest: &[u8]) -> Option<bool> {
        Some(true)
    }
}

impl Walked {
    fn take(&mut self, plan: &Plan) {
        for (key, value) in plan.writes() {
            if Space::of(key) == Some(Space::Outbox) {
                continue;
            }
            match value {
                Some(value) => self.values.insert(key.to_vec(), value.to_vec()),
                None => self.values.remove(key),
            };
        }
    }
}

/// Walks the history of one design from its beginning.
pub struct Walk {
    pub(super) schema: Schema,
    /// of the transition that is performed: with a pool of its own, as it had when it was recorded
    pool: RefCell<Pool>,
    /// of the world, for the whole walk: what is equal stays equal from one transition to the next
    pub(super) lasting: RefCell<Pool>,
    room: Room,
    pub(super) walked: Walked,
    pub(super) world: World,
    goals: Goals,
    /// the calls to the world outside that were asked for, by the key that it sees
    pub(super) asked_outside: FxHashMap<String, (OperationId, Vec<Word>)>,
    pub(super) count: u64,
    /// nothing is performed again: transitions are taken as they were recorded
    trusting: bool,
}

impl Walk {
    /// Fails on a design that cannot be run, or whose histories do not say everything that its steps rest on.
    pub fn new(design: Design) -> Result<Walk, String> {
        Walk::numbered(design, DesignNumber(0))
    }

    /// The same for a design that is lowered already.
    pub fn of_lowered(lowered: &Arc<Lowered>) -> Result<Walk, String> {
        Walk::told(Schema::of(Arc::clone(lowered), DesignNumber(0)))
    }

    /// The same for a design that has this number in its store.
    pub(super) fn numbered(design: Design, number: DesignNumber) -> Result<Walk, String> {
        Walk::told(Schema::new(design, number)?)
    }

    fn told(schema: Schema) -> Result<Walk, String> {
        let mut params = schema.design.operations.iter().flat_map(|operation| &operation.params);
        if params.any(|param| param.ty.is_secret()) {
            return Err("steps of this design are decided by secrets, which no feed has".into());
        }
        Ok(Walk::of(schema, false))
    }

    /// Takes every transition as it was recorded. For a design whose steps rest on what no feed has, such as secrets.
    pub fn trusting(design: Design) -> Result<Walk, String> {
        Ok(Walk::of(Schema::new(design, DesignNumber(0))?, true))
    }

    fn of(schema: Schema, trusting: bool) -> Walk {
        let pool = || RefCell::new(Pool::new(schema.program.texts()));
        let (pool, lasting) = (pool(), pool());
        let mut world = World::new(&schema.design, &schema.program);
        let goals = Goals::of(&schema.design, &schema.program);
        for (subject, column) in goals.columns() {
            world.index_by(subject, column);
        }
        Walk {
            schema,
            pool,
            lasting,
            room: Room::default(),
            walked: Walked { partial: trusting, ..Walked::default() },
            world,
            goals,
            asked_outside: FxHashMap::default(),
            count: 0,
            trusting,
        }
    }

    /// How many transitions were walked.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The next entry of the feed. `answered`: whoever called was told, and remembers what the step hands out.
    pub fn take(&mut self, entry: &[u8], answered: bool) -> Result<Taken, Departure> {
        let count = self.count;
        let wrong = |wrong: Wrong| Departure::unreadable(count, wrong);
        let recorded = of_any(entry).ok_or_else(|| wrong(Wrong::EndsEarly))?;
        let read = FeedEntry::parse(recorded).map_err(wrong)?;
        self.pool.borrow_mut().reset();
        let asked = self.schema.codec().take_asked(&read, &mut self.pool.borrow_mut());
        let asked = asked.map_err(wrong)?;
        self.world.begin(asked.now);
        let taken = match log_of(asked.operation) {
            Some(log) => self.take_forgetting(recorded, &read, log)?,
            None => self.take_performed(recorded, &read, &asked, answered)?,
        };
        self.take_changes(&read).map_err(|error| Departure::damaged(count, error))?;
        self.count += 1;
        Ok(taken)
    }

    /// Old entries of a log go.
    fn take_forgetting(
        &mut self,
        recorded: &[u8],
        read: &FeedEntry<'_>,
        log: StateId,
    ) -> Result<Taken, Departure> {
        let (count, at) = (self.count, read.now);
        let forgotten = self.forgotten(read, (log, at));
        let (operation, plan) = forgotten.map_err(|error| Departure::damaged(count, error))?;
        let trusted = self.walked.partial;
        match plan {
            _ if trusted => self.trust(read),
            None => {
                let what = "nothing is old enough to be forgotten";
                return Err(Departure::at(count, &operation, what));
            }
            Some(plan) if !self.schema.says_the_same(&plan.feed, recorded) => {
                return Err(Departure::at(count, &operation, ANOTHER));
            }
            Some(plan) => self.walked.take(&plan),
        }
        let (actor, principal) = (logs::ACTOR.to_string(), Vec::new());
        Ok(Taken { actor, operation, principal, at, trace: None, trusted })
    }

    /// An operation of the design is performed again, and must do what was recorded.
    fn take_performed(
        &mut self,
        recorded: &[u8],
        read: &FeedEntry<'_>,
        asked: &Asked,
        answered: bool,
    ) -> Result<Taken, Departure> {
        let count = self.count;
        let me = match &asked.principal {
            Some(principal) => self.pool.borrow_mut().text(principal),
            None => NULL,
        };
        let command = Command {
            operation: asked.operation,
            params: &asked.params,
            memory: &asked.memory,
            me,
            now: asked.now,
            answer: asked.answer,
        };
        if self.trusting {
            let operation = &self.schema.design.operations[asked.operation.index()];
            let taken = Taken {
                actor: self.schema.design.actors[operation.actor.index()].name.clone(),
                operation: operation.name.clone(),
                principal: asked.principal.clone().unwrap_or_default(),
                at: asked.now,
                trace: read.trace.clone(),
                trusted: true,
            };
            self.trust(read);
            return Ok(taken);
        }
        self.room.trace.clone_from(&read.trace);
        let performed =
            perform(&self.schema, &command, &self.pool, &self.walked, count, &mut self.room);
        let operation = &self.schema.design.operations[asked.operation.index()];
        let mut taken = Taken {
            actor: self.schema.design.actors[operation.actor.index()].name.clone(),
            operation: operation.name.clone(),
            principal: asked.principal.clone().unwrap_or_default(),
            at: asked.now,
            trace: read.trace.clone(),
            trusted: false,
        };
        match performed.map_err(|error| Departure::damaged(count, error))? {
            Performed::Later => {
                self.trust(read);
                taken.trusted = true;
            }
            Performed::Refused(refused) => {
                let clause = clause_name(operation, &refused.refusal);
                let what = format!("the design refuses this by `{clause}`");
                return Err(Departure::at(count, &taken.operation, what));
            }
            Performed::Done(done) if !self.schema.says_the_same(&done.plan.feed, recorded) => {
                return Err(Departure::at(count, &taken.operation, ANOTHER));
            }
            Performed::Done(done) => {
                self.walked.take(&done.plan);
                if self.goals.read_the_outside() {
                    keep_asked(&self.schema, &self.lasting, &done.plan, &mut self.asked_outside);
                }
                if let Some(principal) = &asked.principal {
                    let handed_out = if answered { &done.memory[..] } else { &[] };
                    let known = self.take_caller(principal, asked, handed_out);
                    known.map_err(|wrong| Departure::unreadable(count, wrong))?;
                }
                self.room.reuse(done);
            }
        }
        Ok(taken)
    }

    /// Who called is known from now on, and remembers what it was told.
    fn take_caller(
        &mut self,
        principal: &[u8],
        asked: &Asked,
        handed_out: &[(MemoryUseId, Word)],
    ) -> Result<(), Wrong> {
        let design = &self.schema.design;
        let operation = &design.operations[asked.operation.index()];
        let me = self.lasting.borrow_mut().text(principal);
        self.world.met(operation.actor, me);
        for (used, word) in handed_out {
            let used = &operation.memory[used.index()];
            let of = match of_param(&self.schema, asked.operation, used.of, &asked.params) {
                Some((ty, word)) => self.lasting_word(ty, word)?,
                None => NULL,
            };
            let ty = &design.actors[used.actor.index()].memory[used.field.index()].ty;
            let word = self.lasting_word(ty, *word)?;
            let place = Memory { principal: me, actor: used.actor, field: used.field, of };
            self.world.remember(place, word);
        }
        Ok(())
    }

    /// What was recorded is so, whatever it rests on.
    fn trust(&mut self, read: &FeedEntry<'_>) {
        for change in &read.changes {
            let key = self.schema.codec().key_of(change.subject, change.key).to_bytes();
            self.walked.unknown.remove(&key);
            match change.truth {
                None => self.walked.values.remove(&key),
                Some(truth) => {
                    let mut value = Vec::new();
                    put_head(&mut value, &Head { written_at: read.now, due: Vec::new() });
                    value.extend_from_slice(truth);
                    self.walked.values.insert(key, value)
                }
            };
        }
    }

    /// Begins with these records instead of none. What is said of `unknown` ones before they change rests on what
    /// nobody knows any more.
    pub(super) fn begin_with(
        &mut self,
        records: Vec<(Vec<u8>, Vec<u8>)>,
        unknown: FxHashSet<Vec<u8>>,
    ) -> Result<(), ReadError> {
        self.walked.partial = true;
        self.walked.unknown = unknown;
        for (key, value) in records {
            self.begin_with_one(key, value)?;
        }
        Ok(())
    }

    /// This is stored when the walk begins.
    pub(super) fn begin_with_one(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<(), ReadError> {
        if Space::of(&key) == Some(Space::Record) {
            let record = RecordKey::parse(&key)?;
            let (subject, mut words) = (record.subject, Vec::new());
            let codec = self.schema.codec();
            let handle = codec.handle(record, &mut self.lasting.borrow_mut())?;
            let head = codec.take_record(&key, &value, subject, &self.lasting, &mut words)?;
            let part = |at| Handles(&self.lasting).key_part(handle, at);
            self.world.set((subject, handle), Some(words.into()), head.written_at, &part);
            imply_parts(&self.schema.design, &mut self.world, &self.lasting, (subject, handle));
        }
        self.walked.values.insert(key, value);
        Ok(())
    }

    /// A record as the walk has left it; none: there is none.
    pub(super) fn stored(&self, key: &[u8]) -> Option<&[u8]> {
        self.walked.values.get(key).map(Vec::as_slice)
    }

    /// The records that the walk has left.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        let records = |key: &&Vec<u8>| Space::of(key) == Some(Space::Record);
        self.walked.values.keys().filter(records).map(Vec::as_slice)
    }

    /// A word of the transition that is performed, as the world has it.
    fn lasting_word(&self, ty: &Type, word: Word) -> Result<Word, Wrong> {
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        value::put(&mut bytes, &self.schema.design, ty, &[word], &self.pool.borrow());
        let mut reader = Reader::new(&bytes);
        let mut lasting = self.lasting.borrow_mut();
        value::take(&mut reader, &self.schema.design, ty, &mut lasting, &mut words)?;
        Ok(words[0])
    }

    fn take_changes(&mut self, read: &FeedEntry<'_>) -> Result<(), ReadError> {
        let codec = self.schema.codec();
        for change in &read.changes {
            let stored = codec.key_of(change.subject, change.key);
            let key = codec.handle(stored, &mut self.lasting.borrow_mut())?;
            let words = match change.truth {
                None => None,
                Some(truth) => {
                    let mut words = Vec::new();
                    codec
                        .take_truth(
                            truth,
                            change.subject,
                            &mut self.lasting.borrow_mut(),
                            &mut words,
                        )
                        .map_err(|wrong| ReadError::value(&stored.to_bytes(), wrong))?;
                    Some(words.into())
                }
            };
            if self.world.written(change.subject, key) > read.now {
                return Err(ReadError::feed(change.key, Wrong::TimeGoesBack));
            }
            let part = |at| Handles(&self.lasting).key_part(key, at);
            self.world.set((change.subject, key), words, read.now, &part);
            imply_parts(&self.schema.design, &mut self.world, &self.lasting, (change.subject, key));
        }
        Ok(())
    }

    /// What becomes of the log that a transition forgot entries of, and its name; no plan: nothing does.
    fn forgotten(
        &mut self,
        recorded: &FeedEntry<'_>,
        (log, now): (StateId, Word),
    ) -> Result<(String, Option<Plan>), ReadError> {
        let Walk { schema, pool, room, walked, .. } = self;
        let wrong = |wrong| ReadError::feed(recorded.principal, wrong);
        let change = recorded.changes.first().ok_or(wrong(Wrong::UnknownSubject))?;
        let name = logs::name(&schema.design, change.subject, log).map_err(wrong)?;
        let codec = schema.codec();
        let key = codec.handle(codec.key_of(change.subject, change.key), &mut pool.borrow_mut())?;
        match logs::forget(schema, (change.subject, key), log, now, pool, walked, room)? {
            Forgotten::Done(plan) => Ok((name, Some(plan))),
            Forgotten::Nothing(_) => Ok((name, None)),
        }
    }

    /// The invariants that the last transition broke. Where one ranges over very many records it is looked at only
    /// every so often, unless `all` of them are asked for.
    pub fn broken(&mut self, all: bool) -> Vec<Broken> {
        self.goals.broken(&self.schema, &self.world, &self.lasting, self.count, all)
    }

    /// The recoveries that are not reached in the truth that the walk has come to.
    pub fn not_recovered(&mut self) -> Vec<Broken> {
        self.goals.not_recovered(&self.schema, &self.world, &self.lasting)
    }

    /// The invariants that are watched, and at how many transitions each was.
    pub fn watched(&self) -> Vec<Watched> {
        self.goals.watched(&self.schema.design)
    }

    /// The goals that no history can be held to, and why.
    pub fn unwatched(&self) -> &[Unwatched] {
        self.goals.unwatched()
    }

    /// The history is held to these goals alone.
    pub fn watch_only(&mut self, is_watched: impl Fn(Goal) -> bool) {
        self.goals.keep(is_watched);
    }

    /// Only the feed is known: not what callers heard, nor what the world outside did.
    pub fn of_feed_alone(&mut self) {
        self.goals.of_feed_alone(&self.schema.design);
    }
}

/// The records that a key names are there, if their subject is implicit.
fn imply_parts(
    design: &Design,
    world: &mut World,
    pool: &RefCell<Pool>,
    (subject, key): (SubjectId, Word),
) {
    for (at, part) in (0..).zip(&design.subjects[subject.index()].keys) {
        let Some(other) = part.ty.subject() else { continue };
        let named = Handles(pool).key_part(key, at);
        if design.subjects[other.index()].implicit {
            world.imply(other, named, &|at| Handles(pool).key_part(named, at));
        }
        imply_parts(design, world, pool, (other, named));
    }
}

/// The record that this parameter refers to, and its type.
fn of_param<'s>(
    schema: &'s Schema,
    operation: OperationId,
    local: Option<LocalId>,
    params: &[Word],
) -> Option<(&'s Type, Word)> {
    let declared = &schema.design.operations[operation.index()].params;
    let at = declared.iter().position(|param| Some(param.local) == local)?;
    let field = schema.program.params(operation).fields.get(at)?;
    Some((&declared[at].ty, *params.get(field.range().start)?))
}

/// Calls to the world outside that a transition asks for.
fn keep_asked(
    schema: &Schema,
    pool: &RefCell<Pool>,
    plan: &Plan,
    asked: &mut FxHashMap<String, (OperationId, Vec<Word>)>,
) {
    for (key, value) in plan.writes() {
        let (Ok(outbox), Some(value)) = (OutboxKey::parse(key), value) else { continue };
        let Ok(entry) = OutboxEntry::take(value) else { continue };
        let mut reader = Reader::new(&entry.args);
        let params =
            schema.codec().take_params(&mut reader, outbox.operation, &mut pool.borrow_mut());
        // a round of a fan-out is no call to anybody
        let Ok(params) = params else { continue };
        asked.insert(key_text(schema, outbox.operation, outbox.name), (outbox.operation, params));
    }
}
