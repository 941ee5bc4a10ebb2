//! One file for each route.

mod health;
mod step;
mod truth;
mod view;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Request, Response};
use axum::response::IntoResponse;
use axum::routing::{any, get};

use crate::app::App;
use crate::problem::Problem;
use crate::{console, path};

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/v1/{*rest}", any(of_design))
        .merge(console::routes())
        .fallback(nothing)
        .with_state(app)
}

async fn nothing() -> Problem {
    Problem::unknown("nothing is served under this path; `/openapi.json` lists what is")
}

/// `/v1/{design}/…`. The parts are decoded one by one, so that a key may hold a slash.
async fn of_design(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    match dispatch(&app, request).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn dispatch(app: &Arc<App>, request: Request<Body>) -> Result<Response<Body>, Problem> {
    let (parts, sent) = request.into_parts();
    let (uri, method, headers) = (&parts.uri, &parts.method, &parts.headers);
    if uri.path_and_query().map_or(0, |given| given.as_str().len()) > app.limits().path_bytes_max {
        return Err(Problem::too_large("the path", app.limits().path_bytes_max));
    }
    let names = path::parts(uri.path().strip_prefix("/v1/").unwrap_or_default())?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let service = Arc::clone(app.service(names[0])?);
    let reads = matches!(*method, Method::GET | Method::HEAD);
    match names[1..] {
        ["views", view] => {
            if !reads {
                return Err(Problem::method("GET, HEAD"));
            }
            view::get(app, &service, view, uri.query().unwrap_or_default(), headers).await
        }
        [subject, ref key @ ..] if service.is_subject(subject) => {
            if !reads {
                return Err(Problem::method("GET, HEAD"));
            }
            truth::get(app, &service, subject, key, headers).await
        }
        [actor, operation] => match service.call(actor, operation) {
            None => Err(step::unknown(&service, actor, operation)),
            Some(_) if method != Method::POST => Err(Problem::method("POST")),
            Some(call) => step::post(app, &service, call, headers, sent).await,
        },
        _ => Err(Problem::unknown(format!("`{}` serves nothing under this path", service.name))),
    }
}
