//! Pages of other origins that may call this server, as far as its operator names them: Cross-Origin Resource Sharing.
//!
//! A browser sends no cookie along and takes none: a page calls with a token that it holds itself. So a page of another
//! origin can do what its token allows, and nothing that a person's session here would.

use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderMap, HeaderValue, ORIGIN, VARY,
};
use axum::http::{Method, Response, StatusCode};
use gateway::Problem;

use crate::kinds;
use crate::problem::OverHttp as _;

/// An origin as browsers write it: a scheme, a name, and a port unless it is the usual one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin(String);

/// The origins whose pages may call.
#[derive(Clone, Debug, Default)]
pub struct Origins(Vec<Origin>);

/// What a page may ask with.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, steadfast-as, \
     traceparent, tracestate",
);
/// What a page may read of an answer besides what every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "etag, retry-after, idempotency-replayed, ratelimit, ratelimit-policy, traceresponse, www-authenticate, \
     steadfast-verdict",
);
/// A browser asks again whether it may after so many seconds.
const KEPT_S: HeaderValue = HeaderValue::from_static("600");
const VARIES: HeaderValue = HeaderValue::from_static("origin");

impl Origin {
    /// Reads an origin as an operator writes it.
    pub fn read(text: &str) -> Result<Origin, String> {
        let wrong = |why: &str| Err(format!("`{text}` is no origin: {why}"));
        if text.contains('*') {
            return wrong(
                "`*` would let a page of anybody call with a token that it got hold of; name each origin",
            );
        }
        if text == "null" {
            return wrong("`null` is the origin of every page that has none, such as a file");
        }
        let Some((scheme, at)) = text.split_once("://") else {
            return wrong("it is a scheme and a name, such as `https://app.example`");
        };
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "https" => ":443",
            "http" => ":80",
            _ => return wrong("its scheme is `https`, or `http`"),
        };
        if at.contains(['/', '?', '#']) {
            return wrong("it ends behind the name and the port, without a path or a slash");
        }
        if at.contains('@') {
            return wrong("it has no user in it");
        }
        let (name, port) = match at.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((inside, port)) if inside.parse::<std::net::Ipv6Addr>().is_ok() => {
                    (&at[..inside.len() + 2], port)
                }
                _ => return wrong("its address is not one of IPv6"),
            },
            None => at.split_at(at.find(':').unwrap_or(at.len())),
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let good = name.starts_with('[') || !name.is_empty() && name.chars().all(plain);
        if !good {
            return wrong(
                "its name has letters, digits, dots and hyphens; of another alphabet, in Punycode",
            );
        }
        if !port.is_empty() && port[1..].parse::<u16>().is_err() {
            return wrong("its port is a number up to 65535");
        }
        let port = if port == usual { "" } else { port };
        Ok(Origin(format!("{scheme}://{name}{port}").to_ascii_lowercase()))
    }
}

impl Origins {
    pub fn new(origins: Vec<Origin>) -> Origins {
        Origins(origins)
    }

    /// May pages of this origin call? A browser writes it in its one form.
    pub fn allow(&self, origin: &HeaderValue) -> bool {
        self.0.iter().any(|held| held.0.as_bytes() == origin.as_bytes())
    }

    fn asked<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let mut all = headers.get_all(ORIGIN).iter();
        let origin = all.next().filter(|_| all.next().is_none())?;
        self.allow(origin).then_some(origin)
    }

    /// Is this under a path that pages of others may call? The console is not: it knows people by their cookies.
    fn is_open(path: &str) -> bool {
        path.starts_with("/v1/")
            || path.starts_with("/problems/")
            || ["/openapi.json", "/healthz", "/readyz"].contains(&path)
    }

    /// The answer to a browser that asks whether a page may ask; none: it does not ask that.
    pub fn preflight(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Option<Response<Body>> {
        let asks = headers.contains_key(ORIGIN)
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
            && method == Method::OPTIONS;
        if !asks {
            return None;
        }
        if self.asked(headers).is_none() || !Origins::is_open(path) {
            let detail = "pages of this origin may not call; `serve --origin` names those that may";
            return Some(Problem::new(&kinds::OTHER_ORIGIN, detail).into_response());
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let told = response.headers_mut();
        told.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        told.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
        told.insert(ACCESS_CONTROL_MAX_AGE, KEPT_S);
        let varies = "access-control-request-method, access-control-request-headers";
        told.append(VARY, HeaderValue::from_static(varies));
        Some(response)
    }

    /// Lets a page read the answer. Whatever is answered says that it depends on who asks, so that nobody who keeps
    /// answers gives one of them to a page that it is not for.
    pub fn told<B>(&self, path: &str, origin: Option<&HeaderValue>, response: &mut Response<B>) {
        if self.0.is_empty() || !Origins::is_open(path) {
            return;
        }
        let headers = response.headers_mut();
        headers.append(VARY, VARIES);
        if let Some(origin) = origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }

    /// The origin to name in the answer to a request with these headers.
    pub fn of(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        self.asked(headers).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_into_the_form_that_browsers_send() {
        for (text, form) in [
            ("https://app.example", "https://app.example"),
            ("HTTPS://App.Example:443", "https://app.example"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(Origin::read(text), Ok(Origin(form.into())), "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused_with_a_reason() {
        for (text, why) in [
            ("*", "name each origin"),
            ("https://*.example", "name each origin"),
            ("null", "every page that has none"),
            ("app.example", "a scheme and a name"),
            ("ftp://app.example", "its scheme"),
            ("https://app.example/", "without a path"),
            ("https://app.example/app", "without a path"),
            ("https://app.example?x", "without a path"),
            ("https://ann@app.example", "no user"),
            ("https://", "its name"),
            ("https://:8080", "its name"),
            ("https://app example", "its name"),
            ("https://b\u{fc}cher.example", "Punycode"),
            ("https://app.example:", "its port"),
            ("https://app.example:99999", "its port"),
            ("https://[::g]", "IPv6"),
        ] {
            let said = Origin::read(text).unwrap_err();
            assert!(said.contains(why) && said.contains(text), "{text}: {said}");
        }
    }
}
