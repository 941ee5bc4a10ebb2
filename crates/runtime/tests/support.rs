//! What the tests of the runtime share.

#[path = "../../explain/tests/support/programs.rs"]
pub mod programs;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use design::model::Design;
use runtime::{
    CallError, Delivered, Delivery, ManualClock, Outside, Reply, Request, Runtime, Settings, Worked,
};
use serde_json::Value;
use store::{Memory, Store};

pub fn design(name: &str) -> Design {
    let path = format!("{}/../../designs/{name}.design", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    compile(name, &text)
}

/// The archetypes of the repository.
pub struct Catalog;

impl design::Catalog for Catalog {
    fn archetype(&self, id: &str) -> Option<&str> {
        static TEXTS: OnceLock<BTreeMap<String, String>> = OnceLock::new();
        let texts = TEXTS.get_or_init(|| {
            let read = |folder: &str| {
                let path = format!("{}/../../designs/{folder}", env!("CARGO_MANIFEST_DIR"));
                let files = std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path());
                let designs = files.filter(|path| path.extension().is_some_and(|x| x == "design"));
                let named = designs.map(|path| {
                    let id = path.file_stem().unwrap().to_string_lossy().into_owned();
                    (id, std::fs::read_to_string(&path).unwrap())
                });
                named.collect::<Vec<_>>()
            };
            read("infra").into_iter().chain(read("product")).collect()
        });
        texts.get(id).map(String::as_str)
    }

    fn ids(&self) -> Vec<String> {
        Vec::new()
    }
}

pub fn compile(name: &str, text: &str) -> Design {
    compile_with(name, text, &Catalog)
}

pub fn compile_with(name: &str, text: &str, catalog: &dyn design::Catalog) -> Design {
    let compiled = design::compile(name, text, catalog);
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

/// A clock that is set by hand has nothing to do with that of a store far away.
pub fn by_hand() -> Settings {
    Settings { skew_max_ms: i64::MAX / 4, ..Settings::default() }
}

pub fn bench_on(design: Design, store: Arc<dyn Store>, clock: Arc<ManualClock>) -> Bench {
    let settings = by_hand();
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

/// A world outside that nothing may reach.
pub struct Nothing;

impl Outside for Nothing {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        panic!("nothing leaves: {delivery:?}");
    }
}

/// Delivers whatever waits.
pub fn deliver(bench: &Bench) {
    deliver_all(&bench.runtime);
}

/// What is delivered again and again would never end.
pub fn deliver_all(runtime: &Runtime) {
    for _ in 0..100_000 {
        if runtime.deliver_one(&Nothing).unwrap() != Worked::Tried {
            return;
        }
    }
    panic!("what is delivered stays open");
}

/// Numbers by chance, the same again from the same seed.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}
