//! Commands against a live server.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::cli::support::{Ran, command, folder, root};

/// A process that is gone in the end.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Server {
    pub process: Running,
    pub address: String,
    pub folder: PathBuf,
    /// the first lines that it printed
    pub said: String,
    /// the lines to try that follow them
    pub tried: Vec<String>,
}

impl Server {
    /// Without a check in the background, which would keep the machine busy.
    pub fn start(folder: &Path, words: &[&str]) -> Server {
        let mut all = vec!["--no-background-check"];
        all.extend(words);
        Server::start_plain(folder, &all)
    }

    /// As it is started by hand.
    pub fn start_plain(folder: &Path, words: &[&str]) -> Server {
        let mut all = vec!["serve"];
        for (flag, usual) in [("--listen", "127.0.0.1:0"), ("--store", "embedded:./data")] {
            if !words.contains(&flag) {
                all.extend([flag, usual]);
            }
        }
        all.extend(words);
        let mut command = command(folder, &all);
        command.stdout(Stdio::piped()).env("XDG_STATE_HOME", folder.join("state"));
        Server::spawn(folder, command)
    }

    /// Starts a command that serves, whose output is read.
    pub fn spawn(folder: &Path, mut command: std::process::Command) -> Server {
        let mut process = Running(command.spawn().unwrap());
        let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let mut said = String::new();
        let address = loop {
            let line = lines.next().expect("the server says where it listens").unwrap();
            said.push_str(&format!("{line}\n"));
            if line.starts_with("console ")
                && let Some((_, address)) = line.split_once("http://")
            {
                break format!("http://{}", address.split('/').next().unwrap_or_default().trim());
            }
        };
        // a line for each design follows, then an empty one
        said.extend(lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()));
        // `try`, and what to type down to the call
        let mut tried = Vec::new();
        while !tried.last().is_some_and(|line: &String| line.contains("curl"))
            && let Some(Ok(line)) = lines.next()
        {
            tried.push(line);
        }
        // what is printed later must have somebody who reads it
        std::thread::spawn(move || lines.for_each(drop));
        Server { process, address, folder: folder.into(), said, tried }
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        let mut command = command(&self.folder, words);
        command.env("STEADFAST", &self.address).env("XDG_STATE_HOME", self.folder.join("state"));
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Waits until it has ended by itself, and answers with its exit code.
    pub fn ends(mut self, deadline: std::time::Instant) -> Option<Option<i32>> {
        while std::time::Instant::now() < deadline {
            if let Some(status) = self.process.0.try_wait().unwrap() {
                return Some(status.code());
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        None
    }

    /// kill -9
    pub fn kill(mut self) {
        self.process.0.kill().unwrap();
        self.process.0.wait().unwrap();
    }
}

#[test]
fn a_step_is_taken_refused_and_read_back() {
    let server = Server::start(&folder("serving-call"), &["tickets"]);
    let add = ["call", "tickets", "organizer", "add_seat", "seat=A1", "section=stalls"];
    server.run(&add).exits(0).says("done, revision");
    server.run(&add).exits(1).says("refused by `fresh`");
    let hold =
        ["call", "tickets", "buyer", "hold", "seat=A1", "booking=b1", "--as", "ann", "--json"];
    let held = server.run(&hold).exits(0).json();
    assert_eq!(held["outcome"], "done");
    let other = ["call", "tickets", "buyer", "hold", "seat=A1", "booking=b2", "--as", "bob"];
    server
        .run(&other)
        .exits(1)
        .says("refused by `free`")
        .says("this prevents seat: oversell")
        .says("Seat A1");
    server.run(&["get", "tickets", "Seat", "A1"]).exits(0).says("status HELD");
    server.run(&["get", "tickets", "Seat", "A9"]).exits(1).says("there is no Seat A9");
    let seen = server.run(&["view", "tickets", "Availability", "section=stalls"]).exits(0);
    seen.says("revision 0-");
    // what is wrong is told, with what to do next
    for (asked, meant) in [
        (["call", "ticket", "buyer", "hold"], "did you mean `tickets`?"),
        (["call", "tickets", "buyr", "hold"], "did you mean `buyer`?"),
        (["call", "tickets", "buyer", "hodl"], "did you mean `hold`?"),
        (["get", "tickets", "Seta", "A1"], "did you mean `Seat`?"),
    ] {
        server.run(&asked).exits(2).says(meant);
    }
    server.run(&["call", "tickets", "buyer", "fly"]).exits(2);
    server
        .run(&["call", "tickets", "sweeper", "release", "seat=A1"])
        .exits(2)
        .says("nobody calls `release`: it is a repair, which the server runs by itself");
    server
        .run(&["call", "tickets", "sweeper", "sweep"])
        .exits(2)
        .says("`sweeper` has no step or read that can be called");
    server.run(&["call", "tickets", "buyer", "hold", "seat=A1"]).exits(2).says("(at `/booking`)");
    let nowhere = ["get", "tickets", "Seat", "A1", "--server", "http://127.0.0.1:9"];
    server.run(&nowhere).exits(2).says("steadfast serve DESIGN");
}

#[test]
fn a_key_of_several_parts_is_given_as_it_is_printed() {
    let folder = folder("serving-parts");
    let text = "design Lockers\nactor clerk\n\
                subject Locker(row: text, nr: int) { truth Taken { by: text? } }\n\
                step clerk[take(locker: Locker)] { Taken.by := \"x\" }\n\
                subject Door(locker: Locker, side: text) { truth Opened { times: int = 0 } }\n\
                step clerk[open(door: Door)] { Opened.times += 1 }\n";
    fs::write(folder.join("lockers.design"), text).unwrap();
    let server = Server::start(&folder, &["lockers.design"]);
    let take = |locker: &str| server.run(&["call", "lockers", "clerk", "take", locker]);
    take("locker=L1/2").exits(0).says("Locker L1/2");
    take("locker:=[\"L1\",3]").exits(0).says("Locker L1/3");
    take("locker=L1").exits(2).says("(at `/locker`)");
    take("locker=L1/2/3").exits(2).says("(at `/locker`)");
    take("locker=L1/two").exits(2).says("(at `/locker");
    // a key in a key
    let open = |door: &str| server.run(&["call", "lockers", "clerk", "open", door]);
    open("door=L1/2/left").exits(0).says("Door L1/2/left");
    server.run(&["get", "lockers", "Door", "L1/2/left"]).exits(0).says("times 1");
    server.run(&["get", "lockers", "Locker", "L1/2"]).exits(0).says("by x");
    server.run(&["get", "lockers", "Locker", "L1", "2"]).exits(0).says("by x");
    server.run(&["get", "lockers", "Locker", "L1"]).exits(2).says("also needs `nr`");
}

#[test]
fn what_a_step_hands_out_is_remembered_between_calls() {
    let server = Server::start(&folder("serving-memory"), &["I02"]);
    let claim = ["call", "I02", "claimant", "claim", "resource=r1", "ttl=1m", "--as", "ann"];
    server.run(&claim).exits(0).says("my_epoch is remembered");
    let renew = |who: &'static str| {
        server.run(&["call", "I02", "holder", "renew", "resource=r1", "ttl=1m", "--as", who])
    };
    renew("ann").exits(0);
    renew("bob").exits(1).says("refused by `fenced`");
    let forgetful =
        ["call", "I02", "holder", "renew", "resource=r1", "ttl=1m", "--as", "ann", "--forgetful"];
    server.run(&forgetful).exits(1);
}

#[test]
fn a_store_is_copied_while_it_serves_and_comes_back() {
    let folder = folder("serving-backup");
    let server = Server::start(&folder, &["tickets"]);
    for seat in ["seat=A1", "seat=A2"] {
        server.run(&["call", "tickets", "organizer", "add_seat", seat, "section=s"]).exits(0);
    }
    let copied = server.run(&["backup", "copy", "--json"]).exits(0).json();
    assert!(copied["records"].as_u64().unwrap() >= 2, "{copied}");
    server.run(&["backup", "data"]).exits(2).says("is not empty");
    server.run(&["backup", "verify", "copy"]).exits(0).says("whole");
    server.run(&["export", "all.jsonl"]).exits(0).says("exported");
    // one line a record, with what it means, which is taken back in
    server.run(&["export", "readable.jsonl", "--readable"]).exits(0).says("exported");
    let lines = std::fs::read_to_string(folder.join("readable.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seat = lines.iter().map(|line| &line["record"]).find(|it| it["key"][0] == "A1").unwrap();
    assert_eq!(seat["subject"], "Seat");
    assert!(seat["truth"].to_string().contains(r#""section":"s""#), "{seat}");
    server.run(&["import", "readable.jsonl", "readable"]).exits(0).says("imported");
    // an edit of what it means would not count, so it is refused, and nothing is left
    let text = std::fs::read_to_string(folder.join("readable.jsonl")).unwrap();
    let edited = text.replace(r#""section":"s""#, r#""section":"balcony""#);
    assert_ne!(text, edited);
    std::fs::write(folder.join("edited.jsonl"), edited).unwrap();
    server.run(&["import", "edited.jsonl", "edited"]).exits(2).says("it was edited");
    assert!(!folder.join("edited").exists());
    let fewer: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let head = text.lines().next().unwrap().replace("\"records\":", "\"records\":9");
    std::fs::write(folder.join("fewer.jsonl"), format!("{head}\n{fewer}")).unwrap();
    server.run(&["import", "fewer.jsonl", "fewer"]).exits(2).says("were exported");
    assert!(!folder.join("fewer").exists());
    // a directory that is being served is not touched behind the server's back
    server
        .run(&["export", "x.jsonl", "--from", "data"])
        .exits(2)
        .says("is open in another process");
    server.run(&["call", "tickets", "organizer", "add_seat", "seat=A3", "section=s"]).exits(0);
    // a backup is added to, and restored to where it was before
    server.run(&["backup", "copy"]).exits(0).says("copied");
    let before = copied["revision"].as_str().unwrap();
    server.run(&["restore", "copy", "back", "--to", before]).exits(0).says(before);
    server.run(&["restore", "copy", "none", "--to", "0-999999"]).exits(2).says("not in it");
    server.run(&["import", "all.jsonl", "again"]).exits(0).says("imported");
    std::fs::remove_file(folder.join("copy/backup")).unwrap();
    server.run(&["backup", "verify", "copy"]).exits(1).says("was not finished");
    server.run(&["restore", "copy", "cut"]).exits(2).says("was not finished");
    drop(server);
    for (store, seats) in [("embedded:./back", 2), ("embedded:./again", 2), ("embedded:./data", 3)]
    {
        let server = Server::start(&folder, &["tickets", "--store", store]);
        let there = ["A1", "A2", "A3"]
            .iter()
            .filter(|seat| server.run(&["get", "tickets", "Seat", seat]).code == 0);
        assert_eq!(there.count(), seats, "{store}");
        server.run(&["call", "tickets", "buyer", "hold", "seat=A2", "booking=b2"]).exits(0);
    }
    // the history of a store that was imported begins after what was imported
    let verified = command(&folder, &["verify", "again", "--json"]).output().unwrap();
    let told = String::from_utf8_lossy(&verified.stdout);
    assert!(verified.status.success(), "{told}");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["designs"][0]["transitions"], 1, "{told:#}");
}

#[test]
fn who_watches_misses_nothing_when_the_server_is_killed() {
    let folder = folder("serving-watch");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap().to_string();
    drop(free);
    let serve = || Server::start(&folder, &["tickets", "--listen", &listen]);
    let server = serve();
    let mut watch =
        command(&folder, &["watch", "tickets", "--from", "0-0", "--limit", "4", "--json"]);
    watch.env("STEADFAST", &server.address).stdout(Stdio::piped());
    let mut watch = Running(watch.spawn().unwrap());
    let mut seen = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    let add = |server: &Server, seat: &str| {
        let seat = format!("seat={seat}");
        server.run(&["call", "tickets", "organizer", "add_seat", &seat, "section=s"]).exits(0);
    };
    let mut next = || -> Value { serde_json::from_str(&seen.next().unwrap().unwrap()).unwrap() };
    add(&server, "W1");
    let mut keys = vec![next()["changes"][0]["key"][0].clone()];
    add(&server, "W2");
    server.kill();
    let server = serve();
    for seat in ["X1", "X2"] {
        add(&server, seat);
    }
    keys.extend((0..3).map(|_| next()["changes"][0]["key"][0].clone()));
    assert_eq!(keys, ["W1", "W2", "X1", "X2"], "one after the other, none left out");
    assert!(watch.0.wait().unwrap().success());
}

/// Takes the replay script of a failure and makes its calls on a live server: the guard that the
/// history goes without refuses there, and nowhere else.
#[test]
fn a_replayed_history_is_refused_where_it_says() {
    let folder = folder("serving-replay");
    let words = ["tickets", "--store", "memory:", "--clock", "manual"];
    let server = Server::start(&folder, &words);
    server.run(&["check", "tickets", "--replay", "replays", "--traces"]).exits(0);
    let scripts: Vec<PathBuf> =
        fs::read_dir(folder.join("replays")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let script = scripts
        .iter()
        .find(|path| fs::read_to_string(path).unwrap().contains("hold.free refuses here"))
        .unwrap_or_else(|| panic!("{scripts:?}"));
    let text = fs::read_to_string(script).unwrap();
    let ran = Command::new("sh").arg(script).env("STEADFAST", &server.address).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "what it promises does not come true: {out}\n{said}");
    assert!(out.contains("not so: `seat.one_winner` does not hold"), "{out}");
    // calls and answers stand in turn
    let answers: Vec<Value> =
        out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut refused_at = Vec::new();
    let mut calls = 0;
    let mut expected = false;
    for line in text.lines() {
        expected |= line.contains("hold.free refuses here");
        if line.starts_with("call ") {
            if std::mem::take(&mut expected) {
                refused_at.push(calls);
            }
            calls += 1;
        }
    }
    assert_eq!(answers.len(), calls, "{out}");
    let first = refused_at[0];
    for (at, answer) in answers.iter().enumerate().take(first + 1) {
        let guard = answer["guard"].as_str();
        assert_eq!(guard, (at == first).then_some("free"), "call {at} of\n{out}");
    }
}

fn receiver(secrets: &[&str]) -> (Running, String, std::sync::mpsc::Receiver<Value>) {
    let mut python = Command::new("python3");
    python.arg(root().join("examples/receiver.py")).args(["--port", "0"]);
    for secret in secrets {
        python.args(["--secret", secret]);
    }
    let mut process = Running(python.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let url = format!("http://127.0.0.1:{}/", first["listening"]);
    let (sender, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str(&line).unwrap());
        }
    });
    (process, url, received)
}

const OLD: &str = "whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk";
const NEW: &str = "whsec_bmV3bmV3bmV3bmV3bmV3bmV3bmV3bmV3";

fn sell(server: &Server, seat: &str) {
    let (seat_is, booking_is) = (format!("seat={seat}"), format!("booking=b-{seat}"));
    server.run(&["call", "tickets", "organizer", "add_seat", &seat_is, "section=s"]).exits(0);
    server.run(&["call", "tickets", "buyer", "hold", &seat_is, &booking_is]).exits(0);
    server.run(&["call", "tickets", "buyer", "confirm", &booking_is]).exits(0);
}

#[test]
fn events_are_told_across_crashes_and_changes_of_secrets() {
    let folder = folder("serving-webhooks");
    let (_receiver, url, received) = receiver(&[OLD, NEW]);
    let serve = |secrets: &[&str]| {
        let signed: Vec<String> =
            secrets.iter().map(|secret| format!("--webhook-secret={url}={secret}")).collect();
        let mut words = vec!["tickets", "--webhook", &url];
        words.extend(signed.iter().map(String::as_str));
        Server::start(&folder, &words)
    };
    let mut told = Vec::new();
    // the old secret, both, the new one; between them the server is killed right after an answer
    for (round, secrets) in [&[OLD][..], &[OLD, NEW], &[NEW]].iter().enumerate() {
        let server = serve(secrets);
        for n in 0..3 {
            sell(&server, &format!("S{round}-{n}"));
        }
        server.kill();
    }
    let server = serve(&[NEW]);
    while told.len() < 9 {
        let event = received.recv_timeout(Duration::from_secs(60)).expect("no event is lost");
        assert_eq!(event["type"], "Tickets.BookingConfirmed");
        told.push(event["data"]["seat"].as_str().unwrap().to_string());
    }
    let expected: Vec<String> =
        (0..3).flat_map(|round| (0..3).map(move |n| format!("S{round}-{n}"))).collect();
    assert_eq!(told, expected, "in order, each once: the receiver knows what it has seen");
    drop(server);
}

#[test]
fn a_receiver_believes_only_what_is_signed() {
    let (_receiver, url, received) = receiver(&[NEW]);
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap().to_string();
    let secret = outgoing::Secret::parse(NEW).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let now = i64::try_from(now).unwrap();
    let post = |id: &str, at: i64, signature: &str, body: &str| {
        let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nwebhook-id: {id}\r\nwebhook-timestamp: {at}\r\n\
             webhook-signature: {signature}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().to_string()
    };
    let body = r#"{"n":1}"#;
    let good = outgoing::sign(std::slice::from_ref(&secret), "m1", now, body.as_bytes());
    let old = outgoing::sign(&[secret], "m1", now - 301, body.as_bytes());
    let other =
        outgoing::sign(&[outgoing::Secret::parse(OLD).unwrap()], "m1", now, body.as_bytes());
    assert_eq!(post("m1", now, &good, r#"{"n":2}"#), "401", "a body that was tampered with");
    assert_eq!(post("m2", now, &good, body), "401", "another identity");
    assert_eq!(post("m1", now - 301, &old, body), "401", "an old one");
    assert_eq!(post("m1", now, &other, body), "401", "a secret that was taken away");
    assert_eq!(post("m1", now, "", body), "401", "no signature");
    assert_eq!(post("m1", now, &good, body), "204");
    assert_eq!(post("m1", now, &good, body), "204", "the second is answered");
    assert_eq!(received.recv_timeout(Duration::from_secs(30)).unwrap()["n"], 1);
    assert!(received.recv_timeout(Duration::from_millis(200)).is_err(), "and not told again");
}
