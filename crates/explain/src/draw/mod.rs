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

/// All of them in one picture, from top to bottom; small ones that follow each other stand side by
/// side, as far as the width of a page goes.
pub fn together(drawings: &[Drawing]) -> String {
    const GAP: f64 = 24.0;
    const PAGE: f64 = 1_280.0;
    let mut inner = String::new();
    let (mut width, mut height): (f64, f64) = (1.0, 1.0);
    let (mut x, mut y) = (0.0, 0.0);
    for (at, drawing) in drawings.iter().enumerate() {
        // the map is the first, and stands alone
        if at == 1 || x > 0.0 && x + drawing.width > PAGE {
            (x, y) = (0.0, height + GAP);
        }
        inner.push_str(&format!(
            "<g transform=\"translate({} {})\">\n{}</g>\n",
            canvas::number(x),
            canvas::number(y),
            drawing.inner
        ));
        x += drawing.width;
        width = width.max(x);
        height = height.max(y + drawing.height);
    }
    canvas::document(width, height, &inner)
}

fn finish(name: String, canvas: Canvas) -> Drawing {
    let (width, height, labels, inner) = canvas.finish();
    let svg = canvas::document(width, height, &inner);
    Drawing { name, svg, width, height, labels, inner }
}
