//! The design that a sample is carried out with.

use design::model::Design;

use super::TICK_MS;
use crate::ticks::{each_duration, in_ticks};

/// Each duration as many ticks as the checker takes it for: then what one of them is worth is the
/// same for all, and a history can be carried out by any clock.
pub(super) fn scaled(design: &Design) -> Design {
    let mut scaled = in_ticks(design);
    each_duration(&mut scaled, &|ticks| ticks * TICK_MS);
    scaled
}
