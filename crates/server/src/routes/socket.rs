//! `GET /v1/socket`: steps of all designs over one WebSocket, answered in the order in which they
//! came. Whatever has arrived is begun together and becomes durable together.

use std::borrow::Cow;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::http::header::AUTHORIZATION;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::batch::{self, Params, Step};
use crate::app::App;
use crate::auth;
use crate::problem::{OverHttp as _, Problem};
use crate::seats::Seat;
use crate::traced::Traced;
use crate::websocket::{self, Came, Frames};
use gateway::{Begun, Caller, Patience, Place, Service};

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
    /// where the identity stands that its answer comes back under
    id: Range<usize>,
    begun: Result<(Arc<Service>, Begun, Place), Problem>,
    traced: Option<Traced>,
}

pub async fn get(State(app): State<Arc<App>>, mut request: Request) -> Response<Body> {
    if !request.headers().contains_key(AUTHORIZATION)
        && let Some(token) = websocket::token(request.headers())
    {
        request.headers_mut().insert(AUTHORIZATION, token);
    }
    let named = websocket::names_protocol(request.headers());
    let opened = match auth::calling(&app, request.headers()) {
        Err(problem) => problem.into_response(),
        Ok(caller) => {
            let upgrade = request.extensions_mut().remove::<OnUpgrade>();
            let seat = request.extensions_mut().remove::<Arc<Seat>>();
            match (websocket::key(request.headers()), upgrade) {
                (Some(key), Some(upgrade)) => {
                    let app = Arc::clone(&app);
                    // who was let in is known, and what follows goes on in the same place
                    seat.iter().for_each(|seat| seat.is_known());
                    tokio::spawn(async move {
                        // a client that breaks off is no news
                        let Ok(upgraded) = upgrade.await else { return };
                        Socket::new(app, caller, upgraded).serve().await;
                        drop(seat);
                    });
                    websocket::accepted(key, named)
                }
                _ => Problem::malformed("this address takes a WebSocket").into_response(),
            }
        }
    };
    app.requests.count("socket", opened.status().as_u16());
    opened
}

/// Room for what comes at a time.
const ROOM_BYTES: usize = 16 << 10;
/// What is kept for later by a socket on which nothing happens.
const KEPT_BYTES_MAX: usize = 64 << 10;
const ROOMS_MAX: usize = 32;
const GOING_AWAY: u16 = 1001;
const POLICY: u16 = 1008;

struct Socket {
    app: Arc<App>,
    caller: Caller,
    stream: TokioIo<Upgraded>,
    frames: Frames,
    waiting: Vec<Waiting>,
    ids: Vec<u8>,
    /// where answers were made, for those to come
    rooms: Vec<Vec<u8>>,
    text: Vec<u8>,
    /// what goes out next
    out: Vec<u8>,
}

impl Socket {
    fn new(app: Arc<App>, caller: Caller, upgraded: Upgraded) -> Socket {
        let frames = Frames::new(app.limits().body_bytes_max);
        Socket {
            app,
            caller,
            stream: TokioIo::new(upgraded),
            frames,
            waiting: Vec::new(),
            ids: Vec::new(),
            rooms: Vec::new(),
            text: Vec::new(),
            out: Vec::new(),
        }
    }

    async fn serve(mut self) {
        let (app, caller) = (Arc::clone(&self.app), self.caller.clone());
        let mut stopped = pin!(app.stopped());
        let mut turned_away = pin!(caller.turned_away(&app));
        loop {
            if !caller.still_good(&app) {
                return self.end(POLICY, "the token is no longer good").await;
            }
            let goes_on = self.begin_all().await;
            let is_full = self.waiting.len() >= app.limits().pipeline_max;
            self.tell_all().await;
            let sent = self.stream.write_all(&self.out).await.is_ok();
            if !goes_on || !sent || self.stream.flush().await.is_err() {
                let _ = self.stream.shutdown().await;
                return;
            }
            self.out.clear();
            self.out.shrink_to(KEPT_BYTES_MAX);
            self.rooms.truncate(ROOMS_MAX);
            // then more of them may have come already
            if is_full {
                continue;
            }
            let Socket { stream, frames, .. } = &mut self;
            frames.read.reserve(ROOM_BYTES);
            let came = poll_fn(|context| {
                if let Poll::Ready(count) = pin!(stream.read_buf(&mut frames.read)).poll(context) {
                    return Poll::Ready(Ok(count.unwrap_or(0)));
                }
                if stopped.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err((GOING_AWAY, "the server is stopping")));
                }
                let turned_away = turned_away.as_mut().poll(context);
                turned_away.map(|()| Err((POLICY, "the token is no longer good")))
            });
            match came.await {
                Ok(0) => return,
                Ok(_) => {}
                Err((code, reason)) => return self.end(code, reason).await,
            }
        }
    }

    async fn end(mut self, code: u16, reason: &str) {
        websocket::close(&mut self.out, Some((code, reason)));
        // a client that breaks off is no news
        let _ = self.stream.write_all(&self.out).await;
        let _ = self.stream.shutdown().await;
    }

    /// Begins the steps that have come, up to the limit. False: the socket ends.
    async fn begin_all(&mut self) -> bool {
        let Socket { app, caller, frames, waiting, ids, rooms, out, .. } = self;
        while waiting.len() < app.limits().pipeline_max {
            match frames.next() {
                Ok(None) => break,
                Ok(Some(Came::Text(text))) => {
                    let room = rooms.pop().unwrap_or_default();
                    waiting.push(begin(app, caller, text, ids, room).await);
                }
                Ok(Some(Came::Binary)) => {
                    let begun = Err(Problem::malformed("a message is a text"));
                    waiting.push(Waiting { id: named(None, ids), begun, traced: None });
                }
                Ok(Some(Came::Ping(bytes))) => websocket::pong(out, bytes),
                Ok(Some(Came::Pong)) => {}
                Ok(Some(Came::Close(code))) => {
                    // nobody is there to be told; what was begun is durable soon
                    waiting.clear();
                    websocket::close(out, code.map(|code| (code, "")));
                    return false;
                }
                Err(wrong) => {
                    waiting.clear();
                    websocket::close(out, Some((wrong.code, wrong.reason)));
                    return false;
                }
            }
        }
        true
    }

    async fn tell_all(&mut self) {
        let Socket { waiting, ids, rooms, text, out, .. } = self;
        for step in waiting.drain(..) {
            text.clear();
            text.extend_from_slice(b"{\"id\":");
            text.extend_from_slice(&ids[step.id.clone()]);
            text.push(b',');
            tell(step, text, rooms).await;
            text.push(b'}');
            websocket::text(out, text);
        }
        ids.clear();
    }
}

async fn begin(
    app: &Arc<App>,
    caller: &Caller,
    text: &str,
    ids: &mut Vec<u8>,
    mut room: Vec<u8>,
) -> Waiting {
    let asked: Asked<'_> = match serde_json::from_str(text) {
        Ok(asked) => asked,
        Err(error) => {
            let detail = format!(
                "a message is {{\"id\", \"design\", \"actor\", \"operation\", …}}: {error}"
            );
            let begun = Err(Problem::malformed(detail));
            return Waiting { id: named(None, ids), begun, traced: None };
        }
    };
    let Asked { id, design, actor, operation, params, idempotency_key, traceparent } = asked;
    let id = named(id, ids);
    let mut traced = Traced::message(app, traceparent.as_deref());
    let step = Step { actor, operation, params, idempotency_key };
    let mut patience = Patience::default();
    loop {
        let room = std::mem::take(&mut room);
        let begun = (|| {
            let place = app.enter()?;
            let service = app.service(&design)?;
            let begun = gateway::begin_step(
                &app.gateway,
                &service,
                caller,
                &step.asked(),
                traced.trace().cloned(),
                room,
            )?;
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
                return Waiting { id, begun, traced: Some(traced) };
            }
        }
    }
}

/// Keeps an identity as it came.
fn named(id: Option<&RawValue>, ids: &mut Vec<u8>) -> Range<usize> {
    let start = ids.len();
    ids.extend_from_slice(id.map_or("null", RawValue::get).as_bytes());
    start..ids.len()
}

/// `"status", "body"`
async fn tell(step: Waiting, text: &mut Vec<u8>, rooms: &mut Vec<Vec<u8>>) {
    let problem = match step.begun {
        Ok((service, begun, _place)) => batch::tell(&service, Ok(begun), text, rooms).await,
        Err(problem) => Some(batch::tell_problem(problem, text)),
    };
    if let Some(traced) = step.traced {
        let status = problem.as_ref().map_or(200, |problem| problem.status().as_u16());
        traced.end(status, problem.as_ref().map(|problem| &*problem.kind));
    }
}
