//! A page on an origin of its own: the client in Chromium, with a token of an issuer that the server was told of.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::cut::Network;
use super::{node, write};
use crate::drives::served::{Served, agent};
use crate::issuer::{Issuer, Key, answering, claims, words};
use crate::openapi::python::run;
use crate::openapi::served::folder;
use crate::webdriver::Browser;

/// Serves the files of a folder as long as the test runs; gives the origin.
fn pages_of(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let folder: PathBuf = folder.into();
    answering(listener, move |path| {
        let kind = if path.ends_with(".js") { "text/javascript" } else { "text/html" };
        match std::fs::read(folder.join(path.trim_start_matches('/'))) {
            Ok(body) => ("200 OK", kind, body),
            Err(_) => ("404 Not Found", kind, Vec::new()),
        }
    });
    origin
}

/// The page, compiled as strictly as the clients are.
fn made(folder: &Path) {
    write("tickets", "typescript", folder);
    std::fs::write(folder.join("shop.ts"), include_str!("shop.ts")).unwrap();
    run(node::tsc().current_dir(folder).args(["--outDir", "out", "shop.ts"]));
    std::fs::write(folder.join("out/shop.html"), include_str!("shop.html")).unwrap();
}

#[test]
fn a_page_on_another_origin_books_a_seat_with_a_token_of_an_issuer() {
    let folder = folder("client-in-a-browser");
    made(&folder);
    let (ours, theirs) = (pages_of(&folder.join("out")), pages_of(&folder.join("out")));
    let issuer = Issuer::start(TcpListener::bind("127.0.0.1:0").unwrap());
    let key = Key::p256("e1");
    issuer.publish(&[&key]);
    let words = [words(&issuer.url), ["--origin".into(), ours.clone()].to_vec()].concat();
    let mut served = Served::start(&folder, "tickets", &words).unwrap();
    let token = |who: &str, roles: &[&str]| {
        let changed = json!({ "sub": who, "groups": [], "realm_access": { "roles": roles } });
        key.token(&claims(&issuer.url, changed))
    };
    let organizer = key.token(&claims(&issuer.url, json!({ "sub": "olga", "groups": ["staff"] })));
    let adds = |served: &Served, seat: &str| {
        let request = agent().post(format!("{}/organizer/add_seat", served.url));
        let request = request.header("authorization", format!("Bearer {organizer}"));
        let body = json!({ "seat": seat, "section": "stalls" }).to_string();
        let answer = request.content_type("application/json").send(body).unwrap();
        assert_eq!(answer.status().as_u16(), 200);
    };
    adds(&served, "A1");
    adds(&served, "A2");

    let browser = Browser::start("clients");
    // the answer to the first hold of A3 is lost
    let network = Network::start(["/buyer/hold", "\"A3\""]);
    let leads_to = |served: &Served| {
        let (server, _) = served.url.split_once("/v1/").unwrap();
        network.lead_to(server.strip_prefix("http://"));
    };
    leads_to(&served);
    let visits = |origin: &str, token: &str| {
        // a change of what is behind the `#` alone would not load the page anew
        browser.open("about:blank");
        browser.open(&format!("{origin}/shop.html#{}%20{token}", network.url));
    };
    let books = |seat: &str, said: &str| {
        browser.fill("#seat", seat);
        browser.click("#book");
        browser.sees("#said", said);
    };
    let ann = token("ann", &["buyer"]);
    visits(&ours, &ann);
    books("A1", "A1 is yours: SOLD");
    browser.sees("#feed", "confirm by ann");
    // the same seat again, and a seat that is not there
    books("A1", "refused by free");
    books("Z9", "refused by exists");
    // of refusals and of an icon that is not there, too; of nothing that was kept from the page
    let complaints = browser.complaints().join("\n");
    assert!(!complaints.contains("CORS"), "{complaints}");

    // whoever has no role, no token, or a forged one
    visits(&ours, &token("eve", &[]));
    books("A2", "403 wrong-role");
    visits(&ours, "");
    books("A2", "401 unauthenticated");
    visits(&ours, &Key::p256("e1").token(&claims(&issuer.url, json!({}))));
    books("A2", "401 unauthenticated");

    // with a good token, from an origin that the server was not told of: the browser keeps it from asking
    visits(&theirs, &ann);
    books("A2", "no answer");
    let complaints = browser.complaints().join("\n");
    assert!(complaints.contains("blocked by CORS policy"), "{complaints}");
    let seat = agent().get(format!("{}/Seat/A2", served.url));
    let mut seat = seat.header("authorization", format!("Bearer {organizer}")).call().unwrap();
    assert!(seat.body_mut().read_to_string().unwrap().contains("AVAILABLE"));

    // the server is killed and started again while the page is open, and an answer is lost: it is done once, and all that
    // happened is told once, in order
    visits(&ours, &ann);
    browser.sees("#feed", "confirm by ann");
    served.kill();
    let served = Served::start(&folder, "tickets", &words).unwrap();
    leads_to(&served);
    adds(&served, "A3");
    books("A3", "A3 is yours: SOLD");
    network.lost.try_recv().expect("the answer was lost");
    let all = ["add_seat", "add_seat", "hold", "confirm", "add_seat", "hold", "confirm"];
    let told = browser.until("all of the feed is told", || {
        let told = browser.text("#feed");
        (told.lines().count() >= all.len()).then_some(told)
    });
    let told: Vec<&str> = told.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(told, all);
}
