//! The head of a request, as far as the short way understands it.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::HeaderValue;

use crate::app::App;
use crate::routes::step;
use gateway::{Call, Service};

/// What stands at the beginning of what was read.
pub enum Found {
    /// the head has not come to its end
    Part,
    Step(Head),
    /// it is for the HTTP library to say what this is
    Other,
}

pub struct Head {
    pub service: Arc<Service>,
    pub call: Arc<Call>,
    /// where its body stands, or will stand
    pub body: Range<usize>,
}

/// Heads with more are rare.
const HEADERS_MAX: usize = 32;

/// Looks at a head; what a step asks of its headers stands in `headers` then.
pub fn find(app: &App, bytes: &[u8], headers: &mut HeaderMap) -> Found {
    if bytes.is_empty() {
        return Found::Part;
    }
    let mut places = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let head_bytes_max = app.limits().head_bytes_max;
    let end = match request.parse_with_uninit_headers(bytes, &mut places) {
        Ok(httparse::Status::Complete(end)) if end <= head_bytes_max => end,
        Ok(httparse::Status::Partial) if bytes.len() < head_bytes_max => return Found::Part,
        _ => return Found::Other,
    };
    if request.method != Some("POST") || request.version != Some(1) {
        return Found::Other;
    }
    let Some((service, call)) = step::named(app, request.path.unwrap_or_default()) else {
        return Found::Other;
    };
    headers.clear();
    match read(request.headers, headers) {
        Some(length) if length <= app.limits().body_bytes_max => {
            Found::Step(Head { service, call, body: end..end + length })
        }
        _ => Found::Other,
    }
}

/// The length of the body, if its head has nothing unusual in it.
fn read(given: &[httparse::Header<'_>], headers: &mut HeaderMap) -> Option<usize> {
    let mut length = None;
    for header in given {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if let Some(name) = step::LOOKED_AT.iter().find(|name| is(name.as_str())) {
            headers.append(name, HeaderValue::from_bytes(header.value).ok()?);
        } else if is("content-length") {
            if length.is_some() {
                return None;
            }
            length = Some(whole(header.value)?);
        } else if is("connection") {
            if !header.value.eq_ignore_ascii_case(b"keep-alive") {
                return None;
            }
        } else if CHANGES_MUCH.iter().any(|name| is(name)) {
            return None;
        }
    }
    Some(length.unwrap_or(0))
}

/// What these ask for is done by the HTTP library.
const CHANGES_MUCH: [&str; 6] = [
    "transfer-encoding",
    "expect",
    "upgrade",
    "http2-settings",
    // a browser, whose page is looked at there
    "origin",
    "sec-fetch-site",
];

/// Digits alone, and few enough.
fn whole(text: &[u8]) -> Option<usize> {
    let plain = (1..=9).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    plain.then(|| text.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use identity::Identity;
    use runtime::{Runtime, Settings};

    use super::*;
    use gateway::{Auditor, Gateway};

    use crate::config::Config;

    const TEXT: &str = "
design Counters
actor teller
subject Counter(name: text) { truth CounterState { count: int = 0 } }
step teller[count(counter: Counter)] { CounterState.count += 1 }
";

    fn app() -> App {
        let design = design::compile("counters", TEXT, &design::NoCatalog).design.unwrap();
        let store = Arc::new(store::Memory::new());
        let runtime = Runtime::open(design, store, Settings::default()).unwrap();
        let service = Service::new("counters", TEXT, Arc::new(runtime));
        let identity = Arc::new(Identity::in_memory().unwrap());
        let auditor = Auditor::start(&identity).unwrap();
        let settings = Config::default().settings();
        let gateway = Gateway::new(settings, vec![service], identity, auditor);
        App::new(Arc::new(gateway), crate::cors::Origins::default())
    }

    /// Where the body of a step is; none: it is no step for the short way.
    fn body(app: &App, text: &str, headers: &mut HeaderMap) -> Option<Range<usize>> {
        match find(app, text.as_bytes(), headers) {
            Found::Step(head) => Some(head.body),
            Found::Other => None,
            Found::Part => panic!("{text}"),
        }
    }

    #[test]
    fn plain_steps_go_the_short_way_and_nothing_else_does() {
        let app = app();
        let line = "POST /v1/counters/teller/count HTTP/1.1\r\n";
        let mut headers = HeaderMap::new();
        for plain in [
            "content-length: 12\r\n",
            "Content-Length: 12\r\nhost: localhost\r\nuser-agent: curl\r\naccept: */*\r\n",
            "content-length: 12\r\nconnection: Keep-Alive\r\nauthorization: Bearer x\r\n",
        ] {
            let text = format!("{line}{plain}\r\n");
            let end = text.len();
            assert_eq!(body(&app, &text, &mut headers), Some(end..end + 12), "{text}");
        }
        assert_eq!(headers.len(), 1, "only what a step looks at is kept: {headers:?}");
        assert_eq!(
            body(&app, &format!("{line}\r\n"), &mut headers).map(|body| body.len()),
            Some(0)
        );
        for unusual in [
            "content-length: 12\r\ncontent-length: 12\r\n",
            "content-length: +12\r\n",
            "content-length: 12, 12\r\n",
            "content-length: 99999999999999999999\r\n",
            "content-length: 2000000\r\n",
            "transfer-encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\ncontent-length: 12\r\n",
            "expect: 100-continue\r\n",
            "connection: close\r\n",
            "connection: upgrade\r\nupgrade: h2c\r\n",
            "no header\r\n",
            "name : value\r\n",
        ] {
            let text = format!("{line}{unusual}\r\n");
            assert_eq!(body(&app, &text, &mut headers), None, "{text}");
        }
        for other in [
            "GET /v1/counters/teller/count HTTP/1.1",
            "POST /v1/counters/teller/count HTTP/1.0",
            "POST /v1/counters/teller/count?x HTTP/1.1",
            "POST http://localhost/v1/counters/teller/count HTTP/1.1",
            "POST /v1/counters/teller/counts HTTP/1.1",
            "POST /v1/counters/batch HTTP/1.1",
            "POST /v2/counters/teller/count HTTP/1.1",
            "nonsense",
        ] {
            assert_eq!(body(&app, &format!("{other}\r\n\r\n"), &mut headers), None, "{other}");
        }
    }

    #[test]
    fn a_head_is_waited_for_until_it_is_too_long() {
        let app = app();
        let mut headers = HeaderMap::new();
        let text = "POST /v1/counters/teller/count HTTP/1.1\r\nhost: localhost\r\n\r\n";
        for end in 0..text.len() {
            let found = find(&app, &text.as_bytes()[..end], &mut headers);
            assert!(matches!(found, Found::Part), "{end}");
        }
        let long = format!("POST / HTTP/1.1\r\nx: {}", "x".repeat(app.limits().head_bytes_max));
        assert!(matches!(find(&app, long.as_bytes(), &mut headers), Found::Other));
    }
}
