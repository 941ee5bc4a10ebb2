//! One design that is served.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use design::model::{Design, Operation, OperationId};
use model_checker::Word;
use runtime::Runtime;
use rustc_hash::FxHashMap;

use crate::check_state::Checking;
use crate::latency::Histogram;
use crate::rates::Rates;
use crate::standing::Standing;

/// How the runtime calls an entry of the outbox that is tried no more.
pub const DEAD_LETTER: &str = "dead letter";

pub struct Service {
    /// how paths call it, in lower case
    pub name: String,
    /// the text of the design
    pub text: String,
    pub runtime: Arc<Runtime>,
    checking: Mutex<Checking>,
    /// what doors keep beside it, one of each type
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// the verdict on this text; none: it is not known
    word: Mutex<Option<Word>>,
    /// by actor, then by operation
    calls: FxHashMap<String, FxHashMap<String, Arc<Call>>>,
}

/// An operation that may be called from outside.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: OperationId,
    /// the names of the memory of its actor, by which a body's fields are told apart from
    /// parameters
    pub memory: Vec<String>,
    pub latency: Arc<Histogram>,
    /// how often each caller has called it; none: there is no limit
    pub(crate) rates: Option<Arc<Rates>>,
}

impl Service {
    pub fn new(name: &str, text: &str, runtime: Arc<Runtime>) -> Service {
        let mut calls: FxHashMap<String, FxHashMap<String, Arc<Call>>> = FxHashMap::default();
        let design = runtime.design();
        for (at, operation) in design.operations.iter().enumerate() {
            if runtime.is_callable(OperationId::of(at)) {
                let actor = &design.actors[operation.actor.index()].name;
                let memory = memory_names(design, operation);
                let rates = operation.rate.map(|rate| Arc::new(Rates::new(rate)));
                let call = Call { id: OperationId::of(at), memory, latency: Arc::default(), rates };
                calls
                    .entry(actor.clone())
                    .or_default()
                    .insert(operation.name.clone(), Arc::new(call));
            }
        }
        let (checking, kept, word) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (name, text) = (name.to_lowercase(), text.to_string());
        Service { name, text, runtime, checking, kept, word, calls }
    }

    /// Does this step take a record that the caller does not name?
    pub(crate) fn takes(&self, actor: &str, operation: &str) -> bool {
        let call = self.call(actor, operation);
        call.is_some_and(|call| self.operation(call).takes().is_some())
    }

    /// With the verdict on its text, if there is one.
    #[must_use]
    pub fn judged(self, word: Option<Word>) -> Service {
        Service { word: Mutex::new(word), ..self }
    }

    /// From now on this is the verdict. One that knows nothing does not take the place of another.
    pub fn learn(&self, word: Word) {
        let mut known = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() || !matches!(word, Word::NotKnown { .. }) {
            *known = Some(word);
        }
    }

    pub fn word(&self) -> Option<Word> {
        self.word.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn standing(&self) -> Standing {
        if let Some(word) = self.word() {
            return Standing::Known(word);
        }
        match &*self.checking() {
            Checking::Running { arm, states } => {
                Standing::Checking { arm: arm.clone(), states: *states }
            }
            _ => Standing::NotChecked,
        }
    }

    /// How far a check of it has come that runs beside the callers.
    pub fn checking(&self) -> MutexGuard<'_, Checking> {
        self.checking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a door keeps beside this version of the service, for as long as it is there.
    pub fn kept<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find_map(|one| Arc::clone(one).downcast::<T>().ok());
        found.unwrap_or_else(|| {
            let new = Arc::new(T::default());
            kept.push(Arc::clone(&new) as Arc<dyn Any + Send + Sync>);
            new
        })
    }

    pub fn design(&self) -> &Design {
        self.runtime.design()
    }

    pub fn call(&self, actor: &str, operation: &str) -> Option<&Arc<Call>> {
        self.calls.get(actor)?.get(operation)
    }

    /// Everything that may be called, in the order of the design.
    pub fn calls(&self) -> Vec<(&str, &str, &Call)> {
        let mut all: Vec<_> = self
            .calls
            .iter()
            .flat_map(|(actor, calls)| {
                calls.iter().map(move |(name, call)| (actor.as_str(), name.as_str(), &**call))
            })
            .collect();
        all.sort_by_key(|(_, _, call)| call.id);
        all
    }

    /// How many answers of any call took at most so many microseconds, by rising bound.
    pub fn within(&self) -> Vec<(f64, u64)> {
        let mut all: Vec<(f64, u64)> = Vec::new();
        for call in self.calls.values().flat_map(FxHashMap::values) {
            let of_call = call.latency.within();
            if all.is_empty() {
                all.extend(of_call);
            } else {
                all.iter_mut().zip(of_call).for_each(|(sum, (_, count))| sum.1 += count);
            }
        }
        all
    }

    pub fn is_subject(&self, name: &str) -> bool {
        self.design().subjects.iter().any(|subject| subject.name == name)
    }

    /// Steps and reads that somebody may call; repairs, effects and messages are the engine's own.
    pub fn is_callable(&self, operation: &Operation) -> bool {
        let actor = &self.design().actors[operation.actor.index()].name;
        self.call(actor, &operation.name).is_some()
    }

    pub fn operation(&self, call: &Call) -> &Operation {
        &self.design().operations[call.id.index()]
    }
}

/// Every name under which an answer to this actor may hand out memory. A caller may send all it
/// remembers with every step: what a step does not look at is no mistake.
fn memory_names(design: &Design, operation: &Operation) -> Vec<String> {
    let mut root = operation.actor;
    while let Some(before) = design.actors[root.index()].continues {
        root = before;
    }
    let fields = &design.actors[root.index()].memory;
    let mut names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    for used in &operation.memory {
        if let Some(local) = used.of {
            let field = &design.actors[used.actor.index()].memory[used.field.index()].name;
            names.push(format!("{}.{field}", operation.locals[local.index()].name));
        }
    }
    names
}
