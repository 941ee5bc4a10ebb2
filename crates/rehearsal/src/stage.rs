//! One test on a runtime of its own: callers with what they remember, a clock, a network, a world outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use design::model::{
    Design, Expectation, Operation, OperationId, OperationKind, Span, Test, TestArgs, TestCall,
    TestLine, TestLineKind, TestOutcome, TestValue, Type, ViewId,
};
use runtime::{CallError, Clock, ManualClock, Reply, Request, Runtime, Settings, ViewQuery, Walk};
use serde_json::{Map, Value as Json};
use store::{Cursor, Partition, Store};

use crate::by_itself::ATTEMPTS;
use crate::expect::{self, Happened};
use crate::secrets::TestSecrets;
use crate::telling::{Seen, happened, seen, told_rows};
use crate::value::{Values, shown};

/// When every test begins: 2023-11-14T22:13:20Z.
pub(crate) const START: i64 = 1_700_000_000_000;

/// A line that came to something else than it says.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    pub span: Span,
    pub expected: String,
    pub happened: String,
    /// records as they were then
    pub seen: Vec<Seen>,
    /// what happened by itself in this line
    pub meanwhile: Vec<String>,
    /// how long the test had been going on
    pub after_ms: i64,
}

type Carried = Result<(), Box<Failure>>;

/// What came of a line: what was expected, what happened, and which records show it.
pub(crate) struct Differs {
    pub expected: String,
    pub happened: String,
    pub seen: Vec<Seen>,
}

pub(crate) fn differs(expected: impl Into<String>, happened: impl Into<String>) -> Differs {
    Differs { expected: expected.into(), happened: happened.into(), seen: Vec::new() }
}

/// Whose memory: principal, actor, subject, key, field.
type Place = (String, String, String, Vec<u8>, String);

pub struct Stage<'t> {
    pub(crate) design: &'t Design,
    test: &'t Test,
    pub runtime: Runtime,
    store: Arc<store::Memory>,
    pub(crate) clock: Arc<ManualClock>,
    /// what each name stands for
    names: Vec<Option<Json>>,
    memory: BTreeMap<Place, Json>,
    /// messages of these steps come when the test says so
    pub(crate) by_hand: BTreeSet<String>,
    pub(crate) lost: Vec<String>,
    /// answers of the world outside that were given
    pub answered: BTreeSet<(usize, &'static str)>,
    walked: Cursor,
    happened: Vec<Happened>,
    judge: Walk,
    trusting: bool,
    keys: u64,
    pub(crate) meanwhile: Vec<String>,
}

impl<'t> Stage<'t> {
    pub fn new(design: &'t Design, test: &'t Test) -> Result<Stage<'t>, String> {
        let clock = Arc::new(ManualClock::new(START));
        let store = Arc::new(store::Memory::new());
        let mut settings = Settings { secrets: Some(Arc::new(TestSecrets)), ..Settings::default() };
        settings.outbox.attempts_max = ATTEMPTS;
        let held = Arc::<store::Memory>::clone(&store);
        let runtime = Runtime::open_with_clock(design.clone(), held, settings, clock.clone());
        let (judge, trusting) = expect::walk(design.clone())?;
        let name = |operation: OperationId| design.operations[operation.index()].name.clone();
        let by_hand = test.lines.iter().filter_map(|line| match &line.kind {
            TestLineKind::Deliver { operation, .. } | TestLineKind::Lose { operation, .. } => {
                Some(name(*operation))
            }
            _ => None,
        });
        let given = |known: &design::model::TestName| {
            (!known.chosen).then(|| Json::String(known.name.clone()))
        };
        Ok(Stage {
            design,
            test,
            runtime: runtime.map_err(|error| error.to_string())?,
            store,
            clock,
            names: test.names.iter().map(given).collect(),
            memory: BTreeMap::new(),
            by_hand: by_hand.collect(),
            lost: Vec::new(),
            answered: BTreeSet::new(),
            walked: Cursor::start(Partition::default()),
            happened: Vec::new(),
            judge,
            trusting,
            keys: 0,
            meanwhile: Vec::new(),
        })
    }

    pub(crate) fn operation(&self, id: OperationId) -> &'t Operation {
        &self.design.operations[id.index()]
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Carries one line out, and then everything that is due.
    pub fn line(&mut self, line: &TestLine) -> Carried {
        self.meanwhile.clear();
        let mut carried = self.carry_out(&line.kind);
        if carried.is_ok() {
            carried = self.settle(self.now());
        }
        carried.map_err(|differs| {
            Box::new(Failure {
                span: line.span,
                expected: differs.expected,
                happened: differs.happened,
                seen: differs.seen,
                meanwhile: self.meanwhile.clone(),
                after_ms: self.now() - START,
            })
        })
    }

    fn carry_out(&mut self, line: &TestLineKind) -> Result<(), Differs> {
        match line {
            TestLineKind::Call(call) => self.call(call),
            TestLineKind::After(ms) => self.settle(self.now().saturating_add(*ms)),
            TestLineKind::Expect(expected) => self.expects(expected),
            TestLineKind::Crash { principal, .. } => {
                self.memory.retain(|place, _| place.0 != *principal);
                self.happen(Happened::Forgot(principal.clone()))
            }
            TestLineKind::Answer { effect, args, answer } => self.answer(*effect, args, answer),
            TestLineKind::Deliver { operation, args, twice } => {
                self.deliver(*operation, args, *twice)
            }
            TestLineKind::Lose { operation, args } => {
                let message = self.under_way(*operation, args)?;
                self.lost.push(message);
                Ok(())
            }
            TestLineKind::View { view, args, gives } => self.view(*view, args, gives),
        }
    }

    /// The arguments by their names. Content is uploaded on the way.
    pub(crate) fn params(
        &self,
        declared: &[design::model::Param],
        args: &TestArgs,
    ) -> Map<String, Json> {
        let given =
            args.iter().map(|(at, value)| (declared[*at as usize].name.clone(), self.value(value)));
        given.collect()
    }

    pub(crate) fn value(&self, value: &TestValue) -> Json {
        self.with_values(|values| values.json(value))
    }

    fn with_values<T>(&self, look: impl FnOnce(&Values<'_>) -> T) -> T {
        let digest = |content: &str| {
            let put = store::block_on(self.runtime.put_blob(content.as_bytes()));
            put.unwrap_or_else(|error| error.to_string())
        };
        look(&Values { design: self.design, names: &self.names, now: self.now(), digest: &digest })
    }

    fn call(&mut self, call: &TestCall) -> Result<(), Differs> {
        let operation = self.operation(call.operation);
        let actor = &self.design.actors[operation.actor.index()].name;
        let mut request = Request::new(actor, &operation.name, &call.principal);
        request.params = self.params(&operation.params, &call.args);
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        request.idempotency_key = call.key.clone().or_else(|| {
            self.keys += 1;
            keyed.then(|| format!("call-{}", self.keys))
        });
        for place in self.runtime.memory_places(actor, &operation.name, &request.params) {
            let at = (call.principal.clone(), place.actor, place.subject, place.key, place.field);
            if let Some(value) = self.memory.get(&at).filter(|_| place.read) {
                request.memory.insert(place.name, value.clone());
            }
        }
        let answer = self.runtime.call(&request);
        let heard = answer.is_ok() && call.outcome != TestOutcome::Unanswered;
        self.follow(heard)?;
        match (&call.outcome, answer) {
            (TestOutcome::Refused(clause), Err(CallError::Refused(refused)))
                if *clause == refused.clause =>
            {
                Ok(())
            }
            (TestOutcome::Mismatch, Err(CallError::OtherPayload)) => Ok(()),
            (outcome, Ok(reply)) if self.is_right(call, outcome, &reply) => {
                if heard {
                    self.remembers(operation, request, &reply)?;
                }
                self.chosen(call, &reply)
            }
            (outcome, answer) => {
                let expected = self.expected(outcome);
                let mut differs = differs(expected, happened(&answer));
                match &answer {
                    Err(CallError::Refused(refused)) => {
                        differs.seen = seen(&refused.truth);
                    }
                    Ok(reply) => differs.seen = seen(&reply.truth),
                    Err(_) => {}
                }
                Err(differs)
            }
        }
    }

    fn is_right(&self, call: &TestCall, outcome: &TestOutcome, reply: &Reply) -> bool {
        match outcome {
            TestOutcome::Ok | TestOutcome::Unanswered => !reply.replayed,
            TestOutcome::Again => reply.replayed,
            TestOutcome::Gives(value) => {
                let OperationKind::Read { result } = &self.operation(call.operation).kind else {
                    return false;
                };
                let subject = match &result.ty {
                    Type::Rows(view) => Some(self.design.views[view.index()].subject),
                    _ => None,
                };
                self.with_values(|values| values.is_shown(subject, value, &reply.result))
            }
            TestOutcome::Refused(_) | TestOutcome::Mismatch => false,
        }
    }

    fn expected(&self, outcome: &TestOutcome) -> String {
        match outcome {
            TestOutcome::Ok | TestOutcome::Unanswered => "it is done".into(),
            TestOutcome::Refused(clause) => format!("refused by `{clause}`"),
            TestOutcome::Gives(value) => format!("gives {}", self.value(value)),
            TestOutcome::Again => "the answer of the first call under this key, again".into(),
            TestOutcome::Mismatch => "not taken: the key was used with other arguments".into(),
        }
    }

    /// What the caller is told it keeps.
    fn remembers(
        &mut self,
        operation: &Operation,
        mut request: Request,
        reply: &Reply,
    ) -> Result<(), Differs> {
        if let Some(chosen) = reply.result.as_object().filter(|_| operation.is_given()) {
            request.params.extend(chosen.clone());
        }
        let places = self.runtime.memory_places(&request.actor, &operation.name, &request.params);
        for place in places.into_iter().filter(|place| place.written) {
            let Some(value) = reply.memory.get(&place.name) else { continue };
            let principal = request.principal.clone();
            let at = (principal, place.actor, place.subject, place.key, place.field);
            match value.is_null() {
                true => self.memory.remove(&at),
                false => self.memory.insert(at, value.clone()),
            };
        }
        let is_read = matches!(operation.kind, OperationKind::Read { .. });
        match (is_read || self.trusting) && !reply.memory.is_empty() {
            true => self.happen(Happened::Heard(Box::new(request), reply.memory.clone())),
            false => Ok(()),
        }
    }

    /// Names stand for what the server chose from here on; one that is known already must be it.
    fn chosen(&mut self, call: &TestCall, reply: &Reply) -> Result<(), Differs> {
        for (at, value) in &call.chosen {
            let param = &self.operation(call.operation).params[*at as usize];
            let told = reply.result.get(&param.name).cloned().unwrap_or(Json::Null);
            if let TestValue::Name(name) = value
                && self.names[*name as usize].is_none()
            {
                self.names[*name as usize] = Some(told);
                continue;
            }
            let wanted = self.value(value);
            if wanted != told {
                let expected = format!("the server chooses {wanted} for `{}`", param.name);
                return Err(differs(expected, format!("it chose {told}")));
            }
        }
        Ok(())
    }

    fn view(&self, view: ViewId, args: &TestArgs, gives: &TestValue) -> Result<(), Differs> {
        let declared = &self.design.views[view.index()];
        let params = self.params(&declared.params, args);
        let query = ViewQuery { view: declared.name.clone(), params, ..ViewQuery::default() };
        let expected = || format!("`{}` shows {}", declared.name, self.value(gives));
        match self.runtime.view(&query) {
            Ok(found) => {
                let subject = Some(declared.subject);
                match self.with_values(|values| values.is_shown(subject, gives, &found)) {
                    true => Ok(()),
                    false => Err(differs(expected(), told_rows(shown(gives, &found)))),
                }
            }
            Err(error) => Err(differs(expected(), error.to_string())),
        }
    }

    fn expects(&self, expected: &Expectation) -> Result<(), Differs> {
        let (design, test, now) = (self.design, self.test, self.now());
        let held = expect::holds(design, test, expected, &self.names, &self.happened, now);
        let happened = match held {
            Ok(true) => return Ok(()),
            Ok(false) => "it does not".to_string(),
            Err(why) => why,
        };
        let mut found = differs("this holds", happened);
        for at in expect::mentioned(expected) {
            let Type::Ref(subject) = test.names[at].ty else { continue };
            let key = match &self.names[at] {
                Some(Json::Array(parts)) => parts.clone(),
                Some(one) => vec![one.clone()],
                None => continue,
            };
            let subject = design.subjects[subject.index()].name.clone();
            let truth = store::block_on(self.runtime.get(&subject, &key));
            let truth = truth.ok().flatten().map_or(Json::Null, |found| found.truth);
            found.seen.push(Seen { subject, key, truth });
        }
        Err(found)
    }

    /// What is new in the feed has happened.
    pub(crate) fn follow(&mut self, answered: bool) -> Result<(), Differs> {
        loop {
            let page = store::block_on(self.store.feed(self.walked, 1_000))
                .map_err(|error| trouble(&CallError::Store(error)))?;
            for entry in page.commits.iter().flat_map(|commit| &commit.entries) {
                self.happen(Happened::Entry(entry.to_vec(), answered))?;
            }
            if page.next == std::mem::replace(&mut self.walked, page.next) {
                return Ok(());
            }
        }
    }

    pub(crate) fn happen(&mut self, happened: Happened) -> Result<(), Differs> {
        let taken = expect::take(&mut self.judge, &happened);
        self.happened.push(happened);
        taken.map_err(|departure| differs("what is stored is what the design says", departure))?;
        match &self.judge.broken(true)[..] {
            [] => Ok(()),
            [first, ..] => {
                let expected = format!("the goal `{}` is kept", first.goal);
                Err(differs(expected, first.trouble.unwrap_or("it is broken")))
            }
        }
    }
}

pub(crate) fn trouble(error: &CallError) -> Differs {
    differs("it is done", error.to_string())
}
