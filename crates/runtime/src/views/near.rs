//! Rows by their distance from a point, the nearest first.

use design::model::{View, ViewForm};
use serde_json::{Value, json};

use super::State;
use super::cursor;
use super::group::Group;
use super::places::{Place, line_2, metres};
use super::query::{Looks, PAGE, ViewQuery};
use crate::calls::CallError;
use crate::core::Runtime;
use crate::values::{BadValue, point_of};

/// How whoever asks says that only rows nearer than so far are wanted.
pub const WITHIN: &str = "within";

/// What is asked of rows by their distance.
pub(super) struct Asked {
    from: Place,
    /// squared lines that are not longer
    within_2: f64,
    first: usize,
}

impl Runtime {
    pub(super) fn asked_near(&self, view: &View, query: &ViewQuery) -> Result<Asked, CallError> {
        let ViewForm::Near { from, within_m, first, .. } = &view.form else {
            unreachable!("asked of rows by their distance alone")
        };
        let Some(param) = view.params.iter().find(|param| Some(param.local) == *from) else {
            let message = format!(
                "`{}` does not say from where; replace the design by one with `from`",
                view.name
            );
            return Err(CallError::Unknown(message));
        };
        let bad = |name: &str, message: String| {
            CallError::Bad(BadValue::new(format!("/params/{name}"), message))
        };
        let Some(given) = query.params.get(&param.name) else {
            return Err(bad(&param.name, format!("`{}` is missing", param.name)));
        };
        let from = point(given).map_err(|wrong| bad(&param.name, wrong))?;
        let mut within_2 = within_m.map_or(f64::INFINITY, |within| line_2(within.into()));
        let own = view.params.iter().any(|param| param.name == WITHIN);
        if let Some(given) = query.params.get(WITHIN).filter(|_| !own) {
            within_2 = within_2.min(line_2(length(given).map_err(|wrong| bad(WITHIN, wrong))?));
        }
        let first = first.map_or(usize::MAX, |first| first as usize);
        Ok(Asked { from, within_2, first })
    }

    /// A page of rows, each with its distance in metres.
    pub(super) fn nearest(
        &self,
        state: &State,
        found: &Group,
        looks: &Looks<'_>,
        (query, group): (&ViewQuery, &[u8]),
        asked: &Asked,
    ) -> Result<Value, CallError> {
        let view = &self.schema.design.views[looks.at];
        // a `next` is a place on the way from one point, and from no other
        let mut marked = group.to_vec();
        marked.extend_from_slice(&asked.from.to_bytes());
        let behind = match &query.after {
            None => None,
            Some(after) => {
                let wrong = |why: &str| CallError::Bad(BadValue::new("/after", why));
                let place = cursor::place(view, &marked, after).map_err(wrong)?;
                Some(Behind::read(&place).ok_or_else(|| wrong("this is no `next` of a page"))?)
            }
        };
        let before = behind.as_ref().map_or(0, |behind| behind.count);
        let limit = query.limit.unwrap_or(PAGE).min(PAGE * 10);
        let limit = limit.min(asked.first.saturating_sub(before));
        let mut rows = Vec::new();
        let (mut last, mut more) = (None, false);
        for (line_2, sort) in found.places.from(asked.from) {
            if line_2 > asked.within_2 || before + rows.len() >= asked.first {
                break;
            }
            if behind.as_ref().is_some_and(|behind| behind.was_shown(line_2, sort)) {
                continue;
            }
            let Some(mut shown) = self.shown(state, looks, sort)? else { continue };
            if rows.len() >= limit {
                more = true;
                break;
            }
            shown["distance_m"] = json!((metres(line_2) * 1e3).round() / 1e3);
            rows.push(shown);
            last = Some((line_2, sort));
        }
        let next = last.filter(|_| more).map(|(line_2, sort)| {
            let place = Behind { count: before + rows.len(), line_2, sort: sort.to_vec() };
            cursor::next(view, &marked, &place.write())
        });
        Ok(json!({ "rows": rows, "next": next }))
    }
}

/// Where a page ends.
struct Behind {
    /// rows that were shown up to here
    count: usize,
    line_2: f64,
    sort: Vec<u8>,
}

impl Behind {
    fn write(&self) -> Vec<u8> {
        let count = (self.count as u64).to_be_bytes();
        [&count[..], &self.line_2.to_be_bytes(), &self.sort].concat()
    }

    fn read(bytes: &[u8]) -> Option<Behind> {
        let (count, rest) = bytes.split_first_chunk()?;
        let (line_2, sort) = rest.split_first_chunk()?;
        let line_2 = Some(f64::from_be_bytes(*line_2)).filter(|line| line.is_finite())?;
        let count = usize::try_from(u64::from_be_bytes(*count)).ok()?;
        Some(Behind { count, line_2, sort: sort.to_vec() })
    }

    fn was_shown(&self, line_2: f64, sort: &[u8]) -> bool {
        line_2 < self.line_2 || line_2 == self.line_2 && sort <= &self.sort[..]
    }
}

/// `[8.54, 47.37]`, or `8.54,47.37` in an address.
fn point(given: &Value) -> Result<Place, String> {
    let in_address = given.as_str().map(|text| {
        let parts = text.split(',').map(|part| part.trim().parse::<f64>().ok());
        parts.map(|part| part.map_or(Value::Null, Value::from)).collect()
    });
    match point_of(in_address.as_ref().unwrap_or(given)) {
        Some((longitude, latitude)) => Ok(Place::new(longitude, latitude)),
        None => Err(format!(
            "expected a point: longitude and latitude in degrees, such as `8.54,47.37`, found {given}"
        )),
    }
}

/// `500m`, `5km`, `2.5km`, in metres.
fn length(given: &Value) -> Result<f64, String> {
    let metres = given.as_str().and_then(|text| {
        let (number, unit) = match text.strip_suffix("km") {
            Some(number) => (number, 1e3),
            None => (text.strip_suffix('m')?, 1.0),
        };
        let number: f64 = number.parse().ok()?;
        Some(number * unit)
    });
    metres
        .filter(|metres| metres.is_finite() && *metres >= 0.0)
        .ok_or_else(|| format!("expected a length, such as `500m` or `5km`, found {given}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_points_are_read_or_refused_with_what_was_found() {
        for (text, expected) in [
            ("500m", Some(500.0)),
            ("5km", Some(5_000.0)),
            ("2.5km", Some(2_500.0)),
            ("0m", Some(0.0)),
        ] {
            assert_eq!(length(&json!(text)).ok(), expected, "{text}");
        }
        for wrong in
            [json!("5"), json!("5 miles"), json!("-5m"), json!("m"), json!("NaNm"), json!(5)]
        {
            assert!(length(&wrong).unwrap_err().contains("expected a length"), "{wrong}");
        }
        for good in [json!("8.54,47.37"), json!("-180, 90"), json!([8, 47])] {
            assert!(point(&good).is_ok(), "{good}");
        }
        for wrong in [
            json!("8.54"),
            json!("8,47,1"),
            json!("181,0"),
            json!([0, 91]),
            json!("a,b"),
            json!(null),
        ] {
            assert!(point(&wrong).unwrap_err().contains("expected a point"), "{wrong}");
        }
    }
}
