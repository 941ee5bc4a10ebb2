//! An answer in bytes, with the headers that the HTTP library would give it.

use std::cell::RefCell;
use std::io::Write as _;

use axum::http::header::{HeaderName, HeaderValue};
use jiff::Timestamp;

use crate::app::App;
use crate::problem::{self, OverHttp as _, Problem};
use crate::routes::step;
use crate::traced::Traced;
use gateway::Said;

/// Writes the answer, counts it and ends its span. Gives back the room in which it was made.
pub fn write(
    app: &App,
    traced: Traced,
    answer: Result<Said, Problem>,
    last: bool,
    out: &mut Vec<u8>,
) -> Vec<u8> {
    let (status, kind, body) = match answer {
        Ok(said) => {
            out.extend_from_slice(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
            if said.replayed {
                header(out, &step::REPLAYED, &HeaderValue::from_static("true"));
            }
            for (name, value) in said.left.iter().flat_map(problem::rate) {
                header(out, &name, &value);
            }
            (200, None, said.text)
        }
        Err(problem) => {
            let problem = traced.named(problem);
            let status = problem.status();
            // writing to memory does not fail
            let _ = write!(out, "HTTP/1.1 {} ", status.as_u16());
            out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
            out.extend_from_slice(b"\r\ncontent-type: application/problem+json\r\n");
            for (name, value) in problem.headers() {
                header(out, &name, &value);
            }
            let text = problem.to_json().to_string().into_bytes();
            (status.as_u16(), Some(problem.kind), text)
        }
    };
    app.requests.count("step", status);
    if let Some((name, value)) = traced.response() {
        header(out, &name, &value);
    }
    traced.end(status, kind.as_deref());
    if last {
        out.extend_from_slice(b"connection: close\r\n");
    }
    out.extend_from_slice(b"content-length: ");
    let _ = write!(out, "{}", body.len());
    out.extend_from_slice(b"\r\ndate: ");
    date(out);
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(&body);
    body
}

fn header(out: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
        out.extend_from_slice(part);
    }
}

thread_local! {
    /// The last date that was written, and its second.
    static DATE: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
}

/// The time in the one form that is still in use.
fn date(out: &mut Vec<u8>) {
    let now = Timestamp::now();
    DATE.with_borrow_mut(|(second, text)| {
        if *second != now.as_second() {
            *second = now.as_second();
            *text = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        }
        out.extend_from_slice(text.as_bytes());
    });
}
