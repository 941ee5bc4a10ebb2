//! A step that takes the next record, through every door: HTTP, the command line, OpenAPI, the console, `explain`.

use std::fs;

use super::serving::Server;
use super::support::{folder, run_in};

const WORK: &str = r#"design Work "Workers take the next job"

actor client
actor worker { my_epoch: int? of Job }

subject Job(job: text, nr: int) {
    truth JobState { queue: text = "", status: NONE | WAITS | HELD | DONE = NONE, epoch: int = 0 }
}

view Runnable(queue: text) = list Job where status = WAITS order by nr

step client[ask(job: Job, queue: text) { unasked: JobState.status = NONE }] {
    JobState.status := WAITS
    JobState.queue := queue
}

step worker[claim(queue: text, job: any of Runnable(queue)) { waits: JobState.status = WAITS }] {
    JobState.status := HELD
    JobState.epoch += 1
    my_epoch := JobState.epoch
}

step worker[finish(job: Job) { current: JobState.epoch = my_epoch }] { JobState.status := DONE }

invariant asked: all j in Job: j.status = DONE implies j.epoch > 0

check { job: 1  nr: {1}  client: 1  worker: 2  queue: 1  JobState.epoch: 0..2 }
"#;

#[test]
fn a_worker_takes_the_next_job_over_http() {
    let folder = folder("taking");
    fs::write(folder.join("work.design"), WORK).unwrap();
    let server = Server::start(&folder, &["work.design"]);
    let ask = |nr: &str| {
        let job = format!("job:=[\"j\",{nr}]");
        server.run(&["call", "work", "client", "ask", &job, "queue=mail"]).exits(0);
    };
    ask("2");
    ask("1");
    let claim = ["call", "work", "worker", "claim", "queue=mail", "--as", "ann"];
    // the first of the view, and what was handed out is remembered of it
    let said = server.run(&[&claim[..], &["--key", "k1"]].concat()).exits(0);
    said.says(r#"{"job":["j",1]}"#).says("my_epoch is remembered");
    let again = server.run(&[&claim[..], &["--key", "k1", "--json"]].concat()).exits(0).json();
    assert_eq!(again["result"]["job"], serde_json::json!(["j", 1]));
    let finish = |nr: &str, who: &'static str| {
        let job = format!("job:=[\"j\",{nr}]");
        server.run(&["call", "work", "worker", "finish", &job, "--as", who])
    };
    finish("1", "bob").exits(1).says("refused by `current`");
    finish("1", "ann").exits(0);
    let given = [&claim[..], &["job:=[\"j\",2]"]].concat();
    server.run(&given).exits(2).says("`job` is chosen by the server; leave it out");
    let second = server.run(&[&claim[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(second["result"]["job"], serde_json::json!(["j", 2]));
    let refused = server.run(&[&claim[..], &["--json"]].concat()).exits(1).json();
    assert_eq!((&refused["status"], &refused["guard"]), (&409.into(), &"none_left".into()));
    assert_eq!(refused["type"], "/problems/work/claim/none_left");
    server.run(&claim).exits(1).says("refused by `none_left`").says("no row of `Runnable(queue)`");
    let page = |path: &str| {
        let address = format!("{}{path}", server.address);
        let output = std::process::Command::new("curl").args(["-s", &address]).output();
        String::from_utf8(output.expect("curl is there").stdout).unwrap()
    };
    let openapi: serde_json::Value = serde_json::from_str(&page("/openapi.json")).unwrap();
    let post = &openapi["paths"]["/v1/work/worker/claim"]["post"];
    let body = &post["requestBody"]["content"]["application/json"]["schema"]["properties"];
    assert!(body["queue"].is_object() && body["job"].is_null(), "{body}");
    let answers = &post["responses"];
    let result = &answers["200"]["content"]["application/json"]["schema"]["properties"]["result"];
    assert_eq!(result["properties"]["job"]["description"], "the record that was taken");
    assert!(answers["409"]["description"].as_str().unwrap().contains("`none_left`"));
    let problem = page("/problems/work/claim/none_left");
    assert!(problem.contains("no row is left of the view"), "{problem}");
    let form = page("/console/work/step/worker/claim");
    assert!(form.contains("p.queue") && !form.contains("p.job"), "{form}");
}

#[test]
fn what_takes_is_checked_explained_and_translated() {
    let folder = folder("taking-told");
    fs::write(folder.join("work.design"), WORK).unwrap();
    run_in(&folder, &["check", "work.design"]).exits(0);
    let told = run_in(&folder, &["explain", "work.design"]).exits(0);
    told.says("job: any of Runnable(queue)").says("the next of `Runnable`").says("none_left");
    run_in(&folder, &["explain", "work.design", "--format", "tla"]).exits(0).says("claim");
    let shown = run_in(&folder, &["fmt", "--check", "work.design"]);
    shown.exits(0);
}
