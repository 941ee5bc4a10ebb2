//! Between what is typed, what is sent and what is shown.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::problem::Problem;

/// `name=value` is a text, which a server reads by the type it expects; `name:=json` is JSON.
pub fn named_values(words: &[String]) -> Result<Map<String, Value>, Problem> {
    let mut values = Map::new();
    for word in words {
        let (name, value) = match (word.split_once(":="), word.split_once('=')) {
            (Some((name, json)), Some((first, _))) if first.len() > name.len() => {
                let value = serde_json::from_str(json).map_err(|error| {
                    Problem::new(format!("`{json}` is not JSON: {error}"))
                        .help(format!("`{name}=…` sends a text"))
                })?;
                (name, value)
            }
            (_, Some((name, value))) => (name, Value::String(value.into())),
            _ => {
                return Err(Problem::new(format!("`{word}` names no value"))
                    .help("write `name=value`, or `name:=json` for a list, an object or null"));
            }
        };
        if values.insert(name.to_string(), value).is_some() {
            return Err(Problem::new(format!("`{name}` is given twice")));
        }
    }
    Ok(values)
}

/// One part of a path, whatever is in it.
pub fn segment(text: &str) -> String {
    let mut out = String::new();
    // a part of dots alone would climb
    let plain: &[u8] = if text.trim_matches('.').is_empty() { b"-_~" } else { b"-._~" };
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// How paths call a design: by its file, without folder and ending, in lower case.
pub fn design_name(word: &str) -> String {
    let stem = std::path::Path::new(word).file_stem();
    stem.map_or_else(|| word.to_lowercase(), |stem| stem.to_string_lossy().to_lowercase())
}

/// Text of others, which must not move the cursor of a terminal.
pub fn told(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// `Seat A1: status HELD, booking b1`
pub fn record(record: &Value) -> String {
    let subject = record["subject"].as_str().unwrap_or_default();
    let key = record["key"].as_array().cloned().unwrap_or_default();
    let key: Vec<String> = key.iter().map(word).collect();
    format!("{} {}: {}", told(subject), key.join("/"), truth(&record["truth"]))
}

/// The states of a record on one line.
pub fn truth(truth: &Value) -> String {
    let Some(states) = truth.as_object() else { return "nothing".into() };
    let attributes = states.values().filter_map(Value::as_object).flatten();
    let list: Vec<String> =
        attributes.map(|(name, value)| format!("{} {}", told(name), word(value))).collect();
    list.join(", ")
}

/// A value as a person writes it.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(text) => told(text),
        other => told(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_texts_unless_they_are_said_to_be_json() {
        let words =
            |list: &[&str]| named_values(&list.iter().map(ToString::to_string).collect::<Vec<_>>());
        let read =
            words(&["seat=A1", "n=12", "list:=[1,2]", "url=a:=b", "none:=null", "e="]).unwrap();
        let expected = json!({
            "seat": "A1", "n": "12", "list": [1, 2], "url": "a:=b", "none": null, "e": "",
        });
        assert_eq!(Value::Object(read), expected);
        assert!(words(&["seat"]).unwrap_err().message.contains("names no value"));
        assert!(words(&["a=1", "a=2"]).unwrap_err().message.contains("twice"));
        assert!(words(&["a:=x"]).unwrap_err().message.contains("is not JSON"));
    }

    #[test]
    fn paths_call_a_design_by_its_file() {
        for (name, path) in [("I02.design", "i02"), ("a/b/Shop.design", "shop"), ("x", "x")] {
            assert_eq!(design_name(name), path);
        }
    }

    #[test]
    fn parts_of_paths_and_texts_of_others_are_made_harmless() {
        assert_eq!(segment("a/b c?ü"), "a%2Fb%20c%3F%C3%BC");
        assert_eq!((segment(".."), segment("a.b")), ("%2E%2E".into(), "a.b".into()));
        assert_eq!(told("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
