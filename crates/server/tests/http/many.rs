//! Batches and the socket.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Client, LEASE, TICKETS, config, lag, serve, service, service_on, tickets};
use serde_json::{Value, json};

fn add(seat: &str) -> Value {
    let params = json!({ "seat": seat, "section": "s" });
    json!({ "actor": "organizer", "operation": "add_seat", "params": params })
}

#[test]
fn a_batch_answers_every_step_in_order_and_each_on_its_own() {
    let server = tickets();
    let mut client = Client::new(server.address());
    let hold = |booking: &str| {
        let params = json!({ "seat": "A1", "booking": booking });
        json!({ "actor": "buyer", "operation": "hold", "params": params })
    };
    let mut keyed = add("A2");
    keyed["idempotency_key"] = json!("k");
    let unknown = json!({ "actor": "buyer", "operation": "fly" });
    let steps = json!({ "steps": [add("A1"), hold("b1"), hold("b2"), keyed, keyed, unknown] });
    let answer = client.post("/v1/tickets/batch", &steps);
    assert_eq!(answer.status, 200, "{answer:?}");
    let answers = answer.json()["answers"].as_array().unwrap().clone();
    let statuses: Vec<u64> = answers.iter().map(|a| a["status"].as_u64().unwrap()).collect();
    // the second of two with one key comes while the first is not durable yet
    assert_eq!(statuses, [200, 200, 409, 200, 409, 404]);
    assert_eq!(answers[2]["body"]["guard"], "free");
    assert_eq!(answers[4]["body"]["type"], "/problems/key-under-way");
    assert_eq!(client.post("/v1/tickets/batch", &json!({ "steps": [] })).status, 200);
    for wrong in [json!([]), json!({}), json!({ "steps": [{ "actor": "x" }] })] {
        assert_eq!(client.post("/v1/tickets/batch", &wrong).status, 400, "{wrong}");
    }
    let many: Vec<Value> = (0..1001).map(|at| add(&format!("B{at}"))).collect();
    let answer = client.post("/v1/tickets/batch", &json!({ "steps": many }));
    assert_eq!(answer.status, 413);
    assert_eq!(client.get("/v1/tickets/Seat/B0").status, 404, "nothing is half done");
}

#[test]
fn a_socket_answers_in_order_under_the_id_that_was_given() {
    let server = serve(vec![service("tickets", TICKETS), service("i02", LEASE)]);
    let mut socket = Client::new(server.address());
    socket.upgrade("/v1/socket");
    const STEPS: usize = 300;
    for at in 0..STEPS {
        let mut step = add(&format!("A{}", at / 2));
        step["id"] = json!(at);
        step["design"] = json!("tickets");
        socket.send_text(&step.to_string());
    }
    for at in 0..STEPS {
        let answer = socket.text_frame();
        assert_eq!(answer["id"], json!(at));
        assert_eq!(answer["status"], if at % 2 == 0 { 200 } else { 409 }, "{answer}");
    }
    let params = json!({ "resource": "r", "ttl": "1m" });
    let claim = json!({ "id": "c", "design": "i02", "actor": "claimant", "operation": "claim",
                        "params": params });
    socket.send_text(&claim.to_string());
    assert_eq!(socket.text_frame()["body"]["truth"][0]["truth"]["OwnerEpoch"]["current"], 1);
    for (message, status) in [
        ("no json", 400),
        (r#"{"id": 1, "design": "none", "actor": "a", "operation": "b"}"#, 404),
        (r#"{"id": 1, "design": "i02", "actor": "a", "operation": "b"}"#, 404),
    ] {
        socket.send_text(message);
        assert_eq!(socket.text_frame()["status"], status, "{message}");
    }
    assert_eq!(Client::new(server.address()).get("/v1/socket").status, 400);
}

#[test]
fn a_socket_keeps_to_its_standard() {
    let server = serve(vec![service("tickets", TICKETS)]);
    let open = || {
        let mut socket = Client::new(server.address());
        socket.upgrade("/v1/socket");
        socket
    };
    let mut step = add("F1");
    step["design"] = json!("tickets");
    let text = step.to_string().into_bytes();
    let masked = |first: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < 126);
        let mut frame = vec![first, 0x80 | length, 7, 7, 7, 7];
        frame.extend(payload.iter().map(|byte| byte ^ 7));
        frame
    };
    // in pieces, with a ping between them, and a step that has to wait for its end
    let mut socket = open();
    let (first, last) = text.split_at(20);
    let mut bytes = masked(0x01, first);
    bytes.extend(masked(0x89, b"still there?"));
    bytes.extend(masked(0x80, last));
    let (head, tail) = bytes.split_at(60);
    socket.send(head);
    assert_eq!(socket.frame(), (10, b"still there?".to_vec()));
    socket.send(tail);
    assert_eq!(socket.text_frame()["status"], 200);
    // what is no text is told so, and the socket goes on
    socket.send(&masked(0x82, b"bytes"));
    assert_eq!(socket.text_frame()["status"], 400);
    socket.send(&masked(0x88, &1000_u16.to_be_bytes()));
    assert_eq!(socket.frame(), (8, 1000_u16.to_be_bytes().to_vec()));
    assert!(socket.is_closed());
    for (bytes, code) in
        [(vec![0x81, 1, b'x'], 1002_u16), (masked(0x81, &[0xff]), 1007), (masked(0x80, b"x"), 1002)]
    {
        let mut socket = open();
        socket.send(&bytes);
        let (kind, why) = socket.frame();
        assert_eq!((kind, &why[..2]), (8, &code.to_be_bytes()[..]));
        assert!(socket.is_closed());
    }
    let mut socket = open();
    // longer than a message may be
    socket.send(&[0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0]);
    let (kind, why) = socket.frame();
    assert_eq!((kind, &why[..2]), (8, &1009_u16.to_be_bytes()[..]));
}

#[test]
fn nothing_is_answered_before_it_is_durable_by_whatever_door_it_came() {
    let (slow, gate) = lag();
    let server = server::start(config(), vec![service_on("tickets", TICKETS, slow)]).unwrap();
    let address = server.address();
    gate.close();
    let mut socket = Client::new(address);
    socket.upgrade("/v1/socket");
    let mut message = add("B1");
    message["design"] = json!("tickets");
    socket.send_text(&message.to_string());
    let (told, heard) = mpsc::channel();
    let doors: [Box<dyn FnOnce() -> u16 + Send>; 3] = [
        Box::new(move || {
            let body = json!({ "seat": "B2", "section": "s" });
            Client::new(address).post("/v1/tickets/organizer/add_seat", &body).status
        }),
        Box::new(move || {
            let batch = json!({ "steps": [add("B3")] });
            let answer = Client::new(address).post("/v1/tickets/batch", &batch).json();
            u16::try_from(answer["answers"][0]["status"].as_u64().unwrap()).unwrap()
        }),
        Box::new(move || {
            let answer = socket.text_frame();
            u16::try_from(answer["status"].as_u64().unwrap()).unwrap()
        }),
    ];
    for door in doors {
        let told = told.clone();
        thread::spawn(move || told.send(door()));
    }
    assert!(heard.recv_timeout(Duration::from_millis(400)).is_err(), "told too early");
    gate.open();
    for _ in 0..3 {
        assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(200));
    }
}
