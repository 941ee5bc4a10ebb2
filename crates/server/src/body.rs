//! The body of a request, read within its limits.

use std::ops::Deref;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use bytes::{Bytes, BytesMut};
use gateway::{Gateway, Held, Problem};
use http_body_util::BodyExt;
use hyper::body::Body;

use crate::kinds;

/// A body that has come. Its bytes count among those that are held until it is dropped.
pub struct Arrived {
    bytes: Bytes,
    _held: Held,
}

impl Deref for Arrived {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

/// All of it, in time and no larger than it may be.
pub async fn read<B>(body: B, gateway: &Gateway) -> Result<Arrived, Problem>
where
    B: Body<Data = Bytes>,
{
    read_up_to(body, gateway.limits().body_bytes_max, gateway).await
}

pub async fn read_up_to<B>(body: B, most: usize, gateway: &Gateway) -> Result<Arrived, Problem>
where
    B: Body<Data = Bytes>,
{
    let limits = gateway.limits();
    // a body that says its length is not waited for when it is too large
    if body.size_hint().lower() > most as u64 {
        return Err(Problem::too_large("the body", most));
    }
    let patience = Duration::from_millis(limits.body_ms_max);
    match tokio::time::timeout(patience, collect(body, most, gateway.hold())).await {
        Ok(collected) => collected,
        Err(_) => Err(Problem::new(
            &kinds::SLOW_BODY,
            format!("a body has at most {} ms to arrive", limits.body_ms_max),
        )),
    }
}

/// One piece is handed on as it came, which is what most bodies are.
async fn collect<B>(body: B, most: usize, mut held: Held) -> Result<Arrived, Problem>
where
    B: Body<Data = Bytes>,
{
    let mut body = std::pin::pin!(body);
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::malformed("the body broke off"))?;
        // trailers say nothing here
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + more.len() + data.len() > most {
            return Err(Problem::too_large("the body", most));
        }
        held.more(data.len())?;
        if first.is_empty() && more.is_empty() {
            first = data;
        } else {
            if more.is_empty() {
                more.extend_from_slice(&std::mem::take(&mut first));
            }
            more.extend_from_slice(&data);
        }
        if body.is_end_stream() {
            break;
        }
    }
    let bytes = if more.is_empty() { first } else { more.freeze() };
    Ok(Arrived { bytes, _held: held })
}

/// Bodies are JSON and say so: a page of another origin cannot send that unasked.
pub fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(&kinds::NOT_JSON, "send it with `Content-Type: application/json`"))
}
