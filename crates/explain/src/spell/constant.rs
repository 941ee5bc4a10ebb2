//! Constants in the words of the language.

use design::model::{Const, Design};

pub fn constant(design: &Design, value: &Const) -> String {
    let list = |items: &[Const]| {
        items.iter().map(|item| constant(design, item)).collect::<Vec<_>>().join(", ")
    };
    match value {
        Const::Null => "null".into(),
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Decimal(millionths) => decimal(*millionths),
        Const::Text(text) => format!("{text:?}"),
        Const::Duration(ms) => duration(*ms),
        Const::Enum(enumeration, which) => {
            design.enumerations[enumeration.index()].constants[*which as usize].clone()
        }
        Const::Set(items) => format!("{{{}}}", list(items)),
        Const::List(items) => format!("[{}]", list(items)),
        Const::Map(pairs) => {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", constant(design, key), constant(design, value))
                })
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// In the largest unit that is exact.
pub fn duration(ms: i64) -> String {
    const UNITS: [(&str, i64); 4] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let whole = UNITS.iter().find(|(_, factor)| ms != 0 && ms % factor == 0);
    let (unit, factor) = whole.copied().unwrap_or(("ms", 1));
    format!("{}{unit}", ms / factor)
}

fn decimal(millionths: i64) -> String {
    let (sign, size) =
        if millionths < 0 { ("-", millionths.unsigned_abs()) } else { ("", millionths as u64) };
    let fraction = format!("{:06}", size % 1_000_000);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{dot}{fraction}", size / 1_000_000)
}
