//! A state machine: the constants in a row, each transition on a lane of its own, forward above and
//! backward below. Labels stand between the columns, where no line turns.

use super::canvas::{Anchor, Canvas, NAME, SMALL, TITLE};
use super::transitions::{Machine, Transition};
use super::{Drawing, finish};

const ROOM: f64 = 210.0;
const NODE_HEIGHT: f64 = 34.0;
const LEFT: f64 = 24.0;

/// One lane: which columns it joins, where it ends and what stands on it.
struct Lane<'a> {
    transition: &'a Transition,
    /// columns that it comes from; none: from any
    from: Vec<usize>,
    to: usize,
    above: bool,
    height: f64,
    /// counted away from the row
    level: usize,
    y: f64,
}

pub fn draw(machine: &Machine) -> Drawing {
    let starts = machine.initial.is_some() || machine.transitions.iter().any(|t| t.created);
    let first = usize::from(starts);
    let columns = machine.constants.len() + first;
    let mut lanes: Vec<Lane<'_>> =
        machine.transitions.iter().map(|t| lane(machine, t, first)).collect();
    // Short ones lie nearest to the row.
    lanes.sort_by_key(|lane| {
        let all = lane.from.iter().chain([&lane.to]);
        all.clone().max().copied().unwrap_or(0) - all.min().copied().unwrap_or(0)
    });
    let widest = (0..columns)
        .map(|column| {
            let name = if column < first { "" } else { &machine.constants[column - first] };
            let most = ports(&lanes, column, true).max(ports(&lanes, column, false));
            (NAME.width(name) + 24.0).max(most as f64 * 14.0 + 20.0)
        })
        .fold(60.0, f64::max);
    let pitch = widest + ROOM + 20.0;
    let title_height = TITLE.line() + 18.0;
    let up = levels(&mut lanes, true, columns);
    let down = levels(&mut lanes, false, columns);
    let row = title_height + up.iter().sum::<f64>() + 14.0;
    for lane in &mut lanes {
        lane.y = if lane.above {
            row - 14.0 - up[..lane.level].iter().sum::<f64>()
        } else {
            row + NODE_HEIGHT + 6.0 + down[..=lane.level].iter().sum::<f64>()
        };
    }
    let mut canvas = Canvas::default();
    let title = format!("{}.{} of {}", machine.state, machine.attribute, machine.subject);
    canvas.text(TITLE, Anchor::Start, LEFT, 12.0, &title);
    let x = |column: usize| LEFT + widest / 2.0 + column as f64 * pitch;
    for column in 0..columns {
        if column < first {
            canvas.circle("dot", x(column), row + NODE_HEIGHT / 2.0, 7.0);
        } else {
            canvas.rect("truth", x(column) - widest / 2.0, row, widest, NODE_HEIGHT);
            let name = &machine.constants[column - first];
            canvas.text(NAME, Anchor::Middle, x(column), row + 9.0, name);
        }
    }
    if let Some(initial) = machine.initial {
        let end = x(initial + first) - widest / 2.0;
        if initial == 0 {
            let y = row + NODE_HEIGHT / 2.0;
            canvas.path("soft", &[(x(0) + 7.0, y), (end, y)], false);
            canvas.text(
                SMALL,
                Anchor::Middle,
                f64::midpoint(x(0), end),
                y - 16.0,
                "there from the start",
            );
        }
    }
    let mut used = vec![[0usize; 2]; columns];
    for lane in &lanes {
        let side = usize::from(lane.above);
        let mut port = |column: usize| {
            let count = ports(&lanes, column, lane.above);
            let at = used[column][side];
            used[column][side] += 1;
            let room = if column < first { 10.0 } else { widest - 24.0 };
            x(column) - room / 2.0 + room * (at as f64 + 0.5) / count as f64
        };
        let edge = if lane.above { row } else { row + NODE_HEIGHT };
        let gap = gap(lane, columns);
        let middle = x(gap) + pitch / 2.0;
        if lane.from.is_empty() {
            let target = port(lane.to);
            canvas.path("main", &[(middle, lane.y), (target, lane.y), (target, edge)], true);
            canvas.circle("open", middle, lane.y, 4.0);
        } else {
            let sources: Vec<f64> = lane.from.iter().map(|column| port(*column)).collect();
            let target = port(lane.to);
            for source in sources {
                let start =
                    if lane.from == [0] && first == 1 { row + NODE_HEIGHT / 2.0 } else { edge };
                canvas.path(
                    "main",
                    &[(source, start), (source, lane.y), (target, lane.y), (target, edge)],
                    true,
                );
            }
        }
        label(&mut canvas, lane, middle);
    }
    finish(format!("machine-{}-{}", machine.subject, machine.attribute), canvas)
}

fn lane<'a>(machine: &Machine, transition: &'a Transition, first: usize) -> Lane<'a> {
    let any = transition.from.len() == machine.constants.len() && machine.constants.len() > 1;
    let from: Vec<usize> = match (transition.created, any) {
        (true, _) => vec![0],
        (false, true) => Vec::new(),
        (false, false) => transition.from.iter().map(|from| from + first).collect(),
    };
    let to = transition.to + first;
    let above = from.is_empty() || from.iter().any(|from| *from < to);
    let guard = transition.guard.iter().map(|g| SMALL.wrap(g, ROOM).len()).sum::<usize>();
    let names = NAME.wrap(&name_of(transition, any), ROOM).len();
    let height = names as f64 * NAME.line() + guard as f64 * SMALL.line() + 12.0;
    Lane { transition, from, to, above, height, level: 0, y: 0.0 }
}

fn name_of(transition: &Transition, any: bool) -> String {
    let from = if any { ", from any" } else { "" };
    format!("{}{from}", transition.operation)
}

fn touches(lane: &Lane<'_>, column: usize) -> usize {
    lane.from.iter().chain([&lane.to]).filter(|at| **at == column).count()
}

/// Gives the lanes of one side their levels: two that lie apart share one. How high each level is.
fn levels(lanes: &mut [Lane<'_>], above: bool, columns: usize) -> Vec<f64> {
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut heights: Vec<f64> = Vec::new();
    for lane in lanes.iter_mut().filter(|lane| lane.above == above) {
        // Columns are even, the gaps between them odd.
        let label = 2 * gap(lane, columns) + 1;
        let ends = lane.from.iter().chain([&lane.to]).map(|column| 2 * column);
        let low = ends.clone().min().unwrap_or(0).min(label);
        let high = ends.max().unwrap_or(0).max(label);
        let apart = |(from, to): &(usize, usize)| *to < low || high < *from;
        let level = taken.iter().position(|all| all.iter().all(apart)).unwrap_or(taken.len());
        if level == taken.len() {
            taken.push(Vec::new());
            heights.push(0.0);
        }
        taken[level].push((low, high));
        heights[level] = heights[level].max(lane.height);
        lane.level = level;
    }
    heights
}

/// How many lanes end at a column, on one side.
fn ports(lanes: &[Lane<'_>], column: usize, above: bool) -> usize {
    lanes.iter().filter(|lane| lane.above == above).map(|lane| touches(lane, column)).sum()
}

/// The gap that the label stands in: the middle one of those that the lane crosses.
fn gap(lane: &Lane<'_>, columns: usize) -> usize {
    let all = || lane.from.iter().chain([&lane.to]).copied();
    let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    if low < high {
        (low + high - 1) / 2
    } else if low > 0 && lane.from.is_empty() {
        low - 1
    } else {
        low.min(columns.saturating_sub(1))
    }
}

fn label(canvas: &mut Canvas, lane: &Lane<'_>, x: f64) {
    let any = lane.from.is_empty();
    let mut y = lane.y - lane.height + 8.0;
    y += canvas.block(NAME, Anchor::Middle, x, y, &name_of(lane.transition, any), ROOM);
    for clause in &lane.transition.guard {
        y += canvas.block(SMALL, Anchor::Middle, x, y, clause, ROOM);
    }
}
