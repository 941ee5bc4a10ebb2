//! `POST /v1/{design}/blobs` and `GET /v1/{design}/blobs/{digest}`: content that truth refers to by its
//! digest.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response};
use futures_util::{StreamExt as _, stream};
use runtime::{CallError, Leaving};
use serde_json::json;
use tokio::runtime::Handle;

use crate::app::App;
use crate::body::Pieces;
use crate::kinds;
use crate::{answer, auth, body};
use gateway::{Place, Problem, Service};
use identity::now_s;

/// What content is sent and given as. A page of another origin cannot send that unasked.
const MEDIA: &str = "application/octet-stream";

/// Less is held in memory until it is there; more is written to the store as it comes.
const AT_ONCE_BYTES: usize = 64 << 10;

/// Stores the body, and answers with the digest under which a step may refer to it.
pub async fn post(
    app: &Arc<App>,
    service: &Service,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let caller = auth::calling(app, headers)?;
    has_blobs(service)?;
    app.may_bring(service, &caller)?;
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !given.is_some_and(|given| given.trim().eq_ignore_ascii_case(MEDIA)) {
        return Err(Problem::new(
            &kinds::NOT_CONTENT,
            format!("send it with `Content-Type: {MEDIA}`"),
        ));
    }
    let most = app.limits().blob_bytes_max;
    let mut pieces = Pieces::new(Box::pin(sent), most, app)?;
    let mut counted = app.count_upload(&caller);
    let begun = body::begin(&mut pieces, AT_ONCE_BYTES, app).await?;
    counted.more(begun.len(), now_s())?;
    let failed = |error| Problem::of_call(service, error);
    let digest = if begun.len() < AT_ONCE_BYTES {
        let _place = app.enter()?;
        with_files(service.runtime.put_blob(&begun)).map_err(failed)?
    } else {
        let _place = app.transfer()?;
        let mut incoming = with_files(service.runtime.begin_blob()).map_err(failed)?;
        with_files(incoming.write(begun.clone())).map_err(failed)?;
        drop(begun);
        while let Some(piece) = pieces.next().await? {
            counted.more(piece.len(), now_s())?;
            with_files(incoming.write(piece)).map_err(failed)?;
        }
        with_files(incoming.finish()).map_err(failed)?
    };
    let bytes = counted.bytes();
    counted.stay();
    Ok(answer::json(&json!({ "digest": digest, "bytes": bytes })))
}

/// The content, to whoever knows its digest.
pub async fn get(
    app: &Arc<App>,
    service: &Service,
    digest: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    let caller = auth::calling(app, headers)?;
    has_blobs(service)?;
    app.may_take(service, &caller)?;
    let found = with_files(service.runtime.open_blob(digest));
    let Some(mut reader) = found.map_err(|error| Problem::of_call(service, error))? else {
        return Err(Problem::unknown(format!("no content is stored under `{digest}`")));
    };
    let bytes = reader.bytes();
    // its first piece is read before anything is said: most content has no other
    let first = with_files(reader.next());
    let first = first.map_err(|error| Problem::of_call(service, error))?.unwrap_or_default();
    let content = if first.len() as u64 == bytes {
        Body::from(first)
    } else {
        let rest = Rest { reader, place: app.transfer()? };
        let rest = stream::try_unfold(rest, |mut rest| async move {
            let piece = with_files(rest.reader.next())?;
            Ok::<_, CallError>(piece.map(|piece| (piece, rest)))
        });
        // whoever reads it misses the end of what is damaged, and is told so by the length
        Body::from_stream(stream::once(async { Ok(first) }).chain(rest))
    };
    let mut response = answer::of_type(MEDIA, content);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    // it cannot change, and whoever has no token shall not find it on the way
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    headers.insert(CACHE_CONTROL, forever);
    Ok(response)
}

/// Content that is given piece by piece, and the place of whoever takes it.
struct Rest {
    reader: Leaving,
    #[expect(dead_code, reason = "it is given back with the last piece")]
    place: Place,
}

/// Work on files, which blocks: others go on meanwhile on another thread.
fn with_files<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| Handle::current().block_on(work))
}

fn has_blobs(service: &Service) -> Result<(), Problem> {
    match service.design().blobs.is_empty() {
        true => Err(Problem::unknown(format!("`{}` has no blobs", service.name))),
        false => Ok(()),
    }
}
