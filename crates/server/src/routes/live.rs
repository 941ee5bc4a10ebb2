//! `GET /v1/{design}/views/{View}/live?…`: a view as server-sent events, as it is and then as it changes.
//!
//! Each follower is compared with what it was told last, so one that reads slowly is told of several changes at
//! once, and holds one page and no more. After a while it is let go; who comes back is told the whole again.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::http::{HeaderMap, Response};
use bytes::Bytes;
use futures_util::stream;
use runtime::{BadValue, ViewQuery, Viewer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::feed::{hand_over, pause};
use super::view;
use crate::app::App;
use crate::live_rows;
use crate::problem::Problem;
use crate::{answer, auth};
use gateway::{Caller, Place, Service};

pub async fn get(
    app: &Arc<App>,
    service: &Arc<Service>,
    view: &str,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, Problem> {
    let caller = auth::calling(app, headers)?;
    let mut asked = view::asked(view, query)?;
    for (name, given) in [("after", asked.after.is_some()), ("around", asked.around.is_some())] {
        if given {
            let message = format!("what is followed begins with the first row; leave `{name}` out");
            return Err(Problem::misfit(&BadValue { pointer: format!("/{name}"), message }));
        }
    }
    asked.me = Some(caller.principal.clone());
    // who comes back has seen so much, and is not told of an earlier state
    if let Some(last) = headers.get("last-event-id").and_then(|value| value.to_str().ok())
        && !last.is_empty()
    {
        asked.at_least = Some(last.to_string());
    }
    let place = app.follow()?;
    view::wait_for(app, service, asked.at_least.take().as_deref()).await?;
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
    // read before anything is said: what is wrong has a status
    let first = following.read().await?;
    tokio::spawn(following.run(first));
    let pages = stream::unfold(receiver, |mut receiver| async {
        let page: Option<Bytes> = receiver.recv().await;
        page.map(|page| (Ok::<_, std::convert::Infallible>(page), receiver))
    });
    let mut response = answer::of_type("text/event-stream", Body::from_stream(pages));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct Following {
    app: Arc<App>,
    service: Arc<Service>,
    asked: ViewQuery,
    caller: Caller,
    /// whose eyes it is for; none: nothing is hidden
    viewer: Option<Viewer>,
    sender: mpsc::Sender<Bytes>,
    /// kept while it follows
    _place: Place,
}

impl Following {
    async fn run(self, mut told: Value) {
        let heartbeat = Duration::from_millis(self.app.limits().heartbeat_ms);
        let whole =
            format!("retry: 1000\nid: {}\nevent: snapshot\ndata: {told}\n\n", revision(&told));
        if !self.tell(whole).await {
            return;
        }
        loop {
            tokio::select! {
                changed = self.service.runtime.changed(revision(&told)) => if changed.is_err() { return },
                () = tokio::time::sleep(heartbeat) => {
                    let beat = format!(": still here\nid: {}\n\n", revision(&told));
                    if !self.tell(beat).await {
                        return;
                    }
                    continue;
                }
                () = self.sender.closed() => return,
                () = self.app.stopped() => return,
                () = self.caller.turned_away(&self.app) => return,
            }
            pause(&self.app).await;
            // replaced meanwhile, or the store is closed: on coming back the client is told
            let Ok(new) = self.read().await else { return };
            if let Some(text) = event(&told, &new)
                && !self.tell(text).await
            {
                return;
            }
            told = new;
        }
    }

    /// The view as it is now. The place of a row is told by where it stands, so no row has its rank, nor the score of
    /// a search, which is another one for every hit whenever one of them changes.
    async fn read(&self) -> Result<Value, Problem> {
        let (service, mut asked) = (Arc::clone(&self.service), self.asked.clone());
        // what was woken for: a search may be behind it
        let head = service.runtime.head().await;
        asked.at_least = Some(head.map_err(|error| Problem::of_call(&self.service, error))?);
        let viewer = self.viewer.clone();
        let read = move || service.runtime.view_as(&asked, viewer.as_ref());
        let read = tokio::task::spawn_blocking(read).await;
        let read = read.map_err(|_| Problem::broken())?;
        let mut answer = read.map_err(|error| Problem::of_call(&self.service, error))?;
        let rows = answer.get_mut("rows").and_then(Value::as_array_mut);
        for row in rows.into_iter().flatten() {
            if let Some(row) = row.as_object_mut() {
                row.remove("rank");
                row.remove("score");
            }
        }
        Ok(answer)
    }

    async fn tell(&self, text: String) -> bool {
        hand_over(&self.app, &self.caller, &self.sender, text.into()).await
    }
}

fn revision(answer: &Value) -> &str {
    answer["revision"].as_str().unwrap_or("0-0")
}

/// What is told of the new answer to who was told the old one; none: they say the same.
fn event(old: &Value, new: &Value) -> Option<String> {
    let id = revision(new);
    let besides = |answer: &Value| {
        let mut answer = answer.clone();
        answer["rows"] = Value::Null;
        answer["revision"] = Value::Null;
        answer
    };
    let moved = besides(old) != besides(new);
    let (Some(before), Some(after)) = (old["rows"].as_array(), new["rows"].as_array()) else {
        return moved.then(|| format!("id: {id}\nevent: snapshot\ndata: {new}\n\n"));
    };
    let change = live_rows::change(before, after);
    if change.is_none() && !moved {
        return None;
    }
    let (put, gone) = change.unwrap_or_default();
    let mut told = json!({ "put": put, "gone": gone, "next": new["next"], "revision": id });
    if let Some(total) = new.get("total") {
        told["total"] = total.clone();
    }
    Some(format!("id: {id}\nevent: change\ndata: {told}\n\n"))
}
