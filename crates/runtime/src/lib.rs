//! A design that runs: what a step needs is loaded, the step is evaluated, what it did is
//! committed, and only then is it answered.

mod alarm;
mod blobs;
mod bytes;
mod clock;
mod codec;
mod counters;
mod ephemeral;
mod feed;
mod hot;
mod idempotency;
mod json;
mod keys;
mod loaded;
mod outbox_entry;
mod outside;
mod perform;
mod plan;
mod pool;
mod reading;
mod record;
mod registry;
mod repairs;
mod replay;
mod reply;
mod request;
mod result;
mod runtime;
mod schema;
mod time;
mod views;
mod workers;

pub use clock::{Clock, ManualClock, SystemClock};
pub use counters::Counters;
pub use feed::{Changed, Transition};
pub use hot::HotKey;
pub use json::BadValue;
pub use outside::{Delivered, Delivery, Outside, Waiting, Worked};
pub use reading::Truth;
pub use repairs::Fired;
pub use replay::{Departure, replay};
pub use reply::{CallError, Refused, Reply};
pub use request::Request;
pub use runtime::{OpenError, Runtime, Settings};
pub use views::ViewQuery;
pub use workers::Workers;
