//! The small world: what there is, which values things take, how a state packs.

pub(crate) mod actors;
mod codecs;
pub(crate) mod effects;
pub(crate) mod flow;
pub(crate) mod network;
pub(crate) mod order;
mod parts;
pub(crate) mod plan;
pub(crate) mod sizes;
pub(crate) mod slots;
pub(crate) mod sorts;
pub(crate) mod universe;
mod unread;
