//! What everything else stands on: the design made ready to run, access to its store, the clock, the gate
//! that a design which is replaced closes.

mod alarm;
mod clock;
mod counters;
mod fence;
mod former;
mod gate;
mod ground;
mod handles;
mod hot;
mod loaded;
mod lowered;
mod plan;
mod read_error;
mod runtime;
mod say;
mod schema;
mod seen;
mod settings;
mod skew;

pub(crate) use alarm::{Called, WorkerNumber};
pub use clock::{Clock, ManualClock, SystemClock};
pub use counters::Counters;
pub(crate) use counters::Worker;
pub use fence::Fence;
pub use ground::transact;
pub use handles::Handles;
pub use hot::HotKey;
pub use loaded::{Held, Loaded};
pub use lowered::Lowered;
pub(crate) use lowered::Stored;
pub use plan::{Got, Plan, Source};
pub use read_error::ReadError;
pub use runtime::Runtime;
pub(crate) use runtime::{Desk, NOBODY, Newest, apply, operations_left};
pub use schema::Schema;
pub use seen::{Records, Seen};
pub use settings::Settings;
pub use skew::Skewed;
