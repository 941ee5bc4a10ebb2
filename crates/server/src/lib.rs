//! Designs over HTTP. A request is read within its limits, the gateway makes out the caller and asks
//! the runtime, and what it says is told: an answer, or a problem that says what stood in the way.

mod answer;
mod app;
mod auth;
mod body;
mod config;
mod console;
mod etag;
mod idempotency;
mod kinds;
mod listen;
mod metrics;
mod openapi;
mod path;
mod problem;
mod quick;
mod routes;
pub mod sample;
mod start;
mod tls;
mod tracing;
mod websocket;

pub use config::Config;
pub use start::{Running, StartError, start};
