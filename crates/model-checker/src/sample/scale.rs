//! The design that a sample is carried out with.

use design::model::Design;

use super::TICK_MS;
use crate::clock::Scaled;

/// Each duration as many ticks as the checker takes it for: then what one of them is worth is the
/// same for all, and a history can be carried out by any clock. `after`, `every` and the age of
/// entries, at which the checker does not look, are as they are written.
pub(super) fn scaled(design: &Design) -> Design {
    Scaled::in_steps_of(design, TICK_MS).design
}
