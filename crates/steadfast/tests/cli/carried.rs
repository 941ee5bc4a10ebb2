//! Designs of the catalog that were written by hand before they used an archetype: whoever serves the old text
//! replaces it by the new one, and everything is still there.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::serving::Server;
use crate::cli::support::{folder, root, run_in};

const TICKETS: &str = include_str!("../data/tickets-by-hand.design");
const PAYMENTS: &str = include_str!("../data/payments-by-hand.design");

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into()
}

/// The status and the body of the answer.
fn post(server: &Server, who: &str, path: &str, body: &Value) -> (u16, Value) {
    let asked = agent().post(format!("{}/v1/{path}", server.address)).header("steadfast-as", who);
    let asked = asked.content_type("application/json").send(body.to_string());
    let mut answer = asked.expect("the server answers");
    let text = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

fn get(server: &Server, path: &str) -> Value {
    let mut answer = agent().get(format!("{}/{path}", server.address)).call().expect("answers");
    serde_json::from_str(&answer.body_mut().read_to_string().expect("a text")).unwrap_or_default()
}

fn truth(server: &Server, path: &str) -> Value {
    get(server, &format!("v1/{path}"))["truth"].clone()
}

/// The first so many entries of the feed, one line each.
fn feed(server: &Server, design: &str, count: usize) -> Vec<String> {
    let limit = count.to_string();
    let said =
        server.run(&["watch", design, "--from", "0-0", "--limit", &limit, "--json"]).exits(0);
    let lines: Vec<String> = said.out.lines().map(String::from).collect();
    assert_eq!(lines.len(), count, "{lines:?}");
    lines
}

/// The old text, and in a folder of its own the one of the catalog.
fn texts(folder: &Path, name: &str, by_hand: &str) {
    fs::write(folder.join(format!("{name}.design")), by_hand).unwrap();
    fs::create_dir_all(folder.join("next")).unwrap();
    let text = root().join(format!("designs/systems/{name}.design"));
    fs::copy(text, folder.join(format!("next/{name}.design"))).unwrap();
}

/// The paths, and for each operation and view what it takes and answers; without what is told to people.
fn surface(server: &Server) -> Value {
    fn plain(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for word in ["description", "summary", "example", "tags"] {
                    fields.remove(word);
                }
                fields.values_mut().for_each(plain);
            }
            Value::Array(list) => list.iter_mut().for_each(plain),
            _ => {}
        }
    }
    let mut whole = get(server, "openapi.json");
    plain(&mut whole);
    json!([whole["paths"], whole["webhooks"], whole["components"]["schemas"]])
}

#[test]
fn tickets_by_hand_become_tickets_that_use_and_nothing_is_lost() {
    let folder = folder("carried-tickets");
    texts(&folder, "tickets", TICKETS);
    let words = ["tickets.design", "--store", "embedded:./data", "--clock", "manual"];
    let server = Server::start(&folder, &words);
    let call = |server: &Server, who: &str, operation: &str, body: Value| -> (u16, Value) {
        post(server, who, &format!("tickets/{operation}"), &body)
    };
    for seat in ["A1", "A2", "A3", "A4"] {
        let add = json!({ "seat": seat, "section": "stalls" });
        assert_eq!(call(&server, "olga", "organizer/add_seat", add).0, 200);
    }
    let hold = |seat: &str, booking: &str, ttl: &str| json!({ "seat": seat, "booking": booking, "ttl": ttl });
    assert_eq!(call(&server, "ann", "buyer/hold", hold("A1", "b1", "10m")).0, 200);
    assert_eq!(call(&server, "ann", "buyer/confirm", json!({ "booking": "b1" })).0, 200);
    assert_eq!(call(&server, "bob", "buyer/hold", hold("A2", "b2", "1m")).0, 200);
    assert_eq!(post(&server, "bob", "clock", &json!({ "advance": "2m" })).0, 200);
    assert_eq!(call(&server, "bob", "buyer/hold", hold("A2", "b3", "10m")).0, 200);
    assert_eq!(call(&server, "eve", "buyer/hold", hold("A3", "b4", "1h")).0, 200);
    let paths: Vec<String> = ["A1", "A2", "A3", "A4"]
        .iter()
        .map(|seat| format!("tickets/Seat/{seat}"))
        .chain(["b1", "b2", "b3", "b4"].iter().map(|booking| format!("tickets/Booking/{booking}")))
        .collect();
    let held =
        |server: &Server| -> Vec<Value> { paths.iter().map(|path| truth(server, path)).collect() };
    let views = |server: &Server| {
        let list = get(server, "v1/tickets/views/Availability?section=stalls")["rows"].clone();
        (list, get(server, "v1/tickets/views/SoldCount")["count"].clone())
    };
    // four seats, five calls of buyers, one repair
    let (before, seen) = (held(&server), feed(&server, "tickets", 10));
    assert!(before.iter().all(Value::is_object), "{before:?}");
    let listed = views(&server);
    assert_eq!(listed.1, 1);
    let old = surface(&server);

    server.run(&["replace", "tickets", "next/tickets.design"]).exits(0).says("replaced");
    assert_eq!(held(&server), before);
    assert_eq!(feed(&server, "tickets", 10), seen);
    assert_eq!(views(&server), listed);
    let mut new = surface(&server);
    // what the archetype has had since the design was written by hand is new, and nothing else is
    let browse =
        new[0].as_object_mut().and_then(|paths| paths.remove("/v1/tickets/buyer/browse_seat"));
    assert!(browse.is_some());
    let (Value::Object(paths_before), Value::Object(paths_after)) = (&old[0], &new[0]) else {
        panic!()
    };
    let names =
        |paths: &serde_json::Map<String, Value>| -> Vec<String> { paths.keys().cloned().collect() };
    assert_eq!(names(paths_after), names(paths_before), "the same addresses");
    assert_eq!(new[1], old[1], "the same events");
    // a booking may also be cancelled by designs that do not hide it, and who has browsed may say so; there is no other
    // new word
    let told = new.to_string().replace("\"CANCELLED\",", "");
    let told = told.replace("\"passed_seat\":{\"type\":\"string\"},", "");
    let told = told.replace(",\"passed_seat\":{\"type\":\"string\"}", "");
    assert_eq!(told, old.to_string(), "the same parameters and answers");

    // killed, and served again by the text that it was replaced by
    server.kill();
    let server = Server::start(
        &folder,
        &["next/tickets.design", "--store", "embedded:./data", "--clock", "manual"],
    );
    assert_eq!(held(&server), before);
    let (status, refused) = call(&server, "bob", "buyer/hold", hold("A1", "b9", "10m"));
    assert_eq!((status, &refused["guard"]), (409, &json!("free")));
    assert_eq!(call(&server, "eve", "buyer/confirm", json!({ "booking": "b4" })).0, 200);
    // the timer of the old text; a clock that is moved by hand begins anew with the server
    assert_eq!(post(&server, "bob", "clock", &json!({ "advance": "15m" })).0, 200);
    assert_eq!(truth(&server, "tickets/Seat/A2")["SeatInventoryState"]["status"], "AVAILABLE");
    assert_eq!(truth(&server, "tickets/Booking/b3")["BookingState"]["status"], "EXPIRED");
    assert_eq!(get(&server, "v1/tickets/views/SoldCount")["count"], 2);
    let events: Vec<String> = feed(&server, "tickets", 12);
    assert_eq!(events.iter().filter(|line| line.contains("BookingConfirmed")).count(), 2);
    run_in(&folder, &["check", "next/tickets.design"]).exits(0).says("proved");
}

#[test]
fn payments_by_hand_become_payments_that_use_and_nothing_is_lost() {
    let folder = folder("carried-payments");
    texts(&folder, "payments", PAYMENTS);
    // nobody answers there: what is to be asked waits in the outbox
    let outside = "network=http://127.0.0.1:9";
    let words = ["payments.design", "--store", "embedded:./data", "--outside", outside];
    let server = Server::start(&folder, &words);
    let call = |server: &Server, operation: &str, body: Value| -> (u16, Value) {
        post(server, "shop", &format!("payments/merchant/{operation}"), &body)
    };
    for intent in ["i1", "i2"] {
        let create = json!({ "intent": intent, "amount": "12.50", "currency": "EUR" });
        assert_eq!(call(&server, "create_intent", create).0, 200);
    }
    assert_eq!(call(&server, "pay", json!({ "intent": "i1", "charge": "c1" })).0, 200);
    let paths = ["payments/Intent/i1", "payments/Intent/i2"];
    // but for the status, which goes on
    let held = |server: &Server| -> Vec<Value> {
        let mut held: Vec<Value> = paths
            .iter()
            .map(|path| truth(server, path)["PaymentIntentState"].clone())
            .chain([truth(server, "payments/Charge/c1")["TransactionState"].clone()])
            .collect();
        held.iter_mut().for_each(|it| drop(it.as_object_mut().unwrap().remove("status")));
        held
    };
    let (before, old) = (held(&server), surface(&server));
    assert_eq!(before[2], json!({ "intent": "i1", "by": "shop", "void": false }));

    server.run(&["replace", "payments", "next/payments.design"]).exits(0).says("replaced");
    assert_eq!(held(&server), before);
    let (new, names) = (surface(&server), |of: &Value| {
        of[0].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    });
    assert_eq!(names(&new), names(&old), "the same addresses");
    assert_eq!(new[1], old[1], "the same events");
    server.kill();
    let words = ["next/payments.design", "--store", "embedded:./data", "--outside", outside];
    let server = Server::start(&folder, &words);
    let (status, refused) = call(&server, "pay", json!({ "intent": "i1", "charge": "c2" }));
    assert_eq!((status, &refused["guard"]), (409, &json!("open")));
    assert_eq!(call(&server, "pay", json!({ "intent": "i2", "charge": "c3" })).0, 200);
    assert_eq!(truth(&server, "payments/Charge/c3")["TransactionState"]["intent"], "i2");
    assert_eq!(held(&server)[0], before[0]);
}
