//! Which values of its type something takes.

use serde::{Deserialize, Serialize};

use super::{Design, SubjectId, Type};

/// `int 1..64`: both ends included, as the engine keeps them (a `decimal` in millionths, a
/// `duration` in milliseconds). Null is no value, and lies in every range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Range {
    pub low: i64,
    pub high: i64,
}

impl Range {
    pub fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// How many values lie in it.
    pub fn count(self) -> u64 {
        self.high.abs_diff(self.low).saturating_add(1)
    }

    /// As it is written for something of this type: `1..64`, `1s..10m`.
    pub fn text(self, ty: &Type) -> String {
        format!("{}..{}", quantity_text(ty, self.low), quantity_text(ty, self.high))
    }
}

impl Design {
    /// Has a part of this key a range, or one of a record that it refers to?
    pub fn has_key_ranges(&self, subject: SubjectId) -> bool {
        self.subjects[subject.index()].keys.iter().any(|key| {
            key.range.is_some() || key.ty.subject().is_some_and(|other| self.has_key_ranges(other))
        })
    }
}

/// A quantity of this type as it is written in a design.
pub fn quantity_text(ty: &Type, value: i64) -> String {
    match ty.required() {
        Type::Duration => duration_text(value),
        Type::Decimal | Type::Money(_) => {
            let sign = if value < 0 { "-" } else { "" };
            let size = value.unsigned_abs();
            let fraction = format!("{:06}", size % 1_000_000);
            match fraction.trim_end_matches('0') {
                "" => format!("{sign}{}", size / 1_000_000),
                fraction => format!("{sign}{}.{fraction}", size / 1_000_000),
            }
        }
        _ => value.to_string(),
    }
}

/// Milliseconds as one would write them: `10m`.
pub fn duration_text(ms: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
    let fits = |(size, _): &&(i64, &str)| ms % size == 0 && ms.unsigned_abs() >= *size as u64;
    let (size, unit) = units.iter().find(fits).unwrap_or(&(1, "ms"));
    format!("{}{unit}", ms / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_as_they_are_written() {
        for (ty, low, high, text) in [
            (Type::Int, 1, 64, "1..64"),
            (Type::Optional(Box::new(Type::Int)), -3, -1, "-3..-1"),
            (Type::Duration, 1_000, 600_000, "1s..10m"),
            (Type::Duration, 0, 1_500, "0ms..1500ms"),
            (Type::Decimal, -500_000, 2_000_000, "-0.5..2"),
        ] {
            assert_eq!(Range { low, high }.text(&ty), text);
        }
    }

    #[test]
    fn both_ends_lie_in_it() {
        let range = Range { low: -1, high: 2 };
        assert!([-1, 0, 2].iter().all(|value| range.contains(*value)));
        assert!([-2, 3, i64::MAX].iter().all(|value| !range.contains(*value)));
        assert_eq!(range.count(), 4);
        assert_eq!(Range { low: i64::MIN, high: i64::MAX }.count(), u64::MAX);
    }
}
