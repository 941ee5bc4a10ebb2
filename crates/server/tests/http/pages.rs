//! The pages behind the `type` of a problem.

use crate::support::{Client, LEASE, Response, serve, service, tickets};
use serde_json::json;

/// Follows the `type` of a problem; gives the page.
fn follow(client: &mut Client, problem: &Response) -> String {
    let problem = problem.json();
    let page = client.get(problem["type"].as_str().expect("a type"));
    assert_eq!(page.status, 200, "{problem}: {page:?}");
    assert_eq!(page.header("content-type"), Some("text/plain; charset=utf-8"));
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.starts_with(problem["title"].as_str().unwrap()), "{problem}: {text}");
    assert!(text.contains(&format!("Status {}.", problem["status"])), "{problem}: {text}");
    text
}

#[test]
fn whatever_is_answered_links_to_a_page_of_its_title() {
    let server = tickets();
    let mut client = Client::new(server.address());
    let add = "/v1/tickets/organizer/add_seat";
    let hold = "/v1/tickets/buyer/hold";
    let seat = json!({ "seat": "A1", "section": "s" });
    assert_eq!(client.post(add, &seat).status, 200);
    let problems = [
        client.post(add, &seat),
        client.post(hold, &json!({ "seat": "none", "booking": "b" })),
        client.post(hold, &json!({ "seat": 1 })),
        client.post("/v1/tickets/buyer/nothing", &json!({})),
        client.post("/v1/tickets/batch", &json!({ "steps": 1 })),
        client.get("/v1/tickets/Seat/none"),
        client.get(hold),
        client.get("/v1/tickets/feed?from=99999-0"),
        client.get("/nothing"),
    ];
    for problem in &problems {
        assert!(problem.status >= 400, "{problem:?}");
        follow(&mut client, problem);
    }
    let mut types: Vec<String> =
        problems.iter().map(|problem| problem.json()["type"].to_string()).collect();
    types.sort();
    types.dedup();
    assert!(types.len() >= 6, "they are of many kinds: {types:?}");
}

#[test]
fn the_page_of_a_refusal_tells_of_the_clause_and_what_it_prevents() {
    let server = tickets();
    let mut client = Client::new(server.address());
    let add = json!({ "seat": "A1", "section": "s" });
    assert_eq!(client.post("/v1/tickets/organizer/add_seat", &add).status, 200);
    let hold = |booking: &str| json!({ "seat": "A1", "booking": booking });
    assert_eq!(client.post("/v1/tickets/buyer/hold", &hold("b1")).status, 200);
    let refused = client.post("/v1/tickets/buyer/hold", &hold("b2"));
    let text = follow(&mut client, &refused);
    for told in ["`buyer`", "`free`", "oversell", "legal"] {
        assert!(text.contains(told), "{told} in {text}");
    }
    let page = client.get("/problems/tickets/hold/free");
    assert_eq!(page.header("vary"), Some("accept"));
}

#[test]
fn what_is_never_answered_has_no_page() {
    let server = serve(vec![service("lease", LEASE)]);
    let mut client = Client::new(server.address());
    for path in ["/problems/", "/problems/nothing", "/problems/lease/claim/none", "/problems/a/b"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert_eq!(client.get("/problems/lease/claim/exists").status, 200);
}
