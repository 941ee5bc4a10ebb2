//! The pages that designs bring along, as a plain HTTP client sees them.

use std::sync::Arc;

use console::{Apps, Files, NoTexts, Shelf};
use server::Running;

use crate::support::{Client, TICKETS, config, service};

fn serve() -> Running {
    let page = Files::Packed(vec![("index.html", b"<h1>Seats</h1>"), ("a/b.js", b"export {}")]);
    let apps = Apps::new([("tickets".to_string(), page)]);
    let pages = console::pages_with(
        console::Finder(Arc::new(|_| Vec::new())),
        Shelf(Arc::new(NoTexts)),
        apps,
    );
    let services = vec![service("tickets", TICKETS), service("plain", TICKETS)];
    server::start_with(config(), services, pages).expect("it starts")
}

#[test]
fn a_page_is_served_under_a_policy_and_asked_for_again_only_if_it_changed() {
    let running = serve();
    let mut client = Client::new(running.address());
    let page = client.get("/app/tickets/");
    assert_eq!((page.status, page.text().as_str()), (200, "<h1>Seats</h1>"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    for part in
        ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let tag = page.header("etag").unwrap().to_string();
    let again = client.request("GET", "/app/tickets/", &[("if-none-match", &tag)], "");
    assert_eq!((again.status, again.text().as_str()), (304, ""));
    assert_eq!(
        client.get("/app/tickets/a/b.js").header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    // its links are relative to its folder
    let there = client.get("/app/tickets");
    assert_eq!((there.status, there.header("location")), (308, Some("/app/tickets/")));
    assert!(client.get("/app/steadfast.js").text().contains("export function design"));
    assert_eq!(
        client.get("/app/steadfast.css").header("content-type"),
        Some("text/css; charset=utf-8")
    );
    let console = client.get("/console/tickets").text();
    assert!(console.contains("href=\"/app/tickets/\""), "{console}");
    assert!(!client.get("/console/plain").text().contains("/app/"));
}

#[test]
fn what_is_no_page_is_said() {
    let running = serve();
    let mut client = Client::new(running.address());
    for (path, said) in [
        ("/app/plain/", "`plain` has no page"),
        ("/app/nobody", "`nobody` has no page"),
        ("/app/tickets/b.js", "has no file `b.js`"),
        ("/app/tickets/a/../index.html", "has no file"),
        ("/app/tickets/a%2F..%2Findex.html", "has no file"),
        ("/app/tickets/a/b.rs", "only files that end in .html"),
    ] {
        let answer = client.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains(said), "{path}: {}", answer.text());
    }
    assert_eq!(client.request("POST", "/app/tickets/", &[], "").status, 405);
}
