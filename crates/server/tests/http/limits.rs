//! What a client may use up, and how a server ends.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Client, TICKETS, config, lag, service, service_on};
use gateway::Limits;
use serde_json::json;
use server::Running;

const ADD: &str = "/v1/tickets/organizer/add_seat";
const HEAD: &str = "POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nhost: x\r\n\
                    content-type: application/json\r\n";

fn limited(set: impl FnOnce(&mut Limits)) -> Running {
    let mut config = config();
    set(&mut config.limits);
    crate::support::start(config, vec![service("tickets", TICKETS)]).unwrap()
}

#[test]
fn a_body_that_is_too_large_is_refused_however_it_comes() {
    let server = limited(|limits| limits.body_bytes_max = 1_000);
    let mut client = Client::new(server.address());
    let fits = json!({ "seat": "A1", "section": "s".repeat(900) });
    assert_eq!(client.post(ADD, &fits).status, 200);
    let large = json!({ "seat": "A2", "section": "s".repeat(1_000) });
    assert_eq!(client.post(ADD, &large).status, 413);
    // without a length: found out on the way
    let mut client = Client::new(server.address());
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    client.send(format!("{HEAD}transfer-encoding: chunked\r\n\r\n{chunk}").as_bytes());
    assert_eq!(client.answer(false).status, 413);
    // a length that nobody means to send
    let mut client = Client::new(server.address());
    client.send(format!("{HEAD}content-length: 99999999999\r\n\r\n").as_bytes());
    assert_eq!(client.answer(false).status, 413);
}

#[test]
fn a_head_or_a_path_that_is_too_large_is_refused() {
    let server = limited(|limits| limits.path_bytes_max = 500);
    let mut client = Client::new(server.address());
    let path = format!("/v1/tickets/Seat/{}", "x".repeat(500));
    assert_eq!(client.get(&path).status, 413);
    let large = "x".repeat(64 << 10);
    let mut client = Client::new(server.address());
    assert_eq!(client.request("GET", "/healthz", &[("x", &large)], "").status, 431);
    // by whatever way it is read
    let large = "x".repeat(17 << 10);
    for (method, path) in
        [("GET", "/healthz"), ("POST", ADD), ("GET", "/v1/tickets/views/SoldCount")]
    {
        let mut client = Client::new(server.address());
        let answer = client.request(method, path, &[("x", &large)], "{}");
        assert_eq!(answer.status, 431, "{method} {path}: {answer:?}");
    }
}

#[test]
fn slow_heads_and_slow_bodies_are_given_up() {
    let server = limited(|limits| {
        limits.body_ms_max = 150;
        limits.head_ms_max = 150;
    });
    let mut client = Client::new(server.address());
    client.send(format!("{HEAD}content-length: 10\r\n\r\n{{\"se").as_bytes());
    assert_eq!(client.answer(false).status, 408);
    let mut client = Client::new(server.address());
    client.send(b"GET /healthz HTTP/1.1\r\nhost:");
    assert!(client.is_closed(), "a head that does not end is not waited for");
    let mut idle = Client::new(server.address());
    assert!(idle.is_closed(), "nor is one that does not begin");
}

#[test]
fn connections_beyond_the_limit_are_closed_and_the_others_served() {
    let server = limited(|limits| limits.connections_max = 2);
    let mut first = Client::new(server.address());
    let mut second = Client::new(server.address());
    // who asks for what is served is known, and stays
    let path = "/v1/tickets/views/SoldCount";
    assert_eq!((first.get(path).status, second.get(path).status), (200, 200));
    assert!(Client::new(server.address()).is_closed());
    drop(second);
    for _ in 0..100 {
        let mut third = Client::new(server.address());
        third.send(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
        if !third.is_closed() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("a place that was given back is not given again");
}

#[test]
fn more_than_it_can_do_at_once_is_told_to_come_again() {
    let (store, gate) = lag();
    let mut config = config();
    config.limits.in_flight_max = 3;
    let server =
        crate::support::start(config, vec![service_on("tickets", TICKETS, store)]).unwrap();
    gate.close();
    let mut under_way: Vec<Client> = (0..3).map(|_| Client::new(server.address())).collect();
    for (at, client) in under_way.iter_mut().enumerate() {
        let body = json!({ "seat": format!("A{at}"), "section": "s" }).to_string();
        client.send(format!("{HEAD}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    let mut client = Client::new(server.address());
    while !client.get("/metrics").text().contains("steadfast_http_in_flight 3\n") {
        thread::sleep(Duration::from_millis(5));
    }
    let refused = client.post(ADD, &json!({ "seat": "B", "section": "s" }));
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    gate.open();
    for client in &mut under_way {
        assert_eq!(client.answer(false).status, 200);
    }
    assert_eq!(client.post(ADD, &json!({ "seat": "B", "section": "s" })).status, 200);
}

#[test]
fn a_server_that_stops_finishes_what_it_has_accepted() {
    let (store, gate) = lag();
    let server =
        crate::support::start(config(), vec![service_on("tickets", TICKETS, store)]).unwrap();
    let address = server.address();
    gate.close();
    let mut accepted = Client::new(address);
    let body = json!({ "seat": "A1", "section": "s" }).to_string();
    accepted.send(format!("{HEAD}content-length: {}\r\n\r\n{body}", body.len()).as_bytes());
    // a body in pieces goes the long way
    let mut in_pieces = Client::new(address);
    let body = json!({ "seat": "A2", "section": "s" }).to_string();
    let pieces = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    in_pieces.send(format!("{HEAD}transfer-encoding: chunked\r\n\r\n{pieces}").as_bytes());
    let mut socket = Client::new(address);
    socket.upgrade("/v1/socket");
    let mut follower = Client::new(address);
    follower.send(b"GET /v1/tickets/feed HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(follower.head().0, 200);
    let mut client = Client::new(address);
    while !client.get("/metrics").text().contains("steadfast_http_in_flight 2\n") {
        thread::sleep(Duration::from_millis(5));
    }
    let stopping = thread::spawn(move || server.stop());
    let (kind, _) = socket.frame();
    assert_eq!(kind, 8, "a socket is told that it is over");
    drop(socket);
    while follower.event().is_some() {}
    assert!(client.is_closed(), "an idle connection is closed");
    gate.open();
    for client in [&mut accepted, &mut in_pieces] {
        let answer = client.answer(false);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let started = Instant::now();
    stopping.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(15), "nothing was left to wait for");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_path_that_climbs_leads_nowhere() {
    let server = limited(|_| {});
    let mut client = Client::new(server.address());
    for path in [
        "/v1/tickets/Seat/../../../../etc/passwd",
        "/v1/../../etc/passwd",
        "/v1/tickets/Seat/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/console/../../etc/passwd",
        "/console/_/assets/%2Fetc%2Fpasswd",
        "/console/_/assets/..%2F..%2F..%2F..%2F..%2F..%2Fetc%2Fpasswd",
        "/..%2f..%2fetc/passwd",
        "/v1/tickets/Seat/%00",
        "//etc/passwd",
        "/v1//Seat/x",
    ] {
        let answer = client.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.text().contains("root:"), "{path}: {answer:?}");
    }
    assert_eq!(client.get("/v1/tickets/Seat/%ff").status, 400);
}

#[test]
fn metrics_count_what_steps_came_to() {
    let server = limited(|_| {});
    let mut client = Client::new(server.address());
    for status in [200, 409, 409] {
        assert_eq!(client.post(ADD, &json!({ "seat": "A1", "section": "s" })).status, status);
    }
    let text = client.get("/metrics").text();
    let labels = "design=\"tickets\",actor=\"organizer\",operation=\"add_seat\"";
    for line in [
        format!("steadfast_steps_total{{{labels},outcome=\"done\",clause=\"\"}} 1"),
        format!("steadfast_steps_total{{{labels},outcome=\"refused\",clause=\"fresh\"}} 2"),
        format!("steadfast_step_seconds_count{{{labels}}} 3"),
        "steadfast_http_requests_total{route=\"step\",status=\"4xx\"} 2".into(),
        "steadfast_trouble{design=\"tickets\"} 0".into(),
    ] {
        assert!(text.lines().any(|its| its == line), "{line} in\n{text}");
    }
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let series = line.rsplit_once(' ').unwrap().0;
        assert!(seen.insert(series), "`{series}` is there twice");
    }
}
