//! Greatest, least and average; rows that show what they refer to; rows of the caller.

use runtime::{CallError, ViewQuery, Viewer};
use serde_json::{Value, json};

use crate::support::{Bench, ask, bench, compile};

pub const DESIGN: &str = r#"
design Files

actor user
actor clerk
actor guest

subject Folder(folder: text) { truth FolderState { name: text = "" } }
subject File(file: text) {
    truth FileState { path: text = "", size: int = 0, folder: Folder?, owner: actor? }
    truth Audit { note: text = "" } visible to clerk
}
subject Share(share: text) {
    truth ShareState {
        file: File?,
        to: actor,
        team: text = "",
        weight: decimal = 0,
        hits: int?,
        seen_at: time?,
        waits: duration = 0s,
    }
        visible to user where to = me
        visible to clerk
}

step user[name(folder: Folder, name: text)] { FolderState.name := name }
step user[put(file: new File, path: text, size: int, folder: Folder?)] {
    FileState := { path: path, size: size, folder: folder, owner: me }
    Audit.note := path
}
step user[move(file: File, path: text)] { FileState.path := path }
step user[drop(file: File)] { delete file }
step user[share(share: new Share, file: File?, to: actor, team: text, weight: decimal, hits: int?)] {
    ShareState := { file: file, to: to, team: team, weight: weight, hits: hits, seen_at: now, waits: 5s }
}
step user[weigh(share: Share, weight: decimal)] { ShareState.weight := weight }
step user[hand(share: Share, to: actor)] { ShareState.to := to }
step user[point(share: Share, file: File?)] { ShareState.file := file }
step user[unshare(share: Share)] { delete share }

view Heaviest(team: text) = max weight of Share
view Lightest(team: text) = min weight of Share where weight > 0
view MostHits = max hits of Share
view Latest = max seen_at of Share
view LongestWait = max waits of Share
view Mean(team: text) = avg weight round half_even to 2 of Share
view MeanHits = avg hits round half_up to 1 of Share
view Listed(team: text) = list Share with file.path, file.folder.name, file.note order by weight desc, share
view Top = rank Share by weight desc with file.path top 2
view Mine of user = list Share where to = me order by weight
view MyTeam(team: text) of user = list Share where weight > 0 and to = me with file.size order by weight
view MyCount of user = count Share where to = me
view MyBest of user = max weight of Share where to = me and weight > 1

read user[mine] = Mine()
read user[listed(team: text)] = Listed(team)
"#;

pub fn query(view: &str) -> ViewQuery {
    ViewQuery { view: view.into(), ..ViewQuery::default() }
}

pub fn of_team(view: &str, team: &str) -> ViewQuery {
    let mut query = query(view);
    query.params.insert("team".into(), json!(team));
    query
}

fn put(bench: &Bench, file: &str, path: &str, folder: Value) {
    let put = ask("user", "put", "ann").with("file", file).with("path", path).with("size", 7);
    bench.call(put.with("folder", folder)).unwrap();
}

fn share(bench: &Bench, share: &str, file: Value, to: &str, weight: &str, hits: Value) {
    let call = ask("user", "share", "ann").with("share", share).with("file", file).with("to", to);
    let call = call.with("team", "t").with("weight", weight).with("hits", hits);
    bench.call(call).unwrap();
}

fn weigh(bench: &Bench, share: &str, weight: &str) {
    let call = ask("user", "weigh", "ann").with("share", share).with("weight", weight);
    bench.call(call).unwrap();
}

fn answer(bench: &Bench, query: &ViewQuery) -> Value {
    bench.runtime.view(query).unwrap()
}

fn keys(page: &Value) -> Vec<&str> {
    let rows = page["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["key"][0].as_str().expect("a key")).collect()
}

#[test]
fn the_greatest_and_the_least_give_way_to_the_next_one() {
    let bench = bench(compile("files", DESIGN));
    let (most, least) = (of_team("Heaviest", "t"), of_team("Lightest", "t"));
    assert_eq!(answer(&bench, &most)["max"], Value::Null, "there is no row");
    assert_eq!(answer(&bench, &query("Latest"))["max"], Value::Null);
    for (name, weight) in [("a", "2.50"), ("b", "9.00"), ("c", "-3.00"), ("d", "9.00")] {
        share(&bench, name, Value::Null, "bob", weight, Value::Null);
        bench.clock.advance(1_000);
    }
    assert_eq!(answer(&bench, &most)["max"], "9.00");
    assert_eq!(
        answer(&bench, &least)["min"],
        "2.50",
        "what the condition leaves out does not count"
    );
    // one of two equal ones goes, then the other, then the next falls
    bench.call(ask("user", "unshare", "ann").with("share", "b")).unwrap();
    assert_eq!(answer(&bench, &most)["max"], "9.00");
    weigh(&bench, "d", "1.00");
    assert_eq!(answer(&bench, &most)["max"], "2.50");
    assert_eq!(answer(&bench, &least)["min"], "1.00");
    weigh(&bench, "a", "0.00");
    assert_eq!(answer(&bench, &most)["max"], "1.00");
    assert_eq!(answer(&bench, &query("Latest"))["max"], "2023-11-14T22:13:23Z");
    assert_eq!(answer(&bench, &query("LongestWait"))["max"], "5s");
    assert_eq!(answer(&bench, &of_team("Heaviest", "other"))["max"], Value::Null);
    // a row without the value is no row
    assert_eq!(answer(&bench, &query("MostHits"))["max"], Value::Null);
    share(&bench, "e", Value::Null, "bob", "0", json!(-4));
    assert_eq!(answer(&bench, &query("MostHits"))["max"], -4);
}

#[test]
fn an_average_is_exact_and_rounded_once() {
    let bench = bench(compile("files", DESIGN));
    let mean = of_team("Mean", "t");
    assert_eq!(answer(&bench, &mean)["avg"], Value::Null);
    for (name, weight, hits) in
        [("a", "0.01", json!(1)), ("b", "0.02", json!(2)), ("c", "0.03", json!(2))]
    {
        share(&bench, name, Value::Null, "bob", weight, hits);
    }
    assert_eq!(answer(&bench, &mean)["avg"], "0.02");
    // 0.06 / 4 = 0.015, in the middle: to the even digit
    share(&bench, "d", Value::Null, "bob", "0.00", Value::Null);
    assert_eq!(answer(&bench, &mean)["avg"], "0.02");
    weigh(&bench, "d", "0.04");
    // 0.10 / 4 = 0.025
    assert_eq!(answer(&bench, &mean)["avg"], "0.02");
    // 5 / 3 = 1.66…; the row without hits is none
    assert_eq!(answer(&bench, &query("MeanHits"))["avg"], "1.70");
    for name in ["a", "b", "c", "d"] {
        bench.call(ask("user", "unshare", "ann").with("share", name)).unwrap();
    }
    assert_eq!(answer(&bench, &mean)["avg"], Value::Null);
}

#[test]
fn a_row_shows_what_it_refers_to_as_that_is_now() {
    let bench = bench(compile("files", DESIGN));
    let name = ask("user", "name", "ann").with("folder", "f").with("name", "letters");
    bench.call(name).unwrap();
    put(&bench, "x", "/x", json!("f"));
    put(&bench, "y", "/y", Value::Null);
    for (share_name, file, weight) in
        [("a", json!("x"), "3"), ("b", json!("y"), "2"), ("c", Value::Null, "1")]
    {
        share(&bench, share_name, file, "bob", weight, Value::Null);
    }
    let listed = of_team("Listed", "t");
    let shown = |query: &ViewQuery| -> Vec<Value> {
        let page = answer(&bench, query);
        page["rows"].as_array().unwrap().iter().map(|row| row["with"].clone()).collect()
    };
    let nothing = json!({ "file.path": null, "file.folder.name": null, "file.note": null });
    assert_eq!(
        shown(&listed),
        [
            json!({ "file.path": "/x", "file.folder.name": "letters", "file.note": "/x" }),
            json!({ "file.path": "/y", "file.folder.name": null, "file.note": "/y" }),
            nothing.clone(),
        ]
    );
    // the record that is referred to changes, and the one behind it, and the reference, and it goes
    bench.call(ask("user", "move", "ann").with("file", "x").with("path", "/z")).unwrap();
    let name = ask("user", "name", "ann").with("folder", "f").with("name", "old");
    bench.call(name).unwrap();
    assert_eq!(shown(&listed)[0]["file.path"], "/z");
    assert_eq!(shown(&listed)[0]["file.folder.name"], "old");
    bench.call(ask("user", "point", "ann").with("share", "c").with("file", "x")).unwrap();
    assert_eq!(shown(&listed)[2]["file.path"], "/z");
    assert_eq!(shown(&query("Top")), [json!({ "file.path": "/z" }), json!({ "file.path": "/y" })]);
    bench.call(ask("user", "drop", "ann").with("file", "x")).unwrap();
    let followed = shown(&listed);
    assert_eq!((&followed[0], &followed[2]), (&nothing, &nothing));
    bench.runtime.rebuild_views().unwrap();
    assert_eq!(shown(&listed), followed);
}

#[test]
fn a_column_hides_what_its_reader_may_not_see() {
    let bench = bench(compile("files", DESIGN));
    put(&bench, "x", "/x", Value::Null);
    share(&bench, "a", json!("x"), "bob", "3", Value::Null);
    let listed = |who: &str, role: &str| {
        let viewer = Viewer::with_roles(who, [role]);
        bench.runtime.view_as(&of_team("Listed", "t"), Some(&viewer)).unwrap()
    };
    let seen = listed("bob", "user");
    assert_eq!(seen["rows"][0]["with"], json!({ "file.path": "/x", "file.folder.name": null }));
    assert_eq!(listed("ann", "user")["rows"], json!([]), "not a row of hers");
    // who sees the row, and of the file the note alone
    let seen = listed("cid", "clerk");
    assert_eq!(seen["rows"][0]["with"], json!({ "file.note": "/x" }));
    // a file that is gone is not told from one that is hidden
    bench.call(ask("user", "drop", "ann").with("file", "x")).unwrap();
    assert_eq!(listed("cid", "clerk")["rows"][0]["with"], json!({ "file.note": null }));
    assert_eq!(listed("gus", "guest")["rows"], json!([]));
}

#[test]
fn a_view_of_the_caller_has_the_rows_of_the_caller_alone() {
    let bench = bench(compile("files", DESIGN));
    put(&bench, "x", "/x", Value::Null);
    for (name, to, weight) in
        [("a", "bob", "3"), ("b", "bob", "1"), ("c", "cid", "2"), ("d", "cid", "0")]
    {
        share(&bench, name, json!("x"), to, weight, Value::Null);
    }
    let ask_as = |who: &str, role: &str, query: &ViewQuery| {
        bench.runtime.view_as(query, Some(&Viewer::with_roles(who, [role])))
    };
    assert_eq!(keys(&ask_as("bob", "user", &query("Mine")).unwrap()), ["b", "a"]);
    assert_eq!(keys(&ask_as("cid", "user", &query("Mine")).unwrap()), ["d", "c"]);
    assert_eq!(keys(&ask_as("eve", "user", &query("Mine")).unwrap()), [""; 0]);
    let team = of_team("MyTeam", "t");
    assert_eq!(keys(&ask_as("cid", "user", &team).unwrap()), ["c"]);
    assert_eq!(ask_as("cid", "user", &team).unwrap()["rows"][0]["with"], json!({ "file.size": 7 }));
    // all of its rows are seen, so they may be counted
    assert_eq!(ask_as("bob", "user", &query("MyCount")).unwrap()["count"], 2);
    assert_eq!(ask_as("bob", "user", &query("Mine")).unwrap()["total"], 2);
    assert_eq!(ask_as("bob", "user", &query("MyBest")).unwrap()["max"], "3.00");
    // whoever looks is who asks, whatever the question says
    let mut another = query("Mine");
    another.me = Some("cid".into());
    assert_eq!(keys(&ask_as("bob", "user", &another).unwrap()), ["b", "a"]);
    let mut named = query("Mine");
    named.params.insert("me".into(), json!("cid"));
    assert!(
        matches!(ask_as("bob", "user", &named), Err(CallError::Bad(bad)) if bad.pointer == "/params/me")
    );
    assert!(matches!(ask_as("cid", "clerk", &query("Mine")), Err(CallError::Hidden(_))));
    assert!(matches!(bench.runtime.view(&query("Mine")), Err(CallError::Bad(_))), "of nobody");
    assert_eq!(keys(&answer(&bench, &another)), ["d", "c"], "a program says who asks");
    // a read of the view is of who reads
    let read = bench.call(ask("user", "mine", "cid")).unwrap();
    assert_eq!(keys(&read.result), ["d", "c"]);
    let viewer = Viewer::with_roles("bob", ["user"]);
    let read = bench.call(ask("user", "mine", "bob").seen_by(viewer)).unwrap();
    assert_eq!(keys(&read.result), ["b", "a"]);
    // handed on, a row leaves one and comes to the other
    bench.call(ask("user", "hand", "ann").with("share", "a").with("to", "cid")).unwrap();
    assert_eq!(keys(&ask_as("bob", "user", &query("Mine")).unwrap()), ["b"]);
    assert_eq!(keys(&ask_as("cid", "user", &query("Mine")).unwrap()), ["d", "c", "a"]);
}

#[test]
fn a_worker_takes_the_next_of_its_own_rows() {
    const TASKS: &str = r#"
design Tasks
actor worker
subject Task(task: text) { truth TaskState { to: actor, open: bool = true } }
view Mine of worker = list Task where to = me and open
step worker[give(task: new Task, to: actor)] { TaskState := { to: to, open: true } }
step worker[next(task: any of Mine) { open: TaskState.open  yours: TaskState.to = me }] {
    TaskState.open := false
}
"#;
    let bench = bench(compile("tasks", TASKS));
    for (task, to) in [("a", "bob"), ("b", "cid"), ("c", "bob")] {
        bench.call(ask("worker", "give", "ann").with("task", task).with("to", to)).unwrap();
    }
    let next = |who: &str| bench.call(ask("worker", "next", who)).unwrap().result["task"].clone();
    assert_eq!(next("cid"), "b");
    assert_eq!(bench.refused_by(ask("worker", "next", "cid")), "none_left");
    assert_eq!((next("bob"), next("bob")), (json!("a"), json!("c")));
}
