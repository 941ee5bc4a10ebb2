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
    let form = serde_json::json!({ "format": FORMAT, "design": design });
    let mut text = serde_json::to_string_pretty(&form).unwrap_or_default();
    text.push('\n');
    text
}

/// Reads what [`to_json`] wrote.
pub fn from_json(text: &str) -> Result<Design, String> {
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

fn read(text: &str) -> Result<Design, String> {
    let mut reader = Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).map_err(|error| format!("not JSON: {error}"))?;
    reader.end().map_err(|error| format!("not JSON: {error}"))?;
    match value["format"].as_str() {
        Some(FORMAT) => {}
        Some(other) => return Err(format!("format `{other}` is not known to this version")),
        None => return Err("no `format`: not a design in JSON form".into()),
    }
    Design::deserialize(&value["design"])
        .map_err(|error| format!("not a design in JSON form: {error}"))
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
