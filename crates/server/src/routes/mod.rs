//! One file for each route.

mod admin;
mod aside;
mod batch;
mod blobs;
mod clock;
mod feed;
mod health;
mod live;
mod metrics;
mod problems;
mod records;
mod socket;
pub mod step;
mod truth;
mod view;

pub use records::{LIMIT_MAX, LIMIT_USUAL};

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::{HOST, HeaderValue, STRICT_TRANSPORT_SECURITY};
use axum::http::request::Parts;
use axum::http::{Method, Request, Response};
use axum::routing::get;
use hyper::body::Incoming;
use telemetry::Trace;
use tower_service::Service as _;

use crate::answer::Sent;
use crate::app::App;
use crate::problem::{OverHttp as _, Problem, not_allowed};
use crate::seats::Seat;
use crate::traced::Traced;
use crate::{auth, kinds, openapi, path};
use gateway::Patience;

pub fn router(app: Arc<App>, pages: Router) -> Router {
    Router::new()
        .route("/healthz", get(health::alive).fallback(only_get))
        .route("/readyz", get(health::ready).fallback(only_get))
        .route("/metrics", get(metrics::get).fallback(only_get))
        .route("/openapi.json", get(openapi::get).fallback(only_get))
        .route("/problems/{*name}", get(problems::get).fallback(only_get))
        .route("/v1/socket", get(socket::get).fallback(only_get))
        .fallback(nothing)
        .with_state(app)
        .merge(pages)
}

async fn nothing() -> Response<Body> {
    Problem::unknown("nothing is served under this path; `/openapi.json` lists what is")
        .into_response()
}

async fn only_get() -> Response<Body> {
    not_allowed(READS).into_response()
}

const READS: &str = "GET, HEAD";

/// Every request comes by here. What is below `/v1` goes no further: the parts of its path are decoded
/// one by one, so that a key may hold a slash; and steps, which are most of what is asked, take as few
/// turns as can be.
pub async fn answer(
    app: Arc<App>,
    router: Router,
    seat: Arc<Seat>,
    mut request: Request<Incoming>,
) -> Result<Response<Sent>, Infallible> {
    // HTTP/2 has the name that was asked under elsewhere
    if !request.headers().contains_key(HOST)
        && let Some(name) = request.uri().authority()
        && let Ok(name) = HeaderValue::from_str(name.as_str())
    {
        request.headers_mut().insert(HOST, name);
    }
    request.extensions_mut().insert(Arc::clone(&seat));
    let origins = &app.origins;
    let (path, origin) = (request.uri().path().to_string(), origins.of(request.headers()));
    let mut response = match head_is_too_large(&app, &request) {
        Some(problem) => problem.into_response().map(Sent::Other),
        None => match origins.preflight(request.method(), &path, request.headers()) {
            Some(allowed) => allowed.map(Sent::Other),
            None => routed(&app, router, request, &seat).await?,
        },
    };
    origins.told(&path, origin.as_ref(), &mut response);
    if app.settings.encrypted {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, ENCRYPTED_ONLY);
    }
    Ok(response)
}

/// The short way passes on what is larger, and the library counts less exactly, or not at all.
fn head_is_too_large(app: &App, request: &Request<Incoming>) -> Option<Problem> {
    let most = app.limits().head_bytes_max;
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    let line = request.method().as_str().len() + path + 12;
    let headers = request.headers().iter();
    let bytes = headers.map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    let detail = || format!("the head of a request has at most {most} bytes");
    (line + bytes > most).then(|| Problem::new(&kinds::LARGE_HEAD, detail()))
}

/// A browser that came over an encrypted connection once comes over no other for a year.
const ENCRYPTED_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

async fn routed(
    app: &Arc<App>,
    mut router: Router,
    request: Request<Incoming>,
    seat: &Seat,
) -> Result<Response<Sent>, Infallible> {
    let mut traced = Traced::begin(app, request.headers());
    let path = request.uri().path();
    if !path.starts_with("/v1/") || path == "/v1/socket" {
        traced.of_route(request.method(), page(path));
        let mut response = router.call(request).await?.map(Sent::Other);
        traced.tell(&mut response);
        traced.end(response.status().as_u16(), None);
        return Ok(response);
    }
    let step = step::named(app, path).filter(|_| request.method() == Method::POST);
    let (route, answer) = match step {
        Some((service, call)) => {
            traced.of_step("POST", &service, &call);
            let (parts, sent) = request.into_parts();
            let trace = traced.trace().cloned();
            ("step", step::post(app, &service, &call, &parts.headers, sent, trace).await)
        }
        None => {
            let (parts, sent) = request.into_parts();
            let mut answered = dispatch(app, &parts, Body::new(sent), traced.trace(), seat).await;
            let mut patience = Patience::default();
            // whatever only reads can be asked for again as it is
            while let (_, Err(problem)) = &answered
                && parts.method.is_safe()
                && patience.with(problem).await
            {
                answered = dispatch(app, &parts, Body::empty(), traced.trace(), seat).await;
            }
            traced.of_route(&parts.method, answered.0);
            answered
        }
    };
    // pages below other paths are for anybody
    let mut is_known = true;
    let (mut response, problem) = match answer {
        Ok(response) => (response, None),
        Err(problem) => {
            is_known &= !problem.is_of_stranger();
            let problem = traced.named(problem);
            let kind = problem.kind.clone();
            (problem.into_response().map(Sent::Other), Some(kind))
        }
    };
    if is_known {
        seat.is_known();
    }
    let status = response.status().as_u16();
    app.requests.count(route, status);
    traced.tell(&mut response);
    traced.end(status, problem.as_deref());
    Ok(response)
}

/// The first part of a path: what follows it has too many values to be told apart.
fn page(path: &str) -> &str {
    path.match_indices('/').nth(1).map_or(path, |(at, _)| &path[..at])
}

/// What kind of request it was, and its answer.
async fn dispatch(
    app: &Arc<App>,
    parts: &Parts,
    sent: Body,
    trace: Option<&Trace>,
    seat: &Seat,
) -> (&'static str, Result<Response<Sent>, Problem>) {
    let other = |answer: Result<Response<Body>, Problem>| answer.map(|it| it.map(Sent::Other));
    let (uri, method, headers) = (&parts.uri, &parts.method, &parts.headers);
    let path_bytes_max = app.limits().path_bytes_max;
    if uri.path_and_query().map_or(0, |given| given.as_str().len()) > path_bytes_max {
        return ("unknown", Err(Problem::too_large("the path", path_bytes_max)));
    }
    let names = match path::parts(uri.path().strip_prefix("/v1/").unwrap_or_default()) {
        Ok(names) => names,
        Err(problem) => return ("unknown", Err(problem)),
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // who is not known does not learn what there is
    if app.settings.access.tokens {
        match auth::calling(app, headers) {
            // what takes long is not cut off by strangers who come meanwhile
            Ok(_) => seat.is_known(),
            Err(problem) => return ("unknown", Err(problem)),
        }
    }
    if names == ["admin", "backup"] {
        let answer = match *method {
            Method::POST => admin::backup(app, headers, sent).await,
            _ => Err(not_allowed("POST")),
        };
        return ("admin", other(answer));
    }
    if names == ["admin", "servers"] {
        let answer = match *method {
            Method::GET | Method::HEAD => admin::servers(app, headers).await,
            _ => Err(not_allowed(READS)),
        };
        return ("admin", other(answer));
    }
    if names == ["clock"] && (app.settings.clock.is_some() || app.service("clock").is_err()) {
        let answer = match *method {
            Method::GET | Method::HEAD => clock::get(app, headers),
            Method::POST => clock::post(app, headers, sent).await,
            _ => Err(not_allowed("GET, HEAD, POST")),
        };
        return ("admin", other(answer));
    }
    let service = &match app.service(names[0]) {
        Ok(service) => service,
        Err(problem) => return ("unknown", Err(problem)),
    };
    let query = uri.query().unwrap_or_default();
    let allowed = |reads: bool| {
        let fits = if reads {
            matches!(*method, Method::GET | Method::HEAD)
        } else {
            method == Method::POST
        };
        if fits { Ok(()) } else { Err(not_allowed(if reads { READS } else { "POST" })) }
    };
    match names[1..] {
        [] => (
            "design",
            other(match *method {
                Method::GET | Method::HEAD => admin::text(app, service, headers),
                Method::PUT => admin::replace(app, service, query, headers, sent).await,
                _ => Err(not_allowed("GET, HEAD, PUT")),
            }),
        ),
        ["views", view] => (
            "view",
            match allowed(true) {
                Ok(()) => other(view::get(app, service, view, query, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        ["views", view, "live"] => (
            "view",
            match allowed(true) {
                Ok(()) => other(live::get(app, service, view, query, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        ["feed"] => (
            "feed",
            match allowed(true) {
                Ok(()) => other(feed::get(app, service, query, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        ["batch"] => (
            "batch",
            match allowed(false) {
                Ok(()) => batch::post(app, service, headers, sent, trace).await,
                Err(problem) => Err(problem),
            },
        ),
        ["blobs"] => (
            "blob",
            match allowed(false) {
                Ok(()) => other(blobs::post(app, service, headers, sent).await),
                Err(problem) => Err(problem),
            },
        ),
        ["blobs", digest] => (
            "blob",
            match allowed(true) {
                Ok(()) => other(blobs::get(app, service, digest, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        ["aside"] => (
            "admin",
            match allowed(true) {
                Ok(()) => other(aside::list(app, service, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        ["aside", id, what @ ("retry" | "discard")] => (
            "admin",
            match allowed(false) {
                Ok(()) => other(aside::resolve(app, service, (id, what), headers).await),
                Err(problem) => Err(problem),
            },
        ),
        [subject] if service.is_subject(subject) => (
            "records",
            match allowed(true) {
                Ok(()) => other(records::get(app, service, subject, query, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        [subject, ref key @ ..] if !key.is_empty() && service.is_subject(subject) => (
            "truth",
            match allowed(true) {
                Ok(()) => other(truth::get(app, service, subject, key, headers).await),
                Err(problem) => Err(problem),
            },
        ),
        [actor, operation] => match service.call(actor, operation) {
            None => ("unknown", Err(gateway::unknown(service, actor, operation))),
            Some(call) => (
                "step",
                match allowed(false) {
                    Ok(()) => step::post(app, service, call, headers, sent, trace.cloned()).await,
                    Err(problem) => Err(problem),
                },
            ),
        },
        _ => {
            let detail = format!("`{}` serves nothing under this path", service.name);
            ("unknown", Err(Problem::unknown(detail)))
        }
    }
}
