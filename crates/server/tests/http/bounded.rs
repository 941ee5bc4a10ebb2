//! Ranges and actors that are apart, as clients meet them.

use crate::support::{Client, serve, service};
use serde_json::json;

const PAPERS: &str = "
design papers
actor author
actor approver apart from author
subject Paper(paper: text) {
    truth PaperState { by: actor?, pages: int 1..64 = 4, approved: bool = false }
}
subject Shelf(shelf: int 1..9) { truth ShelfState { n: int = 0 } }
step author[write(paper: Paper, pages: int 1..64, wait: duration 1s..10m = 30s)] {
    PaperState.by := me
    PaperState.pages := pages
}
step author[more(paper: Paper)] { PaperState.pages += 1 }
step approver[approve(paper: Paper)] { PaperState.approved := true }
step author[put(shelf: Shelf)] { ShelfState.n += 1 }
";

#[test]
fn what_lies_outside_its_range_is_told_before_the_step() {
    let server = serve(vec![service("papers", PAPERS)]);
    let mut client = Client::new(server.address());
    let path = "/v1/papers/author/write";
    for (body, pointer, detail) in [
        (json!({ "paper": "p", "pages": 65 }), "/pages", "expected a value in 1..64, found 65"),
        (json!({ "paper": "p", "pages": "0" }), "/pages", "expected a value in 1..64, found 0"),
        (
            json!({ "paper": "p", "pages": 1, "wait": "11m" }),
            "/wait",
            "expected a value in 1s..10m, found 11m",
        ),
    ] {
        let answer = client.post(path, &body);
        let problem = answer.json();
        assert_eq!((answer.status, &problem["pointer"]), (422, &json!(pointer)), "{problem}");
        assert_eq!(problem["detail"], detail);
    }
    assert_eq!(client.post("/v1/papers/author/put", &json!({ "shelf": 10 })).status, 422);
    assert_eq!(client.get("/v1/papers/Shelf/10").status, 422);
    assert_eq!(client.post(path, &json!({ "paper": "p", "pages": 64 })).status, 200);
    let refused = client.post("/v1/papers/author/more", &json!({ "paper": "p" }));
    let problem = refused.json();
    assert_eq!((refused.status, &problem["guard"]), (409, &json!("range")));
    let why = "`Paper.PaperState.pages` would be 65, and it takes 1..64; nothing was changed";
    assert_eq!(problem["detail"], why);
    let page = client.get(problem["type"].as_str().unwrap()).text();
    assert!(page.contains("outside the range"), "{page}");
}

#[test]
fn the_document_tells_of_ranges() {
    let server = serve(vec![service("papers", PAPERS)]);
    let document = Client::new(server.address()).get("/openapi.json").json();
    let body = &document["paths"]["/v1/papers/author/write"]["post"]["requestBody"]["content"]["application/json"];
    let pages = &body["schema"]["properties"]["pages"];
    assert_eq!((&pages["minimum"], &pages["maximum"]), (&json!(1), &json!(64)));
    let wait = &body["schema"]["properties"]["wait"];
    assert_eq!((&wait["minimum"], &wait["maximum"]), (&json!(1_000), &json!(600_000)));
    let key = &document["paths"]["/v1/papers/Shelf/{shelf}"]["get"]["parameters"][0]["schema"];
    assert_eq!((&key["minimum"], &key["maximum"]), (&json!(1), &json!(9)));
    let refused = &document["paths"]["/v1/papers/approver/approve"]["post"]["responses"]["409"];
    let said = refused["description"].as_str().unwrap();
    assert!(said.contains("`apart`") && said.contains("`range`"), "{said}");
}

#[test]
fn nobody_is_both_of_two_actors_that_are_apart() {
    let server = serve(vec![service("papers", PAPERS)]);
    let mut client = Client::new(server.address());
    let write = json!({ "paper": "p", "pages": 1 });
    assert_eq!(client.post_as("ann", "/v1/papers/author/write", &write).status, 200);
    let approve = json!({ "paper": "p" });
    let refused = client.post_as("ann", "/v1/papers/approver/approve", &approve);
    let problem = refused.json();
    assert_eq!((refused.status, &problem["guard"]), (409, &json!("apart")), "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.ends_with("somebody else has to take this step"), "{detail}");
    let page = client.get(problem["type"].as_str().unwrap()).text();
    assert!(page.contains("never the same person"), "{page}");
    assert_eq!(client.post_as("bob", "/v1/papers/approver/approve", &approve).status, 200);
}

#[test]
fn forms_know_the_range() {
    let server = serve(vec![service("papers", PAPERS)]);
    let mut client = Client::new(server.address());
    let form = client.get("/console/papers/step/author/write").text();
    assert!(form.contains("min=\"1\" max=\"64\""), "{form}");
    assert!(form.contains("duration in 1s..10m"), "{form}");
}

const ORDERS: &str = "
design orders
actor buyer
subject Order(order: text) {
    truth OrderState { lines: list { sku: text, qty: int 1..9, gift: bool? } max 2 }
}
step buyer[place(order: Order, lines: list { sku: text, qty: int 1..9, gift: bool? } max 2)] {
    OrderState.lines := lines
}
";

#[test]
fn records_in_a_list_are_objects() {
    let server = serve(vec![service("orders", ORDERS)]);
    let mut client = Client::new(server.address());
    let document = client.get("/openapi.json").json();
    let body = &document["paths"]["/v1/orders/buyer/place"]["post"]["requestBody"]["content"]["application/json"];
    let lines = &body["schema"]["properties"]["lines"];
    assert_eq!((&lines["type"], &lines["maxItems"]), (&json!("array"), &json!(2)));
    let line = &lines["items"];
    assert_eq!(line["required"], json!(["sku", "qty"]));
    assert_eq!(line["additionalProperties"], json!(false));
    let qty = &line["properties"]["qty"];
    assert_eq!((&qty["minimum"], &qty["maximum"]), (&json!(1), &json!(9)));
    let path = "/v1/orders/buyer/place";
    let given = |qty: i64| json!({ "order": "o", "lines": [{ "sku": "a", "qty": qty }] });
    let refused = client.post(path, &given(10));
    assert_eq!((refused.status, &refused.json()["pointer"]), (422, &json!("/lines/0/qty")));
    assert_eq!(client.post(path, &given(9)).status, 200);
    let form = client.get("/console/orders/step/buyer/place").text();
    assert!(form.contains("sku = text, qty = whole number, gift = true or false"), "{form}");
    let page = client.get("/console/orders/record/Order?key=o").text();
    assert!(page.contains("<span class=\"faint\">qty</span> <code>9</code>"), "{page}");
}
