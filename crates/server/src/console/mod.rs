//! The console: pages for people, under `/console`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;

use crate::app::App;

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/console", get(front))
}

/// The designs that are served.
async fn front(State(app): State<Arc<App>>) -> Html<String> {
    let mut list = String::new();
    for service in app.services() {
        let title = escaped(&service.design().title);
        list.push_str(&format!("<li><code>{}</code> {title}</li>", escaped(&service.name)));
    }
    Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Steadfast</title>\
         <h1>Steadfast</h1><ul>{list}</ul></html>"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
