//! A drawing that is done, and several in one picture.

use crate::canvas::{self, Canvas, Label};

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

impl Drawing {
    /// What stands on the canvas, under a name.
    pub fn of(name: String, canvas: Canvas) -> Drawing {
        let (width, height, labels, inner) = canvas.finish();
        let svg = canvas::document(width, height, &inner);
        Drawing { name, svg, width, height, labels, inner }
    }

    /// For a page that has [`STYLE`](crate::STYLE): nothing inline, as a strict content policy asks for.
    pub fn bare(&self) -> String {
        canvas::bare(self.width, self.height, &self.inner)
    }
}

/// All of them in one picture, from top to bottom. The first stands alone; small ones that follow
/// each other stand side by side, as far as the width of a page goes.
pub fn together(drawings: &[Drawing]) -> String {
    const GAP: f64 = 24.0;
    const PAGE: f64 = 1_280.0;
    let mut inner = String::new();
    let (mut width, mut height): (f64, f64) = (1.0, 1.0);
    let (mut x, mut y) = (0.0, 0.0);
    for (at, drawing) in drawings.iter().enumerate() {
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
