//! Swim lanes, drawn. Colours come from the page's style, so that a drawing is light or dark with
//! the page.

use std::fmt::Write as _;

use super::layout::{self, LINE, Layout, MARGIN, Place, layout};
use super::{Lane, LaneKind, Lanes, Reply, Row, Shape};
use crate::escape::attribute;

/// All of it as an `<svg>` element; `title` is for those who cannot see it.
pub fn svg(drawing: &Lanes, title: &str) -> String {
    let place = layout(drawing);
    let (width, height) = (place.width.ceil(), place.height.ceil());
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n",
        attribute(title)
    );
    bands(&mut out, drawing, &place);
    for (lane, x) in drawing.lanes.iter().zip(&place.lane_x) {
        head(&mut out, lane, *x, place.height);
    }
    for (at, (row, y)) in drawing.rows.iter().zip(&place.rows).enumerate() {
        let middle = if matches!(row.shape, Shape::Arrow { .. }) { y.arrow } else { y.label - 4.0 };
        let _ = writeln!(out, "<circle class=\"number\" cx=\"22\" cy=\"{middle}\" r=\"11\"/>");
        text(&mut out, "number", 22.0, middle + 4.0, &(at + 1).to_string());
        draw(&mut out, row, y, &place);
    }
    cycle(&mut out, drawing, &place);
    out.push_str("</svg>\n");
    out
}

/// What lies behind the lanes: passing time, and the part that repeats.
fn bands(out: &mut String, drawing: &Lanes, place: &Layout) {
    for (row, y) in drawing.rows.iter().zip(&place.rows) {
        if row.shape == Shape::Band {
            let (top, height) = (y.label - 15.0, 22.0);
            let width = place.width - MARGIN + 2.0;
            let _ = writeln!(
                out,
                "<rect class=\"band\" x=\"{}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>",
                MARGIN - 6.0
            );
        }
    }
}

fn head(out: &mut String, lane: &Lane, x: f64, bottom: f64) {
    let class = match lane.kind {
        LaneKind::Principal => "principal",
        LaneKind::Engine => "engine",
        LaneKind::Record => "record",
        LaneKind::World => "world",
    };
    let width = layout::columns(&lane.name) as f64 * layout::LETTER + 18.0;
    let _ = writeln!(
        out,
        "<line class=\"lane {class}\" x1=\"{x}\" y1=\"32\" x2=\"{x}\" y2=\"{}\"/>\n\
         <rect class=\"head {class}\" x=\"{}\" y=\"8\" width=\"{width}\" height=\"24\" rx=\"5\"/>",
        bottom - 4.0,
        x - 9.0
    );
    text(out, "head", x, 24.0, &lane.name);
}

fn draw(out: &mut String, row: &Row, y: &Place, place: &Layout) {
    let x = |lane: usize| place.lane_x.get(lane).copied().unwrap_or(MARGIN);
    if row.cycle_start {
        text(out, "cycle", MARGIN + 10.0, y.top + 14.0, "from here on, for ever:");
    }
    let mut label = "label";
    match &row.shape {
        Shape::Band => label = "label faint",
        Shape::Mark { lane, bad: true } => {
            let (x, y) = (x(*lane), y.label - 4.0);
            let _ = writeln!(
                out,
                "<path class=\"crash\" d=\"M{} {}l12 12m0 -12l-12 12\"/>",
                x - 6.0,
                y - 6.0
            );
            label = "label bad";
        }
        Shape::Mark { lane, bad: false } => {
            let (x, y) = (x(*lane), y.label - 4.0);
            let _ = writeln!(out, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>");
        }
        Shape::Arrow { from, to, reply, doubled, in_flight } => {
            let lanes: Vec<f64> = to.iter().map(|lane| x(*lane)).collect();
            call(out, x(*from), &lanes, y.arrow, *doubled, *in_flight, row.warning.is_some());
            answer(out, x(*from), lanes[0], y.reply, *reply);
        }
    }
    let left = layout::label_x(row, &place.lane_x);
    if let Some(clause) = &row.warning {
        text(out, "label bad", left, y.warning, &layout::warning_text(clause));
    }
    text(out, label, left, y.label, &layout::label_text(&row.label));
    for (list, class, first) in
        [(&row.changes, "change", y.changes), (&row.beliefs, "belief", y.beliefs)]
    {
        for (lane, lines) in list {
            for (at, line) in lines.iter().enumerate() {
                let base = first + at as f64 * LINE;
                text(out, class, x(*lane) + 9.0, base, &layout::note_text(line));
            }
        }
    }
}

/// From the caller to everything that the call touches.
fn call(
    out: &mut String,
    from: f64,
    to: &[f64],
    y: f64,
    doubled: bool,
    in_flight: bool,
    unguarded: bool,
) {
    let toward = if to[0] > from { 1.0 } else { -1.0 };
    let class = match (in_flight, unguarded) {
        (true, _) => "call flight",
        (_, true) => "call bad",
        _ => "call",
    };
    let end = if in_flight { from + (to[0] - from) * 0.55 } else { to[0] - toward * 2.0 };
    let far = to.last().copied().unwrap_or(end);
    if !in_flight && to.len() > 1 {
        let _ = writeln!(
            out,
            "<line class=\"{class} thin\" x1=\"{end}\" y1=\"{y}\" x2=\"{far}\" y2=\"{y}\"/>"
        );
        for x in &to[1..] {
            let _ = writeln!(out, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>");
        }
    }
    for offset in if doubled { &[-2.5, 2.5][..] } else { &[0.0][..] } {
        let at = y + offset;
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{from}\" y1=\"{at}\" x2=\"{end}\" y2=\"{at}\"/>"
        );
    }
    arrowhead(out, class, end, y, toward);
    let _ = writeln!(out, "<circle class=\"dot\" cx=\"{from}\" cy=\"{y}\" r=\"4\"/>");
}

/// What comes back; a reply that is lost ends in a cross on the way.
fn answer(out: &mut String, from: f64, to: f64, y: f64, reply: Reply) {
    let toward = if to > from { -1.0 } else { 1.0 };
    let class = match reply {
        Reply::None => return,
        Reply::Given => "reply",
        Reply::Lost | Reply::Refused => "reply bad",
    };
    let end = if reply == Reply::Lost { to + (from - to) * 0.4 } else { from - toward * 2.0 };
    let _ =
        writeln!(out, "<line class=\"{class}\" x1=\"{to}\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\"/>");
    if reply == Reply::Lost {
        let _ =
            writeln!(out, "<path class=\"crash\" d=\"M{} {}l9 9m0 -9l-9 9\"/>", end - 4.5, y - 4.5);
    } else {
        arrowhead(out, class, end, y, toward);
    }
}

fn arrowhead(out: &mut String, class: &str, x: f64, y: f64, toward: f64) {
    let back = -8.0 * toward;
    let _ = writeln!(out, "<path class=\"tip {class}\" d=\"M{x} {y}l{back} -4.5v9z\"/>");
}

/// The way back, at the left, of a history that repeats.
fn cycle(out: &mut String, drawing: &Lanes, place: &Layout) {
    let Some(start) = drawing.rows.iter().position(|row| row.cycle_start) else { return };
    let (Some(first), Some(last)) = (place.rows.get(start), place.rows.last()) else { return };
    let (top, bottom) = (first.top + 10.0, last.bottom - 3.0);
    let _ = writeln!(
        out,
        "<path class=\"cycle\" d=\"M22 {bottom}H5V{top}H40\"/>\n\
         <path class=\"tip cycle\" d=\"M42 {top}l-8 -4.5v9z\"/>"
    );
}

fn text(out: &mut String, class: &str, x: f64, y: f64, said: &str) {
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", attribute(said));
}
