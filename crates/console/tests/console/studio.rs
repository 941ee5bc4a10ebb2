//! The studio as a plain HTTP client sees it: it works without scripts, keeps to its limits, and is for operators.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::Access;
use identity::{Identity, NewToken, Roles, now_s};
use server::{Config, Running};

use crate::pages::submit;
use crate::support::{Client, Response, TICKETS, config, service, tickets};

pub const DESKS: &str = include_str!("../../src/assets/example.design");
const STUDIO: &str = "/console/_/studio";

/// Sends the whole form, as a browser without scripts does.
fn sends(client: &mut Client, session: &str, text: &str, fields: &[(&str, &str)]) -> Response {
    let mut all = vec![("session", session), ("text", text)];
    all.extend(fields);
    submit(client, STUDIO, &all)
}

/// A value of a record; the text of the design stands in the page, too.
fn tag(value: &str) -> String {
    format!("<span class=\"tag\">{value}</span>")
}

fn session(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"session\" value=\"").expect("a session");
    rest.split('"').next().unwrap_or_default().to_string()
}

/// Opens a scratch store, and gives the session that it belongs to.
fn opens(client: &mut Client, text: &str, fields: &[(&str, &str)]) -> String {
    let mut all = vec![("do", "open")];
    all.extend(fields);
    let answer = sends(client, "", text, &all);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = session(&answer.text());
    assert_eq!(id.len(), 32, "{id}");
    id
}

/// Waits for the end of a check.
fn ended(client: &mut Client, session: &str, first: Response) -> String {
    let begun = Instant::now();
    let mut page = first.text();
    while page.contains("data-working") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{page}");
        page = sends(client, session, DESKS, &[("do", "progress")]).text();
    }
    page
}

#[test]
fn a_text_is_told_its_errors_in_the_words_of_the_compiler() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let page = client.get(STUDIO).text();
    assert!(page.contains("It compiles: 3 actors, 2 subjects, 3 steps"), "{page}");
    assert!(page.contains("<option>hold.free</option>"), "{page}");
    assert!(!page.contains("<option>release.stale</option>"), "the guard of a repair: {page}");
    let wrong = DESKS.replace("DeskState.status = FREE", "DeskState.state = FREE");
    let told = sends(&mut client, "", &wrong, &[("do", "look")]).text();
    let errors = design::compile("studio", &wrong, &design::NoCatalog).diagnostics;
    let first = errors.iter().find(|said| said.is_error()).expect("an error");
    assert!(told.contains("data-line=\"19\""), "{told}");
    assert!(told.contains(first.code), "{told}");
    let said = first.message.split('`').next().unwrap_or_default();
    assert!(told.contains(said), "{said} in {told}");
    // the text is kept as it was written
    assert!(told.contains("free: DeskState.state = FREE"), "{told}");
    // what was served can be begun with
    let page = client.get(&format!("{STUDIO}?from=served:tickets")).text();
    assert!(page.contains("use A08 as Seat"), "{page}");
    assert_eq!(client.get(&format!("{STUDIO}?from=served:nothing")).status, 404);
    assert_eq!(client.get(&format!("{STUDIO}?from=catalog:A08")).status, 404);
}

#[test]
fn a_design_is_checked_and_a_guard_is_taken_away_without_scripts() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let first = sends(&mut client, "", DESKS, &[("do", "check"), ("seconds", "60")]);
    assert_eq!(first.status, 200, "{}", first.text());
    let id = session(&first.text());
    let page = ended(&mut client, &id, first);
    assert!(page.contains("one_stay") && page.contains("load-bearing"), "{page}");
    let without = [("do", "without"), ("clause", "hold.free"), ("seconds", "60")];
    let first = sends(&mut client, &id, DESKS, &without);
    let page = ended(&mut client, &id, first);
    assert!(page.contains("data-breaks"), "{page}");
    assert!(page.contains("It prevents: <strong>a desk is booked twice</strong>"), "{page}");
    assert!(page.contains("would have refused"), "{page}");
    let without = [("do", "without"), ("clause", "book.yours"), ("seconds", "60")];
    let first = sends(&mut client, &id, DESKS, &without);
    assert!(ended(&mut client, &id, first).contains("data-nothing"));
    // nothing of it is known of what is served
    let served = client.get("/console/tickets/check").text();
    assert!(served.contains("Nothing was checked here"), "{served}");
    let unknown = sends(&mut client, &id, DESKS, &[("do", "without"), ("clause", "hold.nothing")]);
    assert_eq!(unknown.status, 409);
    assert!(unknown.text().contains("has a clause"), "{}", unknown.text());
}

#[test]
fn a_check_ends_with_its_budget_or_by_hand_and_there_is_one_at_a_time() {
    let running = tickets();
    let mut client = Client::new(running.address());
    // a world that takes hours
    let large = DESKS.replace("stay: 2", "stay: 7").replace("desk: 1", "desk: 5");
    let large = large.replace("guest: 2", "guest: 5");
    let first = sends(&mut client, "", &large, &[("do", "check"), ("seconds", "120")]);
    let id = session(&first.text());
    assert!(first.text().contains("data-working"), "{}", first.text());
    let second = sends(&mut client, "", DESKS, &[("do", "check")]);
    assert_eq!(second.status, 409);
    assert!(second.text().contains("one at a time"), "{}", second.text());
    let first = sends(&mut client, &id, &large, &[("do", "stop")]);
    let page = ended(&mut client, &id, first);
    assert!(page.contains("Stopped after"), "{page}");
    let first = sends(&mut client, &id, &large, &[("do", "check"), ("seconds", "1")]);
    let page = ended(&mut client, &id, first);
    assert!(page.contains("The time is over") || page.contains("budget"), "{page}");
}

#[test]
fn steps_are_tried_in_a_scratch_store_and_time_passes_by_hand() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let id = opens(&mut client, DESKS, &[]);
    let mut step = |step: &str, who: &str, fields: &[(&str, &str)]| {
        let mut all = vec![("do", "step"), ("step", step), ("as", who)];
        all.extend(fields);
        sends(&mut client, &id, DESKS, &all).text()
    };
    assert!(step("clerk/add_desk", "olga", &[("p.desk", "d1")]).contains("data-done"));
    let held = step("guest/hold", "ann", &[("p.desk", "d1"), ("p.stay", "s1"), ("p.ttl", "10m")]);
    assert!(held.contains("data-done") && held.contains(&tag("HELD")), "{held}");
    let refused = step("guest/hold", "bob", &[("p.desk", "d1"), ("p.stay", "s2")]);
    assert!(refused.contains("data-refused=\"free\""), "{refused}");
    assert!(refused.contains("It prevents: <strong>a desk is booked twice</strong>"), "{refused}");
    assert!(refused.contains("The truth it saw"), "{refused}");
    // there are no pages to lead to
    assert!(!refused.contains("/record/") && !refused.contains("href=\"/console//"), "{refused}");
    let later = sends(&mut client, &id, DESKS, &[("wait", "11m")]).text();
    assert!(
        later.contains("by itself: release, at 10m") && later.contains(&tag("GONE")),
        "{later}"
    );
    for (wait, why) in [("soon", "no time to wait"), ("9999d", "at most"), ("0s", "no time")] {
        let answer = sends(&mut client, &id, DESKS, &[("wait", ""), ("wait_for", wait)]);
        assert_eq!(answer.status, 400, "{wait}");
        assert!(answer.text().contains(why), "{wait}: {}", answer.text());
    }
    // nothing of it is served
    let overview = client.get("/console").text();
    assert!(!overview.contains("Desks"), "{overview}");
    let closed = sends(&mut client, &id, DESKS, &[("do", "close")]).text();
    assert!(!closed.contains("A scratch store of"), "{closed}");
    let gone = sends(&mut client, &id, DESKS, &[("wait", "1m")]);
    assert_eq!(gone.status, 409);
    assert!(gone.text().contains("the scratch store is gone"), "{}", gone.text());
}

const FEES: &str = r#"
design Fees

actor clerk
actor bank

subject Fee(fee: text) { truth FeeState { status: OPEN | ASKED | PAID | REFUSED | UNSURE = OPEN } }

step clerk[ask(fee: new Fee)] {
    FeeState.status := ASKED
    send bank.collect(fee)
}

effect bank[collect(fee: Fee)] {
    call POST "{bank.url}/collect" key fee body { fee }
    on ok { FeeState.status := PAID }
    on refused { FeeState.status := REFUSED }
    on unknown { FeeState.status := UNSURE }
}
"#;

#[test]
fn the_visitor_answers_for_the_world_outside() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let id = opens(&mut client, FEES, &[]);
    for (how, status) in [("ok 0", "PAID"), ("refused 0", "REFUSED"), ("unknown 0", "UNSURE")] {
        let fee = format!("fee-{status}");
        let fields = [("do", "step"), ("step", "clerk/ask"), ("p.fee", fee.as_str())];
        let page = sends(&mut client, &id, FEES, &fields).text();
        assert!(page.contains("collect answers ok"), "{page}");
        let page = sends(&mut client, &id, FEES, &[("answer", how)]).text();
        assert!(
            page.contains(&tag(status)) && page.contains("Nothing waits for an answer"),
            "{page}"
        );
    }
    let gone = sends(&mut client, &id, FEES, &[("answer", "ok 0")]);
    assert_eq!(gone.status, 409);
    assert!(gone.text().contains("not asked this any more"), "{}", gone.text());
}

#[test]
fn without_its_guard_the_broken_goal_is_told_at_once() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let id = opens(&mut client, DESKS, &[("bench_without", "hold.free")]);
    let steps = [
        ("clerk/add_desk", "olga", vec![("p.desk", "d1")]),
        ("guest/hold", "ann", vec![("p.desk", "d1"), ("p.stay", "s1")]),
        ("guest/hold", "bob", vec![("p.desk", "d1"), ("p.stay", "s2")]),
        ("guest/book", "ann", vec![("p.stay", "s1")]),
        ("guest/book", "bob", vec![("p.stay", "s2")]),
    ];
    let mut page = String::new();
    for (step, who, fields) in steps {
        assert!(!page.contains("data-broken"), "{page}");
        let mut all = vec![("do", "step"), ("step", step), ("as", who)];
        all.extend(fields);
        page = sends(&mut client, &id, DESKS, &all).text();
        assert!(page.contains("data-done"), "{page}");
    }
    assert!(page.contains("The goal <code>one_stay</code> is broken now"), "{page}");
}

#[test]
fn limits_are_told() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let long = format!("{DESKS}{}", "// and so on\n".repeat(25_000));
    let answer = sends(&mut client, "", &long, &[("do", "look")]);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("the text of a design has at most 262144 bytes"));
    // as deep as a text can be
    let deep = format!("design D\ninvariant x: {}", "(".repeat(100_000));
    let answer = sends(&mut client, "", &deep, &[("do", "look")]);
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("data-line"));
    let id = opens(&mut client, DESKS, &[]);
    let much = "x".repeat(70_000);
    let fields = [("do", "step"), ("step", "clerk/add_desk"), ("p.desk", &much)];
    let answer = sends(&mut client, &id, DESKS, &fields);
    assert_eq!(answer.status, 413, "{}", answer.text());
    // of the sixteen sessions, one is there
    for _ in 1..16 {
        opens(&mut client, DESKS, &[]);
    }
    let answer = sends(&mut client, "", DESKS, &[("do", "open")]);
    assert_eq!(answer.status, 409);
    assert!(answer.text().contains("16 tabs use the studio"), "{}", answer.text());
    // the others go on
    assert_eq!(sends(&mut client, &id, DESKS, &[("wait", "1m")]).status, 200);
}

#[test]
fn a_scratch_store_that_is_full_says_so() {
    let running = tickets();
    let mut client = Client::new(running.address());
    let id = opens(&mut client, DESKS, &[]);
    for number in 0..2_000 {
        let desk = format!("d{number}");
        let fields = [("do", "step"), ("step", "clerk/add_desk"), ("p.desk", desk.as_str())];
        assert_eq!(sends(&mut client, &id, "", &fields).status, 200, "{desk}");
    }
    let fields = [("do", "step"), ("step", "clerk/add_desk"), ("p.desk", "one more")];
    let answer = sends(&mut client, &id, "", &fields);
    assert_eq!(answer.status, 409);
    assert!(answer.text().contains("the scratch store is full: it holds 2000 transitions"));
}

struct Guarded {
    server: Running,
    keys: Arc<Identity>,
}

fn guarded() -> Guarded {
    let keys = Arc::new(Identity::in_memory().unwrap());
    let access = Access { identity: Some(Arc::clone(&keys)), tokens: true, issuer: None };
    let services = vec![service("tickets", TICKETS)];
    let server = crate::support::start(Config { access, ..config() }, services).unwrap();
    Guarded { server, keys }
}

impl Guarded {
    fn cookie(&self, who: &str, roles: Roles) -> String {
        let new = NewToken { principal: who.into(), roles, service: None, lifetime_s: 600 };
        let token = self.keys.issue(&new, now_s()).unwrap().text;
        let fields = [("token", token.as_str()), ("back", "/console")];
        let answer = submit(&mut Client::new(self.server.address()), "/console/_/sign-in", &fields);
        let kept = answer.header("set-cookie").expect("a cookie").to_string();
        kept.split(';').next().unwrap_or_default().to_string()
    }
}

#[test]
fn it_is_for_operators_and_for_pages_of_the_console() {
    let guarded = guarded();
    let mut client = Client::new(guarded.server.address());
    let form =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    assert_eq!(client.get(STUDIO).status, 401);
    assert_eq!(client.request("POST", STUDIO, &form, "do=look&text=design+D").status, 401);
    let buyer = guarded.cookie("ann", Roles::some(["buyer"]));
    let olga = guarded.cookie("olga", Roles::ALL);
    let mut asks = |cookie: &str, site: &str, body: &str| {
        let headers = [form[0], ("sec-fetch-site", site), ("cookie", cookie)];
        client.request("POST", STUDIO, &headers, body)
    };
    assert_eq!(asks(&buyer, "same-origin", "do=look&text=design+D").status, 403);
    assert_eq!(asks(&olga, "cross-site", "do=look&text=design+D").status, 403);
    assert_eq!(asks(&olga, "same-origin", "do=look&text=design+D").status, 200);
    // a session is its owner's alone
    let opened = asks(&olga, "same-origin", "do=open&text=design+D");
    let id = session(&opened.text());
    assert_eq!(asks(&olga, "same-origin", &format!("session={id}&wait=1m")).status, 200);
    let otto = guarded.cookie("otto", Roles::ALL);
    let mut client = Client::new(guarded.server.address());
    let headers = [form[0], form[1], ("cookie", otto.as_str())];
    let other = client.request("POST", STUDIO, &headers, &format!("session={id}&wait=1m"));
    assert_eq!(other.status, 409, "{}", other.text());
    let page = |client: &mut Client, cookie: &str| {
        let page = client.request("GET", "/console", &[("cookie", cookie)], "").text();
        page.contains("/console/_/studio")
    };
    assert!(page(&mut client, &olga) && !page(&mut client, &buyer));
}
