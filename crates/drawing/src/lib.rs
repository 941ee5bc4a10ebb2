//! SVG for everybody who draws: shapes and measured text, state machines, swim lanes, plots.
//!
//! Texts are measured before they are placed, so that no two of them meet. Nothing here knows what a
//! design is: whoever does says what to draw in names and numbers.

mod bar;
mod canvas;
mod drawing;
mod escape;
mod font;
pub mod lanes;
mod machine;
pub mod plot;

pub use bar::bar;
pub use canvas::{Anchor, Canvas, Font, Label, NAME, SMALL, STYLE, TITLE};
pub use drawing::{Drawing, together};
pub use escape::{attribute, escape};
pub use machine::{Machine, Transition};
