//! Who calls: one principal after the other takes its steps, and keeps what it is told.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use design::model::{Design, Operation, OperationKind};
use runtime::{CallError, Remembered, Reply, Request, Settings};
use serde_json::Value;
use store::{Next, Surroundings};
use telemetry::Trace;

use crate::drawing::Drawing;
use crate::facts::{By, Event, Facts, Heard};
use crate::ledger::{Done, Ledger, Note, Shown};
use crate::locking::lock;
use crate::people::Person;
use crate::replacing::Stage;
use crate::running::Running;
use crate::running::position;
use crate::script::Act;
use crate::surroundings::Moved;
use crate::trouble::Trouble;

/// Who was told that the version is replaced asks the next one after so long.
const REPLACED: Duration = Duration::from_micros(300);
/// So often, and no version serves that could answer.
const REPLACED_MAX: u64 = 20_000;

/// Who was not answered by one of several servers asks another one after so long, and so often in one life.
const ASKS_ANOTHER: Duration = Duration::from_millis(2);
const TRIES_MAX: u64 = 40;

/// The number of a call that arrived once more, beside that of the first one.
const SECOND: u64 = 1 << 62;

/// A call whose answer is not known yet.
#[derive(Clone)]
pub(crate) struct Pending {
    number: u64,
    request: Request,
    lost: bool,
    /// it will arrive once more
    doubled: bool,
    rest_us: u64,
    again: bool,
    /// when it was asked first
    first_ms: u64,
    /// how often it was asked in this life
    tries: u64,
    /// the newest revision when it was asked
    head: u64,
}

impl Pending {
    /// Its tries are counted anew.
    pub fn begin_life(&mut self) {
        self.tries = 0;
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Reply, CallError>> + Send>>;

/// A call that is under way, and the number of the server that was asked.
struct UnderWay {
    pending: Pending,
    server: Option<usize>,
    answering: Answering,
}

/// What the callers of a world share.
pub(crate) struct Shared {
    pub design: Arc<Design>,
    pub people: Vec<Person>,
    pub drawing: Drawing,
    /// of a script that is given: what each caller does in this life; none: it is drawn
    pub given: Option<Vec<VecDeque<Act>>>,
    /// so many calls are left to this life
    pub left: usize,
    pub acts: Vec<Act>,
    pub pending: Vec<Option<Pending>>,
    pub memory: Vec<Remembered>,
    pub facts: Facts,
    pub story: Vec<Event>,
    pub trouble: Option<Trouble>,
    /// so many callers have not ended
    pub callers: usize,
    pub stage: Stage,
}

/// One principal, as a task: it waits for an answer before it calls again.
pub(crate) struct Caller {
    pub at: usize,
    pub shared: Arc<Mutex<Shared>>,
    pub ledger: Arc<Mutex<Ledger>>,
    pub running: Arc<Mutex<Running>>,
    pub surroundings: Arc<Moved>,
    /// of its task
    pub waker: Arc<OnceLock<Waker>>,
    call: Mutex<Option<UnderWay>>,
}

impl Caller {
    pub fn new(
        at: usize,
        shared: &Arc<Mutex<Shared>>,
        ledger: &Arc<Mutex<Ledger>>,
        running: &Arc<Mutex<Running>>,
        surroundings: &Arc<Moved>,
    ) -> Caller {
        Caller {
            at,
            shared: Arc::clone(shared),
            ledger: Arc::clone(ledger),
            running: Arc::clone(running),
            surroundings: Arc::clone(surroundings),
            waker: Arc::default(),
            call: Mutex::default(),
        }
    }

    pub fn step(&self) -> Next {
        let next = self.go_on();
        if next == Next::Ended {
            lock(&self.shared).callers -= 1;
        }
        next
    }

    fn go_on(&self) -> Next {
        let under_way = lock(&self.call).take();
        let Some(mut under_way) = under_way.or_else(|| self.begin()) else { return Next::Ended };
        let waker = self.waker.get().expect("its task is there before its first step");
        match under_way.answering.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Pending => {
                *lock(&self.call) = Some(under_way);
                Next::Woken
            }
            Poll::Ready(answer) => self.answered(under_way.pending, under_way.server, answer),
        }
    }

    fn begin(&self) -> Option<UnderWay> {
        let pending = self.next()?;
        let (server, runtime) = {
            let running = lock(&self.running);
            // who is not answered asks another server
            let Some((at, runtime)) = running.pick(pending.number + pending.tries) else {
                drop(running);
                // all are killed
                lock(&self.shared).pending[self.at] = Some(pending);
                return None;
            };
            let place = &running.servers[at].place;
            place.link.iter().for_each(|link| link.called());
            let number = place.number;
            (running.are_several().then_some(number), runtime)
        };
        let request = pending.request.clone();
        let answering = Box::pin(async move { runtime.call_async(&request).await });
        Some(UnderWay { pending, server, answering })
    }

    fn answered(
        &self,
        pending: Pending,
        server: Option<usize>,
        answer: Result<Reply, CallError>,
    ) -> Next {
        let asked_on = Pending { tries: pending.tries + 1, ..pending.clone() };
        let goes_on = server.is_none() || asked_on.tries < TRIES_MAX;
        // nothing was decided: the next version is asked, or another server
        if let Err(CallError::Replaced | CallError::Skewed(_)) = answer {
            let mut shared = lock(&self.shared);
            if server.is_none() && asked_on.tries > REPLACED_MAX {
                let what = "asking the version that took the place of this one".to_string();
                let error = "it was replaced, and no other one serves".to_string();
                shared.trouble.get_or_insert(Trouble::Failed { what, error });
                return Next::Ended;
            }
            shared.pending[self.at] = Some(asked_on);
            return if goes_on { Next::After(REPLACED) } else { Next::Ended };
        }
        let known = self.hear(&pending, server, answer);
        let mut shared = lock(&self.shared);
        shared.pending[self.at] = match known {
            true if pending.doubled => {
                shared.facts.doubled += 1;
                Some(self.second(&shared.design, &pending))
            }
            true => None,
            false => Some(Pending { again: true, ..asked_on }),
        };
        if shared.trouble.is_some() {
            return Next::Ended;
        }
        match known {
            true => Next::After(Duration::from_micros(pending.rest_us)),
            false if server.is_some() && goes_on => Next::After(ASKS_ANOTHER),
            false => Next::Ended,
        }
    }

    /// The same call once more, with what was remembered when it was made. Under its key it is the same call; without one
    /// it is another one. Nobody hears its answer.
    fn second(&self, design: &Design, pending: &Pending) -> Pending {
        let mut second =
            Pending { doubled: false, lost: true, again: true, tries: 0, ..pending.clone() };
        let Request { actor, operation: name, .. } = &pending.request;
        let kind = operation(design, actor, name).map(|operation| &operation.kind);
        if !matches!(kind, Some(OperationKind::Step { keyed: true })) {
            second.number |= SECOND;
            second.again = false;
            number_it(&mut second.request, second.number);
            lock(&self.ledger).lost.insert(second.number);
        }
        second
    }

    /// What is asked again comes first.
    fn next(&self) -> Option<Pending> {
        // others may go on meanwhile, so nothing is held
        let newest = lock(&self.running).newest(0);
        let head = newest.revision(&*self.surroundings);
        let mut shared = lock(&self.shared);
        if let Some(pending) = shared.pending[self.at].take() {
            shared.facts.asked_again += u64::from(pending.again);
            return Some(Pending { head, ..pending });
        }
        if shared.left == 0 {
            return None;
        }
        let act = match &mut shared.given {
            Some(queues) => queues[self.at].pop_front()?,
            None => {
                let Shared { drawing, design, people, .. } = &mut *shared;
                drawing.act(design, self.at, &people[self.at])
            }
        };
        shared.left -= 1;
        shared.acts.push(act.clone());
        shared.facts.calls += 1;
        if act.forgets {
            let who = shared.people[self.at].name.clone();
            // also what it knew as another actor
            let Shared { people, memory, .. } = &mut *shared;
            let own = people.iter().zip(memory).filter(|(person, _)| person.name == who);
            own.for_each(|(_, memory)| memory.forget());
            let (at_ms, text) =
                (self.surroundings.time_ms(), format!("{who} forgets what it knew"));
            let by = By::Caller { who: who.clone(), heard: None };
            shared.story.push(Event { at_ms, by, text });
            lock(&self.ledger).note(head, Note::Forgot(who));
        }
        let Some(request) = request(&shared, self.at, &act) else {
            // what it calls is not in the version that runs
            shared.facts.unusable += 1;
            return None;
        };
        if act.lost {
            shared.facts.lost_answers += 1;
            lock(&self.ledger).lost.insert(act.number);
        }
        let Act { number, lost, doubled, rest_us, .. } = act;
        let first_ms = self.surroundings.time_ms();
        Some(Pending {
            number,
            request,
            lost,
            doubled,
            rest_us,
            again: false,
            first_ms,
            tries: 0,
            head,
        })
    }

    /// False: what became of the call is not known.
    fn hear(
        &self,
        pending: &Pending,
        server: Option<usize>,
        answer: Result<Reply, CallError>,
    ) -> bool {
        let Pending { number, request, lost, again, .. } = pending;
        let newest = lock(&self.running).newest(0);
        let until = newest.revision(&*self.surroundings);
        let mut shared = lock(&self.shared);
        let shared = &mut *shared;
        let asked = server.map_or_else(String::new, |server| format!(" at server {server}"));
        let call =
            format!("{}[{}] of {}{asked}", request.actor, request.operation, request.principal);
        let told = match &answer {
            Ok(reply) if reply.replayed => format!("{call} asks again: done at {}", reply.revision),
            Ok(reply) => {
                format!("{call} {}: done, {}", Value::from(request.params.clone()), reply.revision)
            }
            Err(error) => format!("{call} {}: {error}", Value::from(request.params.clone())),
        };
        let at_ms = self.surroundings.time_ms();
        let unheard = if *lost && answer.is_ok() { "; the answer is lost" } else { "" };
        let heard = match &answer {
            Ok(_) if *lost => Heard::Nothing,
            Ok(_) => Heard::Done,
            Err(CallError::Store(_)) => Heard::Nothing,
            Err(_) => Heard::Refused,
        };
        let by = By::Caller { who: request.principal.clone(), heard: Some(heard) };
        shared.story.push(Event { at_ms, by, text: told + unheard });
        match answer {
            Ok(reply) => {
                *shared.facts.done.entry(request.operation.clone()).or_default() += 1;
                shared.facts.replayed += u64::from(reply.replayed);
                if reply.replayed && !again {
                    let error =
                        format!("{call} was never made before, and was answered as if it had been");
                    let what = "an answer that is given again".to_string();
                    shared.trouble.get_or_insert(Trouble::Failed { what, error });
                }
                // where servers share a store, an answer that is given again says a later revision
                let exact = !(reply.replayed && server.is_some());
                self.done(shared, request, &reply, (*number, call, *lost, exact));
                true
            }
            Err(CallError::Refused(refused)) => {
                let kept_ms = Settings::default().idempotency_retention_ms.unsigned_abs();
                let mut ledger = lock(&self.ledger);
                // a version that takes its place tells records in another way
                if shared.stage == Stage::Before {
                    let (call, truth) = (call.clone(), refused.truth.clone());
                    ledger.shown(Shown { call, truth, from: pending.head, until });
                }
                if *again && at_ms < pending.first_ms.saturating_add(kept_ms) {
                    ledger.denied(*number, call);
                }
                drop(ledger);
                let place = (request.operation.clone(), refused.clause.clone());
                *shared.facts.refused.entry(place).or_default() += 1;
                shared.drawing.learn(&shared.design, &refused.truth);
                shared.drawing.suggest(&refused.legal);
                true
            }
            Err(CallError::Store(_)) => false,
            Err(CallError::Bad(_) | CallError::Secret(_) | CallError::Precondition) => {
                shared.facts.unusable += 1;
                true
            }
            Err(error) => {
                let trouble = Trouble::Failed { what: call, error: error.to_string() };
                shared.trouble.get_or_insert(trouble);
                true
            }
        }
    }

    fn done(
        &self,
        shared: &mut Shared,
        request: &Request,
        reply: &Reply,
        (number, call, lost, exact): (u64, String, bool, bool),
    ) {
        shared.drawing.learn(&shared.design, &reply.truth);
        let revision = position(&reply.revision);
        let design = &shared.design;
        let Some(operation) = operation(design, &request.actor, &request.operation) else { return };
        let mut ledger = lock(&self.ledger);
        if matches!(operation.kind, OperationKind::Read { .. }) {
            ledger.note(revision, Note::Heard(Box::new(request.clone()), reply.memory.clone()));
        } else {
            let changed = reply.truth.as_array().is_some_and(|truth| !truth.is_empty());
            ledger.told(number, Done { call, revision, changed, exact });
        }
        if lost {
            return;
        }
        shared.memory[self.at].keep(design, operation, &request.params, &reply.memory);
    }
}

/// A call as a caller makes it: with what it remembers, and under a key of its own.
fn request(shared: &Shared, at: usize, act: &Act) -> Option<Request> {
    let design = &shared.design;
    let operation = operation(design, &act.actor, &act.operation)?;
    let mut request = Request::new(&act.actor, &operation.name, &shared.people[at].name);
    request.legal = true;
    request.params.clone_from(&act.params);
    request.memory = shared.memory[at].given(design, operation, &act.params);
    if matches!(operation.kind, OperationKind::Step { .. }) {
        number_it(&mut request, act.number);
    }
    Some(request)
}

/// The number of a call is its key, and the feed tells of it.
fn number_it(request: &mut Request, number: u64) {
    request.idempotency_key = Some(format!("call-{number}"));
    request.trace = Trace::of_parent(&format!("00-{number:032x}-{:016x}-01", 1));
}

fn operation<'d>(design: &'d Design, actor: &str, name: &str) -> Option<&'d Operation> {
    let is_it = |it: &&Operation| it.name == name && design.actors[it.actor.index()].name == actor;
    design.operations.iter().find(is_it)
}
