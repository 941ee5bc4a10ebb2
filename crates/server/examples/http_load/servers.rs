//! What is measured.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use gateway::Service;
use runtime::{Runtime, Settings as Habits};
use server::Config;
use store_embedded::{Embedded, Options};

use crate::Settings;

/// A guarded transition: reads a version, compares it with a limit, writes the next one and 66 bytes.
const DESIGN: &str = "
design Registers
actor writer
subject Register(register: int) {
    truth RegisterState { version: int = 0, value: text = \"\" }
}
step writer[write(register: Register, limit: int, value: text) { below: RegisterState.version < limit }] {
    RegisterState.version += 1
    RegisterState.value := value
}
";

/// Workers take the next job of a queue.
const WORK: &str = "
design Work
actor client
actor worker
subject Job(job: text) {
    truth JobState {
        queue: text = \"\",
        status: NONE | WAITS | HELD = NONE,
        by: actor?,
        asked_at: time?,
    }
}
view Runnable(queue: text) = list Job where status = WAITS order by asked_at
step client[ask(job: Job, queue: text) { unasked: JobState.status = NONE }] {
    JobState.status := WAITS
    JobState.queue := queue
    JobState.asked_at := now
}
step worker[claim(queue: text, job: any of Runnable(queue)) { waits: JobState.status = WAITS }] {
    JobState.status := HELD
    JobState.by := me
}
";

/// Couriers that are asked for by their distance.
const PLACES: &str = "
design Places
actor rider
subject Courier(courier: int) { truth Position { at: point? } }
step rider[move(courier: Courier, at: point)] { Position.at := at }
view Nearest(here: point) = near Courier on at from here within 2km first 10
";

/// Players by their points.
const BOARD: &str = "
design Board
actor game
subject Player(player: int) { truth Score { points: int = 0 } }
step game[score(player: Player, points: int)] { Score.points := points }
view Best = rank Player by points desc
";

fn address(settings: &Settings) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], settings.port))
}

/// Bare axum that gives back the body.
pub fn echo(settings: &Settings) -> Result<String, String> {
    let threads = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
    threads.block_on(async {
        let router = Router::new().route("/", post(|body: bytes::Bytes| async { body }));
        let listener = tokio::net::TcpListener::bind(address(settings)).await;
        let listener = listener.map_err(|e| format!("cannot listen: {e}"))?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await.map_err(|e| e.to_string())
    })?;
    Ok(String::new())
}

/// Registers on the embedded store.
pub fn registers(settings: &Settings) -> Result<String, String> {
    serve(settings, "registers", DESIGN)
}

/// A queue of jobs on the embedded store.
pub fn queue(settings: &Settings) -> Result<String, String> {
    serve(settings, "work", WORK)
}

/// Couriers on the embedded store.
pub fn places(settings: &Settings) -> Result<String, String> {
    serve(settings, "places", PLACES)
}

/// Players on the embedded store.
pub fn board(settings: &Settings) -> Result<String, String> {
    serve(settings, "board", BOARD)
}

fn serve(settings: &Settings, name: &str, text: &str) -> Result<String, String> {
    let compiled = design::compile(name, text, &design::NoCatalog);
    let design = compiled.design.ok_or_else(|| format!("{:?}", compiled.diagnostics))?;
    let store = Embedded::open(&settings.folder, Options::default()).map_err(|e| e.to_string())?;
    let runtime = Runtime::open(design, Arc::new(store), Habits::default());
    let runtime = runtime.map_err(|e| e.to_string())?;
    let service = Service::new(name, text, Arc::new(runtime));
    let config = Config { listen: address(settings), ..Config::default() };
    let running = server::start(config, vec![service]).map_err(|e| e.to_string())?;
    running.until_signal();
    Ok(String::new())
}
