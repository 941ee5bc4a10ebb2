//! What a client is told when a step is not taken, and how it makes sure of what it saw.

use std::sync::{Arc, Barrier};
use std::thread;

use crate::support::{Client, TICKETS, config, lag, service_on, tickets};
use serde_json::{Value, json};

const ADD: &str = "/v1/tickets/organizer/add_seat";
const HOLD: &str = "/v1/tickets/buyer/hold";
const CONFIRM: &str = "/v1/tickets/buyer/confirm";

fn seat(client: &mut Client, name: &str) {
    assert_eq!(client.post(ADD, &json!({ "seat": name, "section": "s" })).status, 200);
}

#[test]
fn a_refusal_says_which_guard_what_it_saw_what_is_legal_and_what_it_prevents() {
    let server = tickets();
    let mut client = Client::new(server.address());
    seat(&mut client, "A1");
    let hold = json!({ "seat": "A1", "booking": "b1" });
    assert_eq!(client.post_as("ann", HOLD, &hold).status, 200);
    let taken = client.post_as("bob", HOLD, &json!({ "seat": "A1", "booking": "b2" }));
    assert_eq!(taken.status, 409, "{taken:?}");
    assert_eq!(taken.header("content-type"), Some("application/problem+json"));
    let problem = taken.json();
    assert_eq!(problem["type"], "/problems/tickets/hold/free");
    assert_eq!(problem["guard"], "free");
    assert_eq!(problem["prevents"], json!(["seat: oversell", "seat: duplicate hold"]));
    assert_eq!(problem["truth"][0]["truth"]["SeatInventoryState"]["status"], "HELD");
    assert_eq!(problem["legal"], json!([]));
    let again = client.post_as("ann", HOLD, &hold).json();
    assert_eq!(again["guard"], "fresh");
    let confirm =
        json!({ "actor": "buyer", "operation": "confirm", "params": { "booking": "b1" } });
    assert_eq!(again["legal"], json!([confirm]));
    assert_eq!(client.post_as("ann", CONFIRM, &json!({ "booking": "b1" })).status, 200);
}

#[test]
fn what_does_not_fit_has_a_pointer_and_a_status_of_its_own() {
    let server = tickets();
    let mut client = Client::new(server.address());
    let json_type = ("content-type", "application/json");
    for (body, status, pointer) in [
        (r#"{"seat": "A1"}"#, 422, Some("/booking")),
        (r#"{"seat": 1, "booking": "b"}"#, 422, Some("/seat")),
        (r#"{"seat": "A1", "booking": "b", "ttl": "soon"}"#, 422, Some("/ttl")),
        (r#"{"seat": "A1", "booking": "b", "my/own": 1}"#, 422, Some("/my~1own")),
        (r#"{"seat": "A1""#, 400, None),
        (r#"["A1"]"#, 400, Some("")),
        ("", 422, Some("/seat")),
    ] {
        let answer = client.request("POST", HOLD, &[json_type], body);
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert_eq!(answer.json()["pointer"].as_str(), pointer, "{body}: {answer:?}");
    }
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(client.request("POST", HOLD, &form, "seat=A1").status, 415);
    let anonymous = [json_type, ("steadfast-as", "")];
    assert_eq!(client.request("POST", HOLD, &anonymous, "{}").status, 400);
}

#[test]
fn truth_has_a_tag_that_changes_when_it_does() {
    let server = tickets();
    let mut client = Client::new(server.address());
    seat(&mut client, "A1");
    let first = client.get("/v1/tickets/Seat/A1");
    let tag = first.header("etag").expect("a tag").to_string();
    let known = |client: &mut Client, tags: &str| {
        client.request("GET", "/v1/tickets/Seat/A1", &[("if-none-match", tags)], "").status
    };
    assert_eq!(known(&mut client, &tag), 304);
    assert_eq!(known(&mut client, &format!("\"x\", W/{tag}")), 304);
    assert_eq!(known(&mut client, "*"), 304);
    assert_eq!(known(&mut client, "\"0\""), 200);
    assert_eq!(known(&mut client, "0"), 400);

    let hold = |client: &mut Client, tag: &str, booking: &str| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        let body = json!({ "seat": "A1", "booking": booking, "ttl": "0s" }).to_string();
        client.request("POST", HOLD, &headers, &body).status
    };
    assert_eq!(hold(&mut client, &tag, "b1"), 200);
    assert_eq!(hold(&mut client, &tag, "b2"), 412, "the seat has changed");
    assert_eq!(known(&mut client, &tag), 200);
    let weak = format!("W/{}", client.get("/v1/tickets/Seat/A1").header("etag").unwrap());
    assert_eq!(hold(&mut client, &weak, "b3"), 412, "a weak tag never matches");
    let head = client.request("HEAD", "/v1/tickets/Seat/A1", &[], "");
    assert!(head.status == 200 && head.header("etag").is_some() && head.body.is_empty());
}

#[test]
fn the_same_key_is_answered_the_same_and_another_payload_is_refused() {
    let server = tickets();
    let mut client = Client::new(server.address());
    seat(&mut client, "A1");
    let hold = |client: &mut Client, who: &str, key: &str, booking: &str| {
        let headers =
            [("content-type", "application/json"), ("steadfast-as", who), ("idempotency-key", key)];
        let body = json!({ "seat": "A1", "booking": booking }).to_string();
        client.request("POST", HOLD, &headers, &body)
    };
    let first = hold(&mut client, "ann", "\"k1\"", "b1");
    let again = hold(&mut client, "ann", "\"k1\"", "b1");
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(first.json(), again.json());
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(hold(&mut client, "ann", "k1", "b2").status, 422);
    assert_eq!(hold(&mut client, "bob", "k1", "b2").status, 409, "another's key is another key");
    assert_eq!(hold(&mut client, "ann", "", "b2").status, 400);
}

#[test]
fn while_the_first_is_under_way_the_second_is_told_so() {
    let (slow, gate) = lag();
    let server = server::start(config(), vec![service_on("tickets", TICKETS, slow)]).unwrap();
    let address = server.address();
    seat(&mut Client::new(address), "A1");
    gate.close();
    let begun = Arc::new(Barrier::new(2));
    let send = move |client: &mut Client| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
        let body = json!({ "seat": "A1", "booking": "b1" }).to_string();
        client.request("POST", HOLD, &headers, &body)
    };
    let first = {
        let begun = Arc::clone(&begun);
        thread::spawn(move || {
            let mut client = Client::new(address);
            begun.wait();
            send(&mut client)
        })
    };
    begun.wait();
    let mut client = Client::new(address);
    let second = loop {
        let answer = client.get("/metrics").text();
        if answer.contains("steadfast_http_in_flight 1") {
            break send(&mut client);
        }
    };
    assert_eq!(second.status, 409, "{second:?}");
    assert_eq!(second.json()["type"], "/problems/key-under-way");
    gate.open();
    let first = first.join().unwrap();
    assert_eq!(first.status, 200, "{first:?}");
    let third = send(&mut client);
    assert_eq!((third.status, third.json()), (200, first.json()));
}

#[test]
fn a_step_that_asks_for_a_key_is_not_taken_without_one() {
    let text = "design Pay\nactor payer\nsubject Account(account: text) { truth A { spent: int = 0 } }\n\
                step payer[pay(account: Account) { left: A.spent < 3 }] keyed { A.spent += 1 }\n";
    let server = crate::support::serve(vec![crate::support::service("pay", text)]);
    let mut client = Client::new(server.address());
    let pay = "/v1/pay/payer/pay";
    let without = client.post(pay, &json!({ "account": "a" }));
    assert_eq!((without.status, &without.json()["type"]), (400, &json!("/problems/key-needed")));
    let headers = [("content-type", "application/json"), ("idempotency-key", "1")];
    let with = client.request("POST", pay, &headers, r#"{"account":"a"}"#);
    assert_eq!(with.status, 200, "{with:?}");
    assert_eq!(with.json()["truth"][0]["truth"]["A"]["spent"], Value::from(1));
}
