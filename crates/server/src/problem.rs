//! Everything that goes wrong, as RFC 9457 says it.

use axum::body::Body;
use axum::http::header::{
    ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{Response, StatusCode};
pub use gateway::Problem;
use gateway::{Hint, Left};
use serde_json::{Map, Value};

use crate::kinds;

/// Not this method, but those that are allowed here.
pub fn not_allowed(allowed: &'static str) -> Problem {
    Problem::new(&kinds::METHOD, format!("this takes {allowed}")).hint(Hint::Instead(allowed))
}

/// A problem over HTTP: `type` is a path of this server that names it.
pub trait OverHttp {
    fn status(&self) -> StatusCode;
    /// Is it told to somebody who may not ask here at all?
    fn is_of_stranger(&self) -> bool;
    fn headers(&self) -> Vec<(HeaderName, HeaderValue)>;
    fn to_json(&self) -> Value;
    fn into_response(self) -> Response<Body>;
}

impl OverHttp for Problem {
    fn status(&self) -> StatusCode {
        // what is no kind is a refusal by a clause of a design
        kinds::named(&self.kind).map_or(StatusCode::CONFLICT, |spelled| spelled.status)
    }

    fn is_of_stranger(&self) -> bool {
        [kinds::UNAUTHENTICATED, kinds::WRONG_HOST, kinds::OTHER_ORIGIN]
            .iter()
            .any(|kind| self.is(kind))
    }

    fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        self.hints().iter().flat_map(headers).collect()
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("type".into(), format!("/problems/{}", self.kind).into());
        object.insert("title".into(), self.title.clone().into());
        object.insert("status".into(), self.status().as_u16().into());
        object.insert("detail".into(), self.detail.clone().into());
        object.extend(self.members().clone());
        Value::Object(object)
    }

    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        for (name, value) in self.headers() {
            headers.insert(name, value);
        }
        response
    }
}

fn headers(hint: &Hint) -> Vec<(HeaderName, HeaderValue)> {
    let one = match *hint {
        Hint::Rate(ref left) => return rate(left).into(),
        Hint::AgainAfter(seconds) => (RETRY_AFTER, HeaderValue::from(seconds)),
        Hint::Instead(allowed) => (ALLOW, HeaderValue::from_static(allowed)),
        Hint::Token { refused: false } => {
            (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"steadfast\""))
        }
        Hint::Token { refused: true } => {
            let challenge = "Bearer realm=\"steadfast\", error=\"invalid_token\"";
            (WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
        }
    };
    vec![one]
}

/// How a caller stands with its limit, as `RateLimit` of the IETF has it.
pub fn rate(left: &Left) -> [(HeaderName, HeaderValue); 2] {
    let seconds = |ms: i64| (ms.max(0) + 999) / 1_000;
    let (count, window) = (left.rate.count, seconds(left.rate.per));
    let policy = format!("\"me\";q={count};w={window}");
    let now = match left.calls {
        0 => format!("\"me\";r=0;t={}", seconds(left.again_ms)),
        calls => format!("\"me\";r={calls}"),
    };
    // digits and ASCII
    let value = |text: String| HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
    [
        (HeaderName::from_static("ratelimit-policy"), value(policy)),
        (HeaderName::from_static("ratelimit"), value(now)),
    ]
}
