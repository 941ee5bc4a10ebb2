//! Who comes in by which door: pages from elsewhere, callers without the right, and clients that hold on.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::blobs::{CONTENT, GALLERY};
use crate::security::{get, guarded, guarded_within, post};
use crate::support::{Client, TICKETS, config, serve, service, service_by};
use identity::Roles;
use runtime::ManualClock;

const ADD: &str = "/v1/tickets/organizer/add_seat";

/// Every door, and a request that would be let in by it.
const DOORS: &[(&str, &str, &str, &str)] = &[
    ("POST", ADD, "application/json", r#"{"seat":"A1","section":"s"}"#),
    (
        "POST",
        "/v1/tickets/batch",
        "application/json",
        r#"{"steps":[{"actor":"organizer","operation":"add_seat","params":{"seat":"A1","section":"s"}}]}"#,
    ),
    ("POST", "/v1/gallery/blobs", "application/octet-stream", "sunflowers"),
    ("GET", "/v1/gallery/blobs/none", "", ""),
    ("GET", "/v1/tickets/Seat/A1", "", ""),
    ("GET", "/v1/tickets/views/SeatMap?section=s", "", ""),
    ("GET", "/v1/tickets/feed?from=start", "", ""),
    ("GET", "/v1/tickets", "", ""),
    ("PUT", "/v1/tickets", "text/plain", "design X"),
    ("GET", "/v1/tickets/aside", "", ""),
    ("POST", "/v1/tickets/aside/1/retry", "", ""),
    ("POST", "/v1/admin/backup", "application/json", r#"{"to":"/nowhere"}"#),
    ("GET", "/metrics", "", ""),
    ("GET", "/openapi.json", "", ""),
    ("GET", "/v1/socket", "", ""),
];

#[test]
fn a_page_from_elsewhere_acts_through_no_door() {
    let server = serve(vec![service("tickets", TICKETS), service("gallery", GALLERY)]);
    let knock = |door: &(&str, &str, &str, &str), from: (&str, &str)| {
        let (method, path, kind, body) = *door;
        let mut headers = vec![from];
        if !kind.is_empty() {
            headers.push(("content-type", kind));
        }
        if path == "/v1/socket" {
            headers.extend([
                ("connection", "upgrade"),
                ("upgrade", "websocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]);
        }
        let mut client = Client::new(server.address());
        client.send(format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n").as_bytes());
        for (name, value) in headers {
            client.send(format!("{name}: {value}\r\n").as_bytes());
        }
        client.send(format!("content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
        client.head().0
    };
    for door in DOORS {
        for from in [
            ("origin", "http://evil.example"),
            ("Origin", "null"),
            ("origin", "http://localhost:81"),
            ("sec-fetch-site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"),
        ] {
            assert_eq!(knock(door, from), 403, "{door:?} {from:?}");
        }
    }
    let mut client = Client::new(server.address());
    assert_eq!(client.get("/v1/tickets/Seat/A1").status, 404, "nothing was done");
    assert_eq!(client.get("/healthz").status, 200);
    for door in DOORS {
        assert_ne!(knock(door, ("origin", "http://localhost")), 403, "{door:?}");
    }
    assert_eq!(client.get("/v1/tickets/Seat/A1").status, 200, "a page of its own may");
}

#[test]
fn a_name_that_was_made_to_lead_here_opens_no_door() {
    let server = serve(vec![service("tickets", TICKETS), service("gallery", GALLERY)]);
    for (method, path, kind, body) in DOORS {
        let mut client = Client::new(server.address());
        client.send(
            format!(
                "{method} {path} HTTP/1.1\r\nhost: evil.example\r\ncontent-type: {kind}\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        assert_eq!(client.head().0, 403, "{method} {path}");
    }
}

#[test]
fn what_is_counted_of_all_callers_is_for_operators_and_those_who_gather_it() {
    let guarded = guarded();
    let mut client = guarded.client();
    let buyer = guarded.token("ann", "buyer");
    let gatherer = guarded.token("prometheus", gateway::METRICS);
    let operator = guarded.issue("olga", Roles::ALL).text;
    let refused = get(&mut client, &buyer, "/metrics");
    assert_eq!(
        (refused.status, refused.json()["type"].as_str()),
        (403, Some("/problems/operators-only"))
    );
    assert_eq!(get(&mut client, &operator, "/metrics").status, 200);
    assert_eq!(get(&mut client, &gatherer, "/metrics").status, 200);
    // and it may do nothing else
    let seat = json!({ "seat": "A1", "section": "s" });
    assert_eq!(post(&mut client, &gatherer, ADD, &seat).status, 403);
    assert_eq!(get(&mut client, &gatherer, "/v1/tickets/aside").status, 403);
    // what is served is told to whoever may ask for it
    assert_eq!(client.get("/openapi.json").status, 401);
    assert_eq!(get(&mut client, &buyer, "/openapi.json").status, 200);
}

#[test]
fn content_is_brought_by_those_who_can_mention_it_and_not_without_end() {
    let mut config = config();
    config.limits.upload_bytes_hour_max = 20;
    let guarded = guarded_within(config, vec![service("gallery", GALLERY)]);
    let mut client = guarded.client();
    let mut bring = |token: &str, content: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [CONTENT[0], ("authorization", bearer.as_str())];
        client.request("POST", "/v1/gallery/blobs", &headers, content)
    };
    let painter = guarded.token("ann", "painter");
    let porter = guarded.token("bob", "gallery/porter");
    let stranger = guarded.token("eve", "buyer");
    let stored = bring(&painter, "sunflowers");
    assert_eq!(stored.status, 200, "{stored:?}");
    for token in [&porter, &stranger] {
        let refused = bring(token, "x");
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.text().contains("callers with the role painter"), "{}", refused.text());
    }
    let path = format!("/v1/gallery/blobs/{}", stored.json()["digest"].as_str().unwrap());
    let more = bring(&painter, "sunflowers and more");
    assert_eq!((more.status, more.json()["type"].as_str()), (429, Some("/problems/quota")));
    assert!(more.header("retry-after").is_some());
    assert_eq!(bring(&guarded.token("cid", "painter"), "sunflowers and more").status, 200);
    assert_eq!(bring(&painter, "as before!").status, 200, "what was refused did not count");
    let mut client = guarded.client();
    assert_eq!(get(&mut client, &porter, &path).status, 200);
    assert_eq!(get(&mut client, &stranger, &path).status, 403);
}

/// `steadfast_body_bytes` and its like.
fn gauge(client: &mut Client, name: &str) -> usize {
    let text = client.get("/metrics").text();
    let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
    line.and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap()
}

#[test]
fn bodies_that_do_not_come_take_no_place_and_have_a_bound() {
    let mut config = config();
    config.limits.in_flight_max = 2;
    config.limits.bodies_bytes_max = 256 << 10;
    config.limits.body_ms_max = 600_000;
    let services = vec![service("tickets", TICKETS)];
    let server = crate::support::start(config, services).unwrap();
    let begin = |bytes: usize| {
        let mut client = Client::new(server.address());
        client.send(
            format!(
                "POST {ADD} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: 1000000\r\n\r\n{}",
                " ".repeat(bytes)
            )
            .as_bytes(),
        );
        client
    };
    let mut slow: Vec<Client> = (0..6).map(|_| begin(10)).collect();
    // three of them have room
    slow.extend((0..20).map(|_| begin(100_000)));
    let mut client = Client::new(server.address());
    let refused = |client: &mut Client| {
        let text = client.get("/metrics").text();
        let lines = text.lines().filter(|line| line.starts_with("steadfast_http_requests_total"));
        let busy = lines.filter(|line| line.contains("\"4xx\""));
        busy.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum::<usize>()
    };
    while refused(&mut client) < 17 {
        thread::sleep(Duration::from_millis(10));
    }
    let held = gauge(&mut client, "steadfast_body_bytes");
    assert!(held <= 256 << 10, "{held}");
    assert_eq!(gauge(&mut client, "steadfast_http_in_flight"), 0);
    // and nobody else notices
    for at in 0..100 {
        let seat = json!({ "seat": format!("S{at}"), "section": "s" });
        assert_eq!(client.post(ADD, &seat).status, 200);
    }
    drop(slow);
    while gauge(&mut client, "steadfast_body_bytes") > 0 {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn strangers_make_room_for_callers_and_callers_stay() {
    let mut config = config();
    config.limits.connections_max = 4;
    let guarded = guarded_within(config, vec![service("tickets", TICKETS)]);
    let organizer = guarded.token("olga", "organizer");
    let add = |client: &mut Client, seat: usize| {
        let seat = json!({ "seat": format!("S{seat}"), "section": "s" });
        post(client, &organizer, ADD, &seat).status
    };
    let address = guarded.server.address();
    // they say nothing, the beginning of something, or ask what they may not
    let stranger = |at: usize| {
        let mut client = Client::new(address);
        match at % 5 {
            0 => {}
            1 => client.send(b"POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nho"),
            2 => assert_eq!(client.get("/healthz").status, 200),
            3 => assert_eq!(client.post(ADD, &json!({})).status, 401),
            _ => assert_eq!(client.get("/v1/tickets/Seat/S0").status, 401),
        }
        client
    };
    let mut strangers: Vec<Client> = (0..4).map(stranger).collect();
    let mut caller = guarded.client();
    assert_eq!(add(&mut caller, 0), 200, "the place of a stranger is taken");
    assert!(strangers[0].is_closed(), "of the one that was there longest");
    for at in 4..40 {
        strangers.push(stranger(at));
        assert_eq!(add(&mut caller, at), 200, "a caller keeps its place");
    }
    let mut second = guarded.client();
    assert_eq!(add(&mut second, 100), 200);
    let mut others: Vec<Client> = (0..2).map(|_| guarded.client()).collect();
    for (at, client) in others.iter_mut().enumerate() {
        assert_eq!(add(client, 200 + at), 200);
    }
    assert!(Client::new(address).is_closed(), "all who are here are callers");
    assert_eq!(add(&mut caller, 300), 200);
}

/// A socket that was let in is no stranger, though no step came over it yet.
#[test]
fn who_opened_a_socket_keeps_its_place() {
    let mut config = config();
    config.limits.connections_max = 3;
    let guarded = guarded_within(config, vec![service("tickets", TICKETS)]);
    let bearer = format!("Bearer {}", guarded.token("olga", "organizer"));
    let mut sockets: Vec<Client> = (0..3).map(|_| guarded.client()).collect();
    for socket in &mut sockets {
        socket.upgrade_as("/v1/socket", &[("authorization", &bearer)]);
    }
    for _ in 0..3 {
        assert!(guarded.client().is_closed(), "all who are here are callers");
    }
    for (at, socket) in sockets.iter_mut().enumerate() {
        let params = json!({ "seat": format!("S{at}"), "section": "s" });
        let step = json!({
            "id": at, "design": "tickets", "actor": "organizer", "operation": "add_seat", "params": params,
        });
        socket.send_text(&step.to_string());
        assert_eq!(socket.text_frame()["status"], 200);
    }
}

/// What takes long is answered late, so who asks for it is known before.
#[test]
fn strangers_do_not_end_an_upload() {
    let mut config = config();
    config.limits.connections_max = 4;
    let guarded = guarded_within(config, vec![service("gallery", GALLERY)]);
    let operator = guarded.issue("olga", Roles::ALL).text;
    let mut watch = guarded.client();
    let mut transfers = || {
        let told = get(&mut watch, &operator, "/metrics").text();
        let line = told.lines().find(|line| line.starts_with("steadfast_transfers "));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).unwrap()
    };
    assert_eq!(transfers(), 0);
    let content = "c".repeat(300_000);
    let (first, rest) = content.split_at(100_000);
    let mut upload = guarded.client();
    upload.send(
        format!(
            "POST /v1/gallery/blobs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {operator}\r\n\
             content-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n{first}",
            content.len()
        )
        .as_bytes(),
    );
    while transfers() == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let strangers: Vec<Client> = (0..12)
        .map(|_| {
            let mut stranger = guarded.client();
            assert_eq!(stranger.get("/healthz").status, 200);
            stranger
        })
        .collect();
    upload.send(rest.as_bytes());
    let kept = upload.answer(false);
    assert_eq!((kept.status, &kept.json()["bytes"]), (200, &json!(300_000)), "{kept:?}");
    drop(strangers);
}

#[test]
fn large_content_goes_through_a_piece_at_a_time() {
    let mut config = config();
    config.limits.bodies_bytes_max = 128 << 10;
    config.limits.transfers_max = 1;
    config.limits.upload_bytes_hour_max = 2_050_000;
    let server = crate::support::start(config, vec![service("gallery", GALLERY)]).unwrap();
    let mut client = Client::new(server.address());
    let content: String = (0..100_000).map(|at| format!("{at:010}")).collect();
    let kept = client.request("POST", "/v1/gallery/blobs", &CONTENT, &content);
    assert_eq!((kept.status, &kept.json()["bytes"]), (200, &json!(1_000_000)), "{kept:?}");
    let path = format!("/v1/gallery/blobs/{}", kept.json()["digest"].as_str().unwrap());
    let back = client.get(&path);
    assert_eq!((back.status, back.header("content-length")), (200, Some("1000000")));
    assert!(back.text() == content, "it is what was sent");
    // one that stops in the middle has the only place; nothing of it stays, and nothing is counted
    let mut slow = Client::new(server.address());
    slow.send(
        format!(
            "POST /v1/gallery/blobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/octet-stream\r\n\
             content-length: 1900000\r\n\r\n{}",
            "s".repeat(300_000)
        )
        .as_bytes(),
    );
    while gauge(&mut client, "steadfast_transfers") == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let more = &content[..70_000];
    let refused = client.request("POST", "/v1/gallery/blobs", &CONTENT, more);
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    let mut client = Client::new(server.address());
    assert_eq!(client.request("POST", "/v1/gallery/blobs", &CONTENT, "small").status, 200);
    assert!(gauge(&mut client, "steadfast_body_bytes") <= 128 << 10);
    drop(slow);
    while gauge(&mut client, "steadfast_transfers") > 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let again = client.request("POST", "/v1/gallery/blobs", &CONTENT, &format!("{content}again"));
    assert_eq!(again.status, 200, "what broke off is not counted: {again:?}");
    let beyond = client.request("POST", "/v1/gallery/blobs", &CONTENT, more);
    assert_eq!(beyond.status, 429, "{beyond:?}");
    assert!(beyond.text().contains("in an hour"), "{beyond:?}");
}

#[test]
fn who_asks_and_does_not_read_is_let_go() {
    let mut config = config();
    config.limits.stall_ms_max = 300;
    let server = crate::support::start(config, vec![service("tickets", TICKETS)]).unwrap();
    let step = |at: usize| {
        let body = json!({ "seat": format!("S{at}"), "section": "s" }).to_string();
        format!(
            "POST {ADD} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let page = |_| "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".to_string();
    let asks: [&dyn Fn(usize) -> String; 2] = [&step, &page];
    for ask in asks {
        let mut greedy = TcpStream::connect(server.address()).unwrap();
        greedy.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        // until the other side takes no more, because nothing is taken here
        let mut at = 0;
        while greedy.write_all(ask(at).as_bytes()).is_ok() {
            at += 1;
        }
        let mut client = Client::new(server.address());
        while gauge(&mut client, "steadfast_connections") > 1 {
            thread::sleep(Duration::from_millis(20));
        }
        // what was answered is there, and then nothing more
        let mut rest = Vec::new();
        let _ = greedy.read_to_end(&mut rest);
        assert!(rest.starts_with(b"HTTP/1.1 200 OK"));
    }
}

const DOOR: &str = "\
design Door
actor visitor
actor owner
subject Door(door: text) {
    truth Lock { pin: int = 4711 } visible to owner
    truth DoorState { open: bool = false }
}
step visitor[enter(door: Door, pin: int) { right: Lock.pin = pin }] limit 3 per 1m per me {
    DoorState.open := true
}
read visitor[look(door: Door)] limit 2 per 1s per me = DoorState.open
check { door: 1 pin: {1, 4711} }
";

#[test]
fn a_step_is_called_as_often_as_the_design_lets_a_caller() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let server = serve(vec![service_by("door", DOOR, Arc::clone(&clock))]);
    let mut client = Client::new(server.address());
    let enter = |client: &mut Client, who: &str, pin: i64| {
        client.post_as(who, "/v1/door/visitor/enter", &json!({ "door": "d", "pin": pin }))
    };
    for (pin, left) in [(1, r#""me";r=2"#), (2, r#""me";r=1"#), (3, r#""me";r=0;t=60"#)] {
        let refused = enter(&mut client, "eve", pin);
        assert_eq!(refused.status, 409, "{refused:?}");
        assert_eq!(refused.header("ratelimit"), Some(left));
        assert_eq!(refused.header("ratelimit-policy"), Some(r#""me";q=3;w=60"#));
    }
    // who guesses waits, even with the right one
    clock.advance(20_000);
    let often = enter(&mut client, "eve", 4711);
    assert_eq!((often.status, often.json()["type"].as_str()), (429, Some("/problems/rate")));
    assert_eq!(often.header("retry-after"), Some("40"));
    assert_eq!(enter(&mut client, "ann", 4711).status, 200, "each for itself");
    // by every door
    let batch = json!({ "steps": [
        { "actor": "visitor", "operation": "enter", "params": { "door": "d", "pin": 1 } },
        { "actor": "visitor", "operation": "enter", "params": { "door": "d", "pin": 1 } },
        { "actor": "visitor", "operation": "enter", "params": { "door": "d", "pin": 1 } },
        { "actor": "visitor", "operation": "enter", "params": { "door": "d", "pin": 1 } },
    ]});
    let answers = client.post_as("bob", "/v1/door/batch", &batch).json();
    let status: Vec<_> =
        answers["answers"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(status, [409, 409, 409, 429]);
    clock.advance(40_000);
    assert_eq!(enter(&mut client, "eve", 4711).status, 200);
    // a read, which goes another way
    let mut look =
        || client.post_as("eve", "/v1/door/visitor/look", &json!({ "door": "d" })).status;
    assert_eq!([look(), look(), look()], [200, 200, 429]);
    clock.advance(1_000);
    assert_eq!(look(), 200);
}
