//! Messages between places, and events that are all that happens.

use crate::support;

use runtime::CallError;
use serde_json::json;
use support::{ask, bench, compile, deliver};

const DESIGN: &str = r#"
design Post
actor author
actor carrier
subject Letter(letter: text) { truth LetterState { version: int = 0 } }
subject Box(letter: text, house: text) at house { truth BoxState { version: int = 0 } }
step author[write(letter: Letter, to: Box)] {
    LetterState.version += 1
    send carrier.bring(to, LetterState.version)
}
step author[write_again(letter: Letter, to: Box)] { send carrier.bring(to, LetterState.version) }
step author[call_out(letter: Letter)] { emit Called { letter } }
step author[look(letter: Letter)] { LetterState.version := LetterState.version }
step carrier[bring(to: Box, version: int) { newer: BoxState.version < version }] {
    BoxState.version := version
}
check { letter: 1 house: 1 version: 0..2 LetterState.version: 0..2 messages: 1 }
"#;

fn write(operation: &str) -> runtime::Request {
    ask("author", operation, "ann").with("letter", "l").with("to", json!(["l", "h"]))
}

/// The checker knows a step that is sent to only from messages; whoever calls it as it likes would
/// be outside of what was proved.
#[test]
fn what_messages_call_nobody_else_does() {
    let bench = bench(compile("post", DESIGN));
    let bring =
        ask("carrier", "bring", "mallory").with("to", json!(["l", "h"])).with("version", 99);
    match bench.call(bring) {
        Err(CallError::Unknown(told)) => {
            assert_eq!(told, "`Post` has no step or read `bring` that `carrier` could call");
        }
        other => panic!("{other:?}"),
    }
    bench.call(write("write")).unwrap();
    deliver(&bench);
    let there = store::block_on(bench.runtime.get("Box", &[json!("l"), json!("h")])).unwrap();
    assert_eq!(there.unwrap().truth, json!({ "BoxState": { "version": 1 } }));
}

#[test]
fn messages_are_counted_whether_they_are_taken_or_refused() {
    let bench = bench(compile("post", DESIGN));
    for operation in ["write", "write_again", "write_again"] {
        bench.call(write(operation)).unwrap();
    }
    deliver(&bench);
    let counted = bench.runtime.counters().all();
    let (_, done, refused) = counted.iter().find(|(name, _, _)| name == "bring").unwrap();
    assert_eq!((*done, refused.get("newer")), (1, Some(&2)));
}

#[test]
fn an_event_is_told_even_if_nothing_changes() {
    let bench = bench(compile("post", DESIGN));
    for operation in ["call_out", "look", "call_out"] {
        bench.call(ask("author", operation, "ann").with("letter", "l")).unwrap();
    }
    let (told, _) = store::block_on(bench.runtime.feed(None, 10)).unwrap();
    let events: Vec<_> = told.iter().flat_map(|(_, told)| told.events.clone()).collect();
    let called = ("Called".to_string(), json!({ "letter": "l" }));
    assert_eq!(events, [called.clone(), called]);
}
