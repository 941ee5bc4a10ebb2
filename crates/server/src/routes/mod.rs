//! One file for each route.

mod admin;
mod batch;
mod blobs;
mod feed;
mod health;
mod metrics;
mod socket;
pub mod step;
mod truth;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Method, Request, Response};
use axum::response::IntoResponse;
use axum::routing::{any, get};

use crate::app::App;
use crate::patience::Patience;
use crate::problem::Problem;
use crate::{auth, console, openapi, path};

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(health::alive).fallback(only_get))
        .route("/readyz", get(health::ready).fallback(only_get))
        .route("/metrics", get(metrics::get).fallback(only_get))
        .route("/openapi.json", get(openapi::get).fallback(only_get))
        .route("/v1/socket", get(socket::get).fallback(only_get))
        .route("/v1/{*rest}", any(of_design))
        .merge(console::routes())
        .fallback(nothing)
        .with_state(app)
}

async fn nothing() -> Problem {
    Problem::unknown("nothing is served under this path; `/openapi.json` lists what is")
}

async fn only_get() -> Problem {
    Problem::method(READS)
}

const READS: &str = "GET, HEAD";

/// `/v1/{design}/…`. The parts are decoded one by one, so that a key may hold a slash.
async fn of_design(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (parts, sent) = request.into_parts();
    let (mut route, mut answer) = dispatch(&app, &parts, sent).await;
    let mut patience = Patience::default();
    // whatever only reads can be asked for again as it is
    while let Err(problem) = &answer
        && parts.method.is_safe()
        && patience.with(problem).await
    {
        (route, answer) = dispatch(&app, &parts, Body::empty()).await;
    }
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    app.requests.count(route, response.status().as_u16());
    response
}

/// What kind of request it was, and its answer.
async fn dispatch(
    app: &Arc<App>,
    parts: &Parts,
    sent: Body,
) -> (&'static str, Result<Response<Body>, Problem>) {
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
    if app.config.access.tokens
        && let Err(problem) = auth::caller(app, headers)
    {
        return ("unknown", Err(problem));
    }
    if names == ["admin", "backup"] {
        let answer = match *method {
            Method::POST => admin::backup(app, headers, sent).await,
            _ => Err(Problem::method("POST")),
        };
        return ("admin", answer);
    }
    let service = match app.service(names[0]) {
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
        if fits { Ok(()) } else { Err(Problem::method(if reads { READS } else { "POST" })) }
    };
    match names[1..] {
        [] => (
            "design",
            match *method {
                Method::GET | Method::HEAD => admin::text(app, service, headers),
                Method::PUT => admin::replace(app, service, query, headers, sent).await,
                _ => Err(Problem::method("GET, HEAD, PUT")),
            },
        ),
        ["views", view] => (
            "view",
            match allowed(true) {
                Ok(()) => view::get(app, service, view, query, headers).await,
                Err(problem) => Err(problem),
            },
        ),
        ["feed"] => (
            "feed",
            match allowed(true) {
                Ok(()) => feed::get(app, service, query, headers).await,
                Err(problem) => Err(problem),
            },
        ),
        ["batch"] => (
            "batch",
            match allowed(false) {
                Ok(()) => batch::post(app, service, headers, sent).await,
                Err(problem) => Err(problem),
            },
        ),
        ["blobs"] => (
            "blob",
            match allowed(false) {
                Ok(()) => blobs::post(app, service, headers, sent).await,
                Err(problem) => Err(problem),
            },
        ),
        ["blobs", digest] => (
            "blob",
            match allowed(true) {
                Ok(()) => blobs::get(app, service, digest, headers).await,
                Err(problem) => Err(problem),
            },
        ),
        [subject, ref key @ ..] if !key.is_empty() && service.is_subject(subject) => (
            "truth",
            match allowed(true) {
                Ok(()) => truth::get(app, service, subject, key, headers).await,
                Err(problem) => Err(problem),
            },
        ),
        [actor, operation] => match service.call(actor, operation) {
            None => ("unknown", Err(step::unknown(service, actor, operation))),
            Some(call) => (
                "step",
                match allowed(false) {
                    Ok(()) => step::post(app, service, call, headers, sent).await,
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
