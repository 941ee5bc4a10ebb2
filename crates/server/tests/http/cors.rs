//! Pages of origins that the operator named call from a browser; those of others do not.

use serde_json::json;
use server::{Config, Origin, Origins, Running};

use crate::support::{Client, Response, TICKETS, config, service, start};

const APP: &str = "https://app.example";
const ADD: &str = "/v1/tickets/organizer/add_seat";

fn serve() -> Running {
    let named = ["https://app.example", "http://localhost:5173"];
    let origins = named.map(|origin| Origin::read(origin).unwrap()).to_vec();
    let config = Config { origins: Origins::new(origins), ..config() };
    start(config, vec![service("tickets", TICKETS)]).expect("it starts")
}

fn preflight(server: &Running, origin: &str, path: &str, method: &str) -> Response {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", method),
        ("access-control-request-headers", "authorization,content-type,idempotency-key"),
    ];
    Client::new(server.address()).request("OPTIONS", path, &headers, "")
}

fn varies(response: &Response) -> bool {
    let all = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("vary"));
    all.into_iter().any(|(_, value)| value.split(',').any(|one| one.trim() == "origin"))
}

#[test]
fn a_browser_that_asks_is_told_what_a_named_page_may_do() {
    let server = serve();
    for (path, method) in [
        (ADD, "POST"),
        ("/v1/tickets/Seat/A1", "GET"),
        ("/v1/tickets/views/Availability?section=s", "GET"),
        ("/v1/tickets/feed", "GET"),
        ("/openapi.json", "GET"),
    ] {
        let told = preflight(&server, APP, path, method);
        assert_eq!(told.status, 204, "{path}: {told:?}");
        assert_eq!(told.header("access-control-allow-origin"), Some(APP));
        assert_eq!(told.header("access-control-allow-credentials"), None, "no cookie goes along");
        let methods = told.header("access-control-allow-methods").unwrap();
        assert!(methods.split(", ").any(|allowed| allowed == method), "{methods}");
        assert!(!methods.contains("PUT"), "{methods}");
        let headers = told.header("access-control-allow-headers").unwrap();
        for name in [
            "authorization",
            "content-type",
            "idempotency-key",
            "if-match",
            "if-none-match",
            "last-event-id",
        ] {
            assert!(headers.split(", ").any(|allowed| allowed == name), "{headers}");
        }
        assert_eq!(told.header("access-control-max-age"), Some("600"));
        assert!(varies(&told), "{told:?}");
        assert!(told.body.is_empty());
    }
    for origin in [
        "https://app.example.evil.example",
        "http://app.example",
        "https://app.example:444",
        "null",
    ] {
        let told = preflight(&server, origin, ADD, "POST");
        assert_eq!(told.status, 403, "{origin}");
        assert_eq!(told.json()["type"], "/problems/other-origin");
        assert_eq!(told.header("access-control-allow-origin"), None, "{origin}");
    }
    // people are known there by their cookies
    let console = preflight(&server, APP, "/console", "GET");
    assert_eq!((console.status, console.header("access-control-allow-origin")), (403, None));
}

#[test]
fn a_named_page_calls_and_reads_what_it_is_told() {
    let server = serve();
    let mut client = Client::new(server.address());
    let from =
        [("origin", APP), ("sec-fetch-site", "cross-site"), ("content-type", "application/json")];
    let body = json!({ "seat": "A1", "section": "s" }).to_string();
    let added = client.request("POST", ADD, &from, &body);
    assert_eq!(added.status, 200, "{added:?}");
    let again = client.request("POST", ADD, &from, &body);
    assert_eq!((again.status, again.json()["guard"].as_str()), (409, Some("fresh")));
    let seat = client.request("GET", "/v1/tickets/Seat/A1", &from[..2], "");
    let unknown = client.request("GET", "/v1/tickets/nothing", &from[..2], "");
    for (what, told) in
        [("a step", &added), ("a refusal", &again), ("a record", &seat), ("a 404", &unknown)]
    {
        assert_eq!(told.header("access-control-allow-origin"), Some(APP), "{what}");
        assert_eq!(told.header("access-control-allow-credentials"), None, "{what}");
        let exposed = told.header("access-control-expose-headers").unwrap();
        for name in ["etag", "retry-after", "idempotency-replayed"] {
            assert!(exposed.split(", ").any(|one| one == name), "{exposed}");
        }
        assert!(varies(told), "{what}");
    }
    assert!(seat.header("etag").is_some());
    // whoever keeps answers for others learns that they depend on who asks
    let plain = Client::new(server.address()).get("/v1/tickets/Seat/A1");
    assert_eq!(plain.header("access-control-allow-origin"), None);
    assert!(varies(&plain), "{plain:?}");
    // the feed, which has no end
    let mut client = Client::new(server.address());
    client.send(
        format!(
            "GET /v1/tickets/feed?from=start HTTP/1.1\r\nhost: localhost\r\norigin: {APP}\r\n\r\n"
        )
        .as_bytes(),
    );
    let (status, headers) = client.head();
    assert_eq!(status, 200);
    let told =
        headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("access-control-allow-origin"));
    assert_eq!(told.map(|(_, value)| value.as_str()), Some(APP));
}

#[test]
fn a_page_that_is_not_named_is_refused_where_others_are() {
    let server = serve();
    let mut client = Client::new(server.address());
    let body = json!({ "seat": "A1", "section": "s" }).to_string();
    for from in [
        &[("origin", "http://evil.example")][..],
        &[("origin", APP), ("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
    ] {
        let headers = [&[("content-type", "application/json")], from].concat();
        let told = client.request("POST", ADD, &headers, &body);
        assert_eq!(
            (told.status, told.header("access-control-allow-origin")),
            (403, None),
            "{from:?}"
        );
    }
    assert_eq!(client.get("/v1/tickets/Seat/A1").status, 404, "nothing was done");
    // the console, by any page but its own
    let console = client.request("GET", "/console", &[("origin", APP)], "");
    assert_eq!(console.header("access-control-allow-origin"), None);
}

#[test]
fn a_socket_is_opened_by_a_named_page_alone() {
    let server = serve();
    let open = |origin: &str, protocol: &str| {
        let mut client = Client::new(server.address());
        let head = format!(
            "GET /v1/socket HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{protocol}\r\n"
        );
        client.send(head.as_bytes());
        client.head()
    };
    let named = |headers: &[(String, String)]| {
        let found =
            headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
        found.map(|(_, value)| value.clone())
    };
    let (status, headers) = open(APP, "");
    assert_eq!((status, named(&headers)), (101, None));
    let (status, headers) = open(APP, "sec-websocket-protocol: steadfast.v1\r\n");
    assert_eq!((status, named(&headers).as_deref()), (101, Some("steadfast.v1")));
    // a page cannot send headers with a socket: its token stands among the protocols, and one that is not good is refused
    let (status, _) =
        open(APP, "sec-websocket-protocol: steadfast.v1, steadfast.token.no-token\r\n");
    assert_eq!(status, 401);
    assert_eq!(open("http://evil.example", "").0, 403);
}
