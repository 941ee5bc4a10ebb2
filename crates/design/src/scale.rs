//! Durations in the small world: each a whole number of units, in proportion to each other.

use std::collections::BTreeSet;

use crate::model::{ArithmeticOp, Const, Design, ExprKind, Type, Values, visit};

/// More units than this are too many to tell apart.
const UNITS_MAX: i64 = 64;
/// How many durations may be added up where the proportion is not kept.
const SUMMED_MAX: usize = 4;

/// What each duration of a design becomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Milliseconds of a unit. None: the design writes no duration, and a unit is any time at all;
    /// or the proportion is not kept.
    pub unit: Option<i64>,
    /// (milliseconds, units), sorted; never negative
    pub durations: Vec<(i64, i64)>,
    /// Are all sums, differences and repetitions kept? Else the order of sums of up to four.
    pub exact: bool,
    /// Is a duration that is divided by a written number still so many units?
    pub divided: bool,
}

impl Scale {
    pub fn of(design: &Design) -> Scale {
        let mut written = durations(design);
        let mut divided = parts(design, &mut written);
        let unit = written.iter().fold(0, |unit, ms| common(unit, *ms));
        if unit == 0 {
            return Scale { unit: None, durations: vec![], exact: true, divided };
        }
        let longest = written.last().copied().unwrap_or(0) / unit;
        if longest <= UNITS_MAX {
            let durations = written.iter().map(|ms| (*ms, ms / unit)).collect();
            return Scale { unit: Some(unit), durations, exact: true, divided };
        }
        let written: Vec<i64> = written.into_iter().collect();
        let units = ordered(&written);
        divided = false;
        let durations = written.into_iter().zip(units).collect();
        Scale { unit: None, durations, exact: false, divided }
    }
}

/// Every duration that is written where the checker looks, but for 0. `after`, `every` and the age of
/// entries are not looked at.
fn durations(design: &Design) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    // every expression of the design is visited in this way only; what is measured is not explored
    let mut looked_at = Design { failures: Vec::new(), ..design.clone() };
    visit::design_exprs_mut(&mut looked_at, &mut |expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Literal(value) = &part.kind {
                add(value, &mut found);
            }
        });
    });
    let attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
    attributes.filter_map(|attribute| attribute.default.as_ref()).for_each(|v| add(v, &mut found));
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    params.filter_map(|param| param.default.as_ref()).for_each(|value| add(value, &mut found));
    let world = &design.world;
    let given = world.params.iter().flatten().chain(world.answers.iter().flatten());
    given.for_each(|values| listed(values, &mut found));
    found.remove(&0);
    found
}

/// Adds what is left of each duration where some are divided by a number. Answers whether these are known, and a whole
/// number of milliseconds.
fn parts(design: &Design, found: &mut BTreeSet<i64>) -> bool {
    let mut divisors = BTreeSet::new();
    let mut looked_at = Design { failures: Vec::new(), ..design.clone() };
    visit::design_exprs_mut(&mut looked_at, &mut |expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Arithmetic { op: ArithmeticOp::Divide, right, .. } = &part.kind
                && *part.ty.required() == Type::Duration
                && let ExprKind::Literal(Const::Int(by)) = right.kind
            {
                divisors.insert(by.abs());
            }
        });
    });
    let world = &design.world;
    let mut given = world.params.iter().flatten().chain(world.answers.iter().flatten());
    let bounded = world.bounds.iter().any(|bound| {
        let attribute = &design.subjects[bound.subject.index()].attributes[bound.attr.index()];
        *attribute.ty.required() == Type::Duration
    });
    let whole = |by: &i64| *by != 0 && found.iter().all(|ms| ms % by == 0);
    if bounded || given.any(in_units) || !divisors.iter().all(whole) {
        return divisors.is_empty();
    }
    let parts: Vec<i64> =
        divisors.iter().flat_map(|by| found.iter().map(move |ms| ms / by)).collect();
    found.extend(parts);
    true
}

/// Does `check` say how long it is in units?
fn in_units(values: &Values) -> bool {
    match values {
        Values::Units(..) => true,
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            in_units(inner)
        }
        Values::Fields(columns) => columns.iter().any(in_units),
        _ => false,
    }
}

fn listed(values: &Values, found: &mut BTreeSet<i64>) {
    match values {
        Values::Listed(list) => list.iter().for_each(|value| add(value, found)),
        Values::OrNull(inner) | Values::SetOf(inner, _) | Values::ListOf(inner, _) => {
            listed(inner, found);
        }
        Values::Fields(columns) => columns.iter().for_each(|values| listed(values, found)),
        Values::Opaque(_)
        | Values::Range(..)
        | Values::Whole
        | Values::Refs(_)
        | Values::Principals
        | Values::PrincipalsOf(_)
        | Values::Units(..)
        | Values::Irrelevant => {}
    }
}

fn add(value: &Const, found: &mut BTreeSet<i64>) {
    match value {
        Const::Duration(ms) => {
            found.insert(ms.abs());
        }
        Const::Set(list) | Const::List(list) => list.iter().for_each(|value| add(value, found)),
        Const::Map(pairs) => pairs.iter().for_each(|(key, value)| {
            add(key, found);
            add(value, found);
        }),
        Const::Null
        | Const::Bool(_)
        | Const::Int(_)
        | Const::Decimal(_)
        | Const::Text(_)
        | Const::Enum(..) => {}
    }
}

fn common(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// Small numbers whose sums of up to four are in the order of the sums of the given ones.
fn ordered(durations: &[i64]) -> Vec<i64> {
    let sums = sums(durations.len());
    let mut chosen = Vec::new();
    // The least largest number that will do is looked for; there always is one, the proportion itself.
    for most in durations.len() as i64.. {
        if choose(durations, &sums, most, &mut chosen) {
            return chosen;
        }
    }
    unreachable!("the durations themselves are in their order")
}

/// How often each of so many durations is in a sum.
fn sums(count: usize) -> Vec<Vec<i64>> {
    let mut all = vec![vec![0; count]];
    let mut from = 0;
    for _ in 0..SUMMED_MAX {
        let end = all.len();
        for at in from..end {
            let last = all[at].iter().rposition(|times| *times > 0).unwrap_or(0);
            for next in last..count {
                let mut sum = all[at].clone();
                sum[next] += 1;
                all.push(sum);
            }
        }
        from = end;
    }
    all
}

/// Adds a number for each duration from the shortest on, none above `most`.
fn choose(durations: &[i64], sums: &[Vec<i64>], most: i64, chosen: &mut Vec<i64>) -> bool {
    let at = chosen.len();
    if at == durations.len() {
        return true;
    }
    let least = chosen.last().map_or(1, |last| last + 1);
    for number in least..=most {
        chosen.push(number);
        if keeps_order(durations, sums, chosen) && choose(durations, sums, most, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}

fn keeps_order(durations: &[i64], sums: &[Vec<i64>], chosen: &[i64]) -> bool {
    let known = |sum: &&Vec<i64>| sum[chosen.len()..].iter().all(|times| *times == 0);
    let total = |sum: &[i64], of: &[i64]| -> i128 {
        sum.iter().zip(of).map(|(times, one)| i128::from(*times) * i128::from(*one)).sum()
    };
    let mut both: Vec<(i128, i128)> =
        sums.iter().filter(known).map(|sum| (total(sum, durations), total(sum, chosen))).collect();
    both.sort_unstable();
    both.windows(2).all(|pair| pair[0].0.cmp(&pair[1].0) == pair[0].1.cmp(&pair[1].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_four_keep_their_order() {
        // five of the shortest are more than four of them, and no more is needed
        assert_eq!(ordered(&[1_000, 2_592_000_000]), [1, 5]);
        let written = [100, 1_000, 86_400_000];
        let units = ordered(&written);
        assert!(keeps_order(&written, &sums(3), &units), "{units:?}");
        assert!(units[2] <= 64, "{units:?}");
        // two of the one are as long as the other: that is kept, too
        let units = ordered(&[5_000, 10_000, 864_000_000]);
        assert_eq!(units[1], 2 * units[0]);
    }
}
