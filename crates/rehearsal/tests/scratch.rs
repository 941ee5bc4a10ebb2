//! A scratch store behaves as a server does, with a clock and a world outside that are moved by hand.

use design::model::Design;
use rehearsal::{Answered, Room, Scratch};
use runtime::{CallError, Request};
use serde_json::{Value, json};

use crate::SEATS;

fn compiled(text: &str) -> Design {
    let compiled = design::compile("it", text, &design::NoCatalog);
    compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

fn seats() -> Scratch {
    Scratch::open(&compiled(SEATS), Room::default()).expect("it opens")
}

fn request(who: &str, actor: &str, step: &str, params: &Value) -> Request {
    let mut request = Request::new(actor, step, who);
    request.params = params.as_object().cloned().unwrap_or_default();
    request
}

fn done(scratch: &mut Scratch, who: &str, actor: &str, step: &str, params: &Value) {
    let (answer, followed) = scratch.call(request(who, actor, step, params));
    assert!(answer.is_ok(), "{answer:?}");
    assert!(followed.broken.is_empty(), "{followed:?}");
}

fn status(scratch: &Scratch, subject: &str) -> Vec<String> {
    let records = scratch.records(subject, 10).records;
    let state = format!("{subject}State");
    records
        .iter()
        .map(|(_, held)| held.truth[&state]["status"].as_str().unwrap_or_default().to_string())
        .collect()
}

#[test]
fn a_refusal_names_its_clause_and_time_brings_repairs() {
    let mut scratch = seats();
    done(&mut scratch, "olga", "operator", "add_seat", &json!({ "seat": "A1", "section": "A" }));
    done(&mut scratch, "ann", "buyer", "hold", &json!({ "seat": "A1", "booking": "b1" }));
    let hold = request("bob", "buyer", "hold", &json!({ "seat": "A1", "booking": "b2" }));
    assert!(
        matches!(scratch.would(hold.clone()), Err(CallError::Refused(why)) if why.clause == "free")
    );
    let (answer, followed) = scratch.call(hold.clone());
    assert!(matches!(&answer, Err(CallError::Refused(why)) if why.clause == "free"), "{answer:?}");
    assert!(followed.meanwhile.is_empty(), "{followed:?}");
    assert_eq!(status(&scratch, "Booking"), ["OPEN"]);
    let followed = scratch.wait(11 * 60_000);
    assert!(followed.meanwhile.iter().any(|line| line.contains("release")), "{followed:?}");
    assert_eq!(
        (status(&scratch, "Seat"), status(&scratch, "Booking")),
        (vec!["FREE".into()], vec!["GONE".into()])
    );
    assert_eq!(scratch.passed_ms(), 11 * 60_000);
    assert!(scratch.would(hold).is_ok());
}

#[test]
fn without_its_guard_a_goal_is_seen_to_break() {
    let design = compiled(SEATS);
    let (_, free) =
        design.clauses().into_iter().find(|(name, _)| name == "hold.free").expect("it is there");
    let weak = design.without(&[free]).expect("it can be taken away");
    let mut scratch = Scratch::open(&weak, Room::default()).expect("it opens");
    done(&mut scratch, "olga", "operator", "add_seat", &json!({ "seat": "A1", "section": "A" }));
    for (who, booking) in [("ann", "b1"), ("bob", "b2")] {
        done(&mut scratch, who, "buyer", "hold", &json!({ "seat": "A1", "booking": booking }));
    }
    done(&mut scratch, "ann", "buyer", "confirm", &json!({ "booking": "b1" }));
    let (answer, followed) =
        scratch.call(request("bob", "buyer", "confirm", &json!({ "booking": "b2" })));
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(followed.broken, ["one_winner"]);
}

#[test]
fn a_full_store_says_so_and_a_wait_in_it_ends() {
    let room = Room { transitions: 3, ..Room::default() };
    let mut scratch = Scratch::open(&compiled(SEATS), room).expect("it opens");
    for seat in ["A1", "A2", "A3"] {
        assert_eq!(scratch.is_full(), None);
        done(
            &mut scratch,
            "olga",
            "operator",
            "add_seat",
            &json!({ "seat": seat, "section": "A" }),
        );
    }
    let full = scratch.is_full().expect("it is full");
    assert!(full.contains("3 transitions"), "{full}");
    let followed = scratch.wait(60_000);
    assert!(followed.meanwhile.iter().any(|line| line.contains("3 transitions")), "{followed:?}");
}

const FEE: &str = r#"
design Fees

actor clerk
actor bank

subject Fee(fee: text) {
    truth FeeState { status: OPEN | ASKED | PAID | REFUSED | UNSURE = OPEN, seen: int = 0 }
}

step clerk[ask(fee: new Fee)] {
    FeeState.status := ASKED
    send bank.collect(fee)
}

effect bank[collect(fee: Fee)] {
    call POST "{bank.url}/collect" key fee body { fee }
    on ok { FeeState.status := PAID }
    on refused { FeeState.status := REFUSED }
    on unknown { FeeState.status := UNSURE }
}
"#;

#[test]
fn the_world_outside_answers_what_it_is_told_to() {
    let mut scratch = Scratch::open(&compiled(FEE), Room::default()).expect("it opens");
    for fee in ["a", "b", "c"] {
        done(&mut scratch, "cleo", "clerk", "ask", &json!({ "fee": fee }));
    }
    for answer in [Answered::Ok(Value::Null), Answered::Refused, Answered::Unknown] {
        let first = scratch.asked().into_iter().next().expect("it is asked");
        let (there, followed) = scratch.answer(&first, &answer);
        assert!(there && followed.broken.is_empty(), "{followed:?}");
        // once is enough
        assert!(!scratch.answer(&first, &answer).0);
    }
    assert!(scratch.asked().is_empty());
    assert_eq!(status(&scratch, "Fee"), ["PAID", "REFUSED", "UNSURE"]);
}
