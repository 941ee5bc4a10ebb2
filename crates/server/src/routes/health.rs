//! Is it alive, and does it take steps?

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::response::IntoResponse;

use crate::app::App;
use crate::kinds;
use crate::problem::{OverHttp as _, Problem};

/// The process answers.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// Steps are taken: it is not stopping, the store takes them, and nothing keeps repairs or deliveries
/// from going on. What the store can do without for now, such as a damaged file that is also held in
/// memory, is told and no reason to send callers away.
pub async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    if app.is_stopping() {
        return Problem::stopping().into_response();
    }
    let store = app.store();
    if let Some(why) = store.refuses {
        return Problem::new(&kinds::UNAVAILABLE, why).into_response();
    }
    for service in app.services() {
        if service.runtime.counters().trouble().is_some() {
            // which one is for those who may read metrics
            let what = "repairs or deliveries of a design do not go on; `steadfast_trouble` in the \
                        metrics says of which";
            return Problem::new(&kinds::UNAVAILABLE, what).into_response();
        }
    }
    let mut text = String::from("ready\n");
    for warning in store.warnings() {
        text.push_str(&format!("store: {warning}\n"));
    }
    text.into_response()
}
