//! Schedules through every door: HTTP, a repair that really fires, OpenAPI, the console, `explain`, the command line.

use std::fs;
use std::time::{Duration, Instant};

use super::serving::Server;
use super::support::{folder, run, run_in};

/// The first design of docs/language/calendar.md.
fn nightly() -> String {
    let page = include_str!("../../../../docs/language/calendar.md");
    let (_, rest) = page.split_once("```design\n").expect("a design");
    rest.split_once("```").expect("it ends").0.to_owned()
}

const METER: &str = "design Meter

actor device

subject Meter(meter: text) {
    truth Reading { measured: time? }
}

step device[report(meter: Meter, at: time from caller)] { Reading.measured := at }

invariant any: all m in Meter: m.measured = null or m.measured != null

check { meter: 1  device: 1  at: 1 }
";

#[test]
fn a_job_falls_due_by_its_schedule_and_is_planned_anew_from_where_it_was_due() {
    let folder = folder("calendar");
    fs::write(folder.join("nightly.design"), nightly()).unwrap();
    let server = Server::start(&folder, &["nightly.design"]);
    let plan = |plan: &str| {
        let plan = format!("plan={plan}");
        server.run(&["call", "nightly", "owner", "plan", "job=j1", &plan])
    };
    let wrong = plan("30 24 * * *").exits(2);
    wrong.says("at character 4: the hour lies in 0..23, not at 24").says("plan");
    plan("* * * * * *").exits(0);
    let truth = || server.run(&["get", "nightly", "Job", "j1", "--json"]).exits(0).json();
    let begun = Instant::now();
    while truth()["truth"]["RunState"]["queued"] != true {
        assert!(begun.elapsed() < Duration::from_secs(20), "the repair does not fire: {}", truth());
        std::thread::sleep(Duration::from_millis(50));
    }
    let due = truth()["truth"]["PlanState"]["due"].as_str().expect("it is due").to_owned();
    let worker = |step: &str, who: &'static str| {
        server.run(&["call", "nightly", "worker", step, "job=j1", "--as", who])
    };
    worker("claim", "ann").exits(0).says("my_due is remembered");
    worker("finish", "bob").exits(1).says("refused by `current`");
    worker("finish", "ann").exits(0);
    let state = truth();
    assert_eq!(state["truth"]["RunState"]["ran"], due.as_str(), "{state}");
    // from the planned time, not from now
    let after = run(&["schedule", "* * * * * *", "--after", &due, "--count", "1", "--json"]);
    let next = after.exits(0).json()["next"][0].clone();
    assert_eq!(state["truth"]["PlanState"]["due"], next, "{state}");
    let page = |path: &str| {
        let address = format!("{}{path}", server.address);
        let output = std::process::Command::new("curl").args(["-s", &address]).output();
        String::from_utf8(output.expect("curl is there").stdout).unwrap()
    };
    let openapi: serde_json::Value = serde_json::from_str(&page("/openapi.json")).unwrap();
    let post = &openapi["paths"]["/v1/nightly/owner/plan"]["post"];
    let body = &post["requestBody"]["content"]["application/json"]["schema"]["properties"];
    assert_eq!(body["plan"]["format"], "schedule", "{body}");
    let form = page("/console/nightly/step/owner/plan");
    assert!(form.contains("30 2 * * * in Europe/Berlin"), "{form}");
}

#[test]
fn schedules_and_times_of_callers_are_explained_and_formatted() {
    let folder = folder("calendar-told");
    fs::write(folder.join("nightly.design"), nightly()).unwrap();
    fs::write(folder.join("meter.design"), METER).unwrap();
    let told = run_in(&folder, &["explain", "nightly.design"]).exits(0);
    told.says("plan: schedule").says("the next instant of a schedule, stored as a due time");
    for engine in ["embedded", "postgres", "etcd", "dynamodb"] {
        let told = run_in(&folder, &["explain", "nightly.design", "--engine", engine]).exits(0);
        told.says(
            "`next(plan, now)` is computed by the server, with version 2026e of the time zones",
        );
    }
    let told = run_in(&folder, &["explain", "meter.design"]).exits(0);
    told.says("at: time from caller")
        .says("a claim of its caller, and not the clock of the server");
    run_in(&folder, &["fmt", "--check", "nightly.design", "meter.design"]).exits(0);
    run_in(&folder, &["explain", "nightly.design", "--format", "tla"]).exits(2).says("schedule");
}

#[test]
fn the_command_line_says_when_a_schedule_is_due() {
    let told = run(&[
        "schedule",
        "30 2 * * * in Europe/Berlin",
        "--after",
        "2026-03-27T12:00:00Z",
        "--count",
        "3",
    ]);
    told.exits(0)
        .says("2026-03-28T01:30:00Z\n  2026-03-29T01:00:00Z\n  2026-03-30T00:30:00Z")
        .says("IANA 2026e");
    run(&["schedule", "0 0 30 2 *"]).exits(0).says("nothing more within 50 years");
    run(&["schedule", "30 2 L * *"])
        .exits(2)
        .says("at character 6 of the schedule: `L` is not known");
    run(&["schedule", "every 1h", "--after", "yesterday"]).exits(2).says("`yesterday` is no time");
}
