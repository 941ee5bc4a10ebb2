//! Who is let in, and what they are told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gateway::{Access, Service};
use identity::{Identity, NewToken, Roles, Target, now_s};
use serde_json::{Value, json};
use server::{Config, Running};

use crate::support::{Client, LEASE, Response, TICKETS, config, serve, service};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A server that lets nobody in without a token, and the keys as another process has them.
pub struct Guarded {
    pub server: Running,
    pub tool: Identity,
    folder: PathBuf,
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn guarded() -> Guarded {
    guarded_with(vec![service("tickets", TICKETS), service("lease", LEASE)])
}

pub fn guarded_with(services: Vec<Service>) -> Guarded {
    guarded_within(config(), services)
}

pub fn guarded_within(config: Config, services: Vec<Service>) -> Guarded {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("steadfast-security-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let kept = Identity::open(&folder, true).unwrap();
    let access = Access { identity: Some(Arc::new(kept)), tokens: true, issuer: None };
    let server = server::start(Config { access, ..config }, services).unwrap();
    let tool = Identity::open(&folder, false).unwrap();
    Guarded { server, tool, folder }
}

impl Guarded {
    pub fn issue(&self, who: &str, roles: Roles) -> identity::Issued {
        let new = NewToken { principal: who.into(), roles, service: None, lifetime_s: 600 };
        self.tool.issue(&new, now_s()).unwrap()
    }

    pub fn token(&self, who: &str, role: &str) -> String {
        self.issue(who, Roles::some([role])).text
    }

    pub fn client(&self) -> Client {
        Client::new(self.server.address())
    }
}

pub fn post(client: &mut Client, token: &str, path: &str, body: &Value) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    client.request("POST", path, &headers, &body.to_string())
}

pub fn get(client: &mut Client, token: &str, path: &str) -> Response {
    let bearer = format!("Bearer {token}");
    client.request("GET", path, &[("authorization", bearer.as_str())], "")
}

#[test]
fn nobody_is_let_in_without_a_good_token() {
    let guarded = guarded();
    let mut client = guarded.client();
    let good = guarded.token("olga", "organizer");
    let seat = json!({ "seat": "A1", "section": "s" });
    let path = "/v1/tickets/organizer/add_seat";
    assert_eq!(post(&mut client, &good, path, &seat).status, 200);

    let none = client.post(path, &seat);
    assert_eq!(none.status, 401, "{none:?}");
    assert!(none.header("www-authenticate").is_some_and(|it| it.starts_with("Bearer")));
    // naming oneself is not enough here
    assert_eq!(client.post_as("olga", path, &seat).status, 401);
    // and who is not known does not learn what there is
    for path in ["/v1/tickets/Seat/A1", "/v1/none/x/y", "/v1/tickets/feed", "/metrics"] {
        assert_eq!(client.get(path).status, 401, "{path}");
    }

    let other = Identity::in_memory().unwrap();
    let all =
        NewToken { principal: "eve".into(), roles: Roles::ALL, service: None, lifetime_s: 600 };
    let forged = other.issue(&all, now_s()).unwrap().text;
    let expired = guarded.tool.issue(&all, now_s() - 3_600).unwrap().text;
    let elsewhere = NewToken { service: Some("billing".into()), ..all.clone() };
    let elsewhere = guarded.tool.issue(&elsewhere, now_s()).unwrap().text;
    let parts: Vec<&str> = good.split('.').collect();
    // {"alg":"none"}, and {"alg":"HS256","typ":"JWT"}
    let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", parts[1]);
    let operators = guarded.tool.issue(&all, now_s()).unwrap().text;
    let claims = operators.split('.').nth(1).unwrap();
    let changed = format!("{}.{claims}.{}", parts[0], parts[2]);
    let confused = format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{}.{}", parts[1], parts[2]);
    for (what, token) in [
        ("forged", forged.as_str()),
        ("expired", expired.as_str()),
        ("for another service", elsewhere.as_str()),
        ("changed", changed.as_str()),
        ("unsigned", unsigned.as_str()),
        ("of another algorithm", confused.as_str()),
        ("empty", ""),
        ("of another kind", "Basic"),
    ] {
        let answer = post(&mut client, token, path, &seat);
        assert_eq!(answer.status, 401, "{what}: {answer:?}");
        let told = answer.text();
        let secrets = ["key", "signature", "alg", "billing", "eve", parts[0]];
        let leaked = secrets.iter().find(|secret| told.contains(**secret));
        assert_eq!(leaked, None, "{what}: {told}");
    }
    let twice = [
        ("content-type", "application/json"),
        ("authorization", "Bearer x"),
        ("authorization", &format!("Bearer {good}")),
    ];
    assert_eq!(client.request("POST", path, &twice, &seat.to_string()).status, 401);

    guarded.tool.revoke(Target::Principal("olga"), now_s()).unwrap();
    let revoked = post(&mut client, &good, path, &json!({ "seat": "A2", "section": "s" }));
    assert_eq!(revoked.status, 401, "at once: {revoked:?}");
    let again = guarded.token("olga", "organizer");
    assert_eq!(get(&mut client, &again, "/v1/tickets/Seat/A2").status, 404, "nothing was done");
}

#[test]
fn a_role_calls_its_own_steps_and_sees_what_it_may() {
    let guarded = guarded();
    let mut client = guarded.client();
    let olga = guarded.token("olga", "organizer");
    let ann = guarded.token("ann-the-buyer", "tickets/buyer");
    let bob = guarded.token("bob", "buyer");
    let add = "/v1/tickets/organizer/add_seat";
    let hold = "/v1/tickets/buyer/hold";
    let seat = json!({ "seat": "A1", "section": "s" });
    let wrong = post(&mut client, &ann, add, &seat);
    assert_eq!(wrong.status, 403, "{wrong:?}");
    assert_eq!(wrong.json()["type"], "/problems/wrong-role");
    assert_eq!(post(&mut client, &olga, add, &seat).status, 200);
    let held = post(&mut client, &ann, hold, &json!({ "seat": "A1", "booking": "b1" }));
    assert_eq!(held.status, 200, "{held:?}");
    // a role in one design is none in another
    let claim = json!({ "resource": "r", "ttl": "1m" });
    assert_eq!(post(&mut client, &ann, "/v1/lease/claimant/claim", &claim).status, 403);

    let own = get(&mut client, &ann, "/v1/tickets/Booking/b1");
    assert_eq!(own.json()["truth"]["BookingState"]["buyer"], "ann-the-buyer");
    let hidden = get(&mut client, &bob, "/v1/tickets/Booking/b1");
    let missing = get(&mut client, &bob, "/v1/tickets/Booking/b9");
    assert_eq!((hidden.status, hidden.text()), (missing.status, missing.text()));
    assert_eq!(hidden.status, 404);
    let refused = post(&mut client, &bob, hold, &json!({ "seat": "A1", "booking": "b2" }));
    assert_eq!(refused.status, 409, "{refused:?}");
    let confirm = json!({ "booking": "b1" });
    let theirs = post(&mut client, &bob, "/v1/tickets/buyer/confirm", &confirm);
    assert_eq!(theirs.status, 409, "{theirs:?}");
    let batch = json!({ "steps": [
        { "actor": "organizer", "operation": "add_seat", "params": { "seat": "A2", "section": "s" } },
        { "actor": "buyer", "operation": "confirm", "params": { "booking": "b1" } },
    ] });
    let batch = post(&mut client, &bob, "/v1/tickets/batch", &batch);
    let told: Vec<u64> = batch.json()["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["status"].as_u64().unwrap())
        .collect();
    assert_eq!(told, [403, 409], "{batch:?}");
    for answer in [&refused, &theirs, &batch] {
        assert!(!answer.text().contains("ann-the-buyer"), "{answer:?}");
    }
    // the feed tells bob that the seat is held, and not by whom, also where it was told to ann before
    for (token, told) in [(&ann, true), (&bob, false), (&ann, true)] {
        let mut following = guarded.client();
        following.send(
            format!(
                "GET /v1/tickets/feed?from=start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
            )
            .as_bytes(),
        );
        assert_eq!(following.head().0, 200);
        let mut seen = String::new();
        while !seen.contains("\"hold\"") {
            seen.push_str(
                &format!("{:?}", following.event().expect("the feed goes on")).replace('\\', ""),
            );
        }
        assert_eq!(seen.contains("ann-the-buyer"), told, "{seen}");
        assert!(!seen.contains("olga"), "{seen}");
    }
}

#[test]
fn memory_is_taken_back_only_where_it_belongs() {
    let server = serve(vec![service("lease", LEASE), service("other", LEASE)]);
    let mut client = Client::new(server.address());
    let claim = |client: &mut Client, who: &str, design: &str, resource: &str| {
        let body = json!({ "resource": resource, "ttl": "1m" });
        let answer = client.post_as(who, &format!("/v1/{design}/claimant/claim"), &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["memory"]["my_epoch"].as_str().expect("a sealed text").to_string()
    };
    let sealed = claim(&mut client, "ann", "lease", "r");
    claim(&mut client, "ann", "lease", "q");
    claim(&mut client, "ann", "other", "r");
    let write = |client: &mut Client, who: &str, design: &str, resource: &str, memory: Value| {
        let body = json!({ "resource": resource, "ttl": "1m", "my_epoch": memory });
        client.post_as(who, &format!("/v1/{design}/holder/renew"), &body)
    };
    let taken = write(&mut client, "ann", "lease", "r", json!(sealed));
    assert_eq!(taken.status, 200, "{taken:?}");
    let mut changed = sealed.clone().into_bytes();
    changed[20] = if changed[20] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).unwrap();
    for (what, who, design, resource, memory) in [
        ("invented", "ann", "lease", "r", json!("AQIDBAUGBwgJCgsMDQ4PEA")),
        ("a plain number", "ann", "lease", "r", json!(1)),
        ("a number as a text", "ann", "lease", "r", json!("1")),
        ("changed", "ann", "lease", "r", json!(changed)),
        ("of another record", "ann", "lease", "q", json!(sealed)),
        ("of another principal", "bob", "lease", "r", json!(sealed)),
        ("of another design", "ann", "other", "r", json!(sealed)),
    ] {
        let answer = write(&mut client, who, design, resource, memory);
        assert_eq!(answer.status, 422, "{what}: {answer:?}");
        let told = answer.json();
        assert_eq!(told["pointer"], "/my_epoch", "{what}");
        assert_eq!(told["type"], "/problems/not-handed-out", "{what}");
        assert!(!told["detail"].as_str().unwrap().contains("ann"), "{what}: {told}");
    }
    // without it the guard refuses
    let without = write(&mut client, "ann", "lease", "r", Value::Null);
    assert_eq!((without.status, without.json()["guard"].as_str()), (409, Some("fenced")));
    // the same over the batch and the socket
    let step = |memory: &str| {
        json!({ "actor": "holder", "operation": "renew",
                "params": { "resource": "r", "ttl": "1m", "my_epoch": memory } })
    };
    let batch = json!({ "steps": [step(&sealed), step("invented")] });
    let batch = client.post_as("ann", "/v1/lease/batch", &batch).json();
    assert_eq!(
        (&batch["answers"][0]["status"], &batch["answers"][1]["status"]),
        (&json!(200), &json!(422))
    );
    let bearer = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("steadfast-as", "ann"),
    ];
    let mut socket = Client::new(server.address());
    assert_eq!(socket.request("GET", "/v1/socket", &bearer, "").status, 101);
    let mut ask = |design: &str, memory: &str| {
        let mut message = step(memory);
        message["design"] = json!(design);
        message["id"] = json!(memory);
        socket.send_text(&message.to_string());
        socket.text_frame()
    };
    let taken = ask("lease", &sealed);
    assert_eq!(taken["status"], 200, "{taken}");
    for (design, memory) in [("lease", "invented"), ("lease", changed.as_str()), ("other", &sealed)]
    {
        let answer = ask(design, memory);
        assert_eq!(answer["status"], 422, "{answer}");
        assert_eq!(answer["body"]["type"], "/problems/not-handed-out");
    }
    // what is handed out there is sealed as well
    let claim = json!({ "id": 1, "design": "lease", "actor": "claimant", "operation": "claim",
                        "params": { "resource": "s", "ttl": "1m" } });
    socket.send_text(&claim.to_string());
    let handed = socket.text_frame()["body"]["memory"]["my_epoch"].clone();
    let handed = handed.as_str().expect("a sealed text").to_string();
    let renewed = write(&mut client, "ann", "lease", "s", json!(handed));
    assert_eq!(renewed.status, 200, "{renewed:?}");
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
step clerk[reopen(case: Case) { over: Work.done = true }] { Work.done := false }
step clerk[evacuate(case: Case) { alarm: Alarm.armed = true }] { Work.done := true }
"#;

#[test]
fn what_is_legal_now_does_not_tell_what_the_caller_may_not_see() {
    let guarded = guarded_with(vec![service("desk", DESK)]);
    let mut client = guarded.client();
    let operator = guarded.issue("olga", Roles::ALL).text;
    let clerk = guarded.token("carl", "clerk");
    let case = json!({ "case": "c" });
    assert_eq!(post(&mut client, &operator, "/v1/desk/boss/arm", &case).status, 200);
    assert_eq!(post(&mut client, &clerk, "/v1/desk/clerk/finish", &case).status, 200);
    let mut legal = |token: &str| {
        let refused = post(&mut client, token, "/v1/desk/clerk/finish", &case);
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(token == operator || !refused.text().contains("armed"), "{refused:?}");
        let steps = refused.json()["legal"].as_array().expect("a list").clone();
        let name = |step: &Value| step["operation"].as_str().expect("a name").to_string();
        steps.iter().map(name).collect::<Vec<_>>()
    };
    // `evacuate` is legal because of an alarm that clerks do not see
    assert_eq!(legal(&operator), ["reopen", "evacuate"]);
    assert_eq!(legal(&clerk), ["reopen"]);
}

#[test]
fn what_operators_do_takes_all_roles() {
    let guarded = guarded();
    let mut client = guarded.client();
    let role = guarded.token("olga", "organizer");
    let all = guarded.issue("root", Roles::ALL).text;
    let mut status = |token: &str, method: &str, path: &str, body: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
        client.request(method, path, &headers, body).status
    };
    for (method, path, body) in [
        ("POST", "/v1/admin/backup", "{\"to\":\"relative\"}"),
        ("POST", "/v1/tickets/aside/none/retry", "{}"),
        ("POST", "/v1/tickets/aside/none/discard", "{}"),
        ("PUT", "/v1/tickets", TICKETS),
    ] {
        assert_eq!(status(&role, method, path, body), 403, "{method} {path}");
        // whoever has them comes further: to what is wrong with it, or that nobody does it here
        let further = status(&all, method, path, body);
        assert!([400, 404].contains(&further), "{method} {path}: {further}");
    }
    assert_eq!(status(&role, "GET", "/v1/tickets/aside", ""), 403);
    assert_eq!(status(&all, "GET", "/v1/tickets/aside", ""), 200);
    assert_eq!(status(&role, "GET", "/v1/admin/servers", ""), 403);
    assert_eq!(status(&all, "GET", "/v1/admin/servers", ""), 200);
    assert_eq!(status(&all, "POST", "/v1/admin/servers", "{}"), 405);
}

#[test]
fn what_is_open_ends_when_its_token_is_revoked() {
    let guarded = guarded();
    let operator = guarded.issue("olga", Roles::ALL);
    let reader = guarded.issue("ann", Roles::some(["buyer"]));
    let mut following = guarded.client();
    following.send(
        format!(
            "GET /v1/tickets/feed HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
            reader.text
        )
        .as_bytes(),
    );
    assert_eq!(following.head().0, 200);
    assert!(following.event().is_some(), "it begins");
    let mut socket = guarded.client();
    let bearer = format!("Bearer {}", reader.text);
    let headers = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("authorization", bearer.as_str()),
    ];
    assert_eq!(socket.request("GET", "/v1/socket", &headers, "").status, 101);
    let hold = json!({ "id": 1, "design": "tickets", "actor": "buyer", "operation": "hold",
                       "params": { "seat": "A1", "booking": "b" } });
    socket.send_text(&hold.to_string());
    assert_eq!(socket.text_frame()["status"], 409, "there is no such seat");

    guarded.tool.revoke(Target::Token(&reader.claims.jti), now_s()).unwrap();
    let mut client = guarded.client();
    let seat = json!({ "seat": "A1", "section": "s" });
    let added = post(&mut client, &operator.text, "/v1/tickets/organizer/add_seat", &seat);
    assert_eq!(added.status, 200);
    let mut told = String::new();
    while let Some(event) = following.event() {
        told.push_str(&format!("{event:?}"));
    }
    assert!(!told.contains("add_seat"), "{told}");
    socket.send_text(&hold.to_string());
    let (kind, payload) = socket.frame();
    assert_eq!(kind, 8, "closed: {payload:?}");
    let mut client = guarded.client();
    assert_eq!(get(&mut client, &operator.text, "/v1/tickets/Booking/b").status, 404);
}

#[test]
fn beyond_this_machine_only_with_keys() {
    let anywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let kept = || Some(Arc::new(Identity::in_memory().unwrap()));
    for (access, starts) in [
        (Access::default(), false),
        (Access { identity: None, tokens: true, issuer: None }, false),
        (Access { identity: kept(), tokens: false, issuer: None }, false),
        (Access { identity: kept(), tokens: true, issuer: None }, true),
    ] {
        let config = Config { listen: anywhere, access, ..Config::default() };
        let said = format!("{config:?}");
        let started = server::start(config, vec![service("tickets", TICKETS)]);
        assert_eq!(started.is_ok(), starts, "{said}");
        if let Err(error) = started {
            assert!(error.to_string().contains("there are no keys"), "{error}");
        }
    }
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let server = serve(vec![service("tickets", TICKETS)]);
    let mut client = Client::new(server.address());
    for (host, status) in [
        ("localhost", 404),
        ("LOCALHOST:7878", 404),
        ("127.0.0.1:7878", 404),
        ("[::1]:7878", 404),
        ("evil.example", 403),
        ("localhost.evil.example:80", 403),
        ("10.0.0.1", 403),
    ] {
        client.send(format!("GET /v1/tickets/Seat/A HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes());
        assert_eq!(client.answer(false).status, status, "{host}");
    }
}

#[test]
fn what_was_done_and_refused_is_written_down_and_a_flood_is_not() {
    let guarded = guarded();
    let mut client = guarded.client();
    let ann = guarded.token("ann", "buyer");
    let seat = json!({ "seat": "A1", "section": "s" });
    assert_eq!(post(&mut client, &ann, "/v1/tickets/organizer/add_seat", &seat).status, 403);
    for _ in 0..400 {
        assert_eq!(client.get("/v1/tickets/Seat/A1").status, 401);
    }
    let Guarded { server, folder, tool } = &guarded;
    let address = server.address().to_string();
    let entries = || {
        let mut all = Vec::new();
        tool.verify_audit(&mut |noted| all.push(noted.clone())).unwrap().unwrap();
        all
    };
    // refusals are written by a thread of its own
    let mut all = entries();
    for _ in 0..100 {
        if all.iter().filter(|it| it.act == "unauthenticated").count() >= 99 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        all = entries();
    }
    let count = |act: &str| all.iter().filter(|it| it.act == act).count();
    assert_eq!((count("server started"), count("token issued"), count("forbidden")), (1, 1, 1));
    let forbidden = all.iter().find(|it| it.act == "forbidden").unwrap();
    assert_eq!(forbidden.by, "ann");
    assert_eq!(forbidden.of, json!({ "design": "tickets", "actor": "organizer" }));
    assert!((50..=102).contains(&count("unauthenticated")), "{}", count("unauthenticated"));
    assert!(all[1].of.to_string().contains(&address), "{:?}", all[1]);
    assert!(folder.exists());
}
