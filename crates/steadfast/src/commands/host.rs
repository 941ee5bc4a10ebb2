//! What runs beside a server: repairs, deliveries and webhooks of each design, and what operators
//! ask for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use design::model::Design;
use gateway::{
    Admin, AdminError, Budget, Prepared, Replacement, Service, Standing, StoreState, Told,
};
use model_checker::{Options, Word};
use outgoing::{Effects, Webhooks};
use runtime::{Outside, Runtime, Workers};
use serde_json::Value;
use store_embedded::Embedded;
use telemetry::Spans;

use super::outgoing_options::Leaving;
use super::places::{back_up_postgres, is_postgres};
use super::store_watch;
use crate::catalog;
use crate::problem::Problem;
use crate::verdicts::{Require, Rule, Verdicts, judge};

/// Threads that deliver the effects of one design.
const DELIVERERS: usize = 4;

pub struct Host {
    leaving: Leaving,
    effects: Arc<Effects>,
    /// none: a store of another kind
    embedded: Option<Arc<Embedded>>,
    /// the address of the store
    store: String,
    running: Mutex<HashMap<String, Beside>>,
    /// what is served, by the names of the designs: they may hear each other
    served: Mutex<HashMap<String, Arc<Runtime>>>,
    spans: Spans,
    verdicts: Arc<Verdicts>,
    /// what the verdict on every text that is served must say
    require: Option<Require>,
    /// somebody else tells of verdicts
    silent: bool,
}

/// Stopped when it is dropped, the webhooks first.
struct Beside {
    webhooks: Webhooks,
    _workers: Workers,
}

impl Host {
    pub fn new(
        leaving: Leaving,
        (store, embedded): (&str, Option<Arc<Embedded>>),
        spans: Spans,
        verdicts: Arc<Verdicts>,
        require: Option<Require>,
    ) -> Host {
        let effects = Effects::new(leaving.targets.clone(), leaving.timeouts);
        let effects = Arc::new(effects.recorded(spans.clone()));
        let (running, served) = (Mutex::default(), Mutex::default());
        Host {
            leaving,
            effects,
            embedded,
            store: store.into(),
            running,
            served,
            spans,
            verdicts,
            require,
            silent: false,
        }
    }

    /// Verdicts are kept and not told.
    #[must_use]
    pub fn silent(self, silent: bool) -> Host {
        Host { silent, ..self }
    }

    /// Designs that are served from now on, or a new version of one: each is told who hears it.
    pub fn link(&self, runtimes: &[Arc<Runtime>]) -> Result<(), Problem> {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        for runtime in runtimes {
            served.insert(runtime.design().name.clone(), Arc::clone(runtime));
        }
        let all: Vec<Arc<Runtime>> = served.values().cloned().collect();
        Runtime::link(&all)
            .map_err(|error| Problem::new(format!("designs cannot be told of each other: {error}")))
    }

    /// Starts what runs beside a design; what ran for it before is stopped first.
    pub fn start_beside(&self, name: &str, runtime: &Arc<Runtime>) -> Result<(), Problem> {
        self.lock().remove(name);
        let effects: Arc<dyn Outside> = Arc::clone(&self.effects) as Arc<dyn Outside>;
        let workers = Workers::start(runtime, effects, DELIVERERS)
            .map_err(|error| Problem::new(format!("cannot start threads: {error}")))?;
        let subscriptions = self.leaving.subscriptions(runtime.design());
        let timeouts = self.leaving.timeouts;
        let webhooks = Webhooks::start_recorded(runtime, &subscriptions, timeouts, &self.spans)
            .map_err(|error| Problem::new(format!("cannot follow the feed: {error}")))?;
        self.lock().insert(name.into(), Beside { webhooks, _workers: workers });
        Ok(())
    }

    /// Ends everything that runs beside the server.
    pub fn stop(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
        self.served.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The verdict on a text that is to be served, if it allows it. Where a rule asks for a verdict,
    /// it is made now if it is not known.
    fn allowed(&self, design: &Design, with: &Replacement<'_>) -> Result<Option<Word>, AdminError> {
        let mut word = self.verdicts.find(with.text, design, None);
        let open = word.as_ref().is_none_or(|word| matches!(word, Word::NotKnown { .. }));
        if !design.world.written {
            word = Some(Word::NotKnown { why: gateway::NO_WORLD.into() });
        } else if self.require.is_some() && open {
            let Budget { states_max, memory_bytes_max } = Budget::default();
            let (max_states, max_memory) = (states_max, memory_bytes_max);
            let options = Options { max_states, max_memory, threads: 1, ..Options::default() };
            let found = judge(design, &options, &mut |_| {});
            self.verdicts.keep(with.text, design, &found);
            word = Some(found);
        }
        let rule = Rule { require: self.require, unproved: with.unproved };
        match rule.allows(word.as_ref()) {
            Ok(()) => Ok(word),
            Err(unmet) => Err(AdminError::Unproved {
                detail: unmet.why,
                standing: word.map_or(Standing::NotChecked, Standing::Known),
            }),
        }
    }

    /// What a new version and the other designs take for granted of each other's events, and is not so.
    fn misheard(&self, design: &Design) -> Vec<String> {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let others = served.values().map(|runtime| runtime.design());
        let others = others.filter(|other| other.name != design.name);
        let found = others.flat_map(|other| {
            let own = design::misheard(design, other);
            let theirs = design::misheard(other, design);
            let of = |name: &str, it: design::Misheard| {
                format!("in `{name}`: {} [{}]; {}", it.message, it.code, it.help)
            };
            let own: Vec<String> = own.into_iter().map(|it| of(&design.name, it)).collect();
            own.into_iter()
                .chain(theirs.into_iter().map(|it| of(&other.name, it)))
                .collect::<Vec<_>>()
        });
        found.collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Beside>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admin for Host {
    fn backup(&self, to: &Path) -> Result<Value, AdminError> {
        let Some(embedded) = &self.embedded else {
            if !is_postgres(&self.store) {
                return Err(AdminError::Cannot("a store in memory is not copied".into()));
            }
            let copied = back_up_postgres(&self.store, to);
            let copied = copied.map_err(|problem| AdminError::Cannot(problem.message))?;
            return Ok(super::backup::counts(&copied));
        };
        embedded.backup(to).map_err(|error| AdminError::Cannot(error.to_string()))?;
        let copied =
            store_embedded::verify(to).map_err(|error| AdminError::Cannot(error.to_string()))?;
        Ok(super::backup::counts(&copied))
    }

    fn store(&self) -> StoreState {
        let health = self.embedded.as_ref().map(|embedded| embedded.health());
        health.map(store_watch::state).unwrap_or_default()
    }

    fn told(&self, design: &str) -> Vec<Told> {
        let running = self.lock();
        let standings = running.get(design).map(|beside| beside.webhooks.standings());
        let told = standings.into_iter().flatten().map(|standing| Told {
            url: standing.url.split('?').next().unwrap_or_default().to_string(),
            delivered: standing.delivered,
            attempts: standing.attempts,
            since: standing.since,
            trouble: standing.trouble,
            gaps: standing.gaps,
        });
        told.collect()
    }

    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        let compiled = design::compile(&old.name, with.text, &catalog::Embedded);
        let flat = compiled.flat.clone();
        let Some(design) = compiled.design else {
            let problems = compiled.diagnostics.iter().filter(|problem| problem.is_error());
            let lines = problems.map(|problem| {
                let at = compiled.sources.position(problem.primary.span);
                format!("{}:{}: {} [{}]", at.line, at.column, problem.message, problem.code)
            });
            return Err(AdminError::Design(lines.collect()));
        };
        if let Some(unset) = self.leaving.targets.unset(&design).first() {
            return Err(AdminError::Cannot(format!(
                "{unset}; start the server with `--outside` for it first"
            )));
        }
        let misheard = self.misheard(&design);
        if !misheard.is_empty() {
            return Err(AdminError::Design(misheard));
        }
        let word = self.allowed(&design, with)?;
        Ok(Prepared { design, flat, word })
    }

    fn start(&self, new: &Service) -> Result<(), AdminError> {
        let linked = self.link(std::slice::from_ref(&new.runtime));
        let started = linked.and_then(|()| self.start_beside(&new.name, &new.runtime));
        started.map_err(|problem| AdminError::Cannot(problem.message))
    }

    fn switched(&self, new: &Service) {
        if let Some(word) = new.word() {
            self.verdicts.keep_with(&new.runtime, &new.text, &word);
        }
    }

    fn checked(&self, service: &Service, word: &Word) {
        if !self.silent {
            anstream::eprintln!("checked `{}`: {word}", service.name);
        }
        self.verdicts.keep_with(&service.runtime, &service.text, word);
    }
}
