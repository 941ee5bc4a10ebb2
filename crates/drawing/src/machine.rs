//! A state machine: a line for each state, and a row for each transition from those it may come
//! from to the one it leads to. What allows it stands beside the row, so that a machine of many
//! states is as easy to read as one of two, and no text meets a line.

use crate::canvas::{Anchor, Canvas, NAME, SMALL, TITLE};
use crate::drawing::Drawing;

/// What is drawn of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    pub title: String,
    pub states: Vec<String>,
    /// where it is from the start
    pub initial: Option<usize>,
    pub transitions: Vec<Transition>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    pub name: String,
    /// from nothing
    pub created: bool,
    pub from: Vec<usize>,
    pub to: usize,
    /// what allows it, a line each
    pub conditions: Vec<String>,
}

const LEFT: f64 = 24.0;
const NODE_HEIGHT: f64 = 30.0;
/// Between two boxes.
const GAP: f64 = 18.0;
/// For the text beside a row.
const ROOM: f64 = 460.0;

impl Machine {
    /// The drawing, under this name.
    pub fn draw(&self, name: String) -> Drawing {
        Drawing::of(name, canvas(self))
    }
}

fn canvas(machine: &Machine) -> Canvas {
    let starts = machine.initial.is_some() || machine.transitions.iter().any(|t| t.created);
    let mut right = LEFT;
    // where nothing is yet
    let nothing = starts.then(|| {
        right += 14.0 + GAP;
        LEFT + 7.0
    });
    let mut columns = Vec::new();
    for name in &machine.states {
        let width = NAME.width(name) + 24.0;
        columns.push((right + width / 2.0, width));
        right += width + GAP;
    }
    let beside = right + GAP;
    let mut canvas = Canvas::default();
    canvas.text(TITLE, Anchor::Start, LEFT, 12.0, &machine.title);
    let top = 12.0 + TITLE.line() + 12.0;
    let mut y = top + NODE_HEIGHT + 12.0;
    if let (Some(initial), Some(nothing)) = (machine.initial, nothing) {
        let row = y + NAME.line() / 2.0;
        canvas.circle("dot", nothing, row, 5.0);
        canvas.path("soft", &[(nothing + 5.0, row), (columns[initial].0, row)], true);
        y += canvas.block(SMALL, Anchor::Start, beside, y, "there from the start", ROOM) + 12.0;
    }
    for transition in &machine.transitions {
        let row = y + NAME.line() / 2.0;
        arrows(&mut canvas, transition, &columns, nothing, row);
        let mut below = y;
        below += canvas.block(NAME, Anchor::Start, beside, below, &transition.name, ROOM);
        for condition in &transition.conditions {
            below += canvas.block(SMALL, Anchor::Start, beside, below, condition, ROOM);
        }
        y = below.max(y + 20.0) + 12.0;
    }
    for (name, (x, width)) in machine.states.iter().zip(&columns) {
        canvas.path("life", &[(*x, top + NODE_HEIGHT), (*x, y)], false);
        canvas.rect("truth", x - width / 2.0, top, *width, NODE_HEIGHT);
        canvas.text(NAME, Anchor::Middle, *x, top + 7.0, name);
    }
    canvas
}

/// From each state that it may come from, to where it leads.
fn arrows(
    canvas: &mut Canvas,
    transition: &Transition,
    columns: &[(f64, f64)],
    nothing: Option<f64>,
    row: f64,
) {
    let target = columns[transition.to].0;
    let mut sources: Vec<f64> = match (transition.created, nothing) {
        (true, Some(nothing)) => vec![nothing],
        _ => transition.from.iter().map(|from| columns[*from].0).collect(),
    };
    // it may stay where it is
    let stays = sources.contains(&target);
    sources.retain(|source| *source != target);
    for &source in &sources {
        canvas.circle(if transition.created { "dot" } else { "open" }, source, row, 4.0);
    }
    // one line from the farthest of either side: it passes through the others
    let farthest = [
        sources.iter().copied().filter(|source| *source < target).reduce(f64::min),
        sources.iter().copied().filter(|source| *source > target).reduce(f64::max),
    ];
    for source in farthest.into_iter().flatten() {
        let begin = if source < target { source + 4.0 } else { source - 4.0 };
        canvas.path("main", &[(begin, row), (target, row)], true);
    }
    if stays {
        let (out, back) = (target + 16.0, row + 12.0);
        canvas.circle("open", target, row, 4.0);
        canvas.path("main", &[(target + 4.0, row), (out, row), (out, back), (target, back)], true);
    }
}
