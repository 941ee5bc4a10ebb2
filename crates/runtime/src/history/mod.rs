//! A recorded history, walked again: every transition must be one that the engine allows from the truth that the ones
//! before it left, must leave exactly what was recorded, and must break no invariant.

mod bucket;
mod departure;
mod follow;
mod goals;
mod same;
mod shown;
mod unfed;
mod verify;
mod walk;
mod world;

use design::model::Design;

pub use departure::{Departure, Taken};
pub use goals::{Broken, Unwatched, Watched, unwatched};
pub use verify::Verified;
pub use walk::Walk;

/// Walks a history from its beginning: the entries of one design, in the order of the feed. Gives
/// how many transitions it has.
pub fn replay<'e>(
    design: Design,
    entries: impl IntoIterator<Item = &'e [u8]>,
) -> Result<usize, Departure> {
    let mut walk = Walk::new(design).map_err(|what| Departure::at(0, "", what))?;
    for entry in entries {
        walk.take(entry, true)?;
    }
    Ok(walk.count() as usize)
}
