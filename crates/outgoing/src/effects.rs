//! Effects as HTTP calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use runtime::{Delivered, Delivery, Outside};
use serde_json::Value;
use telemetry::{Kind, Span, Spans, Trace};
use ureq::Agent;
use ureq::http::Response;

use crate::agent::{Timeouts, agent};
use crate::answer::judge;
use crate::envelope::{Attributes, source};
use crate::signature::sign;
use crate::targets::{Target, Targets};

/// Answers longer than this are not read: what a handler takes fits into a record.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Carries each effect to the address that the settings give to its name.
pub struct Effects {
    targets: Targets,
    timeouts: Timeouts,
    /// one for each address: connections are used again
    agents: Mutex<HashMap<String, Agent>>,
    spans: Spans,
}

impl Effects {
    pub fn new(targets: Targets, timeouts: Timeouts) -> Effects {
        Effects { targets, timeouts, agents: Mutex::default(), spans: Spans::default() }
    }

    /// Every attempt is recorded.
    #[must_use]
    pub fn recorded(mut self, spans: Spans) -> Effects {
        self.spans = spans;
        self
    }

    fn agent(&self, url: &str) -> Agent {
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let known = agents.entry(url[..end].to_string());
        known.or_insert_with(|| agent(url, self.timeouts)).clone()
    }

    fn call(
        &self,
        url: &str,
        target: &Target,
        delivery: &Delivery,
    ) -> Result<Delivered, ureq::Error> {
        let now_ms = now_ms();
        let mut span = delivery.trace.as_ref().and_then(|trace| {
            let name = format!("{} {}.{}", delivery.method, delivery.actor, delivery.effect);
            self.spans.begin(Some(trace), Kind::Client, &name)
        });
        // what is not recorded is handed on as it came
        let trace = span.as_ref().map(Span::trace).or(delivery.trace.as_ref()).cloned();
        let answered = self.send(url, target, delivery, trace.as_ref(), now_ms);
        if let Some(span) = &mut span {
            span.set("http.request.method", delivery.method.as_str());
            span.set("url.full", url.split('?').next().unwrap_or_default());
            span.set("http.request.resend_count", i64::from(delivery.attempt));
            span.set("steadfast.design", delivery.design.as_str());
            match &answered {
                Ok(answer) => tell_status(span, answer.status().as_u16()),
                Err(error) => span.fail(error.to_string()),
            }
        }
        if let Some(span) = span {
            self.spans.end(span);
        }
        let mut answer = answered?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        Ok(judge(status, &headers, &body, now_ms))
    }

    fn send(
        &self,
        url: &str,
        target: &Target,
        delivery: &Delivery,
        trace: Option<&Trace>,
        now_ms: i64,
    ) -> Result<Response<ureq::Body>, ureq::Error> {
        let agent = self.agent(url);
        let id = format!("{}-{}", delivery.design.to_lowercase(), delivery.key);
        let asks = delivery.method == "GET";
        // a question has no body: its fields stand in the address
        let body = if asks { Vec::new() } else { delivery.body.to_string().into_bytes() };
        // where it began, whoever carries it
        let parent = delivery.trace.as_ref().map(Trace::parent);
        let attributes = Attributes {
            id: &id,
            source: source(&delivery.design),
            kind: format!("{}.{}.{}", delivery.design, delivery.actor, delivery.effect),
            at: now_ms,
            revision: None,
            traceparent: parent.as_deref(),
        };
        let timestamp = now_ms.div_euclid(1_000);
        let mut headers = attributes.headers();
        headers.extend(trace_headers(trace));
        headers.push(("idempotency-key", format!("\"{id}\"")));
        headers.push(("webhook-id", id.clone()));
        headers.push(("webhook-timestamp", timestamp.to_string()));
        if !target.secrets.is_empty() {
            headers.push(("webhook-signature", sign(&target.secrets, &id, timestamp, &body)));
        }
        if asks {
            let mut request = agent.get(url);
            for (name, value) in delivery.body.as_object().into_iter().flatten() {
                request = request.query(name, word(value));
            }
            for (name, value) in headers {
                request = request.header(name, value);
            }
            return request.call();
        }
        let mut request = match delivery.method.as_str() {
            "PUT" => agent.put(url),
            "PATCH" => agent.patch(url),
            "DELETE" => agent.delete(url).force_send_body(),
            _ => agent.post(url),
        };
        request = request.header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send(&body)
    }
}

impl Outside for Effects {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let (url, target) = match self.targets.fill(&delivery.url, &delivery.actor) {
            Ok(found) => found,
            Err(placeholder) => {
                let trouble = format!("`{{{placeholder}}}` is not set");
                return Delivered::Unknown { trouble, retry_after_ms: None };
            }
        };
        self.call(&url, &target, delivery).unwrap_or_else(|error| Delivered::Unknown {
            trouble: format!("{url}: {error}"),
            retry_after_ms: None,
        })
    }
}

/// The headers `traceparent` and `tracestate`.
pub fn trace_headers(trace: Option<&Trace>) -> Vec<(&'static str, String)> {
    let Some(trace) = trace else { return Vec::new() };
    let mut headers = vec![("traceparent", trace.parent())];
    if !trace.state().is_empty() {
        headers.push(("tracestate", trace.state().to_string()));
    }
    headers
}

/// The status of an answer to a call of ours.
pub fn tell_status(span: &mut Span, status: u16) {
    span.set("http.response.status_code", i64::from(status));
    if status >= 400 {
        span.fail(format!("answered {status}"));
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
