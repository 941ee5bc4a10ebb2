//! A secret goes through every door of a server, and everything that anybody can read afterwards is looked
//! through for it.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::serving::Server;
use super::support::{command, folder_with, run_in};

const VAULT: &str = r#"design Vault "Safes with a PIN"

actor owner
actor visitor

subject Safe(safe: text) {
    truth SafeState { pin: secret?, opened: int = 0 }
    truth Label { note: text = "" }
}

step owner[set_pin(safe: Safe, pin: secret)] { SafeState.pin := pin }
step owner[issue(safe: Safe, code: secret = new code(24))] { SafeState.pin := code }
step visitor[open(safe: Safe, pin: secret) { right: SafeState.pin = pin }] { SafeState.opened += 1 }
step visitor[seldom(safe: Safe, pin: secret) { right: SafeState.pin = pin }] limit 2 per 1h per me {
    SafeState.opened += 1
}
read visitor[look(safe: Safe, pin: secret) { right: SafeState.pin = pin }] = SafeState
view All = list Safe order by safe

check { safe: 1  owner: 1  visitor: 1  pin: 2  code: 2  SafeState.opened: 0..2 }
"#;

const PIN: &str = "the-right-pin-8841";
const WRONG: &str = "a-wrong-guess-7392";

/// What was read, and where.
type Doors = Vec<(String, Vec<u8>)>;

struct Web {
    address: String,
    read: Doors,
}

impl Web {
    /// One request on a connection of its own; the answer is kept to be looked through.
    fn ask(&mut self, method: &str, path: &str, kind: &str, more: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {kind}\r\n\
             content-length: {length}\r\n{more}\r\n{body}"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        self.read.push((format!("{method} {path}"), answer.clone()));
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn step(&mut self, path: &str, key: Option<&str>, body: &Value) -> (u16, Value) {
        let more = key.map_or(String::new(), |key| format!("idempotency-key: {key}\r\n"));
        let path = format!("/v1/vault/{path}");
        let answer = self.ask("POST", &path, "application/json", &more, &body.to_string());
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    fn get(&mut self, path: &str) -> String {
        self.ask("GET", path, "text/plain", "", "")
    }

    /// A form of the console.
    fn form(&mut self, path: &str, body: &str) -> String {
        let more = format!("origin: http://{}\r\n", "localhost");
        self.ask("POST", path, "application/x-www-form-urlencoded", &more, body)
    }

    /// Two messages over a socket.
    fn socket(&mut self, messages: &[Value]) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET /v1/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        for message in messages {
            let text = message.to_string();
            let mut frame = vec![0x81];
            match text.len() {
                short @ ..=125 => frame.push(0x80 | short as u8),
                long => {
                    frame.push(0x80 | 126);
                    frame.extend_from_slice(&u16::try_from(long).unwrap().to_be_bytes());
                }
            }
            // a mask of zeros leaves the text as it is
            frame.extend_from_slice(&[0; 4]);
            frame.extend_from_slice(text.as_bytes());
            stream.write_all(&frame).unwrap();
            let mut head = [0; 2];
            stream.read_exact(&mut head).unwrap();
            let mut length = usize::from(head[1]);
            if length == 126 {
                let mut long = [0; 2];
                stream.read_exact(&mut long).unwrap();
                length = usize::from(u16::from_be_bytes(long));
            }
            let mut payload = vec![0; length];
            stream.read_exact(&mut payload).unwrap();
            self.read
                .push((format!("socket {message}").replace(PIN, "…").replace(WRONG, "…"), payload));
        }
    }
}

fn every_file(folder: &Path, read: &mut Doors) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_file(&path, read);
        } else {
            read.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

/// Whoever listens where spans are sent.
fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut part = [0; 65_536];
            let read = stream.read(&mut part).unwrap_or(0);
            kept.lock().unwrap().extend_from_slice(&part[..read]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
            // the rest of the body, if it came later
            let read = stream.read(&mut part).unwrap_or(0);
            kept.lock().unwrap().extend_from_slice(&part[..read]);
        }
    });
    (address, told)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

fn start(folder: &Path, otlp: &str) -> Server {
    let mut command = command(
        folder,
        &[
            "serve",
            "vault.design",
            "--listen",
            "127.0.0.1:0",
            "--store",
            "embedded:./data",
            "--no-background-check",
            "--log",
            "debug",
            "--otlp",
            otlp,
        ],
    );
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
    command.stdout(Stdio::piped()).stderr(log).env("XDG_STATE_HOME", folder.join("state"));
    Server::spawn(folder, command)
}

#[test]
fn nothing_but_the_first_answer_tells_a_secret() {
    let folder = folder_with("secrets-sweep", "vault.design", VAULT);
    let (otlp, spans) = collector();
    let server = start(&folder, &otlp);
    let address = server.address.trim_start_matches("http://").to_string();
    let mut web = Web { address, read: Vec::new() };
    let pin = |pin: &str| json!({ "safe": "s1", "pin": pin });

    // steps, with and without a key, right and wrong
    assert_eq!(web.step("owner/set_pin", Some("k1"), &pin(PIN)).0, 200);
    assert_eq!(web.step("owner/set_pin", Some("k1"), &pin(PIN)).0, 200);
    assert_eq!(web.step("owner/set_pin", Some("k1"), &pin(WRONG)).0, 422, "another payload");
    assert_eq!(web.step("visitor/open", None, &pin(PIN)).0, 200);
    let (status, refusal) = web.step("visitor/open", None, &pin(WRONG));
    assert_eq!((status, &refusal["guard"]), (409, &json!("right")));
    assert_eq!(web.step("visitor/look", None, &pin(PIN)).1["result"], json!({ "opened": 1 }));
    assert_eq!(web.step("visitor/look", None, &pin(WRONG)).0, 409);
    // what does not fit
    for body in [
        json!({ "safe": "s1", "pin": [PIN] }),
        json!({ "safe": "s1", "pin": { "value": PIN } }),
        json!({ "safe": "s1", "pin": format!("{PIN}{}", "x".repeat(1_024)) }),
        json!({ "safe": "s1", "pin": PIN, "more": WRONG }),
        json!({ "safe": 7, "pin": PIN }),
    ] {
        let (status, _) = web.step("visitor/open", None, &body);
        assert_eq!(status, 422, "{body}");
    }
    assert_eq!(web.step("owner/issue", None, &json!({ "safe": "s1", "code": PIN })).0, 422);
    let broken = format!("{{\"safe\": \"s1\", \"pin\": \"{PIN}\"");
    web.ask("POST", "/v1/vault/visitor/open", "application/json", "", &broken);
    // more at once, and by a socket
    let message = |operation: &str, pin: &str| json!({ "actor": "visitor", "operation": operation, "params": { "safe": "s1", "pin": pin } });
    let (status, answers) = web.step(
        "batch",
        None,
        &json!({ "steps": [message("open", PIN), message("open", WRONG)] }),
    );
    assert_eq!(status, 200, "{answers}");
    let over_socket = |pin: &str, id: u32| {
        json!({
            "id": id, "design": "vault", "actor": "visitor", "operation": "open",
            "params": { "safe": "s1", "pin": pin },
        })
    };
    web.socket(&[over_socket(PIN, 1), over_socket(WRONG, 2)]);
    // forms: done, and thought through, which is no way to guess
    for guess in [PIN, WRONG] {
        let body = format!("as=vera&p.safe=s1&p.pin={guess}");
        let done = web.form("/console/vault/step/visitor/open", &body);
        assert!(done.contains("type=\"password\""), "{done}");
        let thought = web.form("/console/vault/would/visitor/open", &body);
        assert!(thought.contains("data-guard=\"secret\""), "{thought}");
        let asked = web.get(&format!("/console/vault/step/visitor/open?p.safe=s1&p.pin={guess}"));
        assert!(asked.contains("data-guard=\"secret\""), "{asked}");
        // the address of a page is the visitor's own, and stands in it
        web.read.pop();
    }
    // a limit counts guesses, and a look at the guard is none
    let seldom: Vec<u16> =
        (0..3).map(|_| web.step("visitor/seldom", None, &pin(WRONG)).0).collect();
    assert_eq!(seldom, [409, 409, 429]);

    // what the server chooses: the first answer has it
    let (status, first) = web.step("owner/issue", Some("k2"), &json!({ "safe": "s2" }));
    let code = first["result"]["code"].as_str().unwrap().to_string();
    assert_eq!((status, code.len()), (200, 24));
    let (door, answer) = web.read.pop().unwrap();
    assert!(holds(&answer, &code), "{door}");
    let (_, again) = web.step("owner/issue", Some("k2"), &json!({ "safe": "s2" }));
    assert_eq!(again["result"], json!({ "code": null, "already_given": ["code"] }));
    let done = web.form("/console/vault/step/owner/issue", "as=olga&p.safe=s3&key=k3");
    let from_form = done.split("data-chosen").nth(1).unwrap().split("<code>").nth(1).unwrap();
    let from_form = from_form.split('<').next().unwrap().to_string();
    assert_eq!(from_form.len(), 24, "{done}");
    web.read.pop();
    let done = web.form("/console/vault/step/owner/issue", "as=olga&p.safe=s3&key=k3");
    assert!(done.contains("given already"), "{done}");
    assert_eq!(web.step("visitor/open", None, &json!({ "safe": "s2", "pin": code })).0, 200);
    assert_eq!(web.step("visitor/open", None, &json!({ "safe": "s3", "pin": from_form })).0, 200);

    // the command line
    let called =
        server.run(&["call", "vault", "visitor", "open", "safe=s1", &format!("pin={WRONG}")]);
    web.read.push(("call".into(), format!("{}{}", called.out, called.err).into_bytes()));
    let called = server.run(&[
        "call",
        "vault",
        "visitor",
        "open",
        "safe=s1",
        &format!("pin={PIN}"),
        "--json",
    ]);
    web.read.push(("call --json".into(), called.exits(0).out.into_bytes()));

    // everything that can be read
    for path in [
        "/v1/vault/Safe/s1",
        "/v1/vault/Safe/s2",
        "/v1/vault/views/All",
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/console",
        "/console/vault",
        "/console/vault/records",
        "/console/vault/records/Safe",
        "/console/vault/record/Safe?key=s1",
        "/console/vault/record/Safe?key=s2",
        "/console/vault/steps",
        "/console/vault/feed",
        "/console/vault/views",
        "/console/vault/views/All",
        "/console/vault/outbox",
        "/console/vault/repairs",
        "/console/vault/step/visitor/open",
        "/console/vault/step/owner/issue",
    ] {
        let answer = web.get(path);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    let watched = server.run(&["watch", "vault", "--from", "0-0", "--limit", "5", "--json"]);
    web.read.push(("watch".into(), format!("{}{}", watched.out, watched.err).into_bytes()));
    let exported = server.run(&["export", "-", "--readable"]).exits(0);
    assert!(exported.out.contains("\"SafeState\""), "it is readable");
    web.read.push(("export".into(), exported.out.into_bytes()));
    server.run(&["backup", "copy"]).exits(0);
    let explained = run_in(&folder, &["explain", "vault.design"]).exits(0);
    assert!(explained.out.contains("Who sees what") && explained.out.contains("`pin`: nobody"));

    // and everything that lies on the disk: store, keys, audit, log, copy, what the client keeps
    let mut server = server;
    let pid = server.process.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    server.process.0.wait().unwrap();
    fs::remove_file(folder.join("vault.design")).unwrap();
    every_file(&folder, &mut web.read);
    web.read.push(("spans".into(), spans.lock().unwrap().clone()));
    assert!(!spans.lock().unwrap().is_empty(), "spans were told");
    assert!(web.read.len() > 60, "{} places were looked at", web.read.len());
    for wanted in ["ledger.jsonl", "log", "copy/backup"] {
        assert!(web.read.iter().any(|(door, _)| door.ends_with(wanted)), "{wanted}");
    }
    for (door, bytes) in &web.read {
        for secret in [PIN, WRONG, &code, &from_form] {
            assert!(!holds(bytes, secret), "{door} tells {secret}");
            let base64 = base64_of(secret);
            assert!(!holds(bytes, &base64), "{door} tells {secret} in base64");
        }
    }
}

/// As it would stand somewhere in a longer text: the part that does not depend on what is around it.
fn base64_of(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = text.len() / 3 * 3;
    let chunks = text.as_bytes()[..whole].chunks(3);
    let letters = chunks.flat_map(|three| {
        let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(number >> shift & 63) as usize]))
    });
    letters.collect()
}

/// The keys outlive the server, are rotated while it runs, and a store without them says so.
#[test]
fn a_store_without_its_keys_says_which_key_is_missing() {
    let folder = folder_with("secrets-keys", "vault.design", VAULT);
    let words = ["vault.design", "--store", "embedded:./data"];
    let call = |server: &Server, operation: &str, words: &[&str]| {
        let actor = if operation == "set_pin" { "owner" } else { "visitor" };
        let mut all = vec!["call", "vault", actor, operation];
        all.extend(words);
        server.run(&all)
    };
    let server = Server::start(&folder, &words);
    call(&server, "set_pin", &["safe=s1", "pin=1234"]).exits(0);
    call(&server, "set_pin", &["safe=s2", "pin=5678"]).exits(0);
    server.run(&["backup", "copy"]).exits(0);
    drop(server);
    // after a restart
    let server = Server::start(&folder, &words);
    call(&server, "open", &["safe=s1", "pin=1234"]).exits(0);
    call(&server, "open", &["safe=s1", "pin=1235"]).exits(1).says("right");
    let keys = run_in(&folder, &["secrets", "list", "--json"]).exits(0).json();
    let old = keys["keys"][0]["id"].as_str().unwrap().to_string();
    assert_eq!(keys["keys"][0]["state"], "in use");
    let path = folder.join("steadfast-keys").join(format!("{old}.secrets"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // rotated while it runs: the one that is used moves on
    run_in(&folder, &["secrets", "retire", &old]).exits(2).says("rotate first");
    run_in(&folder, &["secrets", "rotate"]).exits(0).says("from now on");
    call(&server, "open", &["safe=s1", "pin=1234"]).exits(0);
    run_in(&folder, &["secrets", "retire", &old]).exits(0).says("set anew");
    assert!(!path.exists());
    call(&server, "open", &["safe=s1", "pin=1234"]).exits(0);
    let refused = call(&server, "open", &["safe=s2", "pin=5678"]);
    assert_ne!(refused.code, 0);
    refused.says(&old).says("which is not here");
    call(&server, "set_pin", &["safe=s2", "pin=5678"]).exits(0);
    call(&server, "open", &["safe=s2", "pin=5678"]).exits(0);
    run_in(&folder, &["audit", "show"])
        .exits(0)
        .says("key of secrets rotated")
        .says("key of secrets retired");
    run_in(&folder, &["audit", "verify"]).exits(0);
    drop(server);
    // restored beside other keys
    run_in(&folder, &["restore", "copy", "restored"]).exits(0);
    let words = ["vault.design", "--store", "embedded:./restored", "--keys", "other-keys"];
    let server = Server::start(&folder, &words);
    call(&server, "open", &["safe=s1", "pin=1234"]).says(&old).says("which is not here");
    call(&server, "open", &["safe=s1", "pin=0000"]).says(&old).says("which is not here");
    server.run(&["get", "vault", "Safe", "s1"]).exits(0).says("opened");
    call(&server, "set_pin", &["safe=s1", "pin=4321"]).exits(0);
    call(&server, "open", &["safe=s1", "pin=4321"]).exits(0);
    drop(server);
    // a key that is gone without having been retired
    fs::remove_file(
        fs::read_dir(folder.join("other-keys"))
            .unwrap()
            .map(|it| it.unwrap().path())
            .find(|path| path.extension().is_some_and(|ending| ending == "secrets"))
            .unwrap(),
    )
    .unwrap();
    let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
    all.extend(words);
    run_in(&folder, &all).exits(2).says(".secrets");
}
