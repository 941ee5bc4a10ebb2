//! The transition that is measured: a record takes a new value if its version is below a limit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use design::model::Design;
use runtime::{Request, Runtime, Settings};
use serde_json::Value;
use store::{Decision, LocalStore, Seeded};
use store_embedded::{Embedded, Options};

use super::executor::{self, Task};
use super::figures::{Figures, Load, Meter, PAYLOAD, Seen};

const DESIGN: &str = r#"
design Registers
actor client
subject Register(register: text) { truth Content { version: int = 0, value: text = "" } }
step client[write(register: Register, limit: int, value: text) { below: Content.version < limit }] {
    Content.version += 1
    Content.value := value
}
"#;

/// Far away: the guard is evaluated and holds.
const LIMIT: i64 = 1_000_000_000;

fn compile() -> Result<Design, String> {
    let compiled = design::compile("registers", DESIGN, &design::NoCatalog);
    compiled.design.ok_or_else(|| format!("{:?}", compiled.diagnostics))
}

/// A directory that is gone at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Scratch, String> {
        let name = format!("steadfast-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).map_err(|e| format!("no scratch directory: {e}"))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // what is left behind lies in the system's temporary directory
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn open(directory: &Path) -> Result<Arc<Embedded>, String> {
    let store = Embedded::open(directory, Options::default());
    store.map(Arc::new).map_err(|error| error.to_string())
}

pub fn write(register: u64) -> Request {
    Request::new("client", "write", "load")
        .with("register", name(register))
        .with("limit", LIMIT)
        .with("value", PAYLOAD)
        .brief()
}

fn name(register: u64) -> String {
    format!("register-{register:08}")
}

/// Another name in the same place: what a client does to make its request is not what is measured.
fn rename(text: &mut String, register: u64) {
    text.truncate("register-".len());
    let (mut digits, mut rest) = ([b'0'; 8], register);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    text.push_str(str::from_utf8(&digits).unwrap_or_default());
}

fn opened(directory: &Path, load: &Load) -> Result<(Arc<Embedded>, Runtime), String> {
    let store = open(directory)?;
    let runtime = Runtime::open(compile()?, store.clone(), Settings::default());
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut last = None;
    for register in 0..load.keys {
        let (ticket, answer) = runtime.begin(&write(register)).map_err(|e| e.to_string())?;
        answer.map_err(|e| e.to_string())?;
        last = Some(ticket);
    }
    if let Some(ticket) = last {
        ticket.wait().map_err(|e| e.to_string())?;
    }
    Ok((store, runtime))
}

pub fn runtime(load: &Load) -> Result<Figures, String> {
    let scratch = Scratch::new("load-runtime")?;
    let (store, runtime) = opened(&scratch.0, load)?;
    let meter = Meter::new(load);
    let start = |meter, number| Box::pin(client(&runtime, meter, load, number)) as Task<'_, _>;
    measure(load, &store, &meter, &start)
}

async fn client(
    runtime: &Runtime,
    meter: &Meter,
    load: &Load,
    number: u64,
) -> Result<Seen, String> {
    let mut seeded = Seeded::new(number);
    let mut seen = Seen::default();
    let mut request = write(0);
    while meter.goes_on() {
        let begun = Instant::now();
        if let Some(Value::String(register)) = request.params.get_mut("register") {
            rename(register, seeded.below(load.keys));
        }
        runtime.call_async(&request).await.map_err(|e| e.to_string())?;
        meter.answered(begun, &mut seen);
    }
    Ok(seen)
}

/// Appends as many bytes as a transition does and evaluates nothing: no guard, no record, no map.
pub fn log(load: &Load) -> Result<Figures, String> {
    let scratch = Scratch::new("load-log")?;
    let one = Load { keys: 1, ..load.clone() };
    // what one transition writes
    let bytes = {
        let (store, runtime) = opened(&scratch.0.join("sample"), &one)?;
        let before = store.statistics().log_bytes;
        let mut last = None;
        for _ in 0..1_000 {
            last = Some(runtime.begin(&write(0)).map_err(|e| e.to_string())?.0);
        }
        if let Some(ticket) = last {
            ticket.wait().map_err(|e| e.to_string())?;
        }
        (store.statistics().log_bytes - before) / 1_000
    };
    let entry = vec![b'x'; bytes as usize];
    let store = open(&scratch.0.join("log"))?;
    let meter = Meter::new(load);
    let start = |meter, _| Box::pin(appender(&store, meter, &entry)) as Task<'_, _>;
    measure(load, &store, &meter, &start)
}

async fn appender(store: &Embedded, meter: &Meter, entry: &[u8]) -> Result<Seen, String> {
    let mut seen = Seen::default();
    while meter.goes_on() {
        let begun = Instant::now();
        let ticket = store.transact(&mut |transaction| {
            transaction.feed(entry);
            Decision::Commit
        });
        let ticket = ticket.map_err(|e| e.to_string())?;
        ticket.durable().await.map_err(|e| e.to_string())?;
        meter.answered(begun, &mut seen);
    }
    Ok(seen)
}

type Start<'a> = dyn Fn(&'a Meter, u64) -> Task<'a, Result<Seen, String>> + Sync + 'a;

fn measure<'a>(
    load: &Load,
    store: &Embedded,
    meter: &'a Meter,
    start: &Start<'a>,
) -> Result<Figures, String> {
    std::thread::scope(|scope| {
        let driver = scope.spawn(|| {
            let tasks = (0..load.clients).map(|number| start(meter, number as u64)).collect();
            executor::run(tasks)
        });
        let measured = meter.measure(load, &|| store.statistics().log_bytes);
        let seen = driver.join().map_err(|_| "a client panicked".to_string())?;
        Figures::of(&measured, seen.into_iter().collect::<Result<_, _>>()?)
    })
}
