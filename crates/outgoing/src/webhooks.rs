//! Emitted events told to subscribers: in order, at least once, for ever.
//!
//! An event that is not taken is tried again, later each time, and those after it wait. It is never
//! set aside: a receiver may rely on the order, and a receiver that is down for a day wants what
//! happened on that day. How far each is behind, and why, is visible instead.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use runtime::{Ahead, Bell, CallError, Follower, Runtime, Transition};
use serde_json::{Value, json};
use telemetry::{Kind, Span, Spans, Trace};
use ureq::Agent;

use crate::agent::{Timeouts, agent};
use crate::answer::retry_after;
use crate::effects::{now_ms, tell_status, trace_headers};
use crate::envelope::{Attributes, source};
use crate::signature::sign;
use crate::subscription::Subscription;

/// Transitions that are read at once; the position is kept after each page.
const PAGE: usize = 64;
const BACKOFF_FIRST: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// A receiver is not waited for longer than this, whatever it asks for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
const IDLE: Duration = Duration::from_secs(60);
/// Enough to use the connection again.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// One thread for each subscription to one design. Stops them when it is dropped.
pub struct Webhooks {
    stop: Arc<AtomicBool>,
    threads: Vec<(Arc<Bell>, JoinHandle<()>)>,
    standings: Vec<Arc<Mutex<Standing>>>,
}

/// How one subscription stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    pub url: String,
    /// the follower's name in the store
    pub follower: String,
    /// events that were taken since the start
    pub delivered: u64,
    /// attempts at the event that is now being told
    pub attempts: u32,
    /// when that event happened, in milliseconds; none: it was told of everything
    pub since: Option<i64>,
    /// what went wrong last; empty when all is well
    pub trouble: String,
    /// times that the feed had forgotten events before they were told
    pub gaps: u64,
}

impl Webhooks {
    /// Begins where each was; a new one with what happens from now on.
    pub fn start(
        runtime: &Arc<Runtime>,
        subscriptions: &[Subscription],
        timeouts: Timeouts,
    ) -> Result<Webhooks, CallError> {
        Webhooks::start_recorded(runtime, subscriptions, timeouts, &Spans::default())
    }

    /// The same, and every attempt is recorded.
    pub fn start_recorded(
        runtime: &Arc<Runtime>,
        subscriptions: &[Subscription],
        timeouts: Timeouts,
        spans: &Spans,
    ) -> Result<Webhooks, CallError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut webhooks =
            Webhooks { stop: Arc::clone(&stop), threads: Vec::new(), standings: Vec::new() };
        for subscription in subscriptions {
            let name = format!("webhook {}", subscription.url);
            let follower = runtime.follower(&name)?;
            let standing =
                Standing { url: subscription.url.clone(), follower: name, ..Standing::default() };
            let standing = Arc::new(Mutex::new(standing));
            let teller = Teller {
                agent: agent(&subscription.url, timeouts),
                subscription: subscription.clone(),
                standing: Arc::clone(&standing),
                stop: Arc::clone(&stop),
                spans: spans.clone(),
            };
            let bell = follower.bell();
            let thread = std::thread::Builder::new()
                .name("webhook".into())
                .spawn(move || teller.run(follower))
                .map_err(no_thread)?;
            webhooks.threads.push((bell, thread));
            webhooks.standings.push(standing);
        }
        Ok(webhooks)
    }

    pub fn standings(&self) -> Vec<Standing> {
        self.standings.iter().map(|standing| lock(standing).clone()).collect()
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for (bell, _) in &self.threads {
            bell.ring();
        }
        for (_, thread) in self.threads.drain(..) {
            // a thread that panicked has said so already
            let _ = thread.join();
        }
    }
}

fn no_thread(error: io::Error) -> CallError {
    CallError::Store(store::Error::Unavailable(format!("no thread for a webhook: {error}")))
}

fn lock(standing: &Mutex<Standing>) -> std::sync::MutexGuard<'_, Standing> {
    standing.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Teller {
    agent: Agent,
    subscription: Subscription,
    standing: Arc<Mutex<Standing>>,
    stop: Arc<AtomicBool>,
    spans: Spans,
}

/// Why an event was not told.
enum Untold {
    /// someone asked for an end
    Stopped,
    /// another server tells the events of this subscription now
    Elsewhere,
}

impl Teller {
    fn run(&self, mut follower: Follower) {
        while !self.stop.load(Ordering::Acquire) {
            match self.page(&mut follower) {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => follower.wait(IDLE),
                // what is not kept is told by whoever follows now
                Ok(Err(Untold::Elsewhere)) => follower.back(),
                Ok(Err(Untold::Stopped)) => return,
                Err(error) => {
                    // the store is in trouble: what is not kept is told again
                    let url = &self.subscription.url;
                    tracing::warn!(%url, %error, "a webhook cannot read the feed");
                    lock(&self.standing).trouble = format!("the feed cannot be read: {error}");
                    follower.back();
                    if self.pause(&follower, Duration::from_secs(1)).is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Tells what is ahead and keeps the position. False: there is nothing.
    fn page(&self, follower: &mut Follower) -> Result<Result<bool, Untold>, CallError> {
        let design = follower.runtime().design().name.clone();
        let mut told = 0;
        match follower.ahead(PAGE)? {
            Ahead::Nothing => {
                lock(&self.standing).since = None;
                follower.keep(false)?;
                return Ok(Ok(false));
            }
            Ahead::Elsewhere => {
                lock(&self.standing).since = None;
                return Ok(Ok(false));
            }
            Ahead::Gap { after, from } => {
                lock(&self.standing).gaps += 1;
                let message = gap(&design, &after, &from);
                if let Err(untold) = self.tell(follower, &message)? {
                    return Ok(Err(untold));
                }
                told += 1;
            }
            Ahead::Transitions(transitions) => {
                for (revision, transition) in &transitions {
                    for message in messages(&design, revision, transition) {
                        let wanted = self.subscription.events.as_ref();
                        if wanted.is_some_and(|names| !names.contains(&message.event)) {
                            continue;
                        }
                        if let Err(untold) = self.tell(follower, &message)? {
                            return Ok(Err(untold));
                        }
                        told += 1;
                    }
                }
            }
        }
        follower.keep(told > 0)?;
        Ok(Ok(true))
    }

    /// Returns when it was taken, or when it is not to be told any more.
    fn tell(
        &self,
        follower: &mut Follower,
        message: &Message,
    ) -> Result<Result<(), Untold>, CallError> {
        let mut backoff = BACKOFF_FIRST;
        lock(&self.standing).since = Some(message.at_ms);
        loop {
            if self.stop.load(Ordering::Acquire) {
                return Ok(Err(Untold::Stopped));
            }
            // it may have been at it for long
            if !follower.hold()? {
                return Ok(Err(Untold::Elsewhere));
            }
            match self.attempt(message) {
                Ok(()) => {
                    let mut standing = lock(&self.standing);
                    standing.delivered += 1;
                    standing.attempts = 0;
                    standing.trouble.clear();
                    return Ok(Ok(()));
                }
                Err((trouble, asked_for)) => {
                    {
                        let mut standing = lock(&self.standing);
                        if standing.trouble != trouble {
                            let url = &self.subscription.url;
                            tracing::warn!(%url, %trouble, "a webhook was not taken; it is told again");
                        }
                        standing.attempts = standing.attempts.saturating_add(1);
                        standing.trouble = trouble;
                    }
                    let asked_for = asked_for.unwrap_or_default().min(RETRY_AFTER_MAX);
                    if let Err(untold) = self.pause(follower, backoff.max(asked_for)) {
                        return Ok(Err(untold));
                    }
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
    }

    fn pause(&self, follower: &Follower, time: Duration) -> Result<(), Untold> {
        let until = Instant::now() + time;
        while !self.stop.load(Ordering::Acquire) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            follower.rest(left);
        }
        Err(Untold::Stopped)
    }

    fn attempt(&self, message: &Message) -> Result<(), (String, Option<Duration>)> {
        let now_ms = now_ms();
        let timestamp = now_ms.div_euclid(1_000);
        let signature = sign(&self.subscription.secrets, &message.id, timestamp, &message.body);
        let mut span = message.trace.as_ref().and_then(|trace| {
            let name = format!("send {}", message.event);
            self.spans.begin(Some(trace), Kind::Producer, &name)
        });
        // what is not recorded is handed on as it came
        let trace = span.as_ref().map(Span::trace).or(message.trace.as_ref()).cloned();
        let mut request = self.agent.post(&self.subscription.url);
        for (name, value) in trace_headers(trace.as_ref()) {
            request = request.header(name, value);
        }
        let sent = request
            .header("content-type", "application/cloudevents+json; charset=utf-8")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature)
            .send(&message.body[..]);
        if let Some(span) = &mut span {
            span.set("url.full", self.subscription.url.split('?').next().unwrap_or_default());
            span.set("messaging.message.id", message.id.as_str());
            match &sent {
                Ok(answer) => tell_status(span, answer.status().as_u16()),
                Err(error) => span.fail(error.to_string()),
            }
        }
        if let Some(span) = span {
            self.spans.end(span);
        }
        let mut answer = sent.map_err(|error| (error.to_string(), None))?;
        let status = answer.status();
        if status.is_success() {
            // what it says does not matter; a read answer lets the connection be used again
            let _ = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
            return Ok(());
        }
        let wait = retry_after(answer.headers(), now_ms);
        let wait = wait.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        Err((format!("answered {status}"), wait))
    }
}

/// One event, ready to be signed.
struct Message {
    id: String,
    event: String,
    at_ms: i64,
    body: Vec<u8>,
    trace: Option<Trace>,
}

/// The events of one transition. Their identities are the same whenever they are told.
fn messages(design: &str, revision: &str, transition: &Transition) -> Vec<Message> {
    let each = transition.events.iter().enumerate();
    let (when, trace) = (transition.at, transition.trace.as_ref());
    each.map(|(at, (event, fields))| message(design, revision, when, (at, event), fields, trace))
        .collect()
}

fn message(
    design: &str,
    revision: &str,
    at_ms: i64,
    (at, event): (usize, &str),
    data: &Value,
    trace: Option<&Trace>,
) -> Message {
    // the time is part of it: in a store made of exported records revisions begin anew
    let identity = json!([design, revision, at_ms, at, event, data]).to_string();
    let id = format!("evt_{}", &blake3::hash(identity.as_bytes()).to_hex()[..32]);
    let parent = trace.map(Trace::parent);
    let attributes = Attributes {
        id: &id,
        source: source(design),
        kind: format!("{design}.{event}"),
        at: at_ms,
        revision: Some(revision),
        traceparent: parent.as_deref(),
    };
    let body = attributes.structured(data);
    Message { event: event.into(), at_ms, body, id, trace: trace.cloned() }
}

/// Told in place of what the feed no longer holds, so that the receiver reads the truth again.
fn gap(design: &str, after: &str, from: &str) -> Message {
    let data = json!({ "after": after, "from": from });
    message(design, from, now_ms(), (0, "steadfast.gap"), &data, None)
}
