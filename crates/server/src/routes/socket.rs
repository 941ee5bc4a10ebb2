//! `GET /v1/socket`: steps of all designs over one WebSocket, answered in the order in which they
//! came. Whatever has arrived is begun together and becomes durable together.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use futures_util::{FutureExt, SinkExt};
use serde::Deserialize;
use serde_json::Value;

use super::batch::{self, Step};
use crate::app::{App, Place};
use crate::auth::{self, Caller};
use crate::calling::Begun;
use crate::patience::Patience;
use crate::problem::Problem;
use crate::service::Service;

/// One message: a step, of which design, and a name under which its answer comes back.
#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    id: Value,
    design: String,
    #[serde(flatten)]
    step: Step,
}

/// A step whose answer is still to be told.
struct Waiting {
    id: Value,
    begun: Result<(Arc<Service>, Begun, Place), Problem>,
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
                    waiting.push(Waiting { id: Value::Null, begun });
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
    let mut patience = Patience::default();
    loop {
        let asked: Asked = match serde_json::from_str(text) {
            Ok(asked) => asked,
            Err(error) => {
                let detail = format!(
                    "a message is {{\"id\", \"design\", \"actor\", \"operation\", …}}: {error}"
                );
                return Waiting { id: Value::Null, begun: Err(Problem::malformed(detail)) };
            }
        };
        let begun = (|| {
            let place = app.enter()?;
            let service = Arc::clone(app.service(&asked.design)?);
            let begun = batch::begin(app, &service, caller, asked.step)?;
            Ok((service, begun, place))
        })();
        match begun {
            Err(problem) if patience.with(&problem).await => {}
            begun => return Waiting { id: asked.id, begun },
        }
    }
}

/// `{"id", "status", "body"}`
async fn told(step: Waiting) -> String {
    let mut text = Vec::with_capacity(512);
    text.extend_from_slice(b"{\"id\":");
    text.extend_from_slice(step.id.to_string().as_bytes());
    text.push(b',');
    match step.begun {
        Ok((service, begun, _place)) => batch::tell(&service, Ok(begun), &mut text).await,
        Err(problem) => batch::tell_problem(&problem, &mut text),
    }
    text.push(b'}');
    // made of texts
    String::from_utf8(text).unwrap_or_default()
}
