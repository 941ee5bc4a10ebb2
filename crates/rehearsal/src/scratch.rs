//! A store to try a design on by hand: steps are called one by one, time passes when somebody says so, and the world
//! outside answers what it is told to answer. Everything else is that of a server. In memory, and gone when it is
//! dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use design::model::{Design, Operation, OperationKind, Type};
use runtime::{
    CallError, Clock as _, Delivered, Fired, ManualClock, RecordPage, Remembered, Reply, Request,
    Runtime, Settings, Undelivered, Walk, Worked,
};
use serde_json::Value as Json;
use store::{Cursor, Partition, Store};

use crate::by_itself::{ATTEMPTS, Says, nothing};
use crate::expect::{self, Happened};
use crate::secrets::TestSecrets;
use crate::stage::START;

/// So much may happen by itself at a time.
const MOST: usize = 5_000;
/// So many lines of what happened by itself are told at a time.
const TOLD: usize = 50;
/// Nothing waits longer at a time: four hundred days.
pub const WAIT_MS_MAX: i64 = 400 * 86_400_000;

/// How much one scratch store may hold.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// transitions in its feed
    pub transitions: usize,
    /// bytes in its feed
    pub bytes: usize,
}

impl Default for Room {
    fn default() -> Room {
        Room { transitions: 2_000, bytes: 4 << 20 }
    }
}

/// What the world outside says when it is asked.
#[derive(Clone, PartialEq, Debug)]
pub enum Answered {
    Ok(Json),
    Refused,
    /// nobody will ever know
    Unknown,
}

/// What followed from something that was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Followed {
    /// repairs and messages, in the order in which they ran
    pub meanwhile: Vec<String>,
    /// goals that are broken now, and the reason if one could not be evaluated
    pub broken: Vec<String>,
}

pub struct Scratch {
    pub runtime: Arc<Runtime>,
    store: Arc<store::Memory>,
    clock: Arc<ManualClock>,
    remembered: BTreeMap<String, Remembered>,
    room: Room,
    walked: Cursor,
    transitions: usize,
    bytes: usize,
    keys: u64,
    /// none: goals cannot be looked at, and why
    judge: Result<Walk, String>,
    trusting: bool,
}

impl Scratch {
    /// An empty store for a design, also for one that some protection was taken out of.
    pub fn open(design: &Design, room: Room) -> Result<Scratch, String> {
        let clock = Arc::new(ManualClock::new(START));
        let store = Arc::new(store::Memory::new());
        let mut settings = Settings { secrets: Some(Arc::new(TestSecrets)), ..Settings::default() };
        settings.outbox.attempts_max = ATTEMPTS;
        let held = Arc::<store::Memory>::clone(&store);
        let runtime = Runtime::open_with_clock(design.clone(), held, settings, clock.clone());
        let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
        let (judge, trusting) = match expect::walk(design.clone()) {
            Ok((walk, trusting)) => (Ok(walk), trusting),
            Err(why) => (Err(why), false),
        };
        Ok(Scratch {
            runtime,
            store,
            clock,
            remembered: BTreeMap::new(),
            room,
            walked: Cursor::start(Partition::default()),
            transitions: 0,
            bytes: 0,
            keys: 0,
            judge,
            trusting,
        })
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub fn transitions(&self) -> usize {
        self.transitions
    }

    /// How long ago it was opened, by its own clock.
    pub fn passed_ms(&self) -> i64 {
        self.now_ms() - START
    }

    /// Why goals are not looked at here, if they are not.
    pub fn unjudged(&self) -> Option<&str> {
        self.judge.as_ref().err().map(String::as_str)
    }

    fn design(&self) -> &Design {
        self.runtime.design()
    }

    fn operation(&self, request: &Request) -> Option<&Operation> {
        let design = self.design();
        design.operations.iter().find(|known| {
            known.name == request.operation
                && design.actors[known.actor.index()].name == request.actor
        })
    }

    /// Why nothing more may be done here; none: there is room.
    pub fn is_full(&self) -> Option<String> {
        let Room { transitions, bytes } = self.room;
        if self.transitions >= transitions {
            return Some(format!("it holds {transitions} transitions, as many as it may"));
        }
        (self.bytes >= bytes)
            .then(|| format!("it holds {} KiB of history, as much as it may", bytes / 1024))
    }

    /// Calls a step or a read with what the caller remembers, and does everything that is due.
    pub fn call(&mut self, mut request: Request) -> (Result<Reply, CallError>, Followed) {
        self.content(&mut request);
        self.remind(&mut request);
        self.keys += 1;
        request.legal = true;
        let operation = self.operation(&request).cloned();
        let answer = self.runtime.call(&request);
        let mut followed = Followed::default();
        let trouble = self.follow(answer.is_ok());
        if let (Ok(reply), Some(operation)) = (&answer, &operation) {
            self.remembers(operation, request, reply);
        }
        let trouble = trouble.and_then(|()| self.settle(self.now_ms(), &mut followed.meanwhile));
        self.ends(trouble, &mut followed);
        (answer, followed)
    }

    /// Would this call be carried out now? Nothing is changed.
    pub fn would(&self, mut request: Request) -> Result<(), CallError> {
        self.remind(&mut request);
        self.runtime.would(&request)
    }

    /// The caller gives along what it remembers, and a key where one is asked for.
    fn remind(&self, request: &mut Request) {
        let Some(operation) = self.operation(request) else { return };
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        let memory = self
            .remembered
            .get(&request.principal)
            .map(|held| held.given(self.design(), operation, &request.params));
        if keyed && request.idempotency_key.is_none() {
            request.idempotency_key = Some(format!("call-{}", self.keys));
        }
        request.memory.extend(memory.unwrap_or_default());
    }

    /// Content is uploaded where its digest is asked for.
    fn content(&mut self, request: &mut Request) {
        let Some(operation) = self.operation(request) else { return };
        let is_digest = |ty: &Type| matches!(ty.required(), Type::Digest(_));
        let digests = operation.params.iter().filter(|param| is_digest(&param.ty));
        let names: Vec<String> = digests.map(|param| param.name.clone()).collect();
        for name in names {
            if let Some(Json::String(text)) = request.params.get_mut(&name)
                && let Ok(digest) = store::block_on(self.runtime.put_blob(text.as_bytes()))
            {
                self.bytes += text.len();
                *text = digest;
            }
        }
    }

    /// What the caller is told it keeps.
    fn remembers(&mut self, operation: &Operation, mut request: Request, reply: &Reply) {
        if let Some(chosen) = reply.result.as_object().filter(|_| operation.is_given()) {
            request.params.extend(chosen.clone());
        }
        let held = self.remembered.entry(request.principal.clone()).or_default();
        held.keep(self.runtime.design(), operation, &request.params, &reply.memory);
        let is_read = matches!(operation.kind, OperationKind::Read { .. });
        if (is_read || self.trusting) && !reply.memory.is_empty() {
            self.happen(&Happened::Heard(Box::new(request), reply.memory.clone()));
        }
    }

    /// A caller crashes: what it remembered is gone.
    pub fn forget(&mut self, principal: &str) -> Followed {
        if let Some(held) = self.remembered.get_mut(principal) {
            held.forget();
        }
        let mut followed = Followed::default();
        self.happen(&Happened::Forgot(principal.to_string()));
        self.ends(Ok(()), &mut followed);
        followed
    }

    /// Time goes on, and everything that is due on the way is done when it is due.
    pub fn wait(&mut self, ms: i64) -> Followed {
        let until = self.now_ms().saturating_add(ms.clamp(0, WAIT_MS_MAX));
        let mut followed = Followed::default();
        let trouble = self.settle(until, &mut followed.meanwhile);
        self.ends(trouble, &mut followed);
        followed
    }

    /// What the world outside is asked, and has not answered.
    pub fn asked(&self) -> Vec<Undelivered> {
        let mut open = self.runtime.undelivered().unwrap_or_default();
        open.retain(|(name, _)| self.is_effect(name));
        open
    }

    /// Records of a subject in the order of their keys, and whether there are more.
    pub fn records(&self, subject: &str, limit: usize) -> RecordPage {
        store::block_on(self.runtime.records(subject, None, limit)).unwrap_or_default()
    }

    fn is_effect(&self, name: &str) -> bool {
        let known = self.design().operations.iter().find(|known| known.name == name);
        known.is_some_and(|known| matches!(known.kind, OperationKind::Effect(_)))
    }

    /// The world outside answers. False: it is not asked this any more.
    pub fn answer(&mut self, asked: &Undelivered, answer: &Answered) -> (bool, Followed) {
        let mut followed = Followed::default();
        let delivered = match answer {
            Answered::Ok(value) => Delivered::Ok(value.clone()),
            Answered::Refused => Delivered::Refused(Json::Null),
            Answered::Unknown => nothing(),
        };
        let chosen =
            |name: &str, held: &serde_json::Map<String, Json>| name == asked.0 && *held == asked.1;
        let (mut there, mut trouble) = (false, Ok(()));
        // nobody knows once every attempt was made
        for _ in 0..ATTEMPTS {
            let says = Says { answer: delivered.clone(), asked: std::sync::Mutex::default() };
            match self.runtime.deliver_chosen(&says, &chosen) {
                Ok(Worked::Tried) => there = true,
                Ok(Worked::Idle(_)) => break,
                Ok(Worked::SetAside) => trouble = Err("the answer was set aside".to_string()),
                Err(error) => trouble = Err(error.to_string()),
            }
            trouble = trouble.and_then(|()| self.follow(true));
            let asked = says.asked.into_inner().ok().flatten();
            if let (Answered::Ok(_), Some(asked)) = (answer, &asked) {
                self.happen(&Happened::Did(asked.key.clone()));
            }
            if trouble.is_err() || *answer != Answered::Unknown {
                break;
            }
        }
        let trouble = trouble.and_then(|()| self.settle(self.now_ms(), &mut followed.meanwhile));
        self.ends(trouble, &mut followed);
        (there, followed)
    }

    fn settle(&mut self, until: i64, meanwhile: &mut Vec<String>) -> Result<(), String> {
        let mut count = 0;
        loop {
            self.due_now(&mut count, meanwhile)?;
            let next = self.runtime.due(1).map_err(|error| error.to_string())?;
            let Some(next) = next.first().map(|due| due.at.max(self.now_ms() + 1)) else { break };
            if next > until {
                break;
            }
            self.clock.reach(next);
        }
        self.clock.reach(until);
        self.due_now(&mut count, meanwhile)
    }

    /// Repairs that are due, and messages.
    fn due_now(&mut self, count: &mut usize, meanwhile: &mut Vec<String>) -> Result<(), String> {
        loop {
            *count += 1;
            if *count > MOST {
                return Err(format!("more than {MOST} things happen by themselves: time stopped"));
            }
            if let Some(full) = self.is_full() {
                return Err(full);
            }
            let before = self.runtime.counters().all();
            let fired = self.runtime.fire_one().map_err(|error| error.to_string())?;
            if fired == Fired::SetAside {
                return Err("a repair was set aside: it could not be worked on".into());
            }
            let idle = matches!(fired, Fired::Idle(_)) && !self.message_comes()?;
            // to the second, once it is long ago
            let passed = self.passed_ms();
            let fine = if passed < 10_000 { 0 } else { passed % 1_000 };
            let passed = design::model::duration_text(passed - fine);
            for ((name, was, _), (_, is, _)) in before.iter().zip(&self.runtime.counters().all()) {
                match is > was {
                    true if meanwhile.len() < TOLD => {
                        meanwhile.push(format!("{name}, at {passed}"))
                    }
                    true if meanwhile.len() == TOLD => meanwhile.push("and more".into()),
                    _ => {}
                }
            }
            self.follow(true)?;
            if idle {
                return Ok(());
            }
        }
    }

    /// One message, of those that come by themselves.
    fn message_comes(&self) -> Result<bool, String> {
        let says = Says { answer: nothing(), asked: std::sync::Mutex::default() };
        match self.runtime.deliver_chosen(&says, &|name, _| !self.is_effect(name)) {
            Ok(Worked::Tried) => Ok(true),
            Ok(Worked::Idle(_)) => Ok(false),
            Ok(Worked::SetAside) => Err("a message was set aside".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// What is new in the feed has happened.
    fn follow(&mut self, answered: bool) -> Result<(), String> {
        loop {
            let page = store::block_on(self.store.feed(self.walked, 1_000))
                .map_err(|error| error.to_string())?;
            for entry in page.commits.iter().flat_map(|commit| &commit.entries) {
                self.transitions += 1;
                self.bytes += entry.len();
                self.happen(&Happened::Entry(entry.to_vec(), answered));
            }
            if page.next == std::mem::replace(&mut self.walked, page.next) {
                return Ok(());
            }
        }
    }

    fn happen(&mut self, happened: &Happened) {
        let Ok(judge) = &mut self.judge else { return };
        if let Err(why) = expect::take(judge, happened) {
            self.judge = Err(why);
        }
    }

    fn ends(&mut self, trouble: Result<(), String>, followed: &mut Followed) {
        if let Err(why) = trouble {
            followed.meanwhile.push(why);
        }
        if let Ok(judge) = &mut self.judge {
            let broken = judge.broken(true).into_iter();
            followed.broken = broken
                .map(|held| match held.trouble {
                    None => held.goal,
                    Some(trouble) => format!("{} ({trouble})", held.goal),
                })
                .collect();
        }
    }
}
