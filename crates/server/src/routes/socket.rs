//! `GET /v1/socket`: steps of all designs over one WebSocket, answered in the order in which they
//! came. Whatever has arrived is begun together and becomes durable together.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use futures_util::{FutureExt, SinkExt};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::batch::{self, Params, Step};
use crate::app::{App, Place};
use crate::auth::{self, Caller};
use crate::calling::Begun;
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::Service;
use crate::tracing::Traced;

/// One message: a step, of which design, and a name under which its answer comes back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    design: Cow<'a, str>,
    #[serde(borrow)]
    actor: Cow<'a, str>,
    #[serde(borrow)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
    #[serde(borrow, default)]
    idempotency_key: Option<Cow<'a, str>>,
    /// as the header of this name
    #[serde(borrow, default)]
    traceparent: Option<Cow<'a, str>>,
}

/// A step whose answer is still to be told.
struct Waiting {
    /// the answer, as far as it is written: up to the identity
    text: Vec<u8>,
    begun: Result<(Arc<Service>, Begun, Place), Problem>,
    traced: Option<Traced>,
}

pub async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response<Body> {
    let opened = match auth::caller(&app, &headers) {
        Err(problem) => problem.into_response(),
        Ok(caller) => match upgrade {
            Err(_) => Problem::malformed("this address takes a WebSocket").into_response(),
            Ok(upgrade) => {
                let most = app.limits().body_bytes_max;
                let serving = Arc::clone(&app);
                upgrade
                    .max_message_size(most)
                    .max_frame_size(most)
                    .on_upgrade(move |socket| serve(serving, caller, socket))
            }
        },
    };
    app.requests.count("socket", opened.status().as_u16());
    opened
}

async fn serve(app: Arc<App>, caller: Caller, mut socket: WebSocket) {
    // the connection it came by is over as far as HTTP is concerned
    let Some(_place) = app.connect() else { return };
    let pipeline_max = app.limits().pipeline_max;
    let mut waiting = Vec::new();
    loop {
        let first = tokio::select! {
            message = socket.recv() => message,
            () = app.stopped() => break,
            () = caller.turned_away(&app) => None,
        };
        if !caller.still_good(&app) {
            let reason = "the token is no longer good".into();
            let frame = CloseFrame { code: close_code::POLICY, reason };
            let _ = socket.send(Message::Close(Some(frame))).await;
            return;
        }
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Some(Ok(Message::Text(text))) => {
                    waiting.push(begin(&app, &caller, text.as_str()).await);
                }
                Some(Ok(Message::Binary(_))) => {
                    let begun = Err(Problem::malformed("a message is a text"));
                    waiting.push(Waiting { text: named(None), begun, traced: None });
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => {
                    // what was begun is durable soon; nobody is there to be told
                    return;
                }
            }
            next = if waiting.len() < pipeline_max { socket.recv().now_or_never() } else { None };
        }
        for step in waiting.drain(..) {
            if socket.feed(Message::Text(told(step).await.into())).await.is_err() {
                return;
            }
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
    let frame = CloseFrame { code: close_code::AWAY, reason: "the server is stopping".into() };
    let _ = socket.send(Message::Close(Some(frame))).await;
}

async fn begin(app: &Arc<App>, caller: &Caller, text: &str) -> Waiting {
    let asked: Asked<'_> = match serde_json::from_str(text) {
        Ok(asked) => asked,
        Err(error) => {
            let detail = format!(
                "a message is {{\"id\", \"design\", \"actor\", \"operation\", …}}: {error}"
            );
            let begun = Err(Problem::malformed(detail));
            return Waiting { text: named(None), begun, traced: None };
        }
    };
    let Asked { id, design, actor, operation, params, idempotency_key, traceparent } = asked;
    let mut traced = Traced::message(app, traceparent.as_deref());
    let step = Step { actor, operation, params, idempotency_key };
    let mut patience = Patience::default();
    loop {
        let begun = (|| {
            let place = app.enter()?;
            let service = Arc::clone(app.service(&design)?);
            let begun = batch::begin(app, &service, caller, &step, traced.trace().cloned())?;
            Ok((service, begun, place))
        })();
        match begun {
            Err(problem) if patience.with(&problem).await => {}
            begun => {
                if let Ok((service, ..)) = &begun
                    && let Some(call) = service.call(&step.actor, &step.operation)
                {
                    traced.of_step("SOCKET", service, call);
                }
                return Waiting { text: named(id), begun, traced: Some(traced) };
            }
        }
    }
}

/// `{"id":…,`
fn named(id: Option<&RawValue>) -> Vec<u8> {
    let id = id.map_or("null", RawValue::get);
    let mut text = Vec::with_capacity(448 + id.len());
    text.extend_from_slice(b"{\"id\":");
    text.extend_from_slice(id.as_bytes());
    text.push(b',');
    text
}

/// `{"id", "status", "body"}`
async fn told(step: Waiting) -> String {
    let mut text = step.text;
    let problem = match step.begun {
        Ok((service, begun, _place)) => batch::tell(&service, Ok(begun), &mut text).await,
        Err(problem) => Some(batch::tell_problem(problem, &mut text)),
    };
    if let Some(traced) = step.traced {
        let status = problem.as_ref().map_or(200, |problem| problem.status.as_u16());
        traced.end(status, problem.as_ref().map(|problem| &*problem.kind));
    }
    text.push(b'}');
    // made of texts
    String::from_utf8(text).unwrap_or_default()
}
