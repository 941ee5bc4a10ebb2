//! Answers that are made of all rows of a group.

use design::model::{Rounding, Type, ViewForm};
use engine::Word;
use serde_json::{Value, json};

use super::group::Group;
use crate::values::{self, time};

/// Of forms that have no rows in an order. `limit`: at most so many stretches of a window.
pub fn answer(form: &ViewForm, found: &Group, limit: Option<usize>) -> Value {
    match form {
        ViewForm::Count => json!({ "count": found.count }),
        ViewForm::Sum { value } => json!({ "sum": amount(&value.ty, found.sum) }),
        ViewForm::Extreme { greatest, value } => {
            let name = if *greatest { "max" } else { "min" };
            let first = found.extreme(*greatest);
            json!({ name: first.map_or(Value::Null, |first| number(&value.ty, first)) })
        }
        ViewForm::Average { value, rounding } => {
            let average = average(&value.ty, found, *rounding);
            json!({ "avg": average.map(values::decimal_text) })
        }
        ViewForm::Window { value, keep, .. } => {
            let keep = keep.map_or(usize::MAX, |keep| keep as usize);
            let mut stretches: Vec<Value> = found
                .stretches
                .iter()
                .rev()
                .take(keep.min(limit.unwrap_or(usize::MAX)))
                .map(|(start, (count, sum))| {
                    let mut stretch = json!({ "start": time::write_time(*start), "count": count });
                    if let Some(value) = value {
                        stretch["sum"] = amount(&value.ty, *sum);
                    }
                    stretch
                })
                .collect();
            stretches.reverse();
            json!({ "stretches": stretches })
        }
        ViewForm::List { .. }
        | ViewForm::Rank { .. }
        | ViewForm::Search { .. }
        | ViewForm::Near { .. } => unreachable!("these have rows, or are not served"),
    }
}

/// The exact quotient in millionths, rounded once; none: there is no row.
fn average(ty: &Type, found: &Group, rounding: Rounding) -> Option<i128> {
    if found.count == 0 {
        return None;
    }
    let places = if ty.required().is_decimal() { 6 } else { 0 };
    Some(engine::average((found.sum, places), found.count, rounding))
}

fn number(ty: &Type, value: Word) -> Value {
    match ty.required() {
        Type::Decimal | Type::Money(_) => json!(values::decimal_text(value.into())),
        Type::Duration => json!(time::write_duration(value)),
        Type::Time => json!(time::write_time(value)),
        _ => json!(value),
    }
}

fn amount(ty: &Type, sum: i128) -> Value {
    match (ty.required(), i64::try_from(sum)) {
        (Type::Decimal | Type::Money(_), _) => json!(values::decimal_text(sum)),
        (Type::Duration, Ok(sum)) => json!(time::write_duration(sum)),
        (_, Ok(sum)) => json!(sum),
        (_, Err(_)) => json!(sum.to_string()),
    }
}
