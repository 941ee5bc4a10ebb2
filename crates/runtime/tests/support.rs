//! What the tests of the runtime share.

use std::sync::Arc;

use design::model::Design;
use runtime::{CallError, ManualClock, Reply, Request, Runtime, Settings};
use serde_json::Value;
use store::{Memory, Store};

pub fn design(name: &str) -> Design {
    let path = format!("{}/../../designs/{name}.design", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    compile(name, &text)
}

pub fn compile(name: &str, text: &str) -> Design {
    let compiled = design::compile(name, text, &design::NoCatalog);
    compiled.design.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics))
}

/// A runtime in memory with a clock that is set by hand.
pub struct Bench {
    pub runtime: Arc<Runtime>,
    pub clock: Arc<ManualClock>,
    pub store: Arc<dyn Store>,
}

pub const START: i64 = 1_700_000_000_000;

pub fn bench(design: Design) -> Bench {
    bench_on(design, Arc::new(Memory::new()), Arc::new(ManualClock::new(START)))
}

pub fn bench_on(design: Design, store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Bench {
    let settings = Settings::default();
    let runtime = Runtime::open_with_clock(design, Arc::clone(&store), settings, clock.clone());
    Bench { runtime: Arc::new(runtime.unwrap()), clock, store }
}

impl Bench {
    pub fn call(&self, request: Request) -> Result<Reply, CallError> {
        self.runtime.call(&request)
    }

    pub fn truth(&self, subject: &str, key: &str) -> Value {
        let found = store::block_on(self.runtime.get(subject, &[Value::String(key.into())]));
        found.unwrap().map_or(Value::Null, |truth| truth.truth)
    }

    pub fn refused_by(&self, request: Request) -> String {
        match self.call(request) {
            Err(CallError::Refused(refused)) => refused.clause,
            other => panic!("not refused: {other:?}"),
        }
    }
}

pub fn ask(actor: &str, operation: &str, who: &str) -> Request {
    Request::new(actor, operation, who)
}
