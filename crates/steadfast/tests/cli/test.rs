//! `steadfast test`, and the same calls made to a server.

use std::collections::BTreeMap;
use std::fs;

use design::model::{OperationKind, TestLineKind, TestOutcome};
use rehearsal::Values;
use serde_json::{Map, Value, json};

use crate::cli::serving::Server;
use crate::cli::support::{SOUND, folder, folder_with, root, run, run_in};

/// The first design that a page shows, the second, …
fn shown(page: &str, number: usize) -> String {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let found = page.split("```design\n").nth(number + 1).unwrap();
    found.split("```").next().unwrap().to_string()
}

fn tickets() -> String {
    shown("docs/language/tests.md", 0)
}

#[test]
fn tests_that_pass_are_a_yes() {
    let folder = folder_with("tests-pass", "tickets.design", &tickets());
    run_in(&folder, &["test", "tickets.design"])
        .exits(0)
        .says("  ok      two buyers, one seat")
        .says("2 tests passed")
        .says("step confirm: never refused by `open`");
    run_in(&folder, &["test", "tickets.design", "--covered"]).exits(1);
    let only = run_in(&folder, &["test", "tickets.design", "--only", "again"]).exits(0);
    assert!(!only.out.contains("two buyers"), "{}", only.out);
    run_in(&folder, &["test", "tickets.design", "--only", "nobody"])
        .exits(2)
        .says("no test of `tickets.design` is called `nobody`");
}

#[test]
fn a_guard_that_is_gone_is_a_no_with_its_line() {
    let text = tickets()
        .replace("free: SeatState.status = FREE", "free: SeatState.status in {FREE, HELD, SOLD}");
    let line = 1 + text.lines().position(|line| line.contains("refused free")).unwrap();
    let folder = folder_with("tests-fail", "tickets.design", &text);
    run_in(&folder, &["test", "tickets.design"])
        .exits(1)
        .says("  failed  two buyers, one seat")
        .says(&format!("tickets.design:{line}: buyer bob: hold(A1, b2) refused free"))
        .says("expected: refused by `free`")
        .says("happened: it is done")
        .says("truth: Booking(b2)")
        .says("2 tests, 1 failed");
    let told = run_in(&folder, &["test", "tickets.design", "--json"]).exits(1).json();
    assert_eq!(told["format"], "steadfast-test/1");
    let first = &told["designs"][0]["tests"][0];
    assert_eq!((&first["passed"], &first["failure"]["line"]), (&json!(false), &json!(line)));
    assert_eq!(first["failure"]["expected"], "refused by `free`");
}

#[test]
fn a_text_without_tests_or_with_wrong_ones_is_wrong_usage() {
    let folder = folder_with("tests-none", "door.design", SOUND);
    run_in(&folder, &["test", "door.design"]).exits(2).says("`door.design` has no tests");
    let wrong = tickets().replace("buyer bob: confirm(b2) ok", "buyer bob: confrim(b2) ok");
    fs::write(folder.join("wrong.design"), wrong).unwrap();
    run_in(&folder, &["test", "wrong.design"])
        .exits(2)
        .says("error[E1101]: no operation is called `confrim`")
        .says("help: did you mean `confirm`?");
    run(&["test"]).exits(2).says("<DESIGN>");
}

/// A test is no part of a version: a text with another one is the design that is served already.
#[test]
fn another_test_is_no_other_version() {
    let with = design::compile("it", &tickets(), &design::NoCatalog);
    let text = tickets();
    let without = &text[..text.find("\ntest ").unwrap()];
    let without = design::compile("it", without, &design::NoCatalog);
    let (with, without) = (with.design.unwrap(), without.design.unwrap());
    assert!(runtime::alike(&with, &without));
    assert_eq!(runtime::version(&with), runtime::version(&without));
    assert_eq!(design::to_json(&with), design::to_json(&without));
}

#[test]
fn the_formatter_keeps_tests() {
    let folder = folder_with("tests-fmt", "tickets.design", &tickets());
    run_in(&folder, &["fmt", "--check", "tickets.design"]).exits(0);
    run_in(&folder, &["check", "tickets.design", "--compile-only"]).exits(0);
}

/// A server is the oracle: every call of a test is made over HTTP, with the clock moved by hand, and comes to what the
/// test says, and so does every view.
#[test]
fn a_server_answers_what_the_tests_say() {
    let mut calls = 0;
    for number in [0, 2] {
        let text = shown("docs/language/tests.md", number);
        let compiled = design::compile("it", &text, &design::NoCatalog);
        let design = compiled.design.unwrap();
        // a design is served under the name of its file
        let service = "it";
        for (at, test) in compiled.tests.iter().enumerate() {
            let folder = folder(&format!("tests-served-{number}-{at}"));
            fs::write(folder.join("it.design"), &text).unwrap();
            let words = ["it.design", "--store", "memory:", "--clock", "manual"];
            let server = Server::start(&folder, &words);
            let agent: ureq::Agent = ureq::Agent::config_builder()
                .http_status_as_error(false)
                .proxy(None)
                .build()
                .into();
            let names: Vec<Option<Value>> =
                test.names.iter().map(|known| Some(json!(known.name))).collect();
            let values =
                Values { design: &design, names: &names, now: 0, digest: &|text| text.to_string() };
            // of each caller and record what was handed out last
            let mut memory: BTreeMap<(String, String), Map<String, Value>> = BTreeMap::new();
            for line in &test.lines {
                match &line.kind {
                    TestLineKind::After(ms) => {
                        let body = json!({ "advance": format!("{ms}ms") });
                        let url = format!("{}/v1/clock", server.address);
                        let sent = agent.post(url).content_type("application/json");
                        assert_eq!(sent.send(body.to_string()).unwrap().status(), 200);
                    }
                    TestLineKind::Crash { principal, .. } => {
                        memory.retain(|(who, _), _| who != principal);
                    }
                    TestLineKind::Call(call) => {
                        let operation = &design.operations[call.operation.index()];
                        let mut body = Map::new();
                        for (at, value) in &call.args {
                            let name = operation.params[*at as usize].name.clone();
                            body.insert(name, values.json(value));
                        }
                        let of = body.values().next().map_or_else(String::new, Value::to_string);
                        let place = (call.principal.clone(), of);
                        if !operation.memory.is_empty() {
                            body.extend(memory.get(&place).cloned().unwrap_or_default());
                        }
                        let actor = &design.actors[operation.actor.index()].name;
                        let url =
                            format!("{}/v1/{service}/{actor}/{}", server.address, operation.name);
                        let mut sent = agent
                            .post(url)
                            .header("steadfast-as", &call.principal)
                            .content_type("application/json");
                        if let Some(key) = &call.key {
                            sent = sent.header("idempotency-key", format!("\"{key}\""));
                        }
                        let mut answer = sent.send(Value::Object(body).to_string()).unwrap();
                        let status = answer.status().as_u16();
                        let told = answer.body_mut().read_to_string().unwrap();
                        let told: Value = serde_json::from_str(&told).unwrap_or_default();
                        let source = line.span.text(&text);
                        match &call.outcome {
                            TestOutcome::Ok | TestOutcome::Again | TestOutcome::Unanswered => {
                                assert_eq!(status, 200, "{source}: {told}");
                            }
                            TestOutcome::Refused(clause) => {
                                assert_eq!(told["guard"], **clause, "{source}: {told}");
                            }
                            TestOutcome::Mismatch => assert_eq!(status, 422, "{source}: {told}"),
                            TestOutcome::Gives(value) => {
                                assert!(matches!(operation.kind, OperationKind::Read { .. }));
                                assert!(values.is(value, &told["result"]), "{source}: {told}");
                            }
                        }
                        if let Some(handed) = told["memory"].as_object().filter(|it| !it.is_empty())
                        {
                            memory.insert(place, handed.clone());
                        }
                        calls += 1;
                    }
                    TestLineKind::View { view, args, gives } => {
                        let declared = &design.views[view.index()];
                        let given: Vec<String> = args
                            .iter()
                            .map(|(at, value)| {
                                let name = &declared.params[*at as usize].name;
                                format!("{name}={}", values.json(value).as_str().unwrap())
                            })
                            .collect();
                        let view = format!("{}?{}", declared.name, given.join("&"));
                        let url = format!("{}/v1/{service}/views/{view}", server.address);
                        let mut answer = agent.get(url).call().unwrap();
                        let told = answer.body_mut().read_to_string().unwrap();
                        let told: Value = serde_json::from_str(&told).unwrap();
                        let subject = Some(declared.subject);
                        assert!(values.is_shown(subject, gives, &told), "{view}: {told}");
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(calls >= 12, "{calls} calls");
}
