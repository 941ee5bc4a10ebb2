//! `GET /v1/socket`: steps of all designs over one WebSocket, answered in the order in which they
//! came. Whatever has arrived is decided in one group and becomes durable together.

use std::borrow::Cow;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use runtime::{Answering, Answers};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::batch::{self, Params, Step};
use crate::app::App;
use crate::auth;
use crate::problem::{OverHttp as _, Problem};
use crate::traced::Traced;
use crate::websocket::{self, Came, Frames};
use gateway::{Asking, Begun, Caller, Patience, Place, Said, kinds};

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

/// A message whose answer is still to be told.
struct Waiting {
    /// where it stands; none: it is no text
    message: Option<Range<usize>>,
    /// where the identity stands that its answer comes back under
    id: Range<usize>,
    /// none: it is not answered yet
    said: Option<Result<Said, Problem>>,
    traced: Option<Traced>,
    /// kept until it is told
    place: Option<Place>,
}

pub async fn get(State(app): State<Arc<App>>, mut request: Request) -> Response<Body> {
    let opened = match auth::caller(&app, request.headers()) {
        Err(problem) => problem.into_response(),
        Ok(caller) => {
            let upgrade = request.extensions_mut().remove::<OnUpgrade>();
            match (websocket::key(request.headers()), upgrade) {
                (Some(key), Some(upgrade)) => {
                    let app = Arc::clone(&app);
                    tokio::spawn(async move {
                        // a client that breaks off is no news
                        let Ok(upgraded) = upgrade.await else { return };
                        // the connection it came by is over as far as HTTP is concerned
                        let Some(_place) = app.connect() else { return };
                        Socket::new(app, caller, upgraded).serve().await;
                    });
                    websocket::accepted(key)
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
    /// the messages that wait
    messages: String,
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
            messages: String::new(),
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
            let goes_on = self.take_all();
            let is_full = self.waiting.len() >= app.limits().pipeline_max;
            self.answer_all(&app, &caller).await;
            if goes_on {
                self.tell_all();
            } else {
                // nobody is there to be told, but what has come is carried out
                self.waiting.clear();
            }
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

    /// Takes the messages that have come, up to the limit. False: the socket ends.
    fn take_all(&mut self) -> bool {
        let Socket { app, frames, waiting, messages, out, .. } = self;
        messages.clear();
        messages.shrink_to(KEPT_BYTES_MAX);
        while waiting.len() < app.limits().pipeline_max {
            let message = match frames.next() {
                Ok(None) => break,
                Ok(Some(Came::Text(text))) => {
                    let start = messages.len();
                    messages.push_str(text);
                    Some(start..messages.len())
                }
                Ok(Some(Came::Binary)) => None,
                Ok(Some(Came::Ping(bytes))) => {
                    websocket::pong(out, bytes);
                    continue;
                }
                Ok(Some(Came::Pong)) => continue,
                Ok(Some(Came::Close(code))) => {
                    websocket::close(out, code.map(|code| (code, "")));
                    return false;
                }
                Err(wrong) => {
                    websocket::close(out, Some((wrong.code, wrong.reason)));
                    return false;
                }
            };
            waiting.push(Waiting { message, id: 0..0, said: None, traced: None, place: None });
        }
        true
    }

    /// Answers all that have come, in one group for each design. A version that is replaced meanwhile is
    /// waited for.
    async fn answer_all(&mut self, app: &Arc<App>, caller: &Caller) {
        let mut patience = Patience::default();
        loop {
            let mut groups: Vec<Group<'_>> = Vec::new();
            for at in 0..self.waiting.len() {
                if self.waiting[at].said.is_none()
                    && let Err(problem) = self.begin(app, caller, at, &mut groups)
                {
                    self.waiting[at].said = Some(Err(problem));
                }
            }
            let (begun, answering): (Vec<_>, Vec<_>) =
                groups.into_iter().map(|group| (group.begun, group.asking.answered())).unzip();
            let mut replaced = None;
            let (answers, now) = (all(answering).await, Instant::now());
            for (begun, mut answers) in begun.into_iter().zip(answers) {
                for (number, (at, begun)) in begun.into_iter().enumerate() {
                    match begun.said(answers.take(number), now) {
                        Err(problem) if problem.is(&kinds::REPLACED) => {
                            replaced = replaced.or(Some((at, problem)));
                        }
                        said => self.waiting[at].said = Some(said),
                    }
                }
            }
            let Some((at, problem)) = replaced else { return };
            if !patience.with(&problem).await {
                self.waiting[at].said = Some(Err(problem));
            }
        }
    }

    /// Adds a message to the group of its design.
    fn begin<'a>(
        &mut self,
        app: &'a Arc<App>,
        caller: &Caller,
        at: usize,
        groups: &mut Vec<Group<'a>>,
    ) -> Result<(), Problem> {
        let Socket { waiting, messages, ids, rooms, .. } = self;
        let waiting = &mut waiting[at];
        let Some(message) = waiting.message.clone() else {
            waiting.id = named(None, ids);
            return Err(Problem::malformed("a message is a text"));
        };
        let asked = serde_json::from_str::<Asked<'_>>(&messages[message]).map_err(|error| {
            waiting.id = named(None, ids);
            Problem::malformed(format!(
                "a message is {{\"id\", \"design\", \"actor\", \"operation\", …}}: {error}"
            ))
        })?;
        let Asked { id, design, actor, operation, params, idempotency_key, traceparent } = asked;
        waiting.id = named(id, ids);
        let traced =
            waiting.traced.get_or_insert_with(|| Traced::message(app, traceparent.as_deref()));
        if waiting.place.is_none() {
            waiting.place = Some(app.enter()?);
        }
        let service = app.service(&design)?;
        if let Some(call) = service.call(&actor, &operation) {
            traced.of_step("SOCKET", service, call);
        }
        let known =
            groups.iter().position(|group| std::ptr::eq(group.asking.service(), &**service));
        let known = known.unwrap_or_else(|| {
            let asking = Asking::new(&app.gateway, service);
            groups.push(Group { asking, begun: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[known];
        let step = Step { actor, operation, params, idempotency_key };
        let room = rooms.pop().unwrap_or_default();
        let begun = group.asking.step(caller, &step.asked(), traced.trace().cloned(), room)?;
        group.begun.push((at, begun));
        Ok(())
    }

    fn tell_all(&mut self) {
        let Socket { waiting, ids, rooms, text, out, .. } = self;
        for step in waiting.drain(..) {
            text.clear();
            text.extend_from_slice(b"{\"id\":");
            text.extend_from_slice(&ids[step.id]);
            text.push(b',');
            let said = step.said.expect("every message is answered");
            let problem = batch::tell(said, text, rooms);
            if let Some(traced) = step.traced {
                let status = problem.as_ref().map_or(200, |problem| problem.status().as_u16());
                traced.end(status, problem.as_ref().map(|problem| &*problem.kind));
            }
            text.push(b'}');
            websocket::text(out, text);
        }
        ids.clear();
    }
}

/// The messages to one design.
struct Group<'a> {
    asking: Asking<'a>,
    /// of each, which message it is
    begun: Vec<(usize, Begun<'a>)>,
}

/// Waits for all of them.
async fn all(mut answering: Vec<Answering<'_>>) -> Vec<Answers<'_>> {
    let mut answers: Vec<Option<Answers<'_>>> = answering.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (answering, answers) in answering.iter_mut().zip(&mut answers) {
            if answers.is_none()
                && let Poll::Ready(ready) = Pin::new(answering).poll(context)
            {
                *answers = Some(ready);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// Keeps an identity as it came.
fn named(id: Option<&RawValue>, ids: &mut Vec<u8>) -> Range<usize> {
    let start = ids.len();
    ids.extend_from_slice(id.map_or("null", RawValue::get).as_bytes());
    start..ids.len()
}
