//! The console as a plain HTTP client sees it: whole pages without scripts, forms that submit,
//! nothing that becomes markup, and no door for other pages.

use std::net::SocketAddr;

use crate::support::{Client, LEASE, Response, TICKETS, serve, service, tickets};
use serde_json::json;
use server::Running;

const EVIL: &str = "<script>alert(1)</script>";
const EVIL_QUOTE: &str = "\"><img src=x onerror=alert(2)>";

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                (byte as char).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Sends a form as a browser does.
pub fn submit(client: &mut Client, path: &str, fields: &[(&str, &str)]) -> Response {
    let body: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    client.request("POST", path, &headers, &body.join("&"))
}

fn page(address: SocketAddr, path: &str) -> String {
    let response = Client::new(address).get(path);
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    let policy = response.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'self'"), "{path}: {policy}");
    response.text()
}

const PAGES: [&str; 12] = [
    "",
    "/records",
    "/records/Seat",
    "/record/Seat?key=A1",
    "/steps",
    "/step/buyer/hold",
    "/feed",
    "/views",
    "/views/Availability?p.section=A",
    "/refusals",
    "/repairs",
    "/load",
];

fn with_seats() -> Running {
    let running = tickets();
    let mut client = Client::new(running.address());
    for seat in ["A1", EVIL, EVIL_QUOTE, "..", "a/b", "100 % ü"] {
        let added = client.post_as(
            "olga",
            "/v1/tickets/organizer/add_seat",
            &json!({ "seat": seat, "section": seat }),
        );
        assert_eq!(added.status, 200, "{}", added.text());
    }
    running
}

#[test]
fn the_root_leads_a_browser_to_the_console_and_tells_a_program_what_there_is() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let led = client.request("GET", "/", &browser, "");
    assert_eq!((led.status, led.header("location")), (303, Some("/console")));
    assert_eq!(led.header("vary"), Some("accept"));
    for accept in ["*/*", "application/json"] {
        let told = client.request("GET", "/", &[("accept", accept)], "");
        assert_eq!(told.header("content-type"), Some("application/json"), "{accept}");
        let told: serde_json::Value = serde_json::from_str(&told.text()).unwrap();
        assert_eq!(told["designs"][0]["path"], "/v1/tickets");
        assert_eq!(
            (&told["console"], &told["openapi"]),
            (&json!("/console"), &json!("/openapi.json"))
        );
        // what it names is there
        for path in ["console", "openapi", "health", "metrics"] {
            let path = told[path].as_str().unwrap();
            assert_eq!(client.get(path).status, 200, "{path}");
        }
        assert_eq!(client.get(told["designs"][0]["path"].as_str().unwrap()).status, 200);
    }
    assert_eq!(client.request("POST", "/", &[], "").status, 405);
    assert!(page(running.address(), "/console/").contains("<h1>Designs</h1>"));
}

#[test]
fn every_page_is_there_without_scripts_and_needs_nothing_from_elsewhere() {
    let running = with_seats();
    let front = page(running.address(), "/console");
    assert!(front.contains("Seat booking with timed holds"));
    for rest in PAGES.iter().chain(&["/outbox", "/aside", "/hot", "/check"]) {
        let text = page(running.address(), &format!("/console/tickets{rest}"));
        let plain = text.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", "style=\"", "<style", "onclick", "javascript:"] {
            assert!(!plain.contains(outside), "{rest}: {outside}");
        }
        assert!(text.contains("<main id=\"content\""), "{rest}");
        assert!(!text.contains("{}"), "{rest}");
    }
    for (asset, kind) in [
        ("console.css", "text/css"),
        ("console.js", "text/javascript"),
        ("drawn.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
    ] {
        let path = format!("/console/_/assets/{asset}");
        let response = Client::new(running.address()).get(&path);
        assert!(response.header("content-type").unwrap_or_default().starts_with(kind), "{asset}");
        let tag = response.header("etag").unwrap().to_string();
        let again =
            Client::new(running.address()).request("GET", &path, &[("if-none-match", &tag)], "");
        assert_eq!(again.status, 304);
    }
}

#[test]
fn no_name_of_a_record_becomes_markup() {
    let running = with_seats();
    let at = |key: &str| format!("/record/Seat?key={}", encoded(key));
    let mut paths: Vec<String> = PAGES.iter().map(|rest| rest.to_string()).collect();
    paths.extend(["/hot".into(), at(EVIL), at(EVIL_QUOTE)]);
    paths.push(format!(
        "/step/buyer/hold?p.seat={}&p.booking={}",
        encoded(EVIL_QUOTE),
        encoded(EVIL)
    ));
    paths.push(format!("/views/Availability?p.section={}", encoded(EVIL_QUOTE)));
    let mut shown = 0;
    for rest in paths {
        let text = page(running.address(), &format!("/console/tickets{rest}"));
        assert!(!text.contains("<script>"), "{rest}");
        assert!(!text.contains("<img"), "{rest}");
        shown += text.matches("&lt;script&gt;alert(1)").count();
        shown += text.matches("&quot;&gt;&lt;img src=x").count();
    }
    assert!(shown > 10, "the planted names are shown, as text: {shown}");
    let mut client = Client::new(running.address());
    for name in [EVIL, EVIL_QUOTE] {
        let fields = [("as", name), ("p.seat", name), ("p.booking", name), ("p.ttl", name)];
        for what in ["step", "would"] {
            let answer =
                submit(&mut client, &format!("/console/tickets/{what}/buyer/hold"), &fields);
            assert!(!answer.text().contains("<script>") && !answer.text().contains("<img"));
        }
        let missing = client.get(&format!("/console/{}", encoded(name)));
        assert_eq!(missing.status, 404);
        assert!(!missing.text().contains("<script>") && !missing.text().contains("<img"));
    }
}

#[test]
fn every_key_leads_to_its_record() {
    let running = with_seats();
    for key in ["A1", EVIL, EVIL_QUOTE, "..", "a/b", "100 % ü"] {
        let text =
            page(running.address(), &format!("/console/tickets/record/Seat?key={}", encoded(key)));
        assert!(text.contains("SeatInventoryState"), "{key}");
        assert!(text.contains("<b>add_seat</b>"), "{key}: its history is there");
    }
    let none = page(running.address(), "/console/tickets/record/Seat?key=nowhere");
    assert!(none.contains("There is no such record."));
}

#[test]
fn a_form_submits_without_scripts_and_a_refusal_is_explained() {
    let running = with_seats();
    let mut client = Client::new(running.address());
    let path = "/console/tickets/step/buyer/hold";
    let hold = |booking| [("as", "ann"), ("p.seat", "A1"), ("p.booking", booking), ("p.ttl", "")];
    let looked = submit(&mut client, "/console/tickets/would/buyer/hold", &hold("b1"));
    assert_eq!(looked.status, 200);
    assert!(looked.text().contains("data-guard=\"holds\""), "{}", looked.text());
    let done = submit(&mut client, path, &hold("b1"));
    assert_eq!(done.status, 200);
    assert!(done.text().contains("Done: hold A1 / b1"), "{}", done.text());
    assert!(done.text().contains("<span class=\"tag\">HELD</span>"));
    let looked = submit(&mut client, "/console/tickets/would/buyer/hold", &hold("b2"));
    assert!(looked.text().contains("data-guard=\"refused\""));
    let refused = submit(&mut client, path, &hold("b2"));
    assert_eq!(refused.status, 409);
    let text = refused.text();
    assert!(text.contains("data-refused=\"free\""), "{text}");
    assert!(text.contains("It prevents: <strong>seat: oversell"));
    assert!(text.contains("The truth it saw"));
    let design = page(running.address(), "/console/tickets");
    let (_, used) = design.split_once("data-used=\"seat\"").expect("what it uses opens");
    let (used, _) = used.split_once("</details>").unwrap();
    for told in ["A08 as Seat", "/step/buyer/hold", "seat.one_winner", "seat: oversell", "hidden"] {
        assert!(used.contains(told), "{told}: {used}");
    }
    assert!(text.contains("SeatInventoryState.status = AVAILABLE or"));
    // what was typed is still there
    assert!(text.contains("name=\"p.booking\" value=\"b2\""));
    let truth = client.get("/v1/tickets/Booking/b1").json();
    assert_eq!(truth["truth"]["BookingState"]["buyer"], "ann");
    let wrong = submit(
        &mut client,
        path,
        &[("as", "ann"), ("p.seat", "A1"), ("p.booking", "b3"), ("p.ttl", "soon")],
    );
    assert_eq!(wrong.status, 422);
    assert!(wrong.text().contains("id=\"p.ttl-why\""), "{}", wrong.text());
    let refusals = page(running.address(), "/console/tickets/refusals");
    assert!(refusals.contains("<strong class=\"mono\">free</strong>"));
}

#[test]
fn a_page_of_another_origin_cannot_act() {
    let running = with_seats();
    let mut client = Client::new(running.address());
    let body = "as=eve&p.seat=A1&p.booking=e1&p.ttl=";
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let from: [&[(&str, &str)]; 5] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[],
    ];
    for headers in from {
        let mut all = vec![kind];
        all.extend_from_slice(headers);
        for path in ["/console/tickets/step/buyer/hold", "/console/_/who", "/console/tickets/check"]
        {
            let answer = client.request("POST", path, &all, body);
            assert_eq!(answer.status, 403, "{headers:?} {path}");
            assert!(answer.header("set-cookie").is_none());
        }
    }
    assert_eq!(client.get("/v1/tickets/Booking/e1").status, 404);
    // a name that was made to lead to this machine
    let mut raw = Client::new(running.address());
    raw.send(b"GET /console/tickets/records HTTP/1.1\r\nhost: evil.example\r\n\r\n");
    assert_eq!(raw.answer(false).status, 403);
}

#[test]
fn who_acts_and_how_it_looks_are_kept_in_cookies() {
    let running = with_seats();
    let mut client = Client::new(running.address());
    let who =
        submit(&mut client, "/console/_/who", &[("as", "ann"), ("back", "/console/tickets/steps")]);
    assert_eq!((who.status, who.header("location")), (303, Some("/console/tickets/steps")));
    let cookie = who.header("set-cookie").unwrap().to_string();
    assert!(cookie.starts_with("steadfast_as=ann; Path=/console; SameSite=Strict"), "{cookie}");
    let cookie = "steadfast_as=ann; steadfast_theme=dark";
    let step = client.request("GET", "/console/tickets/step/buyer/hold", &[("cookie", cookie)], "");
    assert!(step.text().contains("name=\"as\" value=\"ann\""));
    assert!(step.text().contains("<html lang=\"en\" data-theme=\"dark\">"));
    let away =
        submit(&mut client, "/console/_/who", &[("as", "a"), ("back", "https://evil.example/")]);
    assert_eq!(away.header("location"), Some("/console"));
}

#[test]
fn memory_is_carried_by_the_form() {
    let running = serve(vec![service("i02", LEASE), service("tickets", TICKETS)]);
    let mut client = Client::new(running.address());
    let claim = [("as", "ann"), ("p.resource", "r1"), ("p.ttl", "10m")];
    let done = submit(&mut client, "/console/i02/step/claimant/claim", &claim);
    assert_eq!(done.status, 200, "{}", done.text());
    let text = done.text();
    let (_, rest) = text.split_once("data-remember=\"my_epoch\">").expect("memory is handed out");
    let epoch = rest.split('<').next().unwrap().to_string();
    let renew = |epoch: &str| {
        [("as", "ann"), ("p.resource", "r1"), ("p.ttl", "5m"), ("m.my_epoch", epoch)]
            .map(|(name, value)| (name.to_string(), value.to_string()))
    };
    let send = |client: &mut Client, epoch: &str| {
        let fields = renew(epoch);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        submit(client, "/console/i02/step/holder/renew", &fields)
    };
    let without = send(&mut client, "");
    assert_eq!(without.status, 409, "{}", without.text());
    assert!(without.text().contains("data-refused=\"fenced\""));
    let with = send(&mut client, &epoch);
    assert_eq!(with.status, 200, "{}", with.text());
}

#[test]
fn the_parts_of_a_key_are_chosen_from_what_is_there() {
    const HALLS: &str = r"
design Halls
actor staff
subject Hall(hall: text) { truth HallState { open: bool = true } }
subject Row(hall: Hall, number: int 1..99) { truth RowState { sold: int = 0 } }
step staff[add(row: new Row)] { RowState.sold := 0 }
step staff[sell(row: Row)] { RowState.sold := RowState.sold + 1 }
";
    let running = serve(vec![service("halls", HALLS)]);
    let mut client = Client::new(running.address());
    let form = page(running.address(), "/console/halls/step/staff/sell");
    assert!(!form.contains("<datalist"), "there is nothing to choose from");
    for (hall, number) in [("north", "1"), ("north", "2"), ("<b>", "1")] {
        let added = [("as", "olga"), ("p.row.0", hall), ("p.row.1", number)];
        let added = submit(&mut client, "/console/halls/step/staff/add", &added);
        assert_eq!(added.status, 200, "{}", added.text());
    }
    let form = page(running.address(), "/console/halls/step/staff/sell");
    let list = |part: &str| {
        let begins = format!("<datalist id=\"p.row.{part}-known\">");
        let (_, rest) = form.split_once(&begins).unwrap_or_else(|| panic!("{begins}: {form}"));
        rest.split("</datalist>").next().unwrap_or_default().to_string()
    };
    assert!(form.contains("list=\"p.row.0-known\"") && form.contains("list=\"p.row.1-known\""));
    // each value once
    assert_eq!(list("0").matches("value=\"north\"").count(), 1);
    assert!(list("0").contains("value=\"&lt;b&gt;\""), "{}", list("0"));
    assert_eq!(list("1").matches("<option").count(), 2, "{}", list("1"));
    // a row that is not there yet is not chosen
    let form = page(running.address(), "/console/halls/step/staff/add");
    assert!(!form.contains("<datalist"), "{form}");
}
