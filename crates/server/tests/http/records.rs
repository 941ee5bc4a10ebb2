//! The records of a subject, a page at a time, by what they hold.

use crate::security::{get, guarded_with, post};
use crate::support::{Client, config, service};
use identity::Roles;
use serde_json::{Value, json};

const SHELF: &str = r#"design Shelf

actor clerk

subject Shelf(shelf: text) { truth Where { room: text = "" } }
subject Box(shelf: Shelf, place: int 0..99) {
    truth Content {
        status: FREE | FULL = FREE,
        inside: Box?,
        label: text = "",
        limit: int = 0,
        tags: set Shelf max 4
    }
}

step clerk[fill(box: Box, inside: Box?, label: text, limit: int) { free: Content.status = FREE }] {
    Content := { status: FULL, inside: inside, label: label, limit: limit }
}
check { shelf: 1 place: 1 clerk: 1 label: 1 limit: 0..1 }
"#;

fn keys(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().expect("records").iter();
    records.map(|record| record["key"].to_string()).collect()
}

#[test]
fn records_come_in_pages_in_the_order_of_their_keys() {
    let server = server::start(config(), vec![service("shelf", SHELF)]).unwrap();
    let mut client = Client::new(server.address());
    for (shelf, place) in [("b", 3), ("a", 10), ("a", 9), ("b", 0), ("a", 1)] {
        let filled =
            json!({ "box": [shelf, place], "label": format!("of {shelf}"), "limit": place });
        let done = client.post("/v1/shelf/clerk/fill", &filled);
        assert_eq!(done.status, 200, "{done:?}");
    }
    let of = json!({ "box": ["c", 1], "inside": ["a", 9], "label": "x", "limit": 7 });
    assert_eq!(client.post("/v1/shelf/clerk/fill", &of).status, 200);
    let sorted =
        [r#"["a",1]"#, r#"["a",9]"#, r#"["a",10]"#, r#"["b",0]"#, r#"["b",3]"#, r#"["c",1]"#];
    let mut all = Vec::new();
    let (mut after, mut pages) = (String::new(), 0);
    loop {
        let page = client.get(&format!("/v1/shelf/Box?limit=4{after}")).json();
        all.extend(keys(&page));
        pages += 1;
        let Some(next) = page["next"].as_str() else { break };
        after =
            format!("&after={}", next.replace('"', "%22").replace('[', "%5B").replace(']', "%5D"));
    }
    assert_eq!((all.as_slice(), pages), (sorted.map(String::from).as_slice(), 2));
    // each as it is told alone, with the tag that it has there
    let page = client.get("/v1/shelf/Box?place=3").json();
    let alone = client.get("/v1/shelf/Box/b/3");
    assert_eq!(page["records"][0]["truth"], alone.json()["truth"]);
    assert_eq!(page["records"][0]["etag"].as_str(), alone.header("etag"));
    for (query, found) in [
        ("shelf=a", &sorted[..3]),
        ("shelf=a&place=9", &sorted[1..2]),
        ("label=of+b", &sorted[3..5]),
        ("inside=a,9", &sorted[5..]),
        ("inside=", &sorted[..5]),
        ("status=FULL&Content.limit=10", &sorted[2..3]),
        ("status=FREE", &[]),
        // exactly as many as there are: nothing comes after
        ("limit=6", &sorted[..]),
    ] {
        let page = client.get(&format!("/v1/shelf/Box?{query}")).json();
        assert_eq!(keys(&page), found, "{query}");
        assert_eq!(page["next"], Value::Null, "{query}");
    }
}

#[test]
fn what_cannot_be_asked_for_is_told() {
    let server = server::start(config(), vec![service("shelf", SHELF)]).unwrap();
    let mut client = Client::new(server.address());
    for (query, pointer, part) in [
        ("limit=0", "/limit", "from 1 to 1000"),
        ("limit=1001", "/limit", "from 1 to 1000"),
        ("after=a", "/after", "what `next` of a page says"),
        ("after=%5B%22a%22%5D", "/after", "also needs `place`"),
        ("colour=red", "/colour", "there are: shelf, place, status, inside, label, Content.limit"),
        ("tags=a", "/tags", "no attribute `tags` that can be asked for"),
        ("status=GONE", "/status", "FREE"),
        ("place=1.5", "/place", "1.5"),
        ("inside=a", "/inside", "also needs"),
    ] {
        let wrong = client.get(&format!("/v1/shelf/Box?{query}"));
        assert_eq!(wrong.status, 422, "{query}: {wrong:?}");
        let wrong = wrong.json();
        assert_eq!(wrong["pointer"], pointer, "{query}: {wrong}");
        assert!(
            wrong["detail"].as_str().is_some_and(|told| told.contains(part)),
            "{query}: {wrong}"
        );
    }
    assert_eq!(client.get("/v1/shelf/Crate").status, 404);
    assert_eq!(client.post("/v1/shelf/Box", &json!({})).status, 405);
}

const DESK: &str = r#"design Desk

actor clerk
actor boss

subject Case(case: text) {
    truth Work { done: bool = false }
    truth Alarm { armed: bool = false } visible to boss
}

step boss[arm(case: Case) { calm: Alarm.armed = false }] { Alarm.armed := true }
step clerk[finish(case: Case) { once: Work.done = false }] { Work.done := true }
"#;

/// Nobody learns what it may not see by asking for it.
#[test]
fn what_is_not_seen_is_not_found() {
    let guarded = guarded_with(vec![service("desk", DESK)]);
    let mut client = guarded.client();
    let operator = guarded.issue("olga", Roles::ALL).text;
    let clerk = guarded.token("carl", "clerk");
    for case in ["a", "b"] {
        let done = post(&mut client, &clerk, "/v1/desk/clerk/finish", &json!({ "case": case }));
        assert_eq!(done.status, 200);
    }
    let armed = post(&mut client, &operator, "/v1/desk/boss/arm", &json!({ "case": "b" }));
    assert_eq!(armed.status, 200);
    let mut found = |token: &str, query: &str| {
        let page = get(&mut client, token, &format!("/v1/desk/Case?{query}"));
        assert_eq!(page.status, 200, "{page:?}");
        assert!(token == operator || !page.text().contains("armed"), "{page:?}");
        keys(&page.json())
    };
    assert_eq!(found(&operator, "armed=true"), [r#"["b"]"#]);
    assert_eq!(found(&clerk, "done=true"), [r#"["a"]"#, r#"["b"]"#]);
    for armed in ["armed=true", "armed=false"] {
        assert_eq!(found(&clerk, armed), [""; 0], "{armed}");
    }
    assert_eq!(client.get("/v1/desk/Case").status, 401);
}
