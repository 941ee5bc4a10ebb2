//! Several servers on one PostgreSQL.

mod faults;
mod sent;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::serving::Server;
use crate::cli::support::{folder_with, root, run};
use crate::database;

/// Calls that race, a timer and an effect.
pub const DESIGN: &str = r#"design Many
actor client
actor bank
actor sweeper
subject Count(count: text) { truth Total { total: int = 0 } }
subject Move(move: text) { truth MoveState { status: OPEN | PAID | LOST = OPEN } }
subject Lease(lease: text) { truth LeaseState { until: time?, expired: int = 0 } }
step client[raise(count: Count, by: int) { small: by <= 10 }] { Total.total += by }
step client[pay(move: new Move)] { MoveState := { status: OPEN } send bank.settle(move) }
step client[take(lease: Lease, ttl: duration) { free: LeaseState.until = null }] {
    LeaseState.until := now + ttl
}
effect bank[settle(move: Move)] {
    call POST "{bank.url}/settle" key move body { move }
    on ok { MoveState.status := PAID }
    on refused { }
    on unknown { MoveState.status := LOST }
}
repair sweeper[expire(lease: Lease) { over: LeaseState.until < now }] {
    LeaseState.until := null
    LeaseState.expired += 1
}
"#;

/// What is called, with the key of each call. It answers with 503 until it is opened.
pub struct Bank {
    pub port: u16,
    pub open: Arc<AtomicBool>,
    pub calls: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl Bank {
    pub fn start() -> Bank {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let bank = Bank { port, open: Arc::default(), calls: Arc::default() };
        let (open, calls) = (Arc::clone(&bank.open), Arc::clone(&bank.calls));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (open, calls) = (Arc::clone(&open), Arc::clone(&calls));
                thread::spawn(move || {
                    let mut seen = Vec::new();
                    let mut buffer = [0; 4096];
                    while let Ok(count @ 1..) = stream.read(&mut buffer) {
                        seen.extend_from_slice(&buffer[..count]);
                        let text = String::from_utf8_lossy(&seen).into_owned();
                        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                        let length = head.lines().find_map(|line| {
                            let (name, value) = line.split_once(':')?;
                            name.eq_ignore_ascii_case("content-length")
                                .then(|| value.trim().parse::<usize>().ok())?
                        });
                        if body.len() < length.unwrap_or(0) {
                            continue;
                        }
                        let status = if open.load(Ordering::Acquire) {
                            let body: Value = serde_json::from_str(body).unwrap_or_default();
                            let name = body["move"].as_str().unwrap_or_default().to_owned();
                            *calls.lock().unwrap().entry(name).or_default() += 1;
                            "200 OK"
                        } else {
                            "503 Service Unavailable"
                        };
                        let _ = write!(
                            stream,
                            "HTTP/1.1 {status}\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{{}}"
                        );
                        seen.clear();
                    }
                });
            }
        });
        bank
    }
}

fn start(folder: &Path, store: &str, bank: &Bank) -> Server {
    let outside = format!("bank=http://127.0.0.1:{}", bank.port);
    Server::start(
        folder,
        &[
            "many.design",
            "--store",
            store,
            "--outside",
            &outside,
            "--outside-attempts",
            "20",
            "--unproved",
        ],
    )
}

/// The status and the body.
fn post(server: &str, step: &str, body: &Value) -> Result<(u16, Value), String> {
    let agent = ureq::Agent::new_with_config(
        ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build(),
    );
    let answer = agent
        .post(format!("{server}/v1/many/client/{step}"))
        .header("Content-Type", "application/json")
        .send(body.to_string())
        .map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let text = answer.into_body().read_to_string().map_err(|error| error.to_string())?;
    Ok((status, serde_json::from_str(&text).unwrap_or_default()))
}

fn done(server: &str, step: &str, body: Value) {
    let (status, said) = post(server, step, &body).unwrap();
    assert_eq!(status, 200, "{step} {body}: {said}");
}

#[test]
fn two_servers_share_one_store_and_one_takes_over_from_the_other() {
    let database = database::shared();
    let store = database.address(&database.schema());
    let folder = folder_with("postgres-two", "many.design", DESIGN);
    let bank = Bank::start();
    let servers = [start(&folder, &store, &bank), start(&folder, &store, &bank)];
    let addresses = [servers[0].address.clone(), servers[1].address.clone()];
    both_are_listed(&servers);

    // calls race on one record, and nothing is lost
    thread::scope(|scope| {
        for client in 0..4 {
            let address = &addresses[client % 2];
            scope.spawn(move || {
                for _ in 0..25 {
                    done(address, "raise", json!({ "count": "c", "by": 1 }));
                }
            });
        }
    });
    for server in &servers {
        server.run(&["get", "many", "Count", "c"]).exits(0).says("total 100");
    }
    // what one writes the other shows at once
    for n in 0..20 {
        done(&addresses[n % 2], "take", json!({ "lease": format!("r{n}"), "ttl": "1h" }));
        let (status, _) = post(
            &addresses[(n + 1) % 2],
            "take",
            &json!({ "lease": format!("r{n}"), "ttl": "1h" }),
        )
        .unwrap();
        assert_eq!(status, 409, "it is taken, whoever is asked");
    }

    // one of them ends, with repairs and deliveries that would have been its own
    for n in 0..30 {
        done(&addresses[n % 2], "take", json!({ "lease": format!("l{n}"), "ttl": "2s" }));
        done(&addresses[n % 2], "pay", json!({ "move": format!("m{n}") }));
    }
    let [first, second] = servers;
    first.kill();
    bank.open.store(true, Ordering::Release);
    let begun = Instant::now();
    let all = |kind: &str, prefix: &str, says: &str| {
        (0..30).all(|n| {
            let ran = second.run(&["get", "many", kind, &format!("{prefix}{n}")]);
            ran.code == 0 && ran.out.contains(says)
        })
    };
    while !(all("Lease", "l", "expired 1") && all("Move", "m", "status PAID")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the other one takes nothing over");
        thread::sleep(Duration::from_millis(500));
    }
    println!("all was taken over {:.1} s after the kill", begun.elapsed().as_secs_f64());
    let calls = bank.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 30, "{calls:?}");
    done(&addresses[1], "raise", json!({ "count": "c", "by": 1 }));
    second.run(&["get", "many", "Count", "c"]).exits(0).says("total 101");
    // it is late at first, and gone when its lease is over
    let said = format!("{}  gone", addresses[0]);
    let listed = loop {
        let listed = second.run(&["servers"]).exits(1);
        if listed.out.contains(&said) {
            break listed;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", listed.out);
        thread::sleep(Duration::from_millis(200));
    };
    assert!(listed.out.contains("others do what it had in hand"), "{}", listed.out);
    assert!(listed.out.contains("served by 1 server\n"), "{}", listed.out);
}

/// What servers owe each other is a design, too, and is proved; its lease is the runtime's.
#[test]
fn the_design_of_the_servers_is_proved() {
    let path = root().join("crates/runtime/src/servers/servers.design");
    let text = std::fs::read_to_string(&path).unwrap();
    let lease_ms = runtime::Settings::default().lease_ms;
    assert!(text.contains(&format!("until: now + {}s ", lease_ms / 1_000)), "{lease_ms} ms");
    let ran = run(&["check", path.to_str().unwrap()]).exits(0);
    assert!(ran.out.contains(": proved (7 goals proved, 6 failures load-bearing)"), "{}", ran.out);
}

/// Each of them tells of both, with where they listen.
fn both_are_listed(servers: &[Server; 2]) {
    let begun = Instant::now();
    for server in servers {
        loop {
            let ran = server.run(&["servers"]);
            let all =
                servers.iter().all(|it| ran.out.contains(&format!("{}  serving", it.address)));
            if all && ran.code == 0 {
                assert!(ran.out.contains(&format!("{}  serving, which was asked", server.address)));
                assert!(ran.out.contains("Many  epoch 1"), "{}", ran.out);
                assert!(ran.out.contains("served by 2 servers"), "{}", ran.out);
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", ran.out);
            thread::sleep(Duration::from_millis(200));
        }
    }
    let ran = servers[0].run(&["servers", "--json"]).exits(0);
    let said: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(said["shared"], true);
    assert_eq!(said["servers"].as_array().map(Vec::len), Some(2), "{said}");
    for server in said["servers"].as_array().unwrap() {
        assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
        assert!(server["quiet_ms"].as_i64().unwrap() < 6_000, "{said}");
        assert_eq!(server["designs"][0]["hash"], said["designs"][0]["hash"]);
    }
}

#[test]
fn what_is_wrong_with_the_address_or_the_schema_is_said_without_the_password() {
    let database = database::shared();
    let schema = database.schema();
    database.sql(&format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.orders (id int)"));
    let serve =
        |store: &str| run(&["serve", "tickets", "--listen", "127.0.0.1:0", "--store", store]);
    let refused = serve(&database.address(&schema)).exits(5);
    assert!(refused.err.contains("is not Steadfast's"), "{}", refused.err);
    assert!(refused.err.contains("help: add `?schema=NAME`"), "{}", refused.err);
    let wrong = serve("postgres://kim:hush@127.0.0.1:1/shop").exits(2);
    assert!(
        wrong.err.contains("cannot connect to `postgres://kim@127.0.0.1:1/shop`"),
        "{}",
        wrong.err
    );
    assert!(!wrong.err.contains("hush"), "{}", wrong.err);
    let wrong = serve("postgres://kim:hush@127.0.0.1").exits(2);
    assert!(wrong.err.contains("it names no database"), "{}", wrong.err);
    assert!(!wrong.err.contains("hush"), "{}", wrong.err);
    let store = database.address(&database.schema());
    let words =
        ["serve", "tickets", "--clock", "manual", "--listen", "127.0.0.1:0", "--store", &store];
    run(&words).exits(2).says("others may share this store");
}
