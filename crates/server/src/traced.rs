//! The trace that a request belongs to: read from its headers, recorded if that is asked for, handed on
//! to whatever the request causes, and told to the client.

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response};
use telemetry::{Kind, Span, Spans, Trace};

use crate::app::App;
use gateway::{Call, Problem, Service};

pub const PARENT: HeaderName = HeaderName::from_static("traceparent");
pub const STATE: HeaderName = HeaderName::from_static("tracestate");
/// What a client is told: the trace, and the span of its request in it.
const RESPONSE: HeaderName = HeaderName::from_static("traceresponse");

/// A request within its trace, if it has one.
pub struct Traced {
    spans: Spans,
    span: Option<Span>,
    /// what the client sent
    cause: Option<Trace>,
}

/// The context that came with a request; what cannot be read is as if it were not there.
fn cause(headers: &HeaderMap) -> Option<Trace> {
    // nearly nobody sends it: one look tells
    if !headers.contains_key(&PARENT) {
        return None;
    }
    let all = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    Trace::read(all(&PARENT), all(&STATE))
}

impl Traced {
    pub fn begin(app: &App, headers: &HeaderMap) -> Traced {
        Traced::within(app, cause(headers))
    }

    /// A message that says by itself which trace it belongs to.
    pub fn message(app: &App, parent: Option<&str>) -> Traced {
        Traced::within(app, parent.and_then(Trace::of_parent))
    }

    fn within(app: &App, cause: Option<Trace>) -> Traced {
        let spans = app.settings.spans.clone();
        let span = spans.begin(cause.as_ref(), Kind::Server, "");
        Traced { spans, span, cause }
    }

    /// For whatever the request causes. What is not recorded is handed on as it came.
    pub fn trace(&self) -> Option<&Trace> {
        self.span.as_ref().map(Span::trace).or(self.cause.as_ref())
    }

    pub fn of_route(&mut self, method: &Method, route: &str) {
        let Some(span) = &mut self.span else { return };
        span.rename(format!("{method} {route}"));
        span.set("http.request.method", method.as_str());
        span.set("http.route", route);
    }

    pub fn of_step(&mut self, door: &str, service: &Service, call: &Call) {
        let Some(span) = &mut self.span else { return };
        let operation = service.operation(call);
        let actor = &service.design().actors[operation.actor.index()].name;
        span.rename(format!("{door} /v1/{}/{actor}/{}", service.name, operation.name));
        span.set("steadfast.design", service.name.as_str());
        span.set("steadfast.actor", actor.as_str());
        span.set("steadfast.operation", operation.name.as_str());
    }

    /// It is answered with this status; a problem says which it is.
    pub fn end(self, status: u16, problem: Option<&str>) {
        let Some(mut span) = self.span else { return };
        span.set("http.response.status_code", i64::from(status));
        if let Some(kind) = problem {
            span.set("error.type", kind);
        }
        if status >= 500 {
            span.fail(problem.unwrap_or("answered with an error"));
        }
        self.spans.end(span);
    }

    /// Tells the client where in which trace its request was.
    pub fn tell<B>(&self, response: &mut Response<B>) {
        if let Some((name, value)) = self.response() {
            response.headers_mut().insert(name, value);
        }
    }

    /// The header that does so.
    pub fn response(&self) -> Option<(HeaderName, HeaderValue)> {
        let value = HeaderValue::from_str(&self.trace()?.parent()).ok()?;
        Some((RESPONSE, value))
    }

    /// The problem with the trace it belongs to.
    pub fn named(&self, problem: Problem) -> Problem {
        match self.trace() {
            Some(trace) => problem.with("trace", trace.id_text()),
            None => problem,
        }
    }
}
