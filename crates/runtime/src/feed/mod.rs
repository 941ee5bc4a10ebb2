//! The feed: transitions as they are told, the past, followers.

mod follower;
mod past;
mod transition;

pub(crate) use follower::Standing;
pub use follower::{Ahead, Bell, Followed, Follower};
pub use past::Past;
pub use transition::{Changed, Transition, read, seen_json};
