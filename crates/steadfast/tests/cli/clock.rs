//! Time that is moved by hand, and the scripts that need it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::serving::Server;
use crate::cli::support::{folder, run_in};

const MANUAL: [&str; 5] = ["tickets", "--store", "memory:", "--clock", "manual"];

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into()
}

/// The status and the body of the answer.
fn post(server: &Server, path: &str, body: &Value) -> (u16, Value) {
    let asked = agent().post(format!("{}/v1/{path}", server.address));
    let asked = asked.content_type("application/json").send(body.to_string());
    let mut answer = asked.expect("the server answers");
    let text = answer.body_mut().read_to_string().expect("a text");
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

fn get(server: &Server, path: &str) -> Value {
    let mut answer = agent().get(format!("{}/v1/{path}", server.address)).call().expect("answers");
    serde_json::from_str(&answer.body_mut().read_to_string().expect("a text")).unwrap_or_default()
}

fn hold_a_seat(server: &Server) {
    let seat = json!({ "seat": "A1", "section": "A" });
    assert_eq!(post(server, "tickets/organizer/add_seat", &seat).0, 200);
    let hold = json!({ "seat": "A1", "booking": "b1", "ttl": "10m" });
    assert_eq!(post(server, "tickets/buyer/hold", &hold).0, 200);
}

fn status(server: &Server) -> Value {
    get(server, "tickets/Seat/A1")["truth"]["SeatInventoryState"]["status"].clone()
}

#[test]
fn time_stands_still_until_it_is_moved_and_then_what_is_due_happens() {
    let server = Server::start(&folder("clock-moved"), &MANUAL);
    hold_a_seat(&server);
    let now = get(&server, "clock")["now"].clone();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(get(&server, "clock")["now"], now);
    let (code, moved) = post(&server, "clock", &json!({ "advance": "10m" }));
    assert_eq!((code, &moved["repairs"]), (200, &json!(0)), "{moved}");
    assert_eq!(status(&server), "HELD");
    let (_, moved) = post(&server, "clock", &json!({ "advance": "1ms" }));
    assert_eq!(status(&server), "AVAILABLE", "{moved}");
}

#[test]
fn what_is_due_can_be_held_back_and_run_by_name() {
    let server = Server::start(&folder("clock-held"), &MANUAL);
    hold_a_seat(&server);
    post(&server, "clock", &json!({ "advance": "1h", "hold": true }));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(status(&server), "HELD", "nothing happens by itself");
    let release = json!({ "design": "tickets", "repair": "release", "key": ["A1"], "hold": true });
    let (code, done) = post(&server, "clock", &release);
    assert_eq!((code, &done["repairs"]), (200, &json!(1)), "{done}");
    assert_eq!(status(&server), "AVAILABLE");
    assert_eq!(post(&server, "clock", &release).1["repairs"], 0);
}

#[test]
fn time_does_not_go_back_and_wrong_wishes_are_told() {
    let server = Server::start(&folder("clock-wrong"), &MANUAL);
    for (wish, pointer) in [
        (json!({ "advance": "-1s" }), "/advance"),
        (json!({ "advance": "soon" }), "/advance"),
        (json!({ "to": "2001-01-01T00:00:00Z" }), "/to"),
        (json!({ "advance": "1s", "to": "2101-01-01T00:00:00Z" }), "/to"),
        (json!({ "hold": "yes" }), "/hold"),
        (json!({ "rewind": "1s" }), "/rewind"),
        (json!({ "repair": "release" }), "/design"),
        (json!({ "design": "tickets", "repair": "release" }), "/repair"),
    ] {
        let (code, said) = post(&server, "clock", &wish);
        assert!(code >= 400 && said.to_string().contains(pointer), "{wish}: {code} {said}");
    }
    let before = get(&server, "clock");
    assert_eq!(post(&server, "clock", &json!({ "to": before["now"] })).0, 200);
    assert_eq!(get(&server, "clock"), before);
}

#[test]
fn the_clock_of_the_machine_is_moved_by_nobody() {
    let server = Server::start(&folder("clock-system"), &["tickets", "--store", "memory:"]);
    let (code, said) = post(&server, "clock", &json!({ "advance": "1h" }));
    assert_eq!(code, 404);
    assert!(said.to_string().contains("--clock manual"), "{said}");
}

#[test]
fn two_clocks_never_write_one_store() {
    let here = folder("clock-stores");
    let serve = |store: &str, clock: &str, listen: &str| {
        let words = ["serve", "tickets", "--store", store, "--clock", clock, "--listen", listen];
        run_in(&here, &words)
    };
    let local = "127.0.0.1:0";
    serve("memory:", "manual", "0.0.0.0:0").exits(2).says("can be reached from elsewhere");
    let start = |store: &str, clock: &str| {
        Server::start(&here, &["tickets", "--store", store, "--clock", clock])
    };
    drop(start("embedded:./real", "system"));
    serve("embedded:./real", "manual", local).exits(2).says("written by the machine's clock");
    let server = start("embedded:./test", "manual");
    hold_a_seat(&server);
    drop(server);
    serve("embedded:./test", "system", local).exits(2).says("a clock that is moved by hand");
    let server = start("embedded:./test", "manual");
    assert_eq!(status(&server), "HELD", "the same store, and the same kind of clock");
}

/// The catalog's tickets, with all that they use, without one protection.
fn without(protection: &str) -> String {
    let flat = crate::cli::support::run(&["show", "tickets", "--flat"]).exits(0).out;
    // what is said about the protection goes with it
    let items = flat.split("\n\n");
    let said = |item: &&str| {
        !["failure", "protocol", "hotspot", "invariant", "recovers", "check"]
            .iter()
            .any(|word| item.starts_with(word))
    };
    let text = items.filter(said).collect::<Vec<_>>().join("\n\n");
    let part = |from: &str, to: &str| {
        let (before, rest) = text.split_once(from).unwrap_or_else(|| panic!("no {from}"));
        let (_, after) = rest.split_once(to).unwrap_or_else(|| panic!("no {to}"));
        format!("{before}{after}")
    };
    match protection {
        "hold.free" => part(" {\n    free:", "\n}"),
        "confirm.live" => part("    live:", "\n"),
        "release" => part("repair sweeper[release", "\n}\n"),
        other => panic!("{other}"),
    }
}

fn run_script(server: &Server, script: &Path) -> (i32, String) {
    let ran = Command::new("sh").arg(script).env("STEADFAST", &server.address).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran.status.code().unwrap_or(-1), format!("{}{said}", String::from_utf8_lossy(&ran.stdout)))
}

#[test]
fn a_script_ends_with_what_it_promises_where_the_protection_is_gone_and_only_there() {
    let here = folder("clock-scripts");
    run_in(&here, &["check", "tickets", "--replay", "replays"]).exits(0);
    for (script, protection, goal) in [
        ("tickets-seat-oversell.sh", "hold.free", "seat.one_winner"),
        ("tickets-seat-confirm-after-expiry-race.sh", "confirm.live", "seat.in_time"),
        ("tickets-seat-expired-hold-not-released.sh", "release", "seat.released"),
    ] {
        let script = here.join("replays").join(script);
        fs::create_dir_all(here.join(protection)).unwrap();
        fs::write(here.join(protection).join("tickets.design"), without(protection)).unwrap();
        let file = format!("{protection}/tickets.design");
        let mut words = MANUAL;
        words[0] = &file;
        let (code, out) = run_script(&Server::start(&here, &words), &script);
        assert_eq!(code, 0, "without {protection}: {out}");
        assert!(out.lines().last().is_some_and(|last| last.contains(goal)), "{out}");
        let (code, out) = run_script(&Server::start(&here, &MANUAL), &script);
        assert_eq!(code, 1, "with {protection}: {out}");
        assert!(out.contains("not so: "), "{out}");
    }
    // and where time cannot be moved, it says so
    let server = Server::start(&here, &["tickets", "--store", "memory:"]);
    let (code, out) = run_script(&server, &here.join("replays/tickets-seat-oversell.sh"));
    assert_eq!(code, 2, "{out}");
    assert!(out.contains("--clock manual"), "{out}");
}
