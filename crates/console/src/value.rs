//! Values of a design as a page shows them: references lead somewhere, times can be read.

use design::model::{Design, SubjectId, Type};
use serde_json::Value;

use crate::html::{Html, encoded, html};

/// Where pages of one design are. A design without a name has none: nothing leads to them.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub name: &'a str,
    pub design: &'a Design,
}

impl Place<'_> {
    /// `/console/tickets` and what follows.
    pub fn at(&self, rest: &str) -> String {
        format!("/console/{}{rest}", encoded(self.name))
    }

    pub fn record(&self, subject: &str, key: &[Value]) -> String {
        let mut address = self.at(&format!("/record/{}?", encoded(subject)));
        for (at, part) in key.iter().enumerate() {
            address.push_str(if at == 0 { "key=" } else { "&key=" });
            address.push_str(&encoded(&plain(part)));
        }
        address
    }

    pub fn step(&self, actor: &str, operation: &str) -> String {
        self.at(&format!("/step/{}/{}", encoded(actor), encoded(operation)))
    }
}

/// A value as a person would type it into a form.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The parts of a key as texts, those of the keys in it among them.
pub fn key_parts(key: &[Value]) -> Vec<String> {
    let part = |part: &Value| match part {
        Value::Array(parts) => key_parts(parts),
        other => vec![plain(other)],
    };
    key.iter().flat_map(part).collect()
}

/// The parts of a key as fields of a form hold them, as a list in JSON.
pub fn parts(key: &Value) -> String {
    let parts = key.as_array().map_or(std::slice::from_ref(key), Vec::as_slice);
    Value::from(parts.iter().map(plain).collect::<Vec<_>>()).to_string()
}

/// A key as one line.
pub fn key_text(key: &[Value]) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|part| match plain(part) {
            text if text.is_empty() => "\u{201c}\u{201d}".to_string(),
            text => text,
        })
        .collect();
    parts.join(" / ")
}

/// A link to a record.
pub fn record_link(page: &mut Html, place: &Place<'_>, subject: &str, key: &[Value]) {
    // one of an earlier version may have no page any more
    if place.name.is_empty() || place.design.subjects.iter().all(|known| known.name != subject) {
        html!(page, "<span class=\"mono\">{}</span>", key_text(key));
        return;
    }
    html!(page, "<a class=\"mono\" href=\"{}\">{}</a>", place.record(subject, key), key_text(key));
}

/// A value of a known type.
pub fn value(page: &mut Html, place: &Place<'_>, ty: &Type, value: &Value) {
    match (ty.required(), value) {
        (_, Value::Null) => page.add(none()),
        (Type::Ref(subject), _) => reference(page, place, *subject, value),
        (Type::Enum(_), Value::String(text)) => html!(page, "<span class=\"tag\">{}</span>", text),
        (Type::Time, Value::String(text)) => time(page, text),
        (Type::List { of, .. } | Type::Set { of, .. }, Value::Array(items)) => {
            if items.is_empty() {
                html!(page, "<span class=\"faint\">empty</span>");
            }
            for (at, item) in items.iter().enumerate() {
                page.add(if at > 0 { ", " } else { "" });
                self::value(page, place, of, item);
            }
        }
        (Type::Map { value: of, .. }, Value::Object(items)) => {
            if items.is_empty() {
                html!(page, "<span class=\"faint\">empty</span>");
            }
            for (at, (name, item)) in items.iter().enumerate() {
                html!(
                    page,
                    "{}<span class=\"mono\">{}</span> = ",
                    if at > 0 { ", " } else { "" },
                    name
                );
                self::value(page, place, of, item);
            }
        }
        (Type::Struct(fields), Value::Object(items)) => {
            page.add("{ ");
            for (at, field) in fields.iter().enumerate() {
                let comma = if at > 0 { ", " } else { "" };
                html!(page, "{}<span class=\"faint\">{}</span> ", comma, field.name);
                self::value(page, place, &field.ty, items.get(&field.name).unwrap_or(&Value::Null));
            }
            page.add(" }");
        }
        (Type::Record(fields), Value::Object(items)) => {
            for (at, (name, ty)) in fields.iter().enumerate() {
                html!(
                    page,
                    "{}<span class=\"faint\">{}</span> ",
                    if at > 0 { ", " } else { "" },
                    name
                );
                self::value(page, place, ty, items.get(name).unwrap_or(&Value::Null));
            }
        }
        (Type::Text | Type::Actor | Type::Document | Type::Schedule, Value::String(text)) => {
            if text.is_empty() {
                html!(page, "<span class=\"faint\">empty</span>");
            } else {
                page.add(text);
            }
        }
        _ => loose(page, value),
    }
}

/// A value whose type nobody told.
pub fn loose(page: &mut Html, value: &Value) {
    match value {
        Value::Null => page.add(none()),
        Value::String(text) if looks_like_time(text) => time(page, text),
        Value::String(text) => page.add(text),
        Value::Object(fields) => {
            html!(page, "<dl class=\"truth\">");
            for (name, value) in fields {
                html!(page, "<dt>{}</dt><dd>", name);
                loose(page, value);
                html!(page, "</dd>");
            }
            html!(page, "</dl>");
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for item in items {
                html!(page, "<div class=\"state\">");
                loose(page, item);
                html!(page, "</div>");
            }
        }
        Value::Array(items) if items.is_empty() => {
            html!(page, "<span class=\"faint\">empty</span>");
        }
        other => html!(page, "<code>{}</code>", other.to_string()),
    }
}

pub fn none() -> Html {
    let mut page = Html::new();
    html!(page, "<span class=\"faint\">none</span>");
    page
}

fn reference(page: &mut Html, place: &Place<'_>, subject: SubjectId, value: &Value) {
    let name = &place.design.subjects[subject.index()].name;
    match value {
        Value::Array(parts) => record_link(page, place, name, parts),
        one => record_link(page, place, name, std::slice::from_ref(one)),
    }
}

fn looks_like_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.as_bytes()[4] == b'-' && text.contains('T')
}

/// `2026-11-15T06:15:22.123Z`, easier on the eye.
pub fn time(page: &mut Html, text: &str) {
    let shown = match text.split_once('T') {
        Some((day, rest)) => {
            let clock = rest.trim_end_matches('Z').split('.').next().unwrap_or(rest);
            format!("{day} {clock} UTC")
        }
        None => text.to_string(),
    };
    html!(page, "<time datetime=\"{}\">{}</time>", text, shown);
}

/// Milliseconds since 1970.
pub fn moment(page: &mut Html, ms: i64) {
    time(page, &clock_text(ms));
}

pub fn clock_text(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |at| at.to_string())
}

/// How far away a time is: `in 4 min`, `12 s ago`.
pub fn distance(from: i64, to: i64) -> String {
    let (apart, past) = ((to - from).abs(), to < from);
    let text = match apart {
        ..1_000 => return "now".to_string(),
        1_000..60_000 => format!("{} s", apart / 1_000),
        60_000..3_600_000 => format!("{} min", apart / 60_000),
        3_600_000..172_800_000 => format!("{} h", apart / 3_600_000),
        _ => format!("{} days", apart / 86_400_000),
    };
    if past { format!("{text} ago") } else { format!("in {text}") }
}

/// `1 234 567`, with thin spaces.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_distances_are_easy_to_read() {
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(12), "12");
        assert_eq!(distance(0, 240_000), "in 4 min");
        assert_eq!(distance(13_000, 1_000), "12 s ago");
        assert_eq!(distance(5, 10), "now");
    }

    #[test]
    fn whatever_a_record_is_called_it_stays_text() {
        let text = "design T\nsubject Box(box: text) { truth Held { full: bool = false } }\n";
        let design = design::compile("t", text, &design::NoCatalog);
        let design = design.design.expect("a design with one subject");
        let place = Place { name: "t", design: &design };
        let evil = "\"><img src=x onerror=alert(1)>";
        for (subject, has_page) in [("Box", true), ("<script>", false)] {
            let mut page = Html::new();
            record_link(&mut page, &place, subject, &[Value::from(evil)]);
            let page = page.as_str();
            assert!(!page.contains("<img") && !page.contains("<script>"), "{page}");
            assert!(page.contains("&quot;&gt;&lt;img src=x"), "{page}");
            assert_eq!(page.contains("key=%22%3E%3Cimg%20src%3Dx"), has_page, "{page}");
        }
    }
}
