//! A store with an entry that cannot be read: it serves, says so, and the entry can be tried again.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::serving::Server;
use crate::cli::support::{Ran, command, folder};

/// Asks until it is answered so, for as long as a slow machine may take.
fn until(server: &Server, words: &[&str], code: i32) -> Ran {
    let begun = Instant::now();
    loop {
        let ran = server.run(words);
        if ran.code == code || begun.elapsed() > Duration::from_secs(120) {
            return ran.exits(code);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_damaged_entry_is_logged_listed_tried_again_and_discarded() {
    let folder = folder("serving-aside");
    let server = Server::start(&folder, &["tickets"]);
    server.run(&["aside", "tickets"]).exits(0).says("nothing was set aside");
    server.run(&["call", "tickets", "organizer", "add_seat", "seat=A1", "section=s"]).exits(0);
    server.run(&["export", "all.jsonl"]).exits(0);
    drop(server);
    // a due repair whose key ends early
    let exported = fs::read_to_string(folder.join("all.jsonl")).unwrap();
    let (head, records) = exported.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["records"] = json!(head["records"].as_u64().unwrap() + 1);
    let damaged = json!({ "key": "\0\0t\0", "value": "" });
    fs::write(folder.join("damaged.jsonl"), format!("{head}\n{records}{damaged}\n")).unwrap();
    let imported = command(&folder, &["import", "damaged.jsonl", "again"]).output().unwrap();
    assert!(imported.status.success(), "{imported:?}");

    let words = ["serve", "tickets", "--listen", "127.0.0.1:0", "--store", "embedded:./again"];
    let mut serve = command(&folder, &words);
    serve.args(["--no-background-check", "--log", "info"]);
    serve.env("XDG_STATE_HOME", folder.join("state")).stdout(Stdio::piped());
    let log = folder.join("log");
    serve.stderr(File::create(&log).unwrap());
    let server = Server::spawn(&folder, serve);
    let listed = until(&server, &["aside", "tickets"], 1);
    listed.says("due repair").says(r"key \x00\x00t\x00").says("it ends too early");
    // everything else goes on
    server.run(&["get", "tickets", "Seat", "A1"]).exits(0);
    server.run(&["aside", "tickets", "--retry", "all"]).exits(0).says("in its queue again");
    let again = until(&server, &["aside", "tickets", "--json"], 1).json();
    let id = again["entries"][0]["id"].as_str().unwrap().to_string();
    server.run(&["aside", "tickets", "--discard", &id]).exits(0).says("discarded");
    server.run(&["aside", "tickets", "--discard", &id]).exits(1).says("nothing is set aside");
    server.run(&["aside", "tickets"]).exits(0);
    drop(server);

    let log = fs::read_to_string(log).unwrap();
    for part in [
        " info: the store was recovered store=embedded:./again ",
        " error: an entry was set aside; everything else goes on design=Tickets space=\"due repair\" \
         key=\\x00\\x00t\\x00 reason=\"the due repair key `",
        " info: an entry set aside is tried again design=Tickets id=",
        " info: an entry set aside was discarded design=Tickets id=",
    ] {
        assert!(log.contains(part), "no `{part}` in\n{log}");
    }
}
