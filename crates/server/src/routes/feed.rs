//! `GET /v1/{design}/feed?from=…`: what happens, as server-sent events.
//!
//! A task of its own reads the feed and hands over one page at a time, so that a client which does
//! not read holds one page and no more; after a while it is let go, and may come back to where it
//! was. Those who are told the same share their pages.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use futures_util::stream;
use runtime::{BadValue, CallError, Transition, Viewer};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::app::App;
use crate::feed_pages::Page;
use crate::problem::Problem;
use crate::{answer, auth, path};
use gateway::{Caller, Place, Service};

/// Those who follow together take at most one page in this time, and each at least this often: with many of them one
/// page tells of several steps, and the steps do not pay for each of them.
const BETWEEN_PAGES: Duration = Duration::from_micros(100);
const BETWEEN_PAGES_MAX: Duration = Duration::from_millis(100);
/// Fewer are not worth waiting for.
const BETWEEN_PAGES_MIN: Duration = Duration::from_millis(1);
/// From the beginning of what is kept, and from now on.
const START: &str = "start";
const NOW: &str = "now";

/// What a follower asks for.
#[derive(Default)]
struct Asked {
    from: Option<String>,
    subject: Option<String>,
    /// part by part, as the feed tells it; empty: of any record
    key: Vec<Value>,
}

pub async fn get(
    app: &Arc<App>,
    service: &Arc<Service>,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let caller = auth::calling(app, headers)?;
    let asked = asked(service, query, headers)?;
    let place = app.follow()?;
    let from = match asked.from.as_deref() {
        None | Some(NOW) => service.runtime.head().await,
        Some(START) => Ok("0-0".to_string()),
        Some(revision) => Ok(revision.to_string()),
    };
    let mut from = from.map_err(|error| Problem::of_call(service, error))?;
    let viewer = caller.viewer(service);
    let (sender, receiver) = mpsc::channel(1);
    let following = Following {
        app: Arc::clone(app),
        service: Arc::clone(service),
        asked,
        caller,
        viewer,
        sender,
        _place: place,
    };
    // the first page is read before anything is said: what is wrong with `from` has a status
    let first = loop {
        match following.page(&from).await {
            Ok(first) => break first,
            Err(error) => match error.floor() {
                // which may have moved on when it is asked again
                Some(floor) if following.asked.from.as_deref() == Some(START) => from = floor,
                _ => return Err(Problem::of_call(service, error)),
            },
        }
    };
    tokio::spawn(following.run(from, first));
    let pages = stream::unfold(receiver, |mut receiver| async {
        let page: Option<Bytes> = receiver.recv().await;
        page.map(|page| (Ok::<_, std::convert::Infallible>(page), receiver))
    });
    let mut response = answer::of_type("text/event-stream", Body::from_stream(pages));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn asked(service: &Service, query: &str, headers: &HeaderMap) -> Result<Asked, Problem> {
    let mut asked = Asked::default();
    for (name, value) in path::query(query)? {
        match name.as_str() {
            "from" => asked.from = Some(value),
            "subject" if service.is_subject(&value) => asked.subject = Some(value),
            "subject" => {
                let message = format!("`{}` has no subject `{value}`", service.design().name);
                return Err(Problem::misfit(&BadValue { pointer: "/subject".into(), message }));
            }
            "key" => asked.key.push(value.into()),
            _ => {
                let message =
                    format!("the feed takes no `{name}`, but `from`, `subject` and `key`");
                return Err(Problem::misfit(&BadValue { pointer: format!("/{name}"), message }));
            }
        }
    }
    if !asked.key.is_empty() && asked.subject.is_none() {
        let message = "a `key` is that of a `subject`".to_string();
        return Err(Problem::misfit(&BadValue { pointer: "/key".into(), message }));
    }
    if let (Some(subject), false) = (&asked.subject, asked.key.is_empty()) {
        let key = service.runtime.key(subject, &asked.key);
        asked.key = key.map_err(|error| Problem::of_call(service, error))?;
    }
    // a client that comes back says where it was, whatever its address says
    if let Some(last) = headers.get("last-event-id").and_then(|value| value.to_str().ok())
        && !last.is_empty()
    {
        asked.from = Some(last.to_string());
    }
    Ok(asked)
}

struct Following {
    app: Arc<App>,
    service: Arc<Service>,
    asked: Asked,
    caller: Caller,
    /// whose eyes it is for; none: nothing is hidden
    viewer: Option<Viewer>,
    sender: mpsc::Sender<Bytes>,
    /// kept while it follows
    _place: Place,
}

impl Following {
    /// Says first where it begins, so that a client which is cut off before anything happens
    /// misses nothing.
    async fn run(self, from: String, mut page: Page) {
        let heartbeat = Duration::from_millis(self.app.limits().heartbeat_ms);
        if !self.hand_over(format!("retry: 1000\nid: {from}\n\n").into()).await {
            return;
        }
        loop {
            let Page { text, next, at_the_end } = page;
            if !text.is_empty() && !self.hand_over(text).await {
                return;
            }
            if at_the_end {
                tokio::select! {
                    changed = self.service.runtime.changed(&next) => if changed.is_err() { return },
                    () = tokio::time::sleep(heartbeat) => {
                        // no data, so nothing happens; yet the client knows how far it has come
                        let beat = format!(": still here\nid: {next}\n\n");
                        if !self.hand_over(beat.into()).await {
                            return;
                        }
                    }
                    () = self.sender.closed() => return,
                    () = self.app.stopped() => return,
                    () = self.caller.turned_away(&self.app) => return,
                }
                pause(&self.app).await;
            }
            page = match self.page(&next).await {
                Ok(page) => page,
                // forgotten meanwhile, or the store is closed: on coming back the client is told
                Err(_) => return,
            };
        }
    }

    async fn page(&self, from: &str) -> Result<Page, CallError> {
        let viewer = self.viewer.as_ref();
        match self.asked.subject {
            None => self.app.pages.page(&self.service, from, viewer).await,
            Some(_) => {
                Page::read(&self.service, from, viewer, |transition| self.about(transition)).await
            }
        }
    }

    async fn hand_over(&self, text: Bytes) -> bool {
        hand_over(&self.app, &self.caller, &self.sender, text).await
    }

    /// What is told of a transition to who asks for one subject, or one record.
    fn about(&self, transition: &Transition) -> Option<Value> {
        let mut told = transition.to_json();
        let key = &self.asked.key;
        let changes = told["changes"].as_array_mut()?;
        changes.retain(|change| {
            change["subject"].as_str() == self.asked.subject.as_deref()
                && (key.is_empty() || change["key"].as_array() == Some(key))
        });
        (!changes.is_empty()).then_some(told)
    }
}

/// With many who follow, one page tells of several steps.
pub async fn pause(app: &App) {
    let between = BETWEEN_PAGES.saturating_mul(app.followers() as u32);
    if between >= BETWEEN_PAGES_MIN {
        tokio::time::sleep(between.min(BETWEEN_PAGES_MAX)).await;
    }
}

/// False: the client has left, has not read for too long, or may no longer be told.
pub async fn hand_over(
    app: &App,
    caller: &Caller,
    sender: &mpsc::Sender<Bytes>,
    text: Bytes,
) -> bool {
    if !caller.still_good(app) {
        return false;
    }
    let stall = Duration::from_millis(app.limits().stall_ms_max);
    let sent = tokio::time::timeout(stall, sender.send(text)).await;
    matches!(sent, Ok(Ok(())))
}
