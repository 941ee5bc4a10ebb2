//! Designs over HTTP. A request is read within its limits, the gateway makes out the caller and asks
//! the runtime, and what it says is told: an answer, or a problem that says what stood in the way.
//!
//! Pages for people are served beside it by whoever hands them over ([`start_with`]); they read
//! requests and tell problems with the modules that are open here.

mod answer;
mod app;
pub mod auth;
pub mod body;
mod config;
mod cors;
mod descriptors;
mod etag;
mod feed_pages;
mod idempotency;
pub mod kinds;
mod listen;
mod live_rows;
mod metrics;
mod openapi;
pub mod origin;
pub mod path;
mod patient;
pub mod problem;
mod quick;
mod routes;
pub mod sample;
mod seats;
mod start;
mod tls;
mod traced;
mod websocket;

pub use config::Config;
pub use cors::{Origin, Origins};
pub use start::{MakePages, Pages, Running, StartError, start, start_with};
