//! A call as a text is the same call: both are made side by side, on two runtimes, and must agree.

use crate::support;

use runtime::{CallError, Request, TextCall};
use serde_json::{Map, Value, json};
use support::{Bench, bench, compile, design};

/// Two runtimes of one design.
struct Pair {
    values: Bench,
    texts: Bench,
}

impl Pair {
    fn new(make: impl Fn() -> design::model::Design) -> Pair {
        Pair { values: bench(make()), texts: bench(make()) }
    }

    /// Makes the call both ways; gives what the short way said. None: it is not for the short way,
    /// and nothing was done there.
    fn call(&self, actor: &str, name: &str, params: &str) -> Option<Result<Value, String>> {
        let found = self.texts.runtime.design().operations.iter().position(|operation| {
            let owner = &self.texts.runtime.design().actors[operation.actor.index()].name;
            operation.name == name && owner == actor
        });
        let operation = design::model::OperationId::of(found.expect("an operation"));
        let call = TextCall {
            operation,
            params: params.as_bytes(),
            principal: "ann",
            viewer: None,
            trace: None,
        };
        let mut out = b"before".to_vec();
        let told = self.texts.runtime.begin_text(&call, &mut out)?;
        let (ticket, answer) = told.expect("the store takes it");
        ticket.wait().unwrap();
        let told = answer.map(|()| {
            let text = out.strip_prefix(b"before").expect("what was there stays");
            serde_json::from_slice::<Value>(text).expect("JSON")
        });
        let mut request = Request::new(actor, name, "ann");
        request.params = serde_json::from_str::<Map<String, Value>>(params).expect("an object");
        request.legal = true;
        let reply = self.values.runtime.call(&request).map(|reply| reply.to_json());
        assert_eq!(told, reply, "{actor}.{name} {params}");
        Some(told.map_err(|error| match error {
            CallError::Refused(refused) => refused.clause,
            other => panic!("{other}"),
        }))
    }
}

#[test]
fn steps_and_refusals_are_told_as_by_the_long_way() {
    let pair = Pair::new(|| design("systems/tickets"));
    let call = |actor: &str, name: &str, params: &str| {
        pair.call(actor, name, params).expect("plain").map(|told| told["revision"].clone())
    };
    let add = r#"{"section":"A","seat":"A1"}"#;
    assert_eq!(call("organizer", "add_seat", add), Ok(json!("0-2")));
    let hold = |seat: &str, booking: &str| {
        call("buyer", "hold", &format!(r#" {{"seat":"{seat}", "booking":"{booking}"}} "#))
    };
    assert!(hold("A1", "b1").is_ok());
    assert_eq!(hold("A1", "b2"), Err("free".into()));
    assert_eq!(hold("A9", "b3"), Err("exists".into()));
    assert!(call("buyer", "confirm", r#"{"booking":"b\u0031"}"#).is_ok());
}

const MANY: &str = "
design Many

actor writer

subject Other(name: text) { truth OtherState { seen: int = 0 } }

subject Thing(thing: text) {
    truth ThingState {
        colour: RED | GREEN = RED,
        on: bool = false,
        note: text?,
        at: time?,
        other: Other?,
        price: decimal = 0.5,
        tags: list text max 4
    }
}

step writer[make(other: new Other)] { OtherState := { seen: 1 } }

step writer[paint(thing: new Thing, colour: RED | GREEN, on: bool, note: text?, other: Other?)] {
    ThingState := { colour: colour, on: on, note: note, at: now, other: other }
    ThingState.tags += \"new\"
}

step writer[count(other: Other, by: int = 2) { positive: by > 0 }] { OtherState.seen += by }

step writer[weigh(thing: Thing, price: decimal)] { ThingState.price := price }
";

#[test]
fn values_of_every_plain_type_are_read_and_told_alike() {
    let pair = Pair::new(|| compile("many", MANY));
    let call = |name: &str, params: &str| pair.call("writer", name, params);
    let done = |name: &str, params: &str| {
        let told = call(name, params).unwrap_or_else(|| panic!("not plain: {params}"));
        told.unwrap_or_else(|clause| panic!("{clause}: {params}"))
    };
    done("make", r#"{"other":"é\"\\ \n"}"#);
    done("make", r#"{"other":"o"}"#);
    done("paint", r#"{"thing":"a","colour":"GREEN","on":true}"#);
    done("paint", r#"{"thing":" ","colour":"RED","on":false,"note":null,"other":"o"}"#);
    done("paint", r#"{"other":null,"on":true,"note":"x","colour":"RED","thing":"z"}"#);
    let told = done("count", r#"{"other":"o"}"#);
    assert_eq!(told["truth"][0]["truth"]["OtherState"]["seen"], 3);
    assert_eq!(call("count", r#"{"other":"o","by":0}"#), Some(Err("positive".into())));
}

#[test]
fn what_is_not_plain_or_not_right_is_left_to_the_long_way() {
    let pair = Pair::new(|| compile("many", MANY));
    pair.call("writer", "make", r#"{"other":"o"}"#).expect("plain").unwrap();
    let long = "x".repeat(513);
    for params in [
        "",
        "[]",
        "{}",
        r#"{"other":"o","by":"3"}"#,
        r#"{"other":"o","by":1.0}"#,
        r#"{"other":"o","by":-9223372036854775808}"#,
        r#"{"other":"o","by":9223372036854775808}"#,
        r#"{"other":"o","other":"o"}"#,
        r#"{"other":"o","more":1}"#,
        r#"{"other":["o"]}"#,
        r#"{"other":null}"#,
        r#"{"other":"o"} x"#,
        r#"{"other":"o"#,
        &format!(r#"{{"other":"{long}"}}"#),
    ] {
        assert_eq!(pair_untold(&pair, "count", params), None, "{params}");
    }
    assert_eq!(pair_untold(&pair, "weigh", r#"{"thing":"a","price":"1.50"}"#), None);
    let before = pair.texts.truth("Other", "o");
    assert_eq!(before["OtherState"]["seen"], 1, "nothing was done");
}

/// The short way alone.
fn pair_untold(pair: &Pair, name: &str, params: &str) -> Option<()> {
    let operations = &pair.texts.runtime.design().operations;
    let at = operations.iter().position(|operation| operation.name == name).unwrap();
    let operation = design::model::OperationId::of(at);
    let call = TextCall {
        operation,
        params: params.as_bytes(),
        principal: "ann",
        viewer: None,
        trace: None,
    };
    let mut out = Vec::new();
    pair.texts.runtime.begin_text(&call, &mut out).map(drop)
}

#[test]
fn steps_with_memory_or_a_key_take_the_long_way() {
    let lease = Pair::new(|| design("infra/I02"));
    assert_eq!(pair_untold(&lease, "claim", r#"{"resource":"r","ttl":"10s"}"#), None);
}
