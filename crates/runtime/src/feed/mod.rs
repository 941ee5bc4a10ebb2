//! The feed: transitions as they are told, the past, followers, and a history that is walked again.

mod follower;
mod past;
mod replay;
mod transition;

pub use follower::{Ahead, Bell, Followed, Follower};
pub use past::Past;
pub use replay::{Departure, replay};
pub use transition::{Changed, Transition, read, seen_json};
