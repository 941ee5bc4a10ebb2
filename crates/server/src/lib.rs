//! Designs over HTTP. A request is read within its limits, the caller is made out, the runtime is
//! asked, and what it says is told: an answer, or a problem that says what stood in the way.

mod admin;
mod answer;
mod app;
pub mod auth;
mod body;
mod calling;
mod checking;
mod collecting;
mod config;
mod console;
mod etag;
mod idempotency;
mod kinds;
mod listen;
mod metrics;
mod openapi;
mod path;
mod patience;
mod problem;
mod quick;
mod routes;
pub mod sample;
mod service;
mod standing;
mod start;
mod tls;
mod tracing;
mod websocket;

pub use admin::{Admin, AdminError, AdminHandle, Replacement, StoreState, Told};
pub use auth::Access;
pub use checking::{Budget, NO_WORLD};
pub use collecting::Collecting;
pub use config::{Config, Limits};
pub use service::Service;
pub use standing::Standing;
pub use start::{Running, StartError, start};
