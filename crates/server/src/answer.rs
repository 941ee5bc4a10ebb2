//! Plain answers.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

/// 200 with this as its body.
pub fn json(value: &impl Serialize) -> Response<Body> {
    let mut text = Vec::with_capacity(512);
    // writing to memory does not fail, and every map has texts for keys
    serde_json::to_writer(&mut text, value).expect("plain data");
    of_type("application/json", text)
}

pub fn of_type(media: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// 200 with a text of JSON as its body.
pub fn json_text(text: Vec<u8>) -> Response<Sent> {
    let mut response = Response::new(Sent::Whole(text.into()));
    let media = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media);
    response
}

/// The body of an answer. What is there as a whole takes no box.
pub enum Sent {
    Whole(Bytes),
    Other(Body),
}

impl hyper::body::Body for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Sent::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Sent::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Sent::Other(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Sent::Whole(bytes) => bytes.is_empty(),
            Sent::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Sent::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Sent::Other(body) => body.size_hint(),
        }
    }
}
