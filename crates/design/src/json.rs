//! The stable JSON form of a design.

use std::thread;

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use crate::model::Design;

const FORMAT: &str = "steadfast-design/1";

/// Nobody's design nests deeper: an expression is bounded when it is compiled.
const NESTING_MAX: usize = 4_000;
/// Up to here an ordinary stack is enough.
const NESTING_ORDINARY: usize = 64;
const STACK_BYTES_PER_LEVEL: usize = 64 * 1024;

/// The stable JSON form of a design.
pub fn to_json(design: &Design) -> String {
    let form = serde_json::json!({ "format": FORMAT, "design": to_value(design) });
    let mut text = serde_json::to_string_pretty(&form).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads what [`to_json`] wrote.
pub fn from_json(text: &str) -> Result<Design, String> {
    with_room(text, read)
}

/// On a stack that has room for what nests deeply.
fn with_room<T: Send>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String> + Send,
) -> Result<T, String> {
    let nesting = nesting(text);
    if nesting > NESTING_MAX {
        return Err(format!("not a design in JSON form: it nests {nesting} deep"));
    }
    if nesting <= NESTING_ORDINARY {
        return read(text);
    }
    thread::scope(|scope| {
        let roomy = thread::Builder::new().stack_size(nesting * STACK_BYTES_PER_LEVEL);
        let reader = roomy.spawn_scoped(scope, || read(text)).map_err(|error| error.to_string())?;
        reader.join().unwrap_or_else(|_| Err("not a design in JSON form".into()))
    })
}

/// A design in a few bytes, as a store keeps it.
///
/// All of the program goes through this module: to write and to read a design is a third of a megabyte of code, and
/// whoever calls `serde_json` for one has all of it compiled once more.
pub fn to_bytes(design: &Design) -> Vec<u8> {
    serde_json::to_vec(design).unwrap_or_default()
}

/// Reads what [`to_bytes`] wrote.
pub fn from_bytes(bytes: &[u8]) -> Result<Design, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("not JSON: {error}"))?;
    with_room(text, |text| design_of(&parsed(text)?))
}

/// A design as a tree, in which one looks for parts of it.
pub fn to_value(design: &Design) -> Value {
    let bytes = to_bytes(design);
    std::str::from_utf8(&bytes)
        .ok()
        .and_then(|text| with_room(text, parsed).ok())
        .unwrap_or_default()
}

fn read(text: &str) -> Result<Design, String> {
    let value = parsed(text)?;
    match value["format"].as_str() {
        Some(FORMAT) => {}
        Some(other) => return Err(format!("format `{other}` is not known to this version")),
        None => return Err("no `format`: not a design in JSON form".into()),
    }
    design_of(&value["design"])
}

fn parsed(text: &str) -> Result<Value, String> {
    let mut reader = Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).map_err(|error| format!("not JSON: {error}"))?;
    reader.end().map_err(|error| format!("not JSON: {error}"))?;
    Ok(value)
}

fn design_of(value: &Value) -> Result<Design, String> {
    Design::deserialize(value).map_err(|error| format!("not a design in JSON form: {error}"))
}

/// How deep brackets and braces nest outside of texts.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
