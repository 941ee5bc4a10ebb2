//! The body of a request, read within its limits.

use std::ops::Deref;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use bytes::{Bytes, BytesMut};
use gateway::{Gateway, Held, Problem};
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::Instant;

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

/// A body that is taken piece by piece as it comes, in time and no larger than it may be.
pub struct Pieces<B> {
    body: B,
    most: usize,
    came: usize,
    patience: Duration,
    /// when there must be another MiB, or the end
    until: Instant,
}

const MIB: usize = 1 << 20;

impl<B: Body<Data = Bytes> + Unpin> Pieces<B> {
    pub fn new(body: B, most: usize, gateway: &Gateway) -> Result<Pieces<B>, Problem> {
        // a body that says its length is not waited for when it is too large
        if body.size_hint().lower() > most as u64 {
            return Err(Problem::too_large("the body", most));
        }
        let patience = Duration::from_millis(gateway.limits().body_ms_max);
        Ok(Pieces { body, most, came: 0, patience, until: Instant::now() + patience })
    }

    /// The next one; none: that was all.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            if self.body.is_end_stream() {
                return Ok(None);
            }
            let Ok(frame) = tokio::time::timeout_at(self.until, self.body.frame()).await else {
                let patience = self.patience.as_millis();
                return Err(Problem::new(
                    &kinds::SLOW_BODY,
                    format!("a body, or a MiB of it, has at most {patience} ms to arrive"),
                ));
            };
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| Problem::malformed("the body broke off"))?;
            // trailers say nothing here
            let Ok(data) = frame.into_data() else { continue };
            let before = self.came / MIB;
            self.came += data.len();
            if self.came > self.most {
                return Err(Problem::too_large("the body", self.most));
            }
            if self.came / MIB > before {
                self.until = Instant::now() + self.patience;
            }
            return Ok(Some(data));
        }
    }
}

/// All of it.
pub async fn read<B>(body: B, gateway: &Gateway) -> Result<Arrived, Problem>
where
    B: Body<Data = Bytes>,
{
    let body = std::pin::pin!(body);
    let mut pieces = Pieces::new(body, gateway.limits().body_bytes_max, gateway)?;
    begin(&mut pieces, usize::MAX, gateway).await
}

/// As much as comes before there are so many bytes, in one. One piece is handed on as it came, which is
/// what most bodies are.
pub async fn begin<B>(
    pieces: &mut Pieces<B>,
    enough: usize,
    gateway: &Gateway,
) -> Result<Arrived, Problem>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut held = gateway.hold();
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while first.len() + more.len() < enough
        && let Some(data) = pieces.next().await?
    {
        held.more(data.len())?;
        if first.is_empty() && more.is_empty() {
            first = data;
        } else {
            if more.is_empty() {
                more.extend_from_slice(&std::mem::take(&mut first));
            }
            more.extend_from_slice(&data);
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
