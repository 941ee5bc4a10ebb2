//! The console in a real Chromium: loaded, used, looked at. Pictures are left in
//! `target/console` to be looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use crate::looks::{audit, axe, is_picture};
use crate::support::{Client, LEASE, SHELF, TICKETS, serve, service};
use crate::webdriver::Browser;
use gateway::Service;
use runtime::{
    Clock, Delivered, Delivery, Outside, Process, Runtime, Settings, SystemClock, Workers,
};
use serde_json::{Value, json};
use server::Running;

const PAYMENTS: &str = include_str!("../../../../designs/systems/payments.design");
const EVIL: [&str; 2] = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>"];

/// Everyone outside is away.
struct Away;

impl Outside for Away {
    fn deliver(&self, _: &Delivery) -> Delivered {
        Delivered::Unknown { trouble: "connection refused".into(), retry_after_ms: None }
    }
}

/// A design whose first failed delivery is given up.
fn impatient(name: &str, text: &str) -> (Service, Arc<Runtime>) {
    let design = design::compile(name, text, &SHELF).design.expect("it compiles");
    let mut settings = Settings::default();
    settings.outbox.attempts_max = 1;
    let store = Arc::new(store::Memory::new());
    let runtime = Arc::new(Runtime::open(design, store, settings).expect("it opens"));
    (Service::new(name, text, Arc::clone(&runtime)), runtime)
}

fn prepared() -> (Running, Arc<Runtime>) {
    let (payments, runtime) = impatient("payments", PAYMENTS);
    let running = serve(vec![service("tickets", TICKETS), service("i02", LEASE), payments]);
    let mut client = Client::new(running.address());
    for seat in ["A1", "A2", "A3", "B1", "B2", EVIL[0], EVIL[1]] {
        let section = &seat[..1];
        let seat = json!({ "seat": seat, "section": section });
        let added = client.post_as("olga", "/v1/tickets/organizer/add_seat", &seat);
        assert_eq!(added.status, 200, "{}", added.text());
    }
    let hold = json!({ "seat": "A2", "booking": "b-olga" });
    assert_eq!(client.post_as("olga", "/v1/tickets/buyer/hold", &hold).status, 200);
    (running, runtime)
}

/// The system's clock, and so much more.
struct Off(AtomicI64);

impl Clock for Off {
    fn now_ms(&self) -> i64 {
        SystemClock::default().now_ms() + self.0.load(Ordering::Acquire)
    }
}

/// A server that shares its store with one whose clock is wrong and with one that is heard of no more.
fn several() -> (Running, Vec<Workers>) {
    let store = Arc::new(store::Distant::new(7, store::Faults::default()));
    let mut workers = Vec::new();
    let mut open = |number: u64, ahead_ms: i64, works: bool| {
        let design = design::compile("tickets", TICKETS, &SHELF).design.expect("it compiles");
        let process = Process::new(number, format!("web-{number}"), "0.1.0".into(), 1);
        process.listens_at(format!("http://10.0.0.{number}:7070"));
        // the one that is heard of no more is so at once
        let lease_ms = if works { 3_000 } else { 1 };
        let process = Some(Arc::new(process));
        let settings = Settings { process, lease_ms, ..Settings::default() };
        let clock = Arc::new(Off(AtomicI64::new(0)));
        let opened = Runtime::open_with_clock(design, store.clone(), settings, clock.clone());
        let runtime = Arc::new(opened.expect("it opens"));
        runtime.fire_one().expect("it stands in the store");
        clock.0.store(ahead_ms, Ordering::Release);
        if works {
            workers.push(Workers::start(&runtime, Arc::new(Away), 1).expect("it works"));
        }
        runtime
    };
    let this = open(1, 0, true);
    open(2, 5_000, true);
    open(3, 0, false);
    let several = serve(vec![Service::new("tickets", TICKETS, this)]);
    let mut client = Client::new(several.address());
    let begun = std::time::Instant::now();
    loop {
        let page = client.get("/console/_/servers").text();
        if page.contains("wrong clock") && page.contains(">gone<") {
            assert!(page.contains("10.0.0.3:7070"), "{page}");
            return (several, workers);
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_person_finds_their_way_through_the_console() {
    let (running, payments) = prepared();
    let browser = Browser::start("console");
    let at = |path: &str| format!("http://{}{path}", running.address());
    browser.scheme("light");
    browser.size(1280, 900);

    // load
    browser.open(&at("/console"));
    browser.sees(".cards", "Tickets");
    browser.click(".cards h2 a[href='/console/tickets']");
    browser.sees("h1", "Tickets");
    audit(&browser, "design");

    // a step on the map leads to its form
    browser.click("main svg a[aria-label='buyer[hold]']");
    browser.sees("h1", "hold");
    assert!(browser.address().ends_with("/console/tickets/step/buyer/hold"));

    // the guard is looked at while typing
    browser.fill("#as", "ann");
    browser.fill("[name='p.seat']", "A1");
    browser.sees("#guard", "It would be done now");
    browser.fill("[name='p.seat']", "A2");
    browser.sees("#guard", "does not hold now");
    browser.sees("#guard", "oversell");
    browser.fill("[name='p.seat']", "nowhere");
    browser.sees("#guard", "exists");
    audit(&browser, "guard");

    // refused, and explained
    browser.fill("[name='p.seat']", "A2");
    browser.fill("[name='p.booking']", "b-ann");
    browser.click("form[data-step] button[type=submit]");
    browser.sees("#result", "Refused: hold A2");
    browser.sees("#result", "It prevents: seat: oversell");
    browser.sees("#result", "HELD");
    assert!(is_picture(&browser.picture("refused-light")));
    audit(&browser, "refused");

    // done
    browser.fill("[name='p.seat']", "A1");
    browser.sees("#guard", "It would be done now");
    browser.click("form[data-step] button[type=submit]");
    browser.sees("#result", "Done: hold A1");
    audit(&browser, "done");
    browser.click("#result a[href*='record/Booking']");
    browser.sees("h1", "b-ann");
    browser.sees("main", "IN_PROGRESS");
    audit(&browser, "record");

    // the feed moves by itself
    browser.open(&at("/console/tickets/feed"));
    browser.sees("#said", "live");
    let rows = || browser.eval("document.querySelectorAll('.feed > li').length");
    let before = rows().as_u64().unwrap();
    let mut client = Client::new(running.address());
    let confirm = json!({ "booking": "b-ann" });
    assert_eq!(client.post_as("ann", "/v1/tickets/buyer/confirm", &confirm).status, 200);
    browser.sees(".feed > li:first-child", "confirm");
    assert_eq!(rows().as_u64(), Some(before + 1));
    browser.sees(".feed > li:first-child", "BookingConfirmed");
    audit(&browser, "feed");

    // memory is kept in this tab, sealed, and filled in by itself
    browser.open(&at("/console/i02/step/claimant/claim"));
    browser.fill("#as", "ann");
    browser.fill("[name='p.resource']", "r1");
    browser.fill("[name='p.ttl']", "10m");
    browser.click("form[data-step] button[type=submit]");
    browser.sees("#result", "Done: claim r1");
    browser.open(&at("/console/i02/step/holder/commit"));
    browser.fill("#as", "ann");
    browser.fill("[name='p.resource']", "r1");
    browser.fill("[name='p.value']", "first");
    browser.sees("#guard", "It would be done now");
    browser.fill("[name='p.resource']", "r2");
    browser.sees("#guard", "does not hold now");
    browser.fill("[name='p.resource']", "r1");
    browser.sees("#guard", "It would be done now");
    browser.click("form[data-step] button[type=submit]");
    browser.sees("#result", "Done: commit r1");
    audit(&browser, "memory");

    // a trace is followed
    browser.open(&at("/console/tickets/check"));
    browser.click("main form button");
    browser.sees(".report", "proved");
    browser.sees(".report", "oversell");
    browser.click(".report details.trace summary");
    browser.until("the trace is open", || {
        let open = browser.eval("document.querySelector('.report details.trace').open");
        (open == Value::Bool(true)).then_some(())
    });
    browser.sees(".report details.trace ol.steps", "would have refused");
    audit(&browser, "check");
    assert!(is_picture(&browser.picture("check-light")));

    outbox(&browser, &at("/console/payments/outbox"), &mut client, &payments);
    keyboard(&browser, &at("/console/tickets/records/Seat"));
    without_scripts(&browser, &at("/console/tickets/step/buyer/hold"));
}

/// A delivery that was given up is tried again by hand.
fn outbox(browser: &Browser, address: &str, client: &mut Client, payments: &Runtime) {
    let create = json!({ "intent": "i1", "amount": "12.50", "currency": "EUR" });
    let made = client.post_as("shop", "/v1/payments/merchant/create_intent", &create);
    assert_eq!(made.status, 200, "{}", made.text());
    let pay = json!({ "intent": "i1", "charge": "c1" });
    let paid = client.post_as("shop", "/v1/payments/merchant/pay", &pay);
    assert_eq!(paid.status, 200, "{}", paid.text());
    payments.deliver_one(&Away).expect("it is tried");
    browser.open(address);
    browser.sees("main", "given up");
    browser.sees("main", "connection refused");
    audit(browser, "dead letter");
    assert!(is_picture(&browser.picture("outbox-light")));
    browser.click("main table form button");
    browser.sees(".note.good", "Will be tried again");
    assert_eq!(browser.text(".tag.bad"), "");
}

/// The first tab stop skips to the content, and `/` goes to the finder.
fn keyboard(browser: &Browser, address: &str) {
    const TAB: &str = "\u{E004}";
    browser.open(address);
    browser.press(TAB);
    assert_eq!(browser.eval("document.activeElement.className"), "skip");
    browser.press("/");
    assert_eq!(browser.eval("document.activeElement.name"), "key");
    browser.press("A");
    browser.press("1");
    browser.press("\u{E007}");
    browser.sees("h1", "A1");
}

fn without_scripts(browser: &Browser, address: &str) {
    browser.scripts(false);
    browser.open(address);
    browser.fill("#as", "bob");
    browser.fill("[name='p.seat']", "A3");
    browser.fill("[name='p.booking']", "b-bob");
    browser.click("form[data-step] button[formaction]");
    browser.sees("#guard", "It would be done now");
    browser.click("form[data-step] button[type=submit]");
    browser.sees("#result", "Done: hold A3");
    browser.click("form[data-theme-switch] button");
    browser.scripts(true);
    // the page that the click leads to may still be on its way
    browser.until("the dark page", || {
        (browser.eval("document.documentElement.dataset.theme") == "dark").then_some(())
    });
}

/// Every page in light and dark, on a desk, in half of a window and on a phone.
#[test]
fn every_page_is_readable_in_light_and_dark_at_every_width() {
    let (running, _payments) = prepared();
    let (several, _others) = several();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = End(&done);
        scope.spawn(|| traffic(&running, &done));
        // the plots need a few seconds to show something
        std::thread::sleep(Duration::from_secs(4));
        let browser = Browser::start("console");
        let pages = [
            ("overview", "/console"),
            ("design", "/console/tickets"),
            ("records", "/console/tickets/records"),
            ("seats", "/console/tickets/records/Seat"),
            ("record", "/console/tickets/record/Seat?key=A1"),
            ("steps", "/console/tickets/steps"),
            ("step", "/console/tickets/step/buyer/hold?p.seat=A2"),
            ("feed", "/console/tickets/feed"),
            ("view", "/console/tickets/views/Availability?p.section=A"),
            ("repairs", "/console/tickets/repairs"),
            ("refusals", "/console/tickets/refusals"),
            ("load", "/console/tickets/load"),
            ("hot", "/console/tickets/hot"),
            ("views", "/console/tickets/views"),
            ("check", "/console/tickets/check"),
            ("outbox", "/console/payments/outbox"),
            ("aside", "/console/payments/aside"),
            ("servers", "/console/_/servers"),
            ("unknown", "/console/nowhere"),
        ];
        browser.open(&format!("http://{}/console/tickets/check", running.address()));
        browser.click("main form button");
        browser.sees(".report", "proved");
        let shapes = [("desk", 1280), ("window", 800), ("phone", 390)];
        let shapes =
            ["light", "dark"].map(|scheme| shapes.map(|(name, width)| (scheme, name, width)));
        for (scheme, shape, width) in shapes.into_iter().flatten() {
            browser.scheme(scheme);
            browser.size(width, if width < 600 { 800 } else { 900 });
            for (name, path) in pages {
                let at = if name == "servers" { several.address() } else { running.address() };
                browser.open(&format!("http://{at}{path}"));
                browser.until("it is loaded", || {
                    (browser.eval("document.readyState") == "complete").then_some(())
                });
                let picture = format!("{name}-{scheme}-{shape}");
                let bytes = browser.picture(&picture);
                assert!(is_picture(&bytes), "{picture}: {} bytes", bytes.len());
                if name == "unknown" {
                    browser.complaints();
                } else {
                    audit(&browser, &picture);
                }
                if shape != "window" && (scheme == "light") != (shape == "phone") {
                    axe(&browser, &picture);
                }
            }
        }
        assert!(browser.kept().join("load-dark-phone.png").is_file());
    });
}

/// The traffic ends with the test, however that ends.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Some that are done and some that are refused.
fn traffic(running: &Running, done: &AtomicBool) {
    let mut client = Client::new(running.address());
    let mut number = 0;
    while !done.load(Ordering::Relaxed) {
        number += 1;
        let hold = json!({ "seat": "A1", "booking": format!("t{number}"), "ttl": "1ms" });
        client.post_as("tess", "/v1/tickets/buyer/hold", &hold);
        if number % 3 == 0 {
            let hold = json!({ "seat": "A2", "booking": format!("u{number}") });
            client.post_as("tess", "/v1/tickets/buyer/hold", &hold);
        }
        std::thread::sleep(Duration::from_millis(if number / 40 % 2 == 0 { 4 } else { 12 }));
    }
}
