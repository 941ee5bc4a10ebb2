//! A record has one key, and a key has no empty part: at every door.

use crate::support::{Client, config, service};
use serde_json::{Value, json};

const DESIGN: &str = r#"
design Keys
actor clerk
subject Slot(slot: int) { truth SlotState { used: bool = false } }
subject Shift(slot: Slot, night: bool) { truth ShiftState { n: int = 0 } }
subject Item(item: text) {
    truth ItemState { price: decimal = 0, wait: duration = 1s, from: time?, hot: bool = false, n: int = 0 }
}
view Priced(price: decimal) = list Item order by n
view Waiting(wait: duration) = list Item order by n
view Since(from: time) = list Item order by n
view Hot(hot: bool) = list Item order by n
view Counted(n: int) = list Item order by price
step clerk[use_it(slot: Slot)] { SlotState.used := true }
step clerk[count_it(shift: Shift)] { ShiftState.n += 1 }
step clerk[add(item: new Item)] { ItemState.n := 1 }
step clerk[add_for(slot: Slot, name: text)] { new Item(name) { n: 1 } }
"#;

fn server() -> server::Running {
    server::start(config(), vec![service("keys", DESIGN)]).unwrap()
}

/// What is wrong, and where.
fn misfit(client: &mut Client, path: &str) -> (u16, String, String) {
    let answer = client.get(path);
    let told = answer.json();
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_string();
    (answer.status, text("pointer"), text("detail"))
}

#[test]
fn a_record_has_one_address() {
    let server = server();
    let mut client = Client::new(server.address());
    assert_eq!(client.post("/v1/keys/clerk/use_it", &json!({ "slot": 0 })).status, 200);
    let known = client.get("/v1/keys/Slot/0");
    assert_eq!(known.status, 200, "{known:?}");
    assert_eq!(known.json()["key"], json!([0]), "as the feed tells it");
    for spelling in ["00", "+0", "-0", "%2B0", "000"] {
        let (status, pointer, detail) = misfit(&mut client, &format!("/v1/keys/Slot/{spelling}"));
        assert_eq!((status, &*pointer), (422, "/key/0"), "{spelling}: {detail}");
        assert!(detail.contains("write `0`"), "{spelling}: {detail}");
    }
    assert_eq!(client.get("/v1/keys/Shift/7/true").json()["key"], json!([7, true]));
    let (status, pointer, detail) = misfit(&mut client, "/v1/keys/Shift/7/True");
    assert_eq!((status, &*pointer), (422, "/key/1"), "{detail}");
    let (status, pointer, _) = misfit(&mut client, "/v1/keys/Shift/07/true");
    assert_eq!((status, &*pointer), (422, "/key/0"));
    // in a body, too, where a key is written as a text
    let body = json!({ "shift": ["07", true] });
    let answer = client.post("/v1/keys/clerk/count_it", &body);
    assert_eq!((answer.status, &answer.json()["pointer"]), (422, &json!("/shift/0")));
    let body = json!({ "shift": ["7", "true"] });
    assert_eq!(client.post("/v1/keys/clerk/count_it", &body).status, 200);
}

#[test]
fn parameters_of_views_and_filters_of_the_feed_have_one_spelling() {
    let server = server();
    let mut client = Client::new(server.address());
    assert_eq!(client.post("/v1/keys/clerk/add", &json!({ "item": "a" })).status, 200);
    for (query, other) in [
        ("Priced?price=0.00", "Priced?price=0"),
        ("Waiting?wait=1s", "Waiting?wait=1000ms"),
        ("Since?from=2030-01-01T00:00:00Z", "Since?from=2030-01-01T01:00:00%2B01:00"),
        ("Hot?hot=false", "Hot?hot=False"),
        ("Counted?n=1", "Counted?n=01"),
    ] {
        let answer = client.get(&format!("/v1/keys/views/{query}"));
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
        let (status, _, detail) = misfit(&mut client, &format!("/v1/keys/views/{other}"));
        assert_eq!(status, 422, "{other}: {detail}");
    }
    let (status, _, detail) = misfit(&mut client, "/v1/keys/views/Priced?price=0.0");
    assert_eq!((status, detail.contains("`0.00`")), (422, true), "{detail}");
    for (filter, pointer) in [
        ("subject=Slot&key=00", "/key/0"),
        ("subject=Slot&key=", "/key/0"),
        ("subject=Slot&key=1&key=2", "/key"),
        ("subject=Shift&key=1&key=TRUE", "/key/1"),
    ] {
        let (status, told, detail) = misfit(&mut client, &format!("/v1/keys/feed?{filter}"));
        assert_eq!((status, &*told), (422, pointer), "{filter}: {detail}");
    }
    client.post("/v1/keys/clerk/use_it", &json!({ "slot": 5 }));
    client.send(b"GET /v1/keys/feed?from=start&subject=Slot&key=5 HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(client.head().0, 200);
    let data = std::iter::from_fn(|| client.event())
        .find_map(|event| event.into_iter().find(|(field, _)| field == "data"));
    let told: Value = serde_json::from_str(&data.expect("a transition").1).unwrap();
    assert_eq!(told["changes"][0]["key"], json!([5]));
}

#[test]
fn an_empty_key_is_refused_at_every_door() {
    let server = server();
    let mut client = Client::new(server.address());
    let add = "/v1/keys/clerk/add";
    let empty = client.post(add, &json!({ "item": "" }));
    assert_eq!((empty.status, &empty.json()["pointer"]), (422, &json!("/item")), "{empty:?}");
    // on a connection that the HTTP library serves from the start
    let mut slow = Client::new(server.address());
    assert_eq!(slow.get("/healthz").status, 200);
    assert_eq!(slow.post(add, &json!({ "item": "" })).status, 422);
    let step =
        |item: &str| json!({ "actor": "clerk", "operation": "add", "params": { "item": item } });
    let batch = client.post("/v1/keys/batch", &json!({ "steps": [step(""), step("b")] })).json();
    let statuses: Vec<i64> = batch["answers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|answer| answer["status"].as_i64())
        .collect();
    assert_eq!(statuses[0], 422, "{batch}");
    assert!(matches!(client.get("/v1/keys/Item/").status, 404 | 422));
    // a key that the step itself makes of a text, which may be empty
    let made = client.post("/v1/keys/clerk/add_for", &json!({ "slot": 1, "name": "" }));
    assert_eq!((made.status, &made.json()["guard"]), (409, &json!("empty_key")), "{made:?}");
    let made = client.post("/v1/keys/clerk/add_for", &json!({ "slot": 1, "name": "c" }));
    assert_eq!(made.status, 200, "{made:?}");
    let mut socket = Client::new(server.address());
    socket.upgrade("/v1/socket");
    let ask = json!({ "id": 1, "design": "keys", "actor": "clerk", "operation": "add",
        "params": { "item": "" } });
    socket.send_text(&ask.to_string());
    let told = socket.text_frame();
    assert!(told.to_string().contains("422"), "{told}");
}
