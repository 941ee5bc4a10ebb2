//! Everything that goes wrong, as RFC 9457 says it.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use runtime::{BadValue, CallError};
use serde_json::{Map, Value};

use crate::kinds::{self, Kind};
use crate::service::Service;

/// Names the problem that another version of the design has taken its place.
pub const REPLACED: &str = kinds::REPLACED.name;

/// A problem: `type` is a path of this server that names it.
#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    /// names it, under `/problems/`
    pub kind: Cow<'static, str>,
    pub title: Cow<'static, str>,
    pub detail: String,
    more: Box<More>,
}

#[derive(Debug, Default)]
struct More {
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub fn new(kind: &'static Kind, detail: impl Into<String>) -> Problem {
        let Kind { name, status, title, .. } = kind;
        Problem::of_kind(*status, Cow::Borrowed(*name), Cow::Borrowed(*title), detail)
    }

    fn of_kind(
        status: StatusCode,
        kind: Cow<'static, str>,
        title: Cow<'static, str>,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { status, kind, title, detail: detail.into(), more: Box::default() }
    }

    /// Another member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.more.members.insert(name.into(), value.into());
        self
    }

    /// One of the further members.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.more.members.get(name)
    }

    #[must_use]
    pub fn pointer(self, pointer: impl Into<String>) -> Problem {
        self.with("pointer", pointer.into())
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Problem {
        self.more.headers.push((name, value));
        self
    }

    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.more.headers
    }

    pub fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(&kinds::MALFORMED, detail)
    }

    pub fn unknown(detail: impl Into<String>) -> Problem {
        Problem::new(&kinds::UNKNOWN, detail)
    }

    /// A value that does not fit; the pointer leads into the body that was sent.
    pub fn misfit(bad: &BadValue) -> Problem {
        let pointer = bad.pointer.strip_prefix("/params").unwrap_or(&bad.pointer);
        let pointer = pointer.strip_prefix("/memory").unwrap_or(pointer);
        Problem::new(&kinds::WRONG_TYPE, bad.message.clone()).pointer(pointer)
    }

    pub fn too_large(what: &str, bytes_max: usize) -> Problem {
        Problem::new(&kinds::TOO_LARGE, format!("{what} has at most {bytes_max} bytes"))
    }

    pub fn overloaded() -> Problem {
        Problem::new(
            &kinds::OVERLOADED,
            "nothing was done; come again after the time in Retry-After",
        )
        .header(RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub fn method(allowed: &'static str) -> Problem {
        Problem::new(&kinds::METHOD, format!("this takes {allowed}"))
            .header(ALLOW, HeaderValue::from_static(allowed))
    }

    /// What the runtime says, for a client. What concerns the operator alone is not told.
    pub fn of_call(service: &Service, error: CallError) -> Problem {
        match error {
            CallError::Unknown(what) => Problem::unknown(what),
            CallError::Bad(bad) => Problem::misfit(&bad),
            CallError::Refused(refused) => {
                let kind = format!("{}/{}/{}", service.name, refused.operation, refused.clause);
                let title = format!("`{}` is refused by `{}`", refused.operation, refused.clause);
                let mut detail = match refused.why {
                    Some(why) => why,
                    None => format!("the guard `{}` does not hold now", refused.clause),
                };
                if !refused.prevents.is_empty() {
                    detail.push_str(&format!("; it prevents: {}", refused.prevents.join(", ")));
                }
                Problem::of_kind(StatusCode::CONFLICT, kind.into(), title.into(), detail)
                    .with("guard", refused.clause)
                    .with("truth", refused.truth)
                    .with("legal", refused.legal)
                    .with("prevents", refused.prevents)
            }
            CallError::OtherPayload => Problem::new(
                &kinds::KEY_USED,
                "use a new key for a new request, and the old one to ask for the same again",
            ),
            CallError::KeyNeeded => Problem::new(
                &kinds::KEY_NEEDED,
                "send a header `Idempotency-Key` with a value of your choice, the same when you \
                 try again",
            ),
            CallError::Hidden(what) => Problem::new(&kinds::HIDDEN, what),
            CallError::Precondition => {
                Problem::new(&kinds::CHANGED, "read it again, and decide anew")
            }
            CallError::Store(error) => Problem::of_store(error),
            CallError::Replaced => Problem::new(&kinds::REPLACED, "nothing was done; come again")
                .header(RETRY_AFTER, HeaderValue::from_static("1")),
            CallError::Damaged(_) | CallError::NotFetched => Problem::broken(),
        }
    }

    pub fn of_store(error: store::Error) -> Problem {
        match error {
            store::Error::Busy | store::Error::Contended { .. } => Problem::overloaded(),
            store::Error::TooLarge { bytes_max, .. } => Problem::too_large(
                "what a step writes",
                usize::try_from(bytes_max).unwrap_or(usize::MAX),
            ),
            store::Error::BelowFloor(floor) => Problem::new(
                &kinds::FORGOTTEN,
                "read the truth anew, then follow from the revision in `floor`",
            )
            .with("floor", floor.to_string()),
            store::Error::Ahead(_) => Problem::malformed("this revision was never given out here"),
            store::Error::Full(_) | store::Error::Unavailable(_) => {
                Problem::new(&kinds::UNAVAILABLE, "nothing was done; come again later")
                    .header(RETRY_AFTER, HeaderValue::from_static("5"))
            }
            store::Error::Closed => Problem::stopping(),
            _ => Problem::broken(),
        }
    }

    pub fn stopping() -> Problem {
        Problem::new(&kinds::STOPPING, "nothing was done; come again in a moment")
            .header(RETRY_AFTER, HeaderValue::from_static("1"))
    }

    pub fn broken() -> Problem {
        Problem::new(
            &kinds::BROKEN,
            "it is not known whether this was done; read before trying again",
        )
    }

    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("type".into(), format!("/problems/{}", self.kind).into());
        object.insert("title".into(), self.title.clone().into());
        object.insert("status".into(), self.status.as_u16().into());
        object.insert("detail".into(), self.detail.clone().into());
        object.extend(self.more.members.clone());
        Value::Object(object)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        for (name, value) in self.more.headers {
            headers.insert(name, value);
        }
        response
    }
}
