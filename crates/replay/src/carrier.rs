//! Carries out one history on a runtime of its own: plays the callers, their memory, the network and
//! the world outside.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use design::model::{Design, ExprKind, Operation, OperationId, OperationKind, ViewForm, visit};
use model_checker::sample::{Answer, Call, Event, Refusal, Slot, State, Trouble, Value};
use runtime::{Fired, ManualClock, Request, Runtime, Settings, memory_name};
use serde_json::{Map, Value as Json};

use crate::door::{Door, Outcome};
use crate::json::{Evidence, START};

/// Why a history is not carried on.
#[derive(Debug)]
pub enum Stop {
    /// the runtime does something else than the checker
    Differs(String),
    /// this clause refuses what the checker has done
    Refused(String),
    /// the runtime does not take the call, for another reason
    NotTaken(String),
    /// a repair that the checker has done is not to be done here
    NotDue(String, Option<i64>),
    /// known, and said in the documents
    LeftOut(&'static str),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Differs(what) => write!(f, "{what}"),
            Stop::Refused(clause) => write!(f, "is accepted, and here refused by `{clause}`"),
            Stop::NotTaken(why) => write!(f, "is accepted, and here: {why}"),
            Stop::NotDue(repair, None) => write!(f, "`{repair}` runs, and here it is not due"),
            Stop::NotDue(repair, Some(at)) => {
                write!(f, "`{repair}` runs, and here it stands for {at}")
            }
            Stop::LeftOut(why) => write!(f, "{why}"),
        }
    }
}

pub type Carried = Result<(), Stop>;

pub fn differs<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Differs(what.into()))
}

pub struct Carrier {
    pub design: Arc<Design>,
    pub runtime: Arc<Runtime>,
    pub store: Arc<store::Memory>,
    pub clock: Arc<ManualClock>,
    pub door: Door,
    pub evidence: Evidence,
    pub memory: HashMap<Slot, Json>,
    /// what a paused caller still knows of what was overwritten
    kept: HashMap<Slot, Json>,
    in_flight: Vec<Underway>,
    /// messages that the runtime still has, and that are lost to the checker
    pub lost: Vec<String>,
    calls: u64,
    /// a message may come twice: of equal ones that are under way the checker keeps one
    pub messages_double: bool,
    /// messages of which there was more than one copy
    pub(crate) copied: RefCell<HashSet<String>>,
    /// a repair may stand for so much later than the checker does it
    pub patience_ms: i64,
    /// the keys of calls that reached the world outside, by effect and arguments
    pub(crate) reached: HashMap<String, String>,
    /// the keys of what the world outside has done since somebody asked
    pub done_outside: Vec<String>,
    /// what was asked last, and what came of it
    pub asked: Option<(Request, Outcome)>,
}

/// A call that has left.
struct Underway {
    call: Call,
    /// what it took along
    memory: Map<String, Json>,
    /// with this idempotency key
    key: Option<String>,
}

/// Two attempts: one that reaches the world and is not answered, and the last.
pub fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.outbox.attempts_max = 2;
    settings
}

impl Carrier {
    /// `tick_ms`: so long is a tick of the history in the design.
    pub fn new(design: &Arc<Design>, tick_ms: i64) -> Carrier {
        Carrier::through(design, tick_ms, |memory| memory)
    }

    /// The same, with something between the runtime and its store that sees what is asked.
    pub fn through(
        design: &Arc<Design>,
        tick_ms: i64,
        between: impl FnOnce(Arc<store::Memory>) -> Arc<dyn store::Store>,
    ) -> Carrier {
        let clock = Arc::new(ManualClock::new(START));
        let store = Arc::new(store::Memory::new());
        let design_of = Design::clone(design);
        let held = between(Arc::<store::Memory>::clone(&store));
        let runtime = Runtime::open_with_clock(design_of, held, settings(), clock.clone());
        Carrier {
            design: Arc::clone(design),
            runtime: Arc::new(runtime.expect("a design of the catalog opens")),
            store,
            clock,
            door: Door::Function,
            evidence: Evidence::new(tick_ms),
            memory: HashMap::new(),
            kept: HashMap::new(),
            in_flight: Vec::new(),
            lost: Vec::new(),
            calls: 0,
            messages_double: false,
            copied: RefCell::default(),
            patience_ms: 0,
            reached: HashMap::new(),
            done_outside: Vec::new(),
            asked: None,
        }
    }

    /// Makes it happen. `before` is the state it happens in.
    pub fn carry_out(&mut self, event: &Event, before: &State) -> Carried {
        match event {
            Event::Call(call, trouble, answer) => self.call(call, *trouble, answer, before),
            Event::Leave(call) => {
                let (memory, key) = (self.given(call, false), self.new_key(call));
                self.in_flight.push(Underway { call: call.clone(), memory, key });
                Ok(())
            }
            Event::Land(call, refused, clock) => {
                let landed = self.landed(call)?;
                let accepted = refused.is_none();
                let outcome = self.off(*clock, |it| it.ask(&landed, before, accepted));
                match (refused, outcome?) {
                    (None, Outcome::Done { .. }) => Ok(()),
                    (Some(refusal), outcome) => self.is_refused(refusal, &outcome),
                    (None, other) => Err(not_done(other)),
                }
            }
            Event::Drop(call) => self.landed(call).map(|_| ()),
            Event::Repair { repair, key, clock } => self.off(*clock, |it| it.repair(*repair, key)),
            Event::Attempt { effect, params, signs } => self.attempt(*effect, params, *signs),
            Event::Answer { effect, params, kind, value, clock, .. } => {
                self.off(*clock, |it| it.answer(*effect, params, *kind, value))
            }
            Event::Deliver { operation, params, refused, again, clock } => {
                self.off(*clock, |it| it.deliver(*operation, params, refused.as_ref(), *again))
            }
            Event::Lose { operation, params } => {
                let message = self.message(*operation, params)?;
                self.lost.push(message);
                Ok(())
            }
            Event::Tick => {
                self.clock.advance(self.evidence.tick_ms);
                Ok(())
            }
            Event::Crash { principal } => {
                self.memory.retain(|slot, _| slot.principal != *principal);
                self.kept.retain(|slot, _| slot.principal != *principal);
                Ok(())
            }
            Event::Put { content, .. } => {
                match store::block_on(self.runtime.put_blob(content.as_bytes())) {
                    Ok(_) => Ok(()),
                    Err(error) => differs(error.to_string()),
                }
            }
            Event::Decide { effect, params, yes } => {
                let message = self.message(*effect, params)?;
                if let Some(key) = self.reached.get(&message).filter(|_| *yes) {
                    self.done_outside.push(key.clone());
                }
                Ok(())
            }
            // nobody delivers across a partition, and copies are not kept
            Event::Cut | Event::Heal | Event::Evict => Ok(()),
        }
    }

    /// Something that happens while the clock is so many ticks off.
    fn off<T>(&mut self, ticks: i64, happens: impl FnOnce(&mut Carrier) -> T) -> T {
        let by = ticks * self.evidence.tick_ms;
        self.clock.advance(by);
        let happened = happens(self);
        self.clock.advance(-by);
        happened
    }

    /// A call or repair that is refused, with its clause.
    pub fn is_refused_here(&mut self, event: &Event, refusal: &Refusal, at: &State) -> Carried {
        match event {
            Event::Call(call, ..) => {
                let (memory, key) = (self.given(call, false), self.new_key(call));
                let made = Underway { call: call.clone(), memory, key };
                let outcome = self.ask(&made, at, false)?;
                self.is_refused(refusal, &outcome)
            }
            Event::Repair { repair, key, .. } => match self.fire(*repair, key)? {
                Fired::Done => {
                    differs(format!("is refused by `{}`, and here done", refusal.clause))
                }
                Fired::SetAside => differs("the repair was set aside"),
                Fired::Moved | Fired::Idle(_) => Ok(()),
            },
            other => differs(format!("{other:?} is not refused")),
        }
    }

    fn is_refused(&self, refusal: &Refusal, outcome: &Outcome) -> Carried {
        match outcome {
            Outcome::Refused { clause } if *clause == refusal.clause => Ok(()),
            // a parameter outside its range is not even taken
            Outcome::Failed(why)
                if refusal.clause == "range" && why.contains("expected a value in") =>
            {
                Ok(())
            }
            other => differs(format!("is refused by `{}`, and here: {other:?}", refusal.clause)),
        }
    }

    fn call(&mut self, call: &Call, trouble: Trouble, answer: &Answer, at: &State) -> Carried {
        let (given, key) = (self.given(call, trouble.stale), self.new_key(call));
        let made = Underway { call: call.clone(), memory: given, key };
        let outcome = self.off(trouble.clock, |it| it.ask(&made, at, true));
        let (memory, result) = match outcome? {
            Outcome::Done { memory, result, truth } => {
                self.told(&truth)?;
                (memory, result)
            }
            other => return Err(not_done(other)),
        };
        self.same_answer(call, answer, &memory, &result)?;
        let design = Arc::clone(&self.design);
        let operation = &design.operations[call.operation.index()];
        if trouble.stale {
            for (used, (slot, _)) in operation.memory.iter().zip(&call.memory) {
                if used.read {
                    self.kept.remove(slot);
                }
            }
        }
        if trouble.duplicate {
            self.in_flight.push(made);
        }
        if trouble.lost_reply || trouble.stale {
            return Ok(());
        }
        for (used, (slot, _)) in operation.memory.iter().zip(&call.memory) {
            let Some(new) = memory.get(&memory_name(&design, operation, used)) else { continue };
            let old = match new.is_null() {
                true => self.memory.remove(slot),
                false => self.memory.insert(slot.clone(), new.clone()),
            };
            if let Some(old) = old.filter(|old| trouble.pause && old != new) {
                self.kept.insert(slot.clone(), old);
            }
        }
        Ok(())
    }

    /// What an answer tells of the records it changed is what is stored.
    fn told(&self, truth: &Json) -> Carried {
        for told in truth.as_array().into_iter().flatten() {
            let subject = told["subject"].as_str().unwrap_or_default();
            let key = told["key"].as_array().cloned().unwrap_or_default();
            let held = self.door.truth(&self.runtime, subject, &key);
            let declared = self.design.subjects.iter().find(|known| known.name == subject);
            let implicit = declared.is_some_and(|declared| declared.implicit);
            if held.as_ref().unwrap_or(&Json::Null) != &told["truth"]
                && !(implicit && told["truth"].is_null())
            {
                return differs(format!("is told {told}, and there is {held:?}"));
            }
        }
        Ok(())
    }

    fn same_answer(
        &self,
        call: &Call,
        answer: &Answer,
        memory: &Map<String, Json>,
        result: &Json,
    ) -> Carried {
        let operation = &self.design.operations[call.operation.index()];
        let mut expected = BTreeMap::new();
        for (at, value) in &answer.memory {
            let used = &operation.memory[*at];
            let ty = &self.design.actors[used.actor.index()].memory[used.field.index()].ty;
            let name = memory_name(&self.design, operation, used);
            expected.insert(name, self.evidence.json(&self.design, ty, value));
        }
        if expected.keys().ne(memory.keys()) {
            return differs(format!("hands out {expected:?}, and here {memory:?}"));
        }
        for (name, value) in &expected {
            // over HTTP it is sealed
            if self.door.is_function() && value.as_ref().is_some_and(|it| *it != memory[name]) {
                return differs(format!("hands out {expected:?}, and here {memory:?}"));
            }
        }
        let OperationKind::Read { result: returns, .. } = &operation.kind else { return Ok(()) };
        let expected = answer.result.as_ref();
        let expected =
            expected.and_then(|value| self.evidence.result(&self.design, &returns.ty, value));
        match expected {
            Some(expected) if expected != *result => {
                differs(format!("answers {expected}, and here {result}"))
            }
            _ => Ok(()),
        }
    }

    /// What a caller of a read is to remember, by name; of a step it is in the feed.
    pub(crate) fn handed_out(&self, call: &Call, answer: &Answer) -> Map<String, Json> {
        let operation = &self.design.operations[call.operation.index()];
        let mut handed = Map::new();
        if !matches!(operation.kind, OperationKind::Read { .. }) {
            return handed;
        }
        for (at, value) in &answer.memory {
            let used = &operation.memory[*at];
            let ty = &self.design.actors[used.actor.index()].memory[used.field.index()].ty;
            if let Some(json) = self.evidence.json(&self.design, ty, value) {
                handed.insert(memory_name(&self.design, operation, used), json);
            }
        }
        handed
    }

    /// The memory that goes along, by the names that the answers gave.
    fn given(&self, call: &Call, older: bool) -> Map<String, Json> {
        let operation = &self.design.operations[call.operation.index()];
        let mut given = Map::new();
        for (used, (slot, _)) in operation.memory.iter().zip(&call.memory) {
            let kept = self.kept.get(slot).filter(|_| older);
            if let Some(value) = kept.or_else(|| self.memory.get(slot)).filter(|_| used.read) {
                given.insert(memory_name(&self.design, operation, used), value.clone());
            }
        }
        given
    }

    fn landed(&mut self, call: &Call) -> Result<Underway, Stop> {
        match self.in_flight.iter().position(|held| held.call == *call) {
            Some(at) => Ok(self.in_flight.swap_remove(at)),
            None => differs(format!("no such call is under way: {call:?}")),
        }
    }

    /// Asks with every proof that there could be, if one is to be right.
    fn ask(&mut self, made: &Underway, at: &State, accepted: bool) -> Result<Outcome, Stop> {
        let call = &made.call;
        if at.copies > 0 && looks_at_a_copy(&self.design, call.operation) {
            return Err(Stop::LeftOut(
                "a call that looks at a copy, of which the runtime keeps none",
            ));
        }
        let proof = call.params.iter().position(|param| *param == Value::Proof(true));
        let Some(proof) = proof else { return self.ask_once(made, None) };
        let mut proofs = Vec::new();
        for record in at.records.iter().filter_map(|record| record.truth.as_ref()) {
            for (_, value) in &record.attributes {
                self.evidence.proofs(value, &mut proofs);
            }
        }
        proofs.sort();
        proofs.dedup();
        let mut last = self.ask_once(made, None)?;
        for text in proofs {
            if let Outcome::Done { .. } = last {
                return match accepted {
                    true => Ok(last),
                    false => differs(format!("is refused, and here done with the proof `{text}`")),
                };
            }
            last = self.ask_once(made, Some((proof, text)))?;
        }
        Ok(last)
    }

    /// A key of its own for a call of a step that takes one.
    fn new_key(&mut self, call: &Call) -> Option<String> {
        let operation = &self.design.operations[call.operation.index()];
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        keyed.then(|| {
            self.calls += 1;
            format!("call-{}", self.calls)
        })
    }

    fn ask_once(
        &mut self,
        made: &Underway,
        proof: Option<(usize, String)>,
    ) -> Result<Outcome, Stop> {
        let call = &made.call;
        let operation = &self.design.operations[call.operation.index()];
        let actor = &self.design.actors[operation.actor.index()].name;
        let mut request = Request::new(actor, &operation.name, &call.principal);
        request.params = self.params(call.operation, &call.params)?;
        if let Some((at, text)) = proof {
            request.params.insert(operation.params[at].name.clone(), Json::String(text));
        }
        request.memory = made.memory.clone();
        request.idempotency_key = made.key.clone();
        let outcome = self.door.call(&self.runtime, &request);
        self.asked = Some((request, outcome.clone()));
        Ok(outcome)
    }

    pub fn params(
        &self,
        operation: OperationId,
        values: &[Value],
    ) -> Result<Map<String, Json>, Stop> {
        let mut params = Map::new();
        let operation = &self.design.operations[operation.index()];
        if measures(&self.design, operation) {
            return Err(Stop::LeftOut("a read of what is near"));
        }
        for (param, value) in operation.params.iter().zip(values) {
            // where a page begins is known to who was told the one before: all of them begin at the first row
            if is_paged(&self.design, operation) && param.name == "after" {
                continue;
            }
            let Some(json) = self.evidence.json(&self.design, &param.ty, value) else {
                return Err(Stop::LeftOut("an argument that cannot be told"));
            };
            params.insert(param.name.clone(), json);
        }
        Ok(params)
    }

    pub fn message(&self, operation: OperationId, params: &[Value]) -> Result<String, Stop> {
        let name = &self.design.operations[operation.index()].name;
        Ok(format!("{name} {}", Json::Object(self.params(operation, params)?)))
    }
}

fn not_done(outcome: Outcome) -> Stop {
    match outcome {
        Outcome::Refused { clause } => Stop::Refused(clause),
        other => Stop::NotTaken(format!("{other:?}")),
    }
}

/// Does it ask for the copy that a cache keeps?
fn looks_at_a_copy(design: &Design, operation: OperationId) -> bool {
    use design::model::{ExprKind, StateKind, visit};
    let mut found = false;
    visit::operation_exprs(&design.operations[operation.index()], &mut |expr| {
        visit::each(expr, &mut |part| match &part.kind {
            ExprKind::Exists { cache, .. } => found |= cache.is_some(),
            ExprKind::Attr { base, attr } => {
                if let Some(subject) = base.ty.subject() {
                    let subject = &design.subjects[subject.index()];
                    let state = subject.attributes[attr.index()].state;
                    let kind = subject.states[state.index()].kind;
                    found |= matches!(kind, StateKind::Cache { .. });
                }
            }
            _ => {}
        });
    });
    found
}

/// Does it answer with a view in pages? Then the view has more arguments than parameters.
fn is_paged(design: &Design, operation: &Operation) -> bool {
    let OperationKind::Read { result } = &operation.kind else { return false };
    let ExprKind::View { view, args } = &result.kind else { return false };
    args.len() > design.views[view.index()].params.len()
}

/// Does it read what is near? That depends on where exactly things are, and the checker does not say.
pub fn measures(design: &Design, operation: &Operation) -> bool {
    let mut found = false;
    visit::operation_exprs(operation, &mut |value| {
        visit::each(value, &mut |part| {
            if let ExprKind::View { view, .. } = &part.kind {
                found |= matches!(design.views[view.index()].form, ViewForm::Near { .. });
            }
        });
    });
    found
}
