//! A design that runs: what a step needs is loaded, the step is evaluated, what it did is
//! committed, and only then is it answered.
//!
//! A folder for each noun; what others may use of it is what its `mod.rs` exports.
//!
//! | folder | what it is about |
//! | --- | --- |
//! | `core` | the design made ready, its store, the clock, the gate |
//! | `calls` | a call: arguments, step, commit, answer |
//! | `repairs` | what is due, and fires |
//! | `outbox` | effects and messages on their way |
//! | `aside` | entries that cannot be worked on |
//! | `views` | what is derived from the feed |
//! | `feed` | transitions, followers, the past |
//! | `history` | a recorded history walked again, and held to the goals of its design |
//! | `logs` | entries that are kept for a time |
//! | `content` | blobs, and their collection |
//! | `replacement` | another version of a design takes the place of one |
//! | `registry` | which designs a store holds, and opening one |
//! | `secrets` | what is stored of a secret, and how one is recognised |
//! | `servers` | who else works on the same store, and who does what of the work |
//! | `sight` | who may see what |
//! | `truth` | reading records |
//! | `values` | values as clients write them |

mod aside;
mod calls;
mod content;
mod core;
mod feed;
mod history;
mod logs;
mod outbox;
mod registry;
mod repairs;
mod replacement;
mod secrets;
mod servers;
mod sight;
mod truth;
mod values;
mod views;
mod workers;

pub use self::core::{
    Clock, Counters, HotKey, Lowered, ManualClock, Runtime, Settings, Skewed, SystemClock,
};
pub use aside::{Aside, AsideError};
pub use calls::{
    CallError, IfMatch, MemoryPlace, Refused, Remembered, Reply, Request, TextBegun, TextCall,
    memory_name,
};
pub use content::{Collected, Incoming, Leaving};
pub use feed::{Ahead, Bell, Changed, Followed, Follower, Past, Transition};
pub use history::{
    Broken, Departure, Taken, Unwatched, Verified, Walk, Watched, replay, unwatched,
};
pub use layout::version;
pub use outbox::{Delivered, Delivery, Heard, Outside, Undelivered, Waiting, Worked};
pub use registry::{Kept, OpenError, Writing, alike, designs_of, kept};
pub use repairs::Fired;
pub use replacement::{Obstacle, ReplaceError, stays_as_stored};
pub use secrets::{MAX_SECRET, SALT_BYTES, SecretTrouble, Secrets};
pub use servers::{OfDesign, Presence, Process, Seen, SeenServers};
pub use sight::{Roles, Viewer};
pub use truth::{DueRepair, FoundRecords, RecordPage, RecordQuery, Truth};
pub use values::{BadValue, decimal_text, proofs, time};
pub use views::{
    TextAsked, TextChanges, TextEngine, TextFound, TextHit, TextIndex, TextRecord, TextShape,
    TextSnapshot, TextTrouble, ViewQuery,
};
pub use workers::Workers;
