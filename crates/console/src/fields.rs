//! The fields of a form, by the types of what they stand for; and back from a form to values.

use design::model::{
    Const, Design, Operation, Param, Range, StructField, SubjectId, Type, duration_text,
};
use serde_json::{Map, Value};

use crate::html::{Html, html};
use crate::value::plain;

/// What a browser sent, in order.
pub type Sent = Vec<(String, String)>;

/// The first value under a name.
pub fn sent<'a>(form: &'a Sent, name: &str) -> Option<&'a str> {
    form.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
}

/// How an empty text is typed: a field that is left empty says nothing.
const EMPTY: &str = "\"\"";

/// The parts of a key, those of the records it refers to among them, each with its range.
pub fn leaves(design: &Design, subject: SubjectId) -> Vec<(String, Type, Option<Range>)> {
    let mut list = Vec::new();
    for key in &design.subjects[subject.index()].keys {
        match key.ty {
            Type::Ref(other) => list.extend(leaves(design, other)),
            _ => list.push((key.name.clone(), key.ty.clone(), key.range)),
        }
    }
    list
}

/// What is to be shown of one field.
pub struct Field<'a> {
    pub design: &'a Design,
    /// the name of the input, or of its parts up to the dot
    pub name: String,
    pub label: &'a str,
    pub ty: &'a Type,
    pub range: Option<Range>,
    /// it names a record that is not there yet
    pub new: bool,
    pub default: Option<&'a Const>,
    /// keys that are there, to choose from: the parts of each
    pub known: Vec<Vec<String>>,
    /// what is wrong with what was given
    pub wrong: Option<&'a str>,
}

/// What was sent, and names for the records that the step makes: the guard is thought through with
/// what the form shows.
pub fn suggested(design: &Design, operation: &Operation, form: &Sent) -> Sent {
    let mut all = form.clone();
    for param in operation.params.iter().filter(|param| param.generated.is_none()) {
        let field = Field::of(design, param);
        let fresh = field.fresh();
        if !fresh.is_empty() && sent(form, &field.name).is_none() {
            all.push((field.name, fresh));
        }
    }
    all
}

impl<'a> Field<'a> {
    pub fn of(design: &'a Design, param: &'a Param) -> Field<'a> {
        Field {
            design,
            name: format!("p.{}", param.name),
            label: &param.name,
            ty: &param.ty,
            range: param.range,
            new: param.new,
            default: param.default.as_ref(),
            known: Vec::new(),
            wrong: None,
        }
    }

    /// What there is to choose from for one part of a key: each value once, with the first key that has it.
    fn known_parts(&self, part: usize) -> Vec<(&str, String)> {
        let mut found: Vec<(&str, String)> = Vec::new();
        for key in &self.known {
            let Some(value) = key.get(part) else { continue };
            if found.iter().all(|(listed, _)| listed != value) {
                let of = if key.len() > 1 { key.join(", ") } else { String::new() };
                found.push((value, of));
            }
        }
        found
    }

    fn optional(&self) -> bool {
        self.default.is_some() || self.ty.is_optional()
    }

    /// One field with its label, its hint and what is wrong with it.
    pub fn show(&self, page: &mut Html, form: &Sent) {
        let wrong = if self.wrong.is_some() { " wrong" } else { "" };
        let parts = match self.ty.required() {
            Type::Ref(subject) => leaves(self.design, *subject),
            _ => Vec::new(),
        };
        if parts.len() > 1 {
            html!(page, "<fieldset class=\"field{}\"><legend>{} ", wrong, self.label);
            self.hint(page);
            html!(page, "</legend><div class=\"parts\">");
            for (at, (label, ty, range)) in parts.iter().enumerate() {
                let name = format!("{}.{at}", self.name);
                html!(page, "<div><label for=\"{}\">{}</label>", name, label);
                let given = sent(form, &name).unwrap_or_default();
                input(page, &name, (ty, *range), given, self, at);
                html!(page, "</div>");
            }
            html!(page, "</div>");
            self.why(page);
            html!(page, "</fieldset>");
            return;
        }
        html!(page, "<div class=\"field{}\"><label for=\"{}\">{} ", wrong, self.name, self.label);
        self.hint(page);
        html!(page, "</label>");
        let part = parts.first().map(|(_, ty, range)| (ty, *range));
        let given = match self.ty.is_secret() {
            // what was given once is not shown again
            true => String::new(),
            false => sent(form, &self.name).map_or_else(|| self.fresh(), str::to_string),
        };
        input(page, &self.name, part.unwrap_or((self.ty, self.range)), &given, self, 0);
        self.why(page);
        html!(page, "</div>");
    }

    fn why(&self, page: &mut Html) {
        if let Some(why) = self.wrong {
            html!(page, "<p class=\"why\" id=\"{}-why\">{}</p>", self.name, why);
        }
    }

    fn hint(&self, page: &mut Html) {
        let mut text = if self.new { "new ".to_string() } else { String::new() };
        text.push_str(&type_text(self.design, self.ty.required()));
        if let Some(range) = self.range {
            text.push_str(&format!(" in {}", range.text(self.ty)));
        }
        if *self.ty == Type::Text && !self.optional() {
            text.push_str(&format!(", {EMPTY} for an empty one"));
        }
        if let Some(default) = self.default {
            text.push_str(&format!(", {} if left empty", const_text(self.design, default)));
        } else if self.ty.is_optional() {
            text.push_str(", may be left empty");
        }
        html!(page, "<span class=\"hint\">{}</span>", text);
    }

    /// A name that is not taken, for a record that the step makes.
    fn fresh(&self) -> String {
        match (self.new, self.stem()) {
            (true, Some(stem)) => {
                let nanos = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |since| since.as_nanos() as u64);
                let mixed = nanos.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                format!("{stem}{mixed:06x}")
            }
            _ => String::new(),
        }
    }

    /// How a fresh name begins, where any text will do.
    fn stem(&self) -> Option<String> {
        let Type::Ref(subject) = self.ty.required() else { return None };
        match leaves(self.design, *subject).as_slice() {
            [(_, Type::Text, _)] => Some(format!("{}-", self.label)),
            _ => None,
        }
    }
}

fn input(
    page: &mut Html,
    name: &str,
    (ty, range): (&Type, Option<Range>),
    given: &str,
    field: &Field<'_>,
    part: usize,
) {
    let design = field.design;
    let mut more = Html::new();
    if let (Some(range), Type::Int) = (range, ty.required()) {
        html!(more, " min=\"{}\" max=\"{}\"", range.low.to_string(), range.high.to_string());
    }
    if field.wrong.is_some() {
        html!(more, " aria-invalid=\"true\" aria-describedby=\"{}-why\"", field.name);
    }
    let may_be_empty =
        matches!(ty.required(), Type::Bool | Type::Document | Type::List { .. } | Type::Set { .. });
    if !field.optional() && !may_be_empty {
        html!(more, " required");
    }
    let optional = field.optional() || ty.is_optional();
    let kind = match ty.required() {
        Type::Enum(id) => {
            choice(page, name, &design.enumerations[id.index()].constants, given, optional, &more);
            return;
        }
        Type::Bool => {
            let words = ["true".to_string(), "false".to_string()];
            choice(page, name, &words, given, optional, &more);
            return;
        }
        Type::List { .. } | Type::Set { .. } | Type::Map { .. } | Type::Json | Type::Document => {
            html!(
                page,
                "<textarea id=\"{}\" name=\"{}\" spellcheck=\"false\"{}>{}</textarea>",
                name,
                name,
                more,
                given
            );
            return;
        }
        Type::Int => "type=\"number\" step=\"1\"",
        Type::Decimal | Type::Money(_) => {
            "type=\"text\" inputmode=\"decimal\" placeholder=\"12.50\""
        }
        Type::Duration => {
            "type=\"text\" placeholder=\"10m\" pattern=\"\\d+(ms|s|m|h|d)?\" \
             title=\"a number with ms, s, m, h or d, such as 10m\""
        }
        Type::Time => "type=\"text\" placeholder=\"2026-11-15T12:00:00Z\"",
        Type::Schedule => {
            "type=\"text\" placeholder=\"30 2 * * * in Europe/Berlin\" \
             title=\"five fields of cron and a time zone, or every 15m\""
        }
        Type::Point => "type=\"text\" placeholder=\"longitude, latitude\"",
        Type::Secret => "type=\"password\" data-secret",
        _ => "type=\"text\"",
    };
    if let Some(stem) = field.stem().filter(|_| field.new) {
        html!(more, " data-fresh=\"{}\"", stem);
    }
    let known = field.known_parts(part);
    let listed = !known.is_empty();
    if listed {
        html!(more, " list=\"{}-known\"", name);
    }
    html!(
        page,
        "<input id=\"{}\" name=\"{}\" value=\"{}\" autocomplete=\"off\" {}{}>",
        name,
        name,
        given,
        Html::trusted(kind.to_string()),
        more
    );
    if listed {
        html!(page, "<datalist id=\"{}-known\">", name);
        for (value, of) in known {
            html!(page, "<option value=\"{}\">{}</option>", value, of);
        }
        html!(page, "</datalist>");
    }
}

fn choice(page: &mut Html, name: &str, words: &[String], given: &str, optional: bool, more: &Html) {
    html!(page, "<select id=\"{}\" name=\"{}\"{}>", name, name, more);
    if optional {
        html!(page, "<option value=\"\"></option>");
    }
    for word in words {
        let chosen = if word == given { " selected" } else { "" };
        html!(page, "<option{}>{}</option>", chosen, word);
    }
    html!(page, "</select>");
}

/// How a type is called in a form.
pub fn type_text(design: &Design, ty: &Type) -> String {
    match ty {
        Type::Int => "whole number".into(),
        Type::Bool => "true or false".into(),
        Type::Text => "text".into(),
        Type::Bytes => "bytes".into(),
        Type::Decimal => "decimal".into(),
        Type::Money(currency) => currency.to_string(),
        Type::Time => "time (UTC)".into(),
        Type::Duration => "duration".into(),
        Type::Schedule => "schedule".into(),
        Type::Json => "JSON".into(),
        Type::Document => "document".into(),
        Type::Point => "point".into(),
        Type::Actor => "principal".into(),
        Type::Hash => "digest".into(),
        Type::Signature => "signature".into(),
        Type::PublicKey => "public key".into(),
        Type::Proof => "proof".into(),
        Type::Secret => "secret".into(),
        Type::Enum(_) => "one of these".into(),
        Type::Ref(subject) => design.subjects[subject.index()].name.clone(),
        Type::Digest(blob) => format!("digest of {}", design.blobs[blob.index()].name),
        Type::Optional(inner) => type_text(design, inner),
        Type::Struct(fields) => {
            let field =
                |field: &StructField| format!("{} = {}", field.name, type_text(design, &field.ty));
            fields.iter().map(field).collect::<Vec<_>>().join(", ")
        }
        Type::List { of, max } => {
            format!("list of {}, one a line, {max} at most", type_text(design, of))
        }
        Type::Set { of, max } => {
            format!("set of {}, one a line, {max} at most", type_text(design, of))
        }
        Type::Map { max, .. } => format!("key = value, one a line, {max} at most"),
        _ => "value".into(),
    }
}

fn const_text(design: &Design, value: &Const) -> String {
    match value {
        Const::Null => "none".into(),
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Decimal(value) => {
            let sign = if *value < 0 { "-" } else { "" };
            let (whole, part) =
                (value.unsigned_abs() / 1_000_000, value.unsigned_abs() % 1_000_000);
            let part = format!("{part:06}");
            match part.trim_end_matches('0') {
                "" => format!("{sign}{whole}"),
                part => format!("{sign}{whole}.{part}"),
            }
        }
        Const::Text(text) if text.is_empty() => "nothing".into(),
        Const::Text(text) => text.clone(),
        Const::Duration(ms) => duration_text(*ms),
        Const::Enum(id, at) => {
            design.enumerations[id.index()].constants.get(*at as usize).cloned().unwrap_or_default()
        }
        Const::Set(_) | Const::List(_) | Const::Map(_) => "the design's default".into(),
    }
}

/// What was sent for a parameter; none: it was left empty and need not be there. Whether the value
/// fits is for the runtime to say.
pub fn read(design: &Design, name: &str, ty: &Type, optional: bool, form: &Sent) -> Option<Value> {
    if let Type::Ref(subject) = ty.required() {
        let count = leaves(design, *subject).len();
        if count > 1 {
            let parts: Vec<&str> = (0..count)
                .map(|at| sent(form, &format!("{name}.{at}")).unwrap_or_default())
                .collect();
            let empty = parts.iter().all(|part| part.is_empty());
            return (!empty).then(|| parts.into());
        }
        return sent(form, name).filter(|text| !text.is_empty()).map(Value::from);
    }
    let text = sent(form, name)?;
    if text == EMPTY && *ty.required() == Type::Text {
        return Some("".into());
    }
    if text.is_empty() && (optional || *ty.required() != Type::Document) {
        let none = matches!(ty.required(), Type::List { .. } | Type::Set { .. }) && !optional;
        return none.then(|| Value::Array(Vec::new()));
    }
    Some(of_text(ty.required(), text))
}

fn of_text(ty: &Type, text: &str) -> Value {
    let json = || serde_json::from_str::<Value>(text).ok();
    match ty {
        Type::Int => text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Type::Json => json().unwrap_or_else(|| text.into()),
        Type::Time if !text.ends_with('Z') && !text.contains('+') && text.contains('T') => {
            format!("{text}Z").into()
        }
        Type::Time | Type::Duration => {
            let text = text.trim();
            text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
        }
        Type::Point => {
            let parts: Vec<Value> = text
                .split(',')
                .filter_map(|part| part.trim().parse::<f64>().ok().map(Value::from))
                .collect();
            if parts.len() == 2 { parts.into() } else { json().unwrap_or_else(|| text.into()) }
        }
        Type::List { of, .. } | Type::Set { of, .. } => match json() {
            Some(Value::Array(items)) => items.into(),
            _ => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| of_text(of.required(), line))
                .collect::<Vec<Value>>()
                .into(),
        },
        Type::Struct(fields) => match json() {
            Some(Value::Object(items)) => items.into(),
            _ => struct_of_text(fields, text),
        },
        Type::Map { value, .. } => match json() {
            Some(Value::Object(items)) => items.into(),
            _ => {
                let pairs = text.lines().filter_map(|line| line.split_once('='));
                let items: Map<String, Value> = pairs
                    .map(|(name, item)| {
                        (name.trim().to_string(), of_text(value.required(), item.trim()))
                    })
                    .collect();
                items.into()
            }
        },
        _ => text.into(),
    }
}

/// `sku = a, qty = 2`; a text with a comma in it is written as JSON. What has no `=` is left to the runtime
/// to refuse.
fn struct_of_text(fields: &[StructField], text: &str) -> Value {
    let mut record = Map::new();
    for part in text.split(',') {
        let Some((name, given)) = part.split_once('=') else { return text.into() };
        let (name, given) = (name.trim(), given.trim());
        let ty = fields.iter().find(|field| field.name == name).map(|field| &field.ty);
        let value = match ty {
            Some(ty) if given.is_empty() && ty.is_optional() => Value::Null,
            Some(ty) => of_text(ty.required(), given),
            None => given.into(),
        };
        record.insert(name.to_string(), value);
    }
    record.into()
}

/// The name and text under which a form would send this value: for links that fill a form.
pub fn prefill(design: &Design, param: &Param, value: &Value) -> Sent {
    let name = format!("p.{}", param.name);
    match (param.ty.subject().map(|subject| leaves(design, subject).len()), value) {
        (Some(count), Value::Array(parts)) if count > 1 => parts
            .iter()
            .enumerate()
            .map(|(at, part)| (format!("{name}.{at}"), plain(part)))
            .collect(),
        (Some(_), Value::Array(parts)) => {
            vec![(name, parts.first().map(plain).unwrap_or_default())]
        }
        (_, Value::String(text)) if text.is_empty() => vec![(name, EMPTY.to_string())],
        (_, value) => vec![(name, plain(value))],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = r#"
design Forms
actor user
subject House(house: text) { truth H { a: int = 0 } }
subject Room(house: House, number: int) { truth R { b: int = 0 } }
step user[fill(room: Room, n: int, on: bool, sort: A | B, at: time from caller, cost: decimal, names: set text max 3,
               note: text, wait: duration = 10m, more: int?,
               lines: list { sku: text, qty: int 1..9, gift: bool? } max 3)] { R.b := n }
check { house: 1 number: 0..1 user: 1 }
"#;

    fn design() -> Design {
        let compiled = design::compile("forms", TEXT, &design::NoCatalog);
        compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
    }

    fn check(fields: &[(&str, &str)], param: &str, expected: Option<Value>) {
        let design = design();
        let form: Sent = fields.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        let param = design.operations[0].params.iter().find(|p| p.name == param).unwrap();
        let optional = param.default.is_some() || param.ty.is_optional();
        let name = format!("p.{}", param.name);
        assert_eq!(read(&design, &name, &param.ty, optional, &form), expected, "{fields:?}");
    }

    #[test]
    fn what_is_typed_becomes_a_value_of_its_type() {
        check(&[("p.room.0", "h"), ("p.room.1", "7")], "room", Some(json!(["h", "7"])));
        check(&[("p.room.0", ""), ("p.room.1", "")], "room", None);
        check(&[("p.n", "-5")], "n", Some(json!(-5)));
        check(&[("p.n", "x")], "n", Some(json!("x")));
        check(&[("p.n", "")], "n", None);
        check(&[("p.on", "true")], "on", Some(json!("true")));
        check(&[("p.at", "2026-11-15T12:00")], "at", Some(json!("2026-11-15T12:00Z")));
        check(&[("p.at", "2026-11-15T12:00:00Z")], "at", Some(json!("2026-11-15T12:00:00Z")));
        check(&[("p.names", "a\n b \n\n")], "names", Some(json!(["a", "b"])));
        check(&[("p.names", "[\"x\"]")], "names", Some(json!(["x"])));
        check(&[("p.names", "")], "names", Some(json!([])));
        let line = json!([{ "sku": "a b", "qty": 2 }, { "sku": "c", "qty": "x", "gift": null }]);
        check(&[("p.lines", "sku = a b, qty=2\nsku = c, qty = x, gift =")], "lines", Some(line));
        let written = r#"[{"sku":"a, b","qty":1}]"#;
        check(&[("p.lines", written)], "lines", Some(json!([{ "sku": "a, b", "qty": 1 }])));
        check(
            &[("p.lines", r#"{"sku":"a","qty":1}"#)],
            "lines",
            Some(json!([{ "sku": "a", "qty": 1 }])),
        );
        // the runtime says what is wrong with it
        check(&[("p.lines", "a b")], "lines", Some(json!(["a b"])));
        check(&[("p.lines", "")], "lines", Some(json!([])));
        check(&[("p.note", "")], "note", None);
        check(&[("p.note", "\"\"")], "note", Some(json!("")));
        check(&[("p.note", " ")], "note", Some(json!(" ")));
        check(&[("p.wait", "")], "wait", None);
        check(&[("p.wait", "5s")], "wait", Some(json!("5s")));
        check(&[("p.more", "")], "more", None);
    }

    #[test]
    fn a_field_shows_what_was_given_as_text() {
        let design = design();
        let param = design.operations[0].params.iter().find(|p| p.name == "note").unwrap();
        let form = vec![("p.note".to_string(), "\"><script>alert(1)</script>".to_string())];
        let mut page = Html::new();
        let wrong = "<b>no</b>";
        Field { wrong: Some(wrong), ..Field::of(&design, param) }.show(&mut page, &form);
        assert!(!page.as_str().contains("<script>") && !page.as_str().contains("<b>"));
        assert!(page.as_str().contains("value=\"&quot;&gt;&lt;script&gt;"));
    }

    #[test]
    fn every_type_has_a_field_with_a_label() {
        let design = design();
        for param in &design.operations[0].params {
            let mut page = Html::new();
            Field::of(&design, param).show(&mut page, &Sent::new());
            let text = page.as_str();
            for id in text.match_indices(" id=\"").map(|(at, _)| &text[at + 5..]) {
                let id = &id[..id.find('"').unwrap()];
                assert!(text.contains(&format!("for=\"{id}\"")) || id.contains('-'), "{text}");
            }
        }
    }
}
