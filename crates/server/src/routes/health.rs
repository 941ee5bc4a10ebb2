//! Is it alive, and does it take steps?

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::response::IntoResponse;

use crate::app::App;
use crate::kinds;
use crate::problem::Problem;

/// The process answers.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// Steps are taken: it is not stopping, and nothing keeps repairs or deliveries from going on.
pub async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    if app.is_stopping() {
        return Problem::stopping().into_response();
    }
    for service in app.services() {
        if service.runtime.counters().trouble().is_some() {
            return Problem::new(
                &kinds::UNAVAILABLE,
                format!(
                    "repairs or deliveries of `{}` do not go on; its metrics say more",
                    service.name
                ),
            )
            .into_response();
        }
    }
    "ready\n".into_response()
}
