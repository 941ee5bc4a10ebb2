//! Drawings: plain SVG, the same for the same design, light and dark.
//!
//! Every label gets a stretch of the drawing to itself, so no two of them meet; a test holds the
//! boxes of the labels against each other for every design of the catalog.

mod canvas;
mod font;
mod machine;
mod map;
mod sequence;
mod transitions;

use design::model::Design;

pub use canvas::{Label, STYLE};
pub use transitions::{Machine, Transition, machines};

use canvas::Canvas;

#[derive(Clone, PartialEq, Debug)]
pub struct Drawing {
    /// fit for a file name: `machine-Seat-status`, `map`, `protocol-main`
    pub name: String,
    pub svg: String,
    pub width: f64,
    pub height: f64,
    pub labels: Vec<Label>,
    inner: String,
}

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

impl Drawing {
    /// For a page that has [`STYLE`]: nothing inline, as a strict content policy asks for.
    pub fn bare(&self) -> String {
        canvas::bare(self.width, self.height, &self.inner)
    }
}

/// All of them in one picture, from top to bottom.
pub fn together(drawings: &[Drawing]) -> String {
    const GAP: f64 = 24.0;
    let width = drawings.iter().map(|d| d.width).fold(0.0, f64::max);
    let height: f64 = drawings.iter().map(|d| d.height + GAP).sum();
    let mut inner = String::new();
    let mut y = 0.0;
    for drawing in drawings {
        inner.push_str(&format!(
            "<g transform=\"translate(0 {})\">\n{}</g>\n",
            canvas::number(y),
            drawing.inner
        ));
        y += drawing.height + GAP;
    }
    canvas::document(width, (height - GAP).max(1.0), &inner)
}

fn finish(name: String, canvas: Canvas) -> Drawing {
    let (width, height, labels, inner) = canvas.finish();
    let svg = canvas::document(width, height, &inner);
    Drawing { name, svg, width, height, labels, inner }
}
