//! Where everything of a drawing stands. Texts are set in a font of one width, so how long a text
//! is can be known here, and nothing overlaps.

use super::{Lanes, Reply, Row, Shape};

/// The width of a letter at the size that the page gives to texts in drawings.
pub(super) const LETTER: f64 = 6.7;
pub(super) const LINE: f64 = 15.0;
/// The most letters of a note in a lane.
const NOTE_LETTERS: usize = 34;
const LABEL_LETTERS: usize = 72;
/// Left of the first lane: the numbers of the steps.
pub(super) const MARGIN: f64 = 46.0;
const HEAD: f64 = 44.0;

pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// the line of each lane
    pub(super) lane_x: Vec<f64>,
    pub(super) rows: Vec<Place>,
}

/// Where the parts of a row are; the row goes from `top` to `bottom`.
pub(super) struct Place {
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// the base line of what would have refused
    pub(super) warning: f64,
    /// the base line of the label
    pub(super) label: f64,
    pub(super) arrow: f64,
    /// the base line of the first change
    pub(super) changes: f64,
    pub(super) reply: f64,
    /// the base line of the first belief
    pub(super) beliefs: f64,
}

/// How many columns a text takes; letters of eastern scripts take two.
pub(super) fn columns(text: &str) -> usize {
    let is_wide = |letter: char| {
        matches!(letter as u32, 0x1100..=0x115f | 0x2e80..=0xd7ff | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f000..)
    };
    text.chars().map(|letter| if is_wide(letter) { 2 } else { 1 }).sum()
}

pub(super) fn note_text(text: &str) -> String {
    cut(text, NOTE_LETTERS)
}

pub(super) fn label_text(text: &str) -> String {
    cut(text, LABEL_LETTERS)
}

fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_string();
    }
    let mut result = String::new();
    for letter in text.chars() {
        if columns(&result) + columns(letter.encode_utf8(&mut [0; 4])) + 1 > most {
            break;
        }
        result.push(letter);
    }
    result.push('…');
    result
}

fn width(text: &str) -> f64 {
    columns(text) as f64 * LETTER
}

pub(super) fn layout(drawing: &Lanes) -> Layout {
    let mut lane_x = Vec::new();
    let mut x = MARGIN + 14.0;
    for (at, lane) in drawing.lanes.iter().enumerate() {
        lane_x.push(x);
        let mut needed = width(&lane.name) + 30.0;
        for row in &drawing.rows {
            for (held, lines) in row.changes.iter().chain(&row.beliefs) {
                if *held == at {
                    let widest = lines.iter().map(|line| width(&note_text(line)));
                    needed = widest.fold(needed, |most, one| most.max(one + 30.0));
                }
            }
        }
        x += needed.max(104.0);
    }
    let mut right = x;
    let mut y = HEAD;
    let mut rows = Vec::new();
    for row in &drawing.rows {
        let place = place(row, y);
        y = place.bottom;
        rows.push(place);
        let from = label_x(row, &lane_x);
        right = right.max(from + width(&label_text(&row.label)) + 24.0);
        if let Some(clause) = &row.warning {
            right = right.max(from + width(&warning_text(clause)) + 24.0);
        }
    }
    Layout { width: right + 6.0, height: y + 14.0, lane_x, rows }
}

pub(super) fn warning_text(clause: &str) -> String {
    format!("{clause} would have refused here")
}

/// Where the label of a row begins.
pub(super) fn label_x(row: &Row, lane_x: &[f64]) -> f64 {
    let lane = match &row.shape {
        Shape::Band => return MARGIN + 10.0,
        Shape::Mark { lane, .. } => *lane,
        Shape::Arrow { from, to, .. } => to.iter().copied().fold(*from, usize::min),
    };
    let inset = if matches!(row.shape, Shape::Mark { .. }) { 14.0 } else { 9.0 };
    lane_x.get(lane).copied().unwrap_or(MARGIN) + inset
}

fn place(row: &Row, top: f64) -> Place {
    let lines = |list: &[(usize, Vec<String>)]| {
        list.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0) as f64
    };
    let is_arrow = matches!(row.shape, Shape::Arrow { .. });
    let mut y = top + if row.cycle_start { 26.0 } else { 8.0 };
    let warning = y + 11.0;
    if row.warning.is_some() {
        y += LINE + 1.0;
    }
    let label = y + 11.0;
    let arrow = if is_arrow { label + 8.0 } else { label - 4.0 };
    y = if is_arrow { arrow } else { label };
    let changes = y + 14.0;
    y += lines(&row.changes) * LINE;
    let has_reply = matches!(row.shape, Shape::Arrow { reply, .. } if reply != Reply::None);
    let reply = y + 9.0;
    if has_reply {
        y = reply;
    }
    let beliefs = y + 14.0;
    y += lines(&row.beliefs) * LINE;
    Place { top, bottom: y + 11.0, warning, label, arrow, changes, reply, beliefs }
}

#[cfg(test)]
mod tests {
    use super::super::{Lane, LaneKind};
    use super::*;

    fn lane(kind: LaneKind, name: &str) -> Lane {
        Lane { kind, name: name.into() }
    }

    fn row(shape: Shape, label: &str) -> Row {
        let (changes, beliefs) = (Vec::new(), Vec::new());
        Row { shape, label: label.into(), warning: None, changes, beliefs, cycle_start: false }
    }

    /// Two callers change two records; the first does not hear of it, the second was not refused.
    fn two_callers() -> Lanes {
        let arrow = |from, reply| Shape::Arrow {
            from,
            to: vec![2, 3],
            reply,
            doubled: false,
            in_flight: false,
        };
        let said = |text: &str| vec![text.to_string(), "SeatHoldState.expires_at: now+2".into()];
        let mut first = row(arrow(0, Reply::Lost), "hold seat-1, booking-1 \u{b7} reply lost");
        first.changes = vec![(2, said("status: AVAILABLE \u{2192} HELD")), (3, said("new"))];
        let mut second = row(arrow(1, Reply::Given), "hold seat-1, booking-2");
        second.warning = Some("hold.free".into());
        second.changes =
            vec![(2, said("SeatInventoryState.booking: booking-1 \u{2192} booking-2"))];
        let lanes = vec![
            lane(LaneKind::Principal, "buyer-1"),
            lane(LaneKind::Principal, "buyer-2"),
            lane(LaneKind::Record, "seat-1"),
            lane(LaneKind::Record, "booking-1"),
        ];
        Lanes { lanes, rows: vec![first, second] }
    }

    /// A caller crashes, and time goes by for ever.
    fn crash_and_time() -> Lanes {
        let call = Shape::Arrow {
            from: 0,
            to: vec![1],
            reply: Reply::Refused,
            doubled: true,
            in_flight: false,
        };
        let mut claim = row(call, "claim resource-1");
        claim.beliefs = vec![(0, vec!["my_epoch = 1".into()])];
        let mut crash = row(Shape::Mark { lane: 0, bad: true }, "crash");
        crash.beliefs = vec![(0, vec!["forgot my_epoch".into()])];
        let mut tick = row(Shape::Band, "one tick passes");
        tick.cycle_start = true;
        let lanes =
            vec![lane(LaneKind::Principal, "claimant-1"), lane(LaneKind::Record, "resource-1")];
        Lanes { lanes, rows: vec![claim, crash, tick] }
    }

    #[test]
    fn rows_follow_each_other_and_lanes_have_room() {
        for drawing in [two_callers(), crash_and_time()] {
            let layout = layout(&drawing);
            assert!(layout.rows.windows(2).all(|pair| pair[0].bottom <= pair[1].top));
            for (row, place) in drawing.rows.iter().zip(&layout.rows) {
                assert!(place.label <= place.bottom && place.reply <= place.bottom, "{row:?}");
                for (lane, lines) in row.changes.iter().chain(&row.beliefs) {
                    let end = layout.lane_x.get(lane + 1).copied().unwrap_or(layout.width);
                    for line in lines {
                        let needed = width(&note_text(line)) + 8.0;
                        assert!(layout.lane_x[*lane] + needed <= end, "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(note_text("short"), "short");
        assert_eq!(columns(&note_text(&"long".repeat(30))), NOTE_LETTERS);
        assert!(columns(&note_text(&"長い".repeat(30))) <= NOTE_LETTERS);
    }
}
