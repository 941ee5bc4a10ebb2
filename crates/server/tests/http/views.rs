//! Views.

use crate::support::{Client, TICKETS, config, service};
use serde_json::{Value, json};

const ADD: &str = "/v1/tickets/organizer/add_seat";
const AVAILABLE: &str = "/v1/tickets/views/Availability?section=main+hall";

fn keys(page: &Value) -> Vec<&str> {
    let rows = page["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["key"][0].as_str().expect("a key")).collect()
}

#[test]
fn a_view_comes_in_pages_and_reflects_what_its_reader_has_seen() {
    let mut config = config();
    config.limits.wait_ms_max = 200;
    let server = server::start(config, vec![service("tickets", TICKETS)]).unwrap();
    let mut client = Client::new(server.address());
    let mut revision = String::new();
    for at in 0..7 {
        let seat = json!({ "seat": format!("S{at}"), "section": "main hall" });
        let added = client.post(ADD, &seat);
        revision = added.json()["revision"].as_str().expect("a revision").to_string();
        // right after the answer, and without asking for its revision
        assert_eq!(client.get(AVAILABLE).json()["total"], at + 1);
    }
    client.post(ADD, &json!({ "seat": "X", "section": "balcony" }));
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let page = client.get(&format!("{AVAILABLE}&limit=3&at_least={revision}{after}")).json();
        assert_eq!(page["total"], 7, "{page}");
        all.extend(keys(&page).into_iter().map(str::to_string));
        assert!(all.len() <= 7, "{all:?}");
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(all, ["S0", "S1", "S2", "S3", "S4", "S5", "S6"]);
    for (query, status, pointer) in [
        ("&limit=0", 422, "/limit"),
        ("&limit=many", 422, "/limit"),
        ("&at_least=yesterday", 422, "/at_least"),
        ("&row=1", 422, "/row"),
    ] {
        let wrong = client.get(&format!("{AVAILABLE}{query}"));
        assert_eq!(wrong.status, status, "{query}: {wrong:?}");
        assert_eq!(wrong.json()["pointer"], pointer, "{query}");
    }
    let ahead = client.get(&format!("{AVAILABLE}&at_least=0-999999"));
    assert_eq!(ahead.status, 503, "a revision that never comes: {ahead:?}");
    assert_eq!(ahead.json()["type"], "/problems/not-reached");
    assert!(ahead.header("retry-after").is_some());
    // and nobody goes on waiting for it
    assert!(client.get("/metrics").text().contains("steadfast_http_in_flight 0"));
    assert_eq!(client.get("/v1/tickets/views/Nothing").status, 404);
    assert_eq!(client.get("/v1/tickets/views/Availability").status, 422, "of which section?");
}
