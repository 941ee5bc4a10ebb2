//! Shapes and texts, with the box of each text kept.

use crate::escape::{attribute, escape};
use crate::font;

/// Where a text stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    pub text: String,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Label {
    pub fn overlaps(&self, other: &Label) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub struct Font {
    pub class: &'static str,
    pub size: f64,
    pub bold: bool,
}

pub const TITLE: Font = Font { class: "t", size: 15.0, bold: true };
pub const NAME: Font = Font { class: "n", size: 12.0, bold: true };
pub const SMALL: Font = Font { class: "s", size: 10.0, bold: false };

impl Font {
    pub fn width(self, text: &str) -> f64 {
        font::width(text, self.size, self.bold)
    }

    pub fn wrap(self, text: &str, room: f64) -> Vec<String> {
        font::wrap(text, self.size, self.bold, room)
    }

    pub fn line(self) -> f64 {
        (self.size * 1.35).ceil()
    }
}

/// What is drawn so far, and how far it reaches.
#[derive(Default)]
pub struct Canvas {
    below: String,
    above: String,
    labels: Vec<Label>,
    right: f64,
    bottom: f64,
}

const MARGIN: f64 = 16.0;

impl Canvas {
    fn reach(&mut self, x: f64, y: f64) {
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }

    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        self.reach(x + width, y + height);
        self.below.push_str(&format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
            number(x),
            number(y),
            number(width),
            number(height)
        ));
    }

    pub fn circle(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        self.reach(x + radius, y + radius);
        self.below.push_str(&format!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
            number(x),
            number(y),
            number(radius)
        ));
    }

    /// A line through these points, with rounded corners.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)], arrow: bool) {
        const ROUND: f64 = 6.0;
        let mut data = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            self.reach(x, y);
            if index == 0 {
                data.push_str(&format!("M{} {}", number(x), number(y)));
            } else if let Some(&next) = points.get(index + 1) {
                let before = towards((x, y), points[index - 1], ROUND);
                let after = towards((x, y), next, ROUND);
                data.push_str(&format!(
                    " L{} {} Q{} {} {} {}",
                    number(before.0),
                    number(before.1),
                    number(x),
                    number(y),
                    number(after.0),
                    number(after.1)
                ));
            } else {
                data.push_str(&format!(" L{} {}", number(x), number(y)));
            }
        }
        self.line(class, &data, arrow);
    }

    /// A soft curve from left to right.
    pub fn curve(&mut self, class: &str, from: (f64, f64), to: (f64, f64), arrow: bool) {
        let middle = f64::midpoint(from.0, to.0);
        let data = format!(
            "M{} {} C{} {} {} {} {} {}",
            number(from.0),
            number(from.1),
            number(middle),
            number(from.1),
            number(middle),
            number(to.1),
            number(to.0),
            number(to.1)
        );
        self.line(class, &data, arrow);
    }

    fn line(&mut self, class: &str, data: &str, arrow: bool) {
        let marker = if arrow { format!(" marker-end=\"url(#{class})\"") } else { String::new() };
        self.below.push_str(&format!("<path class=\"l {class}\" d=\"{data}\"{marker}/>\n"));
    }

    /// One line of text; `y` is the top of its line.
    pub fn text(&mut self, font: Font, anchor: Anchor, x: f64, y: f64, text: &str) {
        let width = font.width(text);
        let left = if anchor == Anchor::Middle { x - width / 2.0 } else { x };
        self.reach(left + width, y + font.line());
        self.labels.push(Label { text: text.into(), x: left, y, width, height: font.line() });
        // The length is given, so that another font cannot make it longer.
        self.above.push_str(&format!(
            "<text class=\"{}\" x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
            font.class,
            number(left),
            number(y + font.size * 1.05),
            number(width),
            escape(text)
        ));
    }

    /// One line of text that is read from below upwards; `x` is its middle, `bottom` where it begins.
    pub fn upright(&mut self, font: Font, x: f64, bottom: f64, text: &str) {
        let (width, line) = (font.width(text), font.line());
        self.reach(x + line / 2.0, bottom);
        self.labels.push(Label {
            text: text.into(),
            x: x - line / 2.0,
            y: bottom - width,
            width: line,
            height: width,
        });
        let base = number(x + font.size * 0.35);
        let bottom = number(bottom);
        self.above.push_str(&format!(
            "<text class=\"{}\" x=\"{base}\" y=\"{bottom}\" transform=\"rotate(-90 {base} {bottom})\" \
             textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
            font.class,
            number(width),
            escape(text)
        ));
    }

    /// A text in lines no wider than `room`; how high it is.
    pub fn block(
        &mut self,
        font: Font,
        anchor: Anchor,
        x: f64,
        y: f64,
        text: &str,
        room: f64,
    ) -> f64 {
        let lines = font.wrap(text, room);
        for (index, line) in lines.iter().enumerate() {
            self.text(font, anchor, x, y + index as f64 * font.line(), line);
        }
        lines.len() as f64 * font.line()
    }

    /// A box over what is drawn there that leads to another page.
    pub fn link(&mut self, address: &str, label: &str, x: f64, y: f64, width: f64, height: f64) {
        self.above.push_str(&format!(
            "<a href=\"{}\" aria-label=\"{}\"><rect class=\"hit\" x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{}\" rx=\"6\"/></a>\n",
            attribute(address),
            attribute(label),
            number(x),
            number(y),
            number(width),
            number(height)
        ));
    }

    /// Width, height, the labels, and the markup between the tags of `svg`.
    pub(crate) fn finish(self) -> (f64, f64, Vec<Label>, String) {
        let inner = format!("{}{}", self.below, self.above);
        (self.right + MARGIN, self.bottom + MARGIN, self.labels, inner)
    }
}

fn towards(from: (f64, f64), to: (f64, f64), far: f64) -> (f64, f64) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 1e-6 {
        return from;
    }
    let part = (far / length).min(0.5);
    (from.0 + dx * part, from.1 + dy * part)
}

/// Short and the same everywhere.
pub fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 { format!("{rounded:.0}") } else { format!("{rounded:.1}") }
}

/// What the classes of every drawing look like, for a page that shows them without their own.
pub const STYLE: &str = "\
svg{--page:#ffffff;--ink:#1c2430;--soft:#5b6675;--rule:#c3cad4;--box:#f3f5f8;--group:#fafbfc;\
--main:#2f6feb;--warn:#c2410c;--good:#15803d;--mem:#7c3aed}\
@media(prefers-color-scheme:dark){svg{--page:#0f1419;--ink:#e6e9ee;--soft:#a3adba;--rule:#3a4552;\
--box:#1b232d;--group:#141b23;--main:#79a8ff;--warn:#fb923c;--good:#4ade80;--mem:#c4a7ff}}\
text{font-family:'DejaVu Sans',Verdana,'Segoe UI',Helvetica,Arial,sans-serif;fill:var(--ink)}\
.t{font-size:15px;font-weight:bold}.n{font-size:12px;font-weight:bold}\
.s{font-size:10px;fill:var(--soft)}\
.page{fill:var(--page)}.box{fill:var(--box);stroke:var(--rule)}.group{fill:var(--group);stroke:var(--rule)}\
.truth{fill:var(--box);stroke:var(--main)}.end{fill:var(--box);stroke:var(--good)}.dot{fill:var(--ink)}\
.open{fill:var(--page);stroke:var(--soft)}\
.l{fill:none;stroke-width:1.4}.main{stroke:var(--main)}.soft{stroke:var(--rule)}\
.read{stroke:var(--soft);stroke-dasharray:4 3}.warn{stroke:var(--warn);stroke-dasharray:5 3}\
.good{stroke:var(--good)}.life{stroke:var(--rule);stroke-dasharray:2 4}\
.am{fill:var(--main)}.ar{fill:var(--soft)}.aw{fill:var(--warn)}.ag{fill:var(--good)}";

/// A whole SVG file.
pub fn document(width: f64, height: f64, inner: &str) -> String {
    within(width, height, &format!("<style>{STYLE}</style>\n"), inner)
}

/// The drawing for a page that has the style.
pub fn bare(width: f64, height: f64, inner: &str) -> String {
    within(width, height, "", inner)
}

fn within(width: f64, height: f64, style: &str, inner: &str) -> String {
    let markers: String = [("main", "am"), ("read", "ar"), ("warn", "aw"), ("good", "ag")]
        .iter()
        .map(|(id, class)| {
            format!(
                "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
                 markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
                 <path class=\"{class}\" d=\"M0 0L8 4L0 8z\"/></marker>"
            )
        })
        .collect();
    let (width, height) = (number(width), number(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n{style}<defs>{markers}</defs>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{inner}</svg>\n"
    )
}
