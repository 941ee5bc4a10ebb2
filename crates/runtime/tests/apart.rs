//! Actors that are never the same person: the first step binds, and stays bound.

use crate::support;

use std::sync::Arc;

use runtime::{CallError, ReplaceError, Request, Runtime, Settings, TextCall};
use serde_json::json;
use store::{Distant, Faults, Store};
use support::{Bench, ask, bench, compile};

const PAPERS: &str = "
design Papers
actor author
actor editor continues author
actor approver apart from author
actor reader
subject Paper(paper: text) {
    truth PaperState { by: actor?, approved_by: actor?, seen: int = 0 }
}
step author[write(paper: Paper) { unwritten: PaperState.by = null }] { PaperState.by := me }
step author[nothing(paper: Paper)] { PaperState.seen := PaperState.seen }
step editor[edit(paper: Paper)] { PaperState.seen += 1 }
step approver[approve(paper: Paper) { written: PaperState.by present }] {
    PaperState.approved_by := me
}
step reader[count(paper: Paper)] { PaperState.seen += 1 }
read approver[look(paper: Paper)] = PaperState
";

fn papers() -> Bench {
    bench(compile("papers", PAPERS))
}

fn on(actor: &str, operation: &str, who: &str) -> Request {
    ask(actor, operation, who).with("paper", "p")
}

#[test]
fn nobody_is_both() {
    let bench = papers();
    bench.call(on("author", "write", "ann")).unwrap();
    let Err(CallError::Refused(refused)) = bench.call(on("approver", "approve", "ann")) else {
        panic!("not refused");
    };
    assert_eq!((refused.clause.as_str(), refused.reason), ("apart", "apart"));
    let why = "`ann` has acted as `author`, and `approver` is never the same person; somebody else \
               has to take this step";
    assert_eq!(refused.why.as_deref(), Some(why));
    assert_eq!(bench.truth("Paper", "p")["PaperState"]["approved_by"], json!(null));
    bench.call(on("approver", "approve", "bob")).unwrap();
    // it goes both ways, along a chain, and for good
    assert_eq!(bench.refused_by(on("author", "write", "bob")), "apart");
    assert_eq!(bench.refused_by(on("editor", "edit", "bob")), "apart");
    bench.call(on("editor", "edit", "ann")).unwrap();
    bench.call(on("reader", "count", "bob")).unwrap();
    bench.call(on("approver", "approve", "bob")).unwrap();
}

#[test]
fn only_a_step_that_was_taken_binds() {
    let bench = papers();
    bench.call(on("approver", "look", "ann")).unwrap();
    assert_eq!(bench.refused_by(on("approver", "approve", "ann")), "written");
    assert!(bench.runtime.would(&on("author", "write", "bob")).is_ok());
    bench.call(on("author", "write", "ann")).unwrap();
    bench.call(on("approver", "approve", "bob")).unwrap();
    let would = bench.runtime.would(&on("approver", "approve", "ann"));
    assert!(matches!(would, Err(CallError::Refused(refused)) if refused.clause == "apart"));
    // what an actor further down the chain did binds all of it
    bench.call(on("editor", "edit", "cid")).unwrap();
    assert_eq!(bench.refused_by(on("approver", "approve", "cid")), "apart");
    // and so does a step that changes nothing
    bench.call(on("author", "nothing", "dan")).unwrap();
    assert_eq!(bench.refused_by(on("approver", "approve", "dan")), "apart");
}

#[test]
fn a_call_that_is_made_again_is_answered_again() {
    let bench = papers();
    let write = on("author", "write", "ann").keyed("k");
    bench.call(write.clone()).unwrap();
    assert!(bench.call(write).unwrap().replayed);
}

#[test]
fn the_short_way_binds_too() {
    let bench = papers();
    let short = |name: &str| {
        let operations = &bench.runtime.design().operations;
        let at = operations.iter().position(|operation| operation.name == name).unwrap();
        let call = TextCall {
            operation: design::model::OperationId::of(at),
            params: br#"{"paper":"p"}"#,
            principal: "ann",
            viewer: None,
            trace: None,
        };
        let (ticket, answer) =
            bench.runtime.begin_text(&call, &mut Vec::new()).expect("plain").unwrap();
        ticket.wait().unwrap();
        answer.map_err(|error| error.to_string())
    };
    assert_eq!(short("write"), Ok(()));
    let why = short("approve").unwrap_err();
    assert!(why.starts_with("`approve` was refused by `apart`: `ann` has acted"), "{why}");
    assert_eq!(bench.refused_by(on("approver", "approve", "ann")), "apart");
}

#[test]
fn it_is_remembered_across_restarts_and_replacements() {
    let folder = std::env::temp_dir().join(format!("steadfast-apart-{}", std::process::id()));
    let open = || {
        let store = store_embedded::Embedded::open(&folder, Default::default()).unwrap();
        Runtime::open(compile("papers", PAPERS), Arc::new(store), Settings::default()).unwrap()
    };
    let refused = |runtime: &Runtime, request: &Request| match runtime.call(request) {
        Err(CallError::Refused(refused)) => refused.clause,
        other => panic!("{other:?}"),
    };
    open().call(&on("author", "write", "ann")).unwrap();
    let runtime = open();
    assert_eq!(refused(&runtime, &on("approver", "approve", "ann")), "apart");
    let longer = PAPERS.replace("seen: int = 0", "seen: int = 0, more: int = 0");
    let replaced = match runtime.replace(compile("papers", &longer), &[]) {
        Ok(replaced) => replaced,
        Err(ReplaceError::Unsafe(obstacles)) => panic!("{obstacles:?}"),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(refused(&replaced, &on("approver", "approve", "ann")), "apart");
    drop((runtime, replaced));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Two processes on one store, and everybody tries to be both at the same time.
#[test]
fn of_two_at_the_same_time_one_is_first() {
    const PEOPLE: usize = 40;
    let store: Arc<dyn Store> =
        Arc::new(Distant::new(7, Faults { delay_us_max: 300, ..Faults::default() }));
    let open = || {
        let conflicts = store::Retry { attempts_max: 500, ..store::Retry::default() };
        let settings = Settings { conflicts, ..Settings::default() };
        Runtime::open(compile("papers", PAPERS), Arc::clone(&store), settings).unwrap()
    };
    let runtimes = [open(), open()];
    runtimes[0].call(&on("author", "write", "first")).unwrap();
    let steps = [("editor", "edit"), ("approver", "approve")];
    let done: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let threads: Vec<_> = runtimes
            .iter()
            .zip(steps)
            .map(|(runtime, (actor, operation))| {
                scope.spawn(move || {
                    let each = (0..PEOPLE).map(|person| {
                        // another paper for each, so that nothing else tells them apart
                        let paper =
                            if actor == "approver" { "p".into() } else { format!("{person}") };
                        let who = format!("person-{person}");
                        let asked = ask(actor, operation, &who).with("paper", paper);
                        match runtime.call(&asked) {
                            Ok(_) => true,
                            Err(CallError::Refused(refused)) if refused.clause == "apart" => false,
                            Err(other) => panic!("{other}"),
                        }
                    });
                    each.collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (person, (edited, approved)) in done[0].iter().zip(&done[1]).enumerate() {
        assert!(edited != approved, "person {person} is both, or neither");
    }
}
