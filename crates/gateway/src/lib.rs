//! Between a caller and a service, whatever door the caller came through: who calls and what they may
//! do, what they remember, how much they may use up, what becomes of a call, and which version of a
//! service it is for.
//!
//! Nothing here knows a wire format. A door reads its own, asks here, and tells what comes of it; a
//! [`Problem`] has a kind and hints, which each door spells in its own way.

mod access;
mod admin;
mod aside;
mod bodies;
mod calling;
mod check_state;
pub mod checking;
mod collecting;
mod collections;
mod gateway;
mod idempotency;
pub mod kinds;
mod latency;
mod life;
mod limits;
mod patience;
mod problem;
mod rates;
mod secrets;
mod servers;
mod service;
mod settings;
mod standing;
mod uploads;

pub use access::{
    Access, Auditor, Caller, METRICS, Memory, PRINCIPAL_BYTES_MAX, Roles, may_listen, operator,
};
pub use admin::{Admin, AdminError, AdminHandle, Prepared, Replacement, StoreState, Told};
pub use bodies::Held;
pub use calling::{Begun, Said, Step, Terms, asked, begin, begin_batch, begin_step, begin_text};
pub use calling::{answered, object, unknown};
pub use check_state::{Budget, Checking};
pub use checking::NO_WORLD;
pub use collecting::collect;
pub use collections::{Collecting, Collections};
pub use gateway::{Gateway, Place};
pub use idempotency::{KEY_BYTES_MAX, checked as checked_key, wrong as wrong_key};
pub use kinds::Kind;
pub use latency::Histogram;
pub use life::Replaced;
pub use limits::Limits;
pub use patience::Patience;
pub use problem::{Hint, Problem};
pub use rates::Left;
pub use secrets::SecretKeys;
pub use servers::{Served, Server, Servers, short as short_hash};
pub use service::{Call, DEAD_LETTER, Service};
pub use settings::Settings;
pub use standing::{LABELS, Standing};
