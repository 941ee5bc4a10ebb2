//! How HTTP becomes a WebSocket.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use axum::body::Body;
use axum::http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What the standard has both sides add to the key.
const ADDED: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The key of a request that asks for a WebSocket; none: it does not, or not rightly.
pub fn key(headers: &HeaderMap) -> Option<&HeaderValue> {
    let lists = |name: &HeaderName, wanted: &str| {
        let texts = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        texts.flat_map(|text| text.split(',')).any(|part| part.trim().eq_ignore_ascii_case(wanted))
    };
    let asked = lists(&CONNECTION, "upgrade")
        && lists(&UPGRADE, "websocket")
        && headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    headers.get(SEC_WEBSOCKET_KEY).filter(|_| asked)
}

/// What a socket speaks, where a client asks for something by name.
const PROTOCOL: &str = "steadfast.v1";
/// Before a token that a page names as something the socket might speak: a page cannot send headers.
const TOKEN: &str = "steadfast.token.";

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(',')).map(str::trim)
}

/// The token of a page, as the header that a page cannot send.
pub fn token(headers: &HeaderMap) -> Option<HeaderValue> {
    let token = protocols(headers).find_map(|name| name.strip_prefix(TOKEN))?;
    HeaderValue::from_str(&format!("Bearer {token}")).ok()
}

/// Does the client ask for the protocol by name? Then it is told that this is what is spoken.
pub fn names_protocol(headers: &HeaderMap) -> bool {
    protocols(headers).any(|name| name == PROTOCOL)
}

/// The answer to a request with this key.
pub fn accepted(key: &HeaderValue, named: bool) -> Response<Body> {
    let proof = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key.as_bytes(), ADDED].concat());
    // the alphabet is that of headers
    let proof = HeaderValue::from_str(&STANDARD.encode(proof)).expect("letters and digits");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, proof);
    if named {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs =
            list.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        pairs.collect()
    }

    /// The example of the standard.
    #[test]
    fn the_key_is_proved_to_be_read() {
        let response = accepted(&HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="), false);
        let proof = response.headers().get(SEC_WEBSOCKET_ACCEPT).unwrap();
        assert_eq!(proof, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(response.status(), 101);
    }

    #[test]
    fn only_a_whole_request_for_a_socket_is_one() {
        let whole = [
            (CONNECTION, "keep-alive, Upgrade"),
            (UPGRADE, "WebSocket"),
            (SEC_WEBSOCKET_VERSION, "13"),
            (SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        assert!(key(&headers(&whole)).is_some());
        for without in 0..whole.len() {
            let mut part = whole.to_vec();
            part.remove(without);
            assert!(key(&headers(&part)).is_none(), "{part:?}");
        }
        let mut old = whole.to_vec();
        old[2].1 = "8";
        assert!(key(&headers(&old)).is_none());
    }
}
