//! A client at work while its network loses an answer and its server is killed and started again.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::cut::Network;
use super::{node, write};
use crate::drives::served::Served;
use crate::openapi::python::{programs, run};
use crate::openapi::served::folder;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a program of a client beside a server on a store in `folder`. The answer to its `hold` of A2 is lost; then the
/// server is killed and started again. Gives what the program said at its end.
fn worked(folder: &Path, program: &mut Command) -> Value {
    let network = Network::start(["/buyer/hold", "\"A2\""]);
    let serve = || {
        let served = Served::start(folder, "tickets", &[]).unwrap();
        let (server, _) = served.url.split_once("/v1/").unwrap();
        let place = server.strip_prefix("http://").unwrap().to_string();
        network.lead_to(Some(&place));
        served
    };
    let mut served = serve();
    let child = program.arg(&network.url).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let child = child.unwrap();
    // carried out and durable, and nobody was told
    network.lost.recv_timeout(PATIENCE).expect("the hold of A2 arrives");
    network.lead_to(None);
    served.kill();
    std::thread::sleep(Duration::from_millis(300));
    let _served = serve();
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success(), "{}", said.status);
    let text = String::from_utf8(said.stdout).unwrap();
    serde_json::from_str(text.trim().lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The same of each language.
fn expect(said: &Value) {
    assert_eq!(said["first"], "done");
    let prevents = ["seat: oversell", "seat: duplicate hold"];
    let refused = json!({ "guard": "free", "prevents": prevents, "status": "HELD" });
    assert_eq!(said["refused"], refused);
    // the retry was answered as the first try would have been: the seat is held by this booking, once
    assert_eq!(said["second"], json!({ "outcome": "done", "booking": "b2" }));
    assert_eq!(said["wrong"], json!({ "status": 422, "pointer": "/ttl" }));
    assert_eq!(said["absent"], Value::Null);
    assert_eq!(said["sold"], json!(["A2"]));
    assert_eq!(said["counted"], 2);
    assert_eq!(
        said["feed"],
        json!([
            "add_seat A1",
            "add_seat A2",
            "add_seat A3",
            "add_seat A4",
            "hold A1",
            "hold A2",
            "confirm A2 BookingConfirmed",
        ])
    );
}

#[test]
fn a_client_in_typescript_survives_a_lost_answer_and_a_restart() {
    let folder = folder("client-used-typescript");
    write("tickets", "typescript", &folder);
    std::fs::write(folder.join("used.ts"), include_str!("used.ts")).unwrap();
    std::fs::write(folder.join("package.json"), "{\"type\": \"module\"}").unwrap();
    run(node::tsc().current_dir(&folder).args(["--outDir", "out", "used.ts"]));
    let said = worked(&folder, Command::new("node").current_dir(&folder).arg("out/used.js"));
    expect(&said);
}

#[test]
fn a_client_in_python_survives_a_lost_answer_and_a_restart() {
    let folder = folder("client-used-python");
    write("tickets", "python", &folder);
    std::fs::write(folder.join("used.py"), include_str!("used.py")).unwrap();
    run(Command::new(programs().join("mypy")).current_dir(&folder).args([
        "--strict",
        "--python-version",
        "3.9",
        "used.py",
    ]));
    let python = programs().join("python");
    let said = worked(&folder, Command::new(python).current_dir(&folder).arg("used.py"));
    expect(&said);
}

/// What a program says of a design that hands out memory, in either language.
fn expect_remembered(folder: &Path, program: &mut Command) {
    let served = Served::start(folder, "I02", &[]).unwrap();
    let (server, _) = served.url.split_once("/v1/").unwrap();
    let said: Value = serde_json::from_str(run(program.arg(server)).trim()).unwrap();
    let expected = json!({
        "renewed": "done", "bob": "fenced", "other": "fenced", "again": "done",
        "forgetful": "fenced", "owner": "ann",
    });
    assert_eq!(said, expected);
}

#[test]
fn a_client_in_typescript_presents_what_it_was_given_to_remember() {
    let folder = folder("client-remembers-typescript");
    write("I02", "typescript", &folder);
    std::fs::write(folder.join("remember.ts"), include_str!("remember.ts")).unwrap();
    std::fs::write(folder.join("package.json"), "{\"type\": \"module\"}").unwrap();
    run(node::tsc().current_dir(&folder).args(["--outDir", "out", "remember.ts"]));
    expect_remembered(&folder, Command::new("node").current_dir(&folder).arg("out/remember.js"));
}

#[test]
fn a_client_in_python_presents_what_it_was_given_to_remember() {
    let folder = folder("client-remembers-python");
    write("I02", "python", &folder);
    std::fs::write(folder.join("remember.py"), include_str!("remember.py")).unwrap();
    run(Command::new(programs().join("mypy")).current_dir(&folder).args([
        "--strict",
        "--python-version",
        "3.9",
        "remember.py",
    ]));
    let python = programs().join("python");
    expect_remembered(&folder, Command::new(python).current_dir(&folder).arg("remember.py"));
}
