//! Tokens, keys and the audit log, by the commands of whoever operates a service.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::cli::serving::Server;
use crate::cli::support::{Ran, command, folder, run_in};

/// The server asks for tokens; its keys are those that the commands make.
fn guarded(test: &str) -> Server {
    let folder = folder(test);
    Server::start(&folder, &["tickets", "--tokens"])
}

fn with(server: &Server, token: &str, words: &[&str]) -> Ran {
    let mut command = command(&server.folder, words);
    command.env("STEADFAST", &server.address).env("XDG_STATE_HOME", server.folder.join("state"));
    let output = command.env("STEADFAST_TOKEN", token).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_token_lets_its_principal_do_what_its_role_may_until_it_is_taken_back() {
    let server = guarded("tokens");
    let add = ["call", "tickets", "organizer", "add_seat", "seat=A1", "section=s"];
    server.run(&add).exits(2).says("a call presents a token").says("STEADFAST_TOKEN");
    let issued = server.run(&["token", "new", "olga", "--role", "organizer"]).exits(0);
    let olga = issued.out.trim().to_string();
    assert_eq!(olga.split('.').count(), 3, "the token and nothing else: {olga}");
    assert!(issued.err.contains("is good until"), "{}", issued.err);
    with(&server, &olga, &add).exits(0);
    let hold = ["call", "tickets", "buyer", "hold", "seat=A1", "booking=b1"];
    with(&server, &olga, &hold)
        .exits(1)
        .says("refused: the caller has another role")
        .says("`buyer`");
    let ann = ["token", "new", "ann", "--role", "tickets/buyer", "--expires", "15m", "--json"];
    let ann = server.run(&ann).exits(0).json();
    assert_eq!((&ann["principal"], &ann["roles"][0]), (&"ann".into(), &"tickets/buyer".into()));
    with(&server, ann["token"].as_str().unwrap(), &hold).exits(0);
    let told = server.run(&["token", "inspect", &olga]).exits(0);
    told.says("olga").says("organizer");
    server.run(&["token", "list"]).exits(0).says("ann").says("olga");
    let id = ann["id"].as_str().unwrap();
    server.run(&["token", "revoke", id]).exits(0).says("is revoked");
    let seat = ["get", "tickets", "Seat", "A1"];
    with(&server, ann["token"].as_str().unwrap(), &seat).exits(2).says("revoked");
    // she is let in; seats are for those who read them, and an organizer does not
    with(&server, &olga, &seat).exits(1).says("there is no Seat A1");
    server.run(&["token", "revoke", "--principal", "olga"]).exits(0).says("are revoked: 1");
    with(&server, &olga, &seat).exits(2).says("revoked");
    // wrong words are told apart from wrong tokens
    server.run(&["token", "new", "ann"]).exits(2).says("--role");
    server.run(&["token", "new", "ann", "--role", "buyer", "--expires", "soon"]).exits(2);
    server.run(&["token", "inspect", "nonsense"]).exits(1).says("not good: malformed");
    // an id may begin with a hyphen, as one in 64 does
    server.run(&["token", "revoke", "-Exyz0123"]).exits(0).says("token -Exyz0123 is revoked");
    let elsewhere = ["token", "list", "--keys", "nowhere"];
    server.run(&elsewhere).exits(2).says("help:");
}

#[test]
fn keys_are_rotated_and_what_they_signed_goes_with_them() {
    let server = guarded("tokens-keys");
    let seat = ["get", "tickets", "Seat", "A1"];
    let token = |server: &Server| {
        let issued = server.run(&["token", "new", "olga", "--all-roles"]).exits(0);
        issued.out.trim().to_string()
    };
    let old = token(&server);
    with(&server, &old, &seat).exits(1).says("there is no Seat A1");
    let keys = server.run(&["token", "keys", "list", "--json"]).exits(0).out;
    server.run(&["token", "keys", "rotate"]).exits(0);
    let new = token(&server);
    with(&server, &old, &seat).exits(1);
    with(&server, &new, &seat).exits(1);
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let first = keys["keys"][0]["id"].as_str().unwrap().to_string();
    server.run(&["token", "keys", "retire", &first]).exits(0);
    with(&server, &old, &seat).exits(2);
    with(&server, &new, &seat).exits(1);
}

#[test]
fn the_log_says_what_was_done_and_whether_anybody_changed_it() {
    let server = guarded("audit");
    let issued = server.run(&["token", "new", "olga", "--all-roles"]).exits(0);
    let olga = issued.out.trim().to_string();
    with(&server, &olga, &["backup", "copy"]).exits(0);
    server.run(&["get", "tickets", "Seat", "A1"]).exits(2);
    server.run(&["restore", "copy", "back"]).exits(0);
    with(&server, &olga, &["export", "all.jsonl"]).exits(0);
    server.run(&["import", "all.jsonl", "again"]).exits(0);
    server.run(&["token", "revoke", "--principal", "olga"]).exits(0);
    let folder = server.folder.clone();
    drop(server);
    let shown = run_in(&folder, &["audit", "show"]).exits(0);
    for act in [
        "key made",
        "server started",
        "token issued",
        "store copied",
        "unauthenticated",
        "store restored",
        "token revoked",
    ] {
        assert!(shown.out.contains(act), "no `{act}` in\n{}", shown.out);
    }
    assert_eq!(shown.out.matches("store restored").count(), 2, "{}", shown.out);
    assert!(!shown.out.contains(&olga), "a token is not written down");
    let last = run_in(&folder, &["audit", "show", "--last", "1", "--json"]).exits(0).json();
    assert_eq!(last["entries"].as_array().unwrap().len(), 1, "{last}");
    let holds = run_in(&folder, &["audit", "verify", "--json"]).exits(0).json();
    assert_eq!(holds["holds"], true);
    let hash = holds["last"].as_str().unwrap();
    run_in(&folder, &["audit", "verify", "--expect", hash]).exits(0).says("holds");
    let path = folder.join("steadfast-keys/audit.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    // a line cut from the end is found by whoever noted the hash
    let shorter = text.trim_end().rsplit_once('\n').unwrap().0.to_string() + "\n";
    fs::write(&path, shorter).unwrap();
    run_in(&folder, &["audit", "verify"]).exits(0);
    let cut = run_in(&folder, &["audit", "verify", "--expect", hash]).exits(1);
    cut.says("ends before");
    // and a changed one by anybody
    fs::write(&path, text.replacen("olga", "eve!", 1)).unwrap();
    run_in(&folder, &["audit", "verify"]).exits(1).says("broken in line");
    run_in(&folder, &["audit", "show"]).exits(1).says("broken in line");
    // and a log that was emptied, which has no line that could be broken
    fs::write(&path, "").unwrap();
    run_in(&folder, &["audit", "verify"]).exits(1).says("ends before any signature");
    run_in(&folder, &["audit", "verify", "--keys", "nowhere"]).exits(2).says("help:");
}

#[test]
fn keys_that_are_made_on_the_way_are_told() {
    let folder = folder("tokens-elsewhere");
    let new = ["token", "new", "ann", "--role", "buyer", "--keys", "k2"];
    let first = run_in(&folder, &new).exits(0);
    assert!(first.err.contains("note: new keys were made in `k2`"), "{}", first.err);
    assert_eq!(first.out.trim().split('.').count(), 3, "the token and nothing else");
    let second = run_in(&folder, &new).exits(0);
    assert!(!second.err.contains("note:"), "{}", second.err);
}

/// What a server with keys of its own prints to type is what gets a caller in.
#[test]
fn the_printed_token_command_names_the_keys_of_the_server() {
    let folder = folder("tokens-printed");
    let server = Server::start(&folder, &["tickets", "--tokens", "--keys", "k2"]);
    let line = server.tried.iter().find(|line| line.contains("token new")).unwrap();
    let words = line.trim().strip_prefix("TOKEN=$(steadfast ").unwrap().trim_end_matches(')');
    let words: Vec<&str> = words.split(' ').collect();
    let token = server.run(&words).exits(0).out.trim().to_string();
    let add = ["call", "tickets", "organizer", "add_seat", "seat=A1", "section=s"];
    with(&server, &token, &add).exits(0);
}

/// Strangers open connections and say nothing: the store and the keys have descriptors all the same.
#[test]
fn strangers_take_no_descriptor_that_the_store_or_the_keys_need() {
    let folder = folder("tokens-strangers");
    let words =
        ["serve", "tickets", "--tokens", "--no-background-check", "--listen", "127.0.0.1:0"];
    let plain = command(&folder, &words);
    let mut few = std::process::Command::new("sh");
    few.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(plain.get_program());
    few.args(plain.get_args()).args(["--store", "embedded:./data"]).current_dir(&folder);
    few.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    few.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let server = Server::spawn(&folder, few);
    let token = server.run(&["token", "new", "olga", "--all-roles"]).exits(0).out;
    let address = server.address.strip_prefix("http://").unwrap().to_string();
    let mut honest = BufReader::new(TcpStream::connect(&address).unwrap());
    let mut add = |seat: usize, token: &str| {
        let body = format!("{{\"seat\":\"S{seat}\",\"section\":\"s\"}}");
        let head = format!(
            "POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/json\r\nauthorization: Bearer {}\r\n\
             content-length: {}\r\n\r\n{body}",
            token.trim(),
            body.len()
        );
        honest.get_mut().write_all(head.as_bytes()).unwrap();
        let (mut status, mut line, mut length) = (String::new(), String::new(), 0);
        honest.read_line(&mut status).unwrap();
        while line != "\r\n" {
            line.clear();
            honest.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        honest.read_exact(&mut vec![0; length]).unwrap();
        status.split(' ').nth(1).unwrap().to_string()
    };
    assert_eq!(add(0, &token), "200");
    // as many as there may be stay, and the others are let go
    let mut strangers = std::collections::VecDeque::new();
    for _ in 0..1_000 {
        strangers.push_back(TcpStream::connect(&address).unwrap());
        if strangers.len() > 300 {
            strangers.remove(200);
        }
    }
    for seat in 1..200 {
        assert_eq!(add(seat, &token), "200");
    }
    // a token that was never seen before, and one that is taken back
    let new = run_in(&folder, &["token", "new", "ann", "--all-roles"]).exits(0).out;
    assert_eq!(add(200, &new), "200");
    run_in(&folder, &["token", "revoke", "--principal", "ann"]).exits(0);
    assert_eq!(add(201, &new), "401");
    assert_eq!(add(201, &token), "200");
}
