//! `GET /v1/{design}/{Subject}?attribute=value&after=…&limit=…`: records that the caller may see, in the order of their
//! keys, a page at a time.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use runtime::{BadValue, RecordQuery};
use serde_json::{Value, json};

use crate::app::App;
use crate::{answer, auth, etag, path};
use gateway::{Problem, Service};

/// Names that ask for no attribute, because they say how to read.
const LIMIT: &str = "limit";
const AFTER: &str = "after";

/// So many records are on a page, unless something else is asked for.
pub const LIMIT_USUAL: usize = 100;
pub const LIMIT_MAX: usize = 1_000;

pub async fn get(
    app: &Arc<App>,
    service: &Service,
    subject: &str,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::calling(app, headers)?;
    let viewer = caller.viewer(service);
    let asked = asked(subject, query)?;
    let found = service.runtime.find_records(&asked, viewer.as_ref()).await;
    let found = found.map_err(|error| Problem::of_call(service, error))?;
    let told = |(key, record): &(Vec<Value>, runtime::Truth)| {
        let tag = etag::tag(record.version);
        let tag = tag.to_str().unwrap_or_default();
        json!({ "subject": subject, "key": key, "truth": record.truth, "etag": tag })
    };
    let records: Vec<Value> = found.records.iter().map(told).collect();
    // a text, so that it is given back as it is
    let next = found.next.map(|key| Value::from(key).to_string());
    Ok(answer::json(&json!({ "records": records, "next": next })))
}

fn asked(subject: &str, query: &str) -> Result<RecordQuery, Problem> {
    let mut asked =
        RecordQuery { subject: subject.into(), limit: LIMIT_USUAL, ..RecordQuery::default() };
    let bad = |name: &str, message: String| {
        Problem::misfit(&BadValue { pointer: format!("/{name}"), message })
    };
    for (name, value) in path::query(query)? {
        match name.as_str() {
            LIMIT => match value.parse() {
                Ok(limit @ 1..=LIMIT_MAX) => asked.limit = limit,
                _ => {
                    let message =
                        format!("expected a whole number from 1 to {LIMIT_MAX}, found `{value}`");
                    return Err(bad(LIMIT, message));
                }
            },
            AFTER => match serde_json::from_str(&value) {
                Ok(Value::Array(key)) => asked.after = Some(key),
                _ => {
                    let message = format!(
                        "expected what `next` of a page says, such as `[\"a1\"]`, found `{value}`"
                    );
                    return Err(bad(AFTER, message));
                }
            },
            _ => asked.wanted.push((name, value)),
        }
    }
    Ok(asked)
}
