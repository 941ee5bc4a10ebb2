//! Drawings: plain SVG, the same for the same design, light and dark.
//!
//! Every label gets a stretch of the drawing to itself, so no two of them meet; a test holds the
//! boxes of the labels against each other for every design of the catalog.

mod machine;
mod map;
mod sequence;
mod transitions;

use design::model::Design;
use drawing::Drawing;

pub use transitions::{Machine, Transition, machines};

/// All drawings of a design: the map, a machine for each enumerated attribute, the protocols.
pub fn drawings(design: &Design) -> Vec<Drawing> {
    linked(design, &|_, _| None)
}

/// The same, where an operation on the map leads to the address that `address` has for its actor
/// and name.
pub fn linked(design: &Design, address: &dyn Fn(&str, &str) -> Option<String>) -> Vec<Drawing> {
    let mut list = vec![map::draw(design, address)];
    list.extend(machines(design).iter().map(machine::draw));
    list.extend(design.protocols.iter().map(|protocol| sequence::draw(design, protocol)));
    list
}
