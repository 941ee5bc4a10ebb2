//! Who is whom.

use design::model::{ActorId, Design};

/// The actor whose principals and memory this one has.
pub(crate) fn root_actor(design: &Design, actor: ActorId) -> ActorId {
    let mut at = actor;
    while let Some(above) = design.actors[at.index()].continues {
        at = above;
    }
    at
}
