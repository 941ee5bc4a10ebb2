//! Lines over the last minutes, as SVG.

use std::fmt::Write as _;

use crate::escape::attribute;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 96.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 14.0;

/// One line: what it is called, what it is now, and its values, the newest last.
pub struct Line {
    pub label: &'static str,
    pub now: String,
    /// none: nothing was measured then
    pub values: Vec<Option<f64>>,
}

/// How a number on the scale is written.
pub type Spell = fn(f64) -> String;

/// A plot of the last `span` seconds.
pub fn plot(title: &str, lines: &[Line], span: usize, spell: Spell) -> String {
    let mut out = String::new();
    let most = lines.iter().flat_map(|line| &line.values).flatten().copied().fold(0.0, f64::max);
    let top = ceiling(most);
    let _ = write!(out, "<figure class=\"plot\"><figcaption><strong>{}</strong>", attribute(title));
    for (at, line) in lines.iter().enumerate() {
        let _ = write!(
            out,
            "<span class=\"legend\"><svg viewBox=\"0 0 20 8\" aria-hidden=\"true\"><path class=\"line c{} \
             dash{}\" d=\"M0 4H20\"/></svg>{} <b>{}</b></span>",
            at + 1,
            at + 1,
            attribute(line.label),
            attribute(&line.now)
        );
    }
    let said: Vec<String> =
        lines.iter().map(|line| format!("{} {} now", line.label, line.now)).collect();
    let _ = write!(
        out,
        "</figcaption><svg viewBox=\"0 0 860 230\" role=\"img\" aria-label=\"{}: {}\">",
        attribute(title),
        attribute(&said.join(", "))
    );
    for step in 0..=4 {
        let value = top * f64::from(step) / 4.0;
        let y = at_y(value, top);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"96\" x2=\"860\" y1=\"{}\" y2=\"{}\"/>\
             <text x=\"88\" y=\"{}\" text-anchor=\"end\">{}</text>",
            number(y),
            number(y),
            number(y + 4.0),
            attribute(&spell(value))
        );
    }
    for (share, text) in [(0.0, minutes(span)), (0.5, minutes(span / 2)), (1.0, "now".into())] {
        let anchor = if share == 0.0 {
            "start"
        } else if share == 1.0 {
            "end"
        } else {
            "middle"
        };
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"225\" text-anchor=\"{}\">{}</text>",
            number(LEFT + share * (WIDTH - LEFT)),
            anchor,
            text
        );
    }
    for (at, line) in lines.iter().enumerate() {
        let (stroke, area) = paths(&line.values, span, top);
        if at == 0 {
            let _ = write!(out, "<path class=\"area c1\" d=\"{}\"/>", area);
        }
        let _ = write!(out, "<path class=\"line c{} dash{}\" d=\"{}\"/>", at + 1, at + 1, stroke);
    }
    out.push_str("</svg></figure>");
    out
}

/// A small line without a scale.
pub fn spark(values: &[f64], span: usize, label: &str) -> String {
    let most = values.iter().copied().fold(1.0, f64::max);
    let start = span.saturating_sub(values.len());
    let mut path = String::new();
    for (at, value) in values.iter().enumerate() {
        let x = (start + at) as f64 / (span.max(2) - 1) as f64 * 300.0;
        let y = 31.0 - value / most * 28.0;
        let _ = write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, number(x), number(y));
    }
    format!(
        "<svg class=\"spark plot-line\" viewBox=\"0 0 300 34\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{}\"><line class=\"grid\" x1=\"0\" x2=\"300\" y1=\"33\" y2=\"33\"/>\
         <path class=\"line c1\" vector-effect=\"non-scaling-stroke\" d=\"{}\"/></svg>",
        attribute(label),
        path
    )
}

fn at_y(value: f64, top: f64) -> f64 {
    let room = HEIGHT - BOTTOM - TOP;
    TOP + room * (1.0 - (value / top).min(1.0))
}

/// The line, with a gap where nothing was measured; and the area below it.
fn paths(values: &[Option<f64>], span: usize, top: f64) -> (String, String) {
    let start = span.saturating_sub(values.len());
    let (mut stroke, mut area) = (String::new(), String::new());
    let mut last: Option<f64> = None;
    let floor = number(HEIGHT - BOTTOM);
    for (at, value) in values.iter().enumerate() {
        let x = LEFT + (start + at) as f64 / (span.max(2) - 1) as f64 * (WIDTH - LEFT);
        match value {
            Some(value) => {
                let y = number(at_y(*value, top));
                if last.is_none() {
                    let _ = write!(stroke, "M{} {y}h.1", number(x));
                    let _ = write!(area, "M{} {floor}", number(x));
                }
                let _ = write!(stroke, "L{} {y}", number(x));
                let _ = write!(area, "L{} {y}", number(x));
                last = Some(x);
            }
            None => {
                if let Some(x) = last.take() {
                    let _ = write!(area, "L{} {floor}z", number(x));
                }
            }
        }
    }
    if let Some(x) = last {
        let _ = write!(area, "L{} {floor}z", number(x));
    }
    (stroke, area)
}

/// The next round number, so that the scale does not dance.
fn ceiling(most: f64) -> f64 {
    if most <= 4.0 {
        return 4.0;
    }
    let unit = 10_f64.powf(most.log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * unit).find(|top| *top >= most).unwrap_or(10.0 * unit)
}

fn number(value: f64) -> String {
    format!("{:.1}", value)
}

fn minutes(seconds: usize) -> String {
    if seconds.is_multiple_of(60) {
        format!("{} min ago", seconds / 60)
    } else {
        format!("{seconds} s ago")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        for (most, top) in
            [(0.0, 4.0), (3.0, 4.0), (7.0, 8.0), (11.0, 20.0), (61.0, 80.0), (4_100.0, 6_000.0)]
        {
            assert_eq!(ceiling(most), top);
        }
    }

    #[test]
    fn a_line_has_a_gap_where_nothing_was_measured() {
        let (stroke, area) = paths(&[Some(1.0), None, Some(4.0), Some(2.0)], 4, 4.0);
        assert_eq!(stroke.matches('M').count(), 2);
        assert_eq!(area.matches('z').count(), 2);
    }
}
