//! What an answer means: done, decided against for good, or not known.

use runtime::Delivered;
use serde_json::Value;
use ureq::http::{HeaderMap, StatusCode, header};

/// `now_ms` is for a `Retry-After` that names a date.
pub fn judge(status: StatusCode, headers: &HeaderMap, body: &[u8], now_ms: i64) -> Delivered {
    let json = || serde_json::from_slice::<Value>(body);
    if status.is_success() {
        return match json() {
            Ok(answer) => Delivered::Ok(answer),
            Err(error) if says_json(headers) && !body.is_empty() => {
                unknown(format!("{status}, and its JSON cannot be read: {error}"), None)
            }
            Err(_) => Delivered::Ok(Value::Null),
        };
    }
    let retry_after_ms = retry_after(headers, now_ms);
    let answer = json().unwrap_or(Value::Null);
    if status.is_client_error() && !undecided(status, retry_after_ms, &answer) {
        return Delivered::Refused(answer);
    }
    let mut trouble = format!("answered {status}");
    if let Some(place) = headers.get(header::LOCATION).and_then(|place| place.to_str().ok()) {
        trouble = format!("{trouble}, and redirects are not followed: `{place}`");
    } else if let Some(detail) = answer["detail"].as_str().or(answer["title"].as_str()) {
        let detail: String = detail.chars().take(200).collect();
        trouble = format!("{trouble}: {detail}");
    }
    unknown(trouble, retry_after_ms)
}

/// A status in the four hundreds that says nothing about what was asked: it speaks of the address,
/// of who calls, or of the moment.
fn undecided(status: StatusCode, retry_after_ms: Option<i64>, answer: &Value) -> bool {
    match status.as_u16() {
        401 | 404 | 405 | 407 | 408 | 421 | 425 | 426 | 429 => true,
        // the first call under this key is still being worked on
        409 => {
            let kind = answer["type"].as_str().unwrap_or_default();
            retry_after_ms.is_some() || kind.ends_with("in-flight")
        }
        _ => false,
    }
}

fn unknown(trouble: String, retry_after_ms: Option<i64>) -> Delivered {
    Delivered::Unknown { trouble, retry_after_ms }
}

fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json")
}

/// Seconds, or a date.
pub fn retry_after(headers: &HeaderMap, now_ms: i64) -> Option<i64> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<i64>() {
        return (seconds >= 0).then(|| seconds.saturating_mul(1_000));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some((date.as_millisecond() - now_ms).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(status: u16, headers: &[(&'static str, &str)], body: &str) -> Delivered {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        judge(StatusCode::from_u16(status).unwrap(), &map, body.as_bytes(), 1_000)
    }

    #[test]
    fn an_answer_in_the_two_hundreds_is_ok_and_its_json_is_the_answer() {
        let json = [("content-type", "application/json; charset=utf-8")];
        assert_eq!(judged(200, &json, r#"{"a":1}"#), Delivered::Ok(json!({ "a": 1 })));
        assert_eq!(judged(204, &[], ""), Delivered::Ok(Value::Null));
        assert_eq!(
            judged(200, &[("content-type", "text/plain")], "yes"),
            Delivered::Ok(Value::Null)
        );
        assert!(matches!(judged(200, &json, r#"{"a":"#), Delivered::Unknown { .. }));
    }

    #[test]
    fn only_what_decides_for_good_is_a_refusal() {
        for status in [400, 402, 403, 409, 410, 412, 413, 415, 422, 451] {
            assert!(matches!(judged(status, &[], ""), Delivered::Refused(_)), "{status}");
        }
        let undecided = [301, 302, 401, 404, 405, 407, 408, 421, 425, 426, 429, 500, 502, 503, 504];
        for status in undecided {
            assert!(matches!(judged(status, &[], ""), Delivered::Unknown { .. }), "{status}");
        }
        let flight = r#"{"type":"/problems/in-flight"}"#;
        assert!(matches!(judged(409, &[], flight), Delivered::Unknown { .. }));
        let declined = judged(422, &[], r#"{"reason":"funds"}"#);
        assert_eq!(declined, Delivered::Refused(json!({ "reason": "funds" })));
    }

    #[test]
    fn the_wait_that_was_asked_for_is_kept() {
        let wait = |value: &str| match judged(503, &[("retry-after", value)], "") {
            Delivered::Unknown { retry_after_ms, .. } => retry_after_ms,
            _ => Some(-1),
        };
        assert_eq!(wait("7"), Some(7_000));
        assert_eq!(wait("Thu, 01 Jan 1970 00:01:01 GMT"), Some(60_000));
        assert_eq!(wait("Wed, 31 Dec 1969 23:59:59 GMT"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }

    #[test]
    fn the_trouble_says_what_happened() {
        let moved = judged(308, &[("location", "https://elsewhere.example/")], "");
        let Delivered::Unknown { trouble, .. } = moved else { panic!("{moved:?}") };
        assert!(trouble.contains("308") && trouble.contains("elsewhere.example"), "{trouble}");
    }
}
