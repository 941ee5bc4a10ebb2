//! A value as a trace shows it, back into the JSON that a call carries.

use design::model::{Design, Type};
use serde_json::{Value, json};

use crate::clock::Clock;

/// `seat-1` is a text, `10m` a duration, and so is `2 units`; `[a, b]` is a list.
pub(super) fn json_of(design: &Design, ty: &Type, shown: &str) -> Value {
    if shown == "null" {
        return Value::Null;
    }
    match ty.required() {
        Type::Int => shown.parse::<i64>().map_or_else(|_| json!(shown), |number| json!(number)),
        Type::Bool => json!(shown == "true"),
        Type::Duration => {
            let units = shown.split_once(" unit").and_then(|(units, _)| units.parse::<i64>().ok());
            let length = Length::of(design);
            units.map_or_else(|| json!(shown), |units| json!(duration(units * length.unit_ms)))
        }
        Type::Ref(subject) => key(design, *subject, shown),
        Type::List { of, .. } | Type::Set { of, .. } => {
            parts(shown).into_iter().map(|part| json_of(design, of, part)).collect()
        }
        Type::Struct(fields) => {
            let of_name = |name: &str| fields.iter().find(|field| field.name == name);
            let values = parts(shown).into_iter().filter_map(|part| {
                let (name, shown) = part.split_once(": ")?;
                Some((name.to_string(), json_of(design, &of_name(name)?.ty, shown)))
            });
            Value::Object(values.collect())
        }
        // which one it was makes no difference in the small world
        Type::Schedule => json!("every 1h"),
        Type::Text | Type::Json => serde_json::from_str(shown).unwrap_or_else(|_| json!(shown)),
        _ => json!(shown),
    }
}

/// `seat-1`, `Job(3)` or `Rm(tm-1, rm-2)`.
pub(super) fn key(design: &Design, subject: design::model::SubjectId, shown: &str) -> Value {
    let Some(held) = design.subjects.get(subject.index()) else { return json!(shown) };
    let inside = shown.strip_prefix(held.name.as_str()).filter(|rest| rest.starts_with('('));
    let words = inside.map_or_else(|| vec![shown], parts);
    let mut values: Vec<Value> =
        held.keys.iter().zip(words).map(|(key, word)| json_of(design, &key.ty, word)).collect();
    if values.len() == 1 { values.remove(0) } else { Value::from(values) }
}

/// How long a tick is, in a history whose clock moves by fixed steps.
#[derive(Clone, Copy)]
pub(super) struct Length {
    pub(super) unit_ms: i64,
    /// of a unit
    ticks: i64,
}

impl Length {
    /// Where the proportion of durations is not kept, a unit is long enough for all of them, so that what
    /// is over after so many ticks is over. Where none is written, it is a second.
    pub(super) fn of(design: &Design) -> Length {
        let clock = Clock::of(design, false);
        let written = clock.scale.durations.iter().filter(|(_, units)| *units > 0);
        let longest = written.map(|(ms, units)| ms / units).max();
        let unit_ms = clock.scale.unit.or(longest).unwrap_or(1_000).max(1);
        Length { unit_ms, ticks: clock.per_unit }
    }

    /// How far the clock moves at the tick of this number. So many ticks as make a unit are exactly
    /// that, wherever they begin.
    pub(super) fn of_tick(self, number: i64) -> i64 {
        let at = |number: i64| number * self.unit_ms / self.ticks;
        at(number + 1) - at(number)
    }
}

/// `90s`, in the largest unit that is exact.
pub(super) fn duration(ms: i64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    let unit = units.into_iter().find(|(_, worth)| ms != 0 && ms % worth == 0);
    let (name, worth) = unit.unwrap_or(("ms", 1));
    format!("{}{name}", ms / worth)
}

/// What stands between brackets, divided at the commas that are not inside of others.
fn parts(shown: &str) -> Vec<&str> {
    let inside = shown.get(1..shown.len().saturating_sub(1)).unwrap_or_default();
    let mut list = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                list.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inside.trim().is_empty() {
        list.push(inside[start..].trim());
    }
    list
}

/// A record's name as part of a file name.
pub(super) fn reference(shown: &str) -> String {
    shown.replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_taken_apart_at_their_own_commas() {
        assert_eq!(parts("[]"), [""; 0]);
        assert_eq!(parts("(a)"), ["a"]);
        assert_eq!(parts("{a, R(b, c), d}"), ["a", "R(b, c)", "d"]);
    }
}
