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

/// The design on the embedded store.
pub fn serve(settings: &Settings) -> Result<String, String> {
    let compiled = design::compile("registers", DESIGN, &design::NoCatalog);
    let design = compiled.design.ok_or_else(|| format!("{:?}", compiled.diagnostics))?;
    let store = Embedded::open(&settings.folder, Options::default()).map_err(|e| e.to_string())?;
    let runtime = Runtime::open(design, Arc::new(store), Habits::default());
    let runtime = runtime.map_err(|e| e.to_string())?;
    let service = Service::new("registers", DESIGN, Arc::new(runtime));
    let config = Config { listen: address(settings), ..Config::default() };
    let running = server::start(config, vec![service]).map_err(|e| e.to_string())?;
    running.until_signal();
    Ok(String::new())
}
