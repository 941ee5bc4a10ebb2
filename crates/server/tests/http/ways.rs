//! Steps have a short way past the HTTP library. Whatever is asked is answered the same on both.

use crate::support::{Client, Response, TICKETS, config, service_at};
use serde_json::json;
use server::Running;

const ADD: &str = "/v1/tickets/organizer/add_seat";
const HOLD: &str = "/v1/tickets/buyer/hold";
const JSON: &str = "content-type: application/json";

/// A request that is sent as it stands here, but for the length of its body.
fn request(line: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{line} HTTP/1.1\r\n");
    for header in headers {
        text.push_str(&format!("{header}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text + "\r\n" + body
}

fn post(path: &str, headers: &[&str], body: &str) -> String {
    let mut all = vec!["host: localhost", JSON];
    all.extend(headers);
    request(&format!("POST {path}"), &all, body)
}

/// All at the same moment: a refusal shows when a hold ends.
fn server() -> Running {
    let mut config = config();
    config.limits.body_bytes_max = 2_000;
    server::start(config, vec![service_at("tickets", TICKETS, 1_800_000_000_000)]).unwrap()
}

/// On a connection whose first request is no step, the HTTP library answers everything.
fn by_the_long_way(server: &Running) -> Client {
    let mut client = Client::new(server.address());
    assert_eq!(client.get("/healthz").status, 200);
    client
}

/// Everything but the time.
fn without_date(mut response: Response) -> (u16, Vec<(String, String)>, String) {
    assert!(response.header("date").is_some_and(|date| date.ends_with(" GMT")), "{response:?}");
    response.headers.retain(|(name, _)| name != "date");
    response.headers.sort();
    let text = response.text();
    (response.status, response.headers, text)
}

#[test]
fn a_step_is_answered_the_same_by_both_ways() {
    let seat = json!({ "seat": "A1", "section": "s" }).to_string();
    let hold = |booking: &str| json!({ "seat": "A1", "booking": booking }).to_string();
    let large = json!({ "seat": "A2", "section": "s".repeat(2_000) }).to_string();
    let trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let many: Vec<String> = (0..40).map(|at| format!("x-{at}: {at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (a_key, a_tag) = ("idempotency-key: \"k1\"", "if-match: \"1\"");
    let requests = [
        post(ADD, &[], &seat),
        post(ADD, &[], &seat),
        post(HOLD, &["steadfast-as: ann"], &hold("b1")),
        post(HOLD, &["steadfast-as: bob"], &hold("b2")),
        post(HOLD, &["Steadfast-As: bob", trace], &hold("b2")),
        post(HOLD, &["steadfast-as: bob", trace, "tracestate: a=b"], &hold("b2")),
        post(HOLD, &["steadfast-as: "], &hold("b3")),
        post(ADD, &[a_key], &json!({ "seat": "K", "section": "s" }).to_string()),
        post(ADD, &[a_key], &json!({ "seat": "K", "section": "s" }).to_string()),
        post(ADD, &[a_key], &json!({ "seat": "L", "section": "s" }).to_string()),
        post(ADD, &[a_key, "idempotency-key: k2"], &seat),
        post(ADD, &["idempotency-key: "], &seat),
        post(HOLD, &[a_tag], &hold("b4")),
        post(HOLD, &["if-match: nonsense"], &hold("b4")),
        post(ADD, &[], "{\"seat\": "),
        post(ADD, &[], "[]"),
        post(ADD, &[], ""),
        post(ADD, &[], "{\"seat\":\"Q\",\"section\":7}"),
        post(ADD, &[], "{\"seat\":\"Q\",\"section\":\"s\",\"more\":1}"),
        post(ADD, &[], "{\"seat\":\"R\",\"section\":\"s\",\"section\":\"t\"}"),
        post(ADD, &["user-agent: test", "accept: */*", "connection: Keep-Alive"], &seat),
        post(ADD, &many, &seat),
        post(ADD, &["authorization: Bearer nonsense"], &seat),
        post(ADD, &["expect: nonsense"], &seat),
        post(ADD, &[], &large),
        request(&format!("POST {ADD}"), &["host: localhost"], &seat),
        request(&format!("POST {ADD}"), &["host: localhost", "content-type: text/plain"], &seat),
        request(&format!("POST {ADD}"), &["host: elsewhere.example", JSON], &seat),
        request(
            &format!("POST {ADD}"),
            &["HOST: localhost", "Content-Type: Application/JSON; x=y"],
            &seat,
        ),
        request(&format!("POST {ADD}"), &[JSON], &seat),
        request(&format!("POST {ADD}?x=y"), &["host: localhost", JSON], &seat),
        request(&format!("PUT {ADD}"), &["host: localhost", JSON], &seat),
        post("/v1/tickets/organizer/add_seats", &[], &seat),
        post(
            "/v1/tickets/organizer/add%5Fseat",
            &[],
            &json!({ "seat": "P", "section": "s" }).to_string(),
        ),
        post("/v1/ticket/organizer/add_seat", &[], &seat),
    ];
    let (short, long) = (server(), server());
    for request in &requests {
        // whatever is left unread of a request ends its connection
        let mut quick = Client::new(short.address());
        let mut slow = by_the_long_way(&long);
        quick.send(request.as_bytes());
        slow.send(request.as_bytes());
        let (quick, slow) = (quick.answer(false), slow.answer(false));
        assert_eq!(without_date(quick), without_date(slow), "{request}");
    }
}

#[test]
fn requests_come_in_pieces_and_together() {
    let server = server();
    let mut client = Client::new(server.address());
    let steps: Vec<String> = (0..4)
        .map(|at| post(ADD, &[], &json!({ "seat": format!("S{at}"), "section": "s" }).to_string()))
        .collect();
    // several at once, and a part of the next
    let (begins, ends) = steps[3].split_at(40);
    client.send(format!("{}{}{}{begins}", steps[0], steps[1], steps[2]).as_bytes());
    for _ in 0..3 {
        assert_eq!(client.answer(false).status, 200);
    }
    let (middle, last) = ends.split_at(ends.len() - 5);
    client.send(middle.as_bytes());
    std::thread::sleep(std::time::Duration::from_millis(3));
    client.send(last.as_bytes());
    assert_eq!(client.answer(false).status, 200);
    // a body that is late by far is waited for all the same
    let late = post(ADD, &[], &json!({ "seat": "S9", "section": "s" }).to_string());
    let (head, body) = late.split_at(late.len() - 5);
    client.send(head.as_bytes());
    std::thread::sleep(std::time::Duration::from_millis(60));
    client.send(body.as_bytes());
    assert_eq!(client.answer(false).status, 200);
    for seat in ["S0", "S1", "S2", "S3", "S9"] {
        assert_eq!(client.get(&format!("/v1/tickets/Seat/{seat}")).status, 200, "{seat}");
    }
}

#[test]
fn the_ends_of_connections_are_the_same_by_both_ways() {
    let server = server();
    let body = json!({ "seat": "A1", "section": "s" }).to_string();
    for (how, ends) in [("connection: close", true), ("x: y", false)] {
        for way in [Client::new(server.address()), by_the_long_way(&server)] {
            let mut client = way;
            client.send(post(ADD, &[how], &body).as_bytes());
            client.answer(false);
            if ends {
                assert!(client.is_closed(), "{how}");
            } else {
                assert_eq!(client.get("/healthz").status, 200, "{how}");
            }
        }
    }
}
