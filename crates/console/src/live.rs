//! Parts of a page that are sent anew: server-sent events whose data is markup.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use bytes::Bytes;
use futures_util::stream;

use crate::html::Html;
use crate::shell;
use gateway::{Gateway, Problem};

/// One event: its name, where it stands, its markup.
pub fn event(name: &str, id: Option<&str>, part: &Html) -> String {
    let mut text = format!("event: {name}\n");
    if let Some(id) = id {
        text.push_str(&format!("id: {}\n", id.replace(['\n', '\r'], "")));
    }
    for line in part.as_str().split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Asks for the next text every so often, until the browser leaves, the server stops, or there is
/// no more to tell. An empty text is a sign of life.
pub fn stream<S, F, Told>(
    gateway: Arc<Gateway>,
    every: Duration,
    state: S,
    next: F,
) -> Result<Response<Body>, Problem>
where
    S: Send + 'static,
    F: Fn(S) -> Told + Send + Sync + 'static,
    Told: Future<Output = Option<(String, S)>> + Send,
{
    let next = Arc::new(next);
    let place = gateway.follow()?;
    let first = (state, true, 0_u32, place);
    let body = stream::unfold(first, move |(state, first, quiet, place)| {
        let (gateway, next) = (Arc::clone(&gateway), Arc::clone(&next));
        async move {
            let mut state = state;
            let mut first = first;
            let mut quiet = quiet;
            loop {
                let told = async {
                    if !first {
                        tokio::time::sleep(every).await;
                    }
                    next(state).await
                };
                let (text, after) = tokio::select! {
                    told = told => told?,
                    () = gateway.stopped() => return None,
                };
                first = false;
                state = after;
                quiet = if text.is_empty() { quiet + 1 } else { 0 };
                if !text.is_empty() || quiet.is_multiple_of(15) {
                    let text = if text.is_empty() { ":\n\n".to_string() } else { text };
                    let sent: Result<Bytes, std::convert::Infallible> = Ok(Bytes::from(text));
                    return Some((sent, (state, false, quiet, place)));
                }
            }
        }
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    shell::guarded(&mut response);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::html;

    #[test]
    fn markup_of_several_lines_is_one_event() {
        let mut part = Html::new();
        html!(part, "<li>a\n{}</li>", "b\r\nevent: x");
        let text = event("row", Some("0-7\n"), &part);
        assert_eq!(
            text,
            "event: row\nid: 0-7\ndata: <li>a\ndata: b\u{fffd}\ndata: event: x</li>\n\n"
        );
    }
}
