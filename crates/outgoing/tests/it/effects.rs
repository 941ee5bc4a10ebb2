//! An effect reaches the other side as it is written, and its answer comes back.

use std::sync::Arc;

use outgoing::{Effects, Secret, Targets, Timeouts, verify};
use runtime::{Request, Runtime, Workers};
use serde_json::{Value, json};
use store::block_on;

use crate::support::{OtherSide, open, until};

const PAY: &str = r#"
design Pay
actor shop
actor bank
subject Order(order: text) {
    truth PaymentState {
        status: OPEN | ASKED | PAID | DECLINED | UNSURE = OPEN,
        total: decimal = 0,
        receipt: text = "",
    }
}
step shop[pay(order: new Order, total: decimal)] {
    PaymentState := { status: ASKED, total: total }
    send bank.charge(order)
}
effect bank[charge(order: Order)] {
    call POST "{bank.url}/charges" key order body { order, amount: PaymentState.total }
    on ok(receipt: text) { PaymentState.status := PAID  PaymentState.receipt := receipt }
    on refused { PaymentState.status := DECLINED }
    on unknown { PaymentState.status := UNSURE }
}
"#;

fn pay(side: &OtherSide, secrets: &[Secret]) -> (Arc<Runtime>, Workers) {
    let runtime = open(PAY);
    let mut targets = Targets::default();
    targets.set("bank", &side.url);
    for secret in secrets {
        targets.add_secret("bank", secret.clone());
    }
    assert!(targets.unset(runtime.design()).is_empty());
    let effects = Arc::new(Effects::new(targets, Timeouts::default()));
    let workers = Workers::start(&runtime, effects, 1).unwrap();
    let call = Request::new("shop", "pay", "ann").with("order", "o1").with("total", "12.50");
    runtime.call(&call).unwrap();
    (runtime, workers)
}

fn truth(runtime: &Runtime) -> Value {
    let found = block_on(runtime.get("Order", &[json!("o1")])).unwrap().unwrap();
    found.truth["PaymentState"].clone()
}

fn ends(answers: &[&str], status: &str) -> (OtherSide, Value) {
    let side = OtherSide::new(answers);
    let (runtime, _workers) = pay(&side, &[]);
    until(status, || truth(&runtime)["status"] == status);
    let end = truth(&runtime);
    (side, end)
}

#[test]
fn the_call_is_the_body_that_the_design_wrote_signed_and_named() {
    let side = OtherSide::new(&["200\n\"r-1\""]);
    let (old, new) = (Secret::fresh(), Secret::fresh());
    let (runtime, _workers) = pay(&side, &[new.clone(), old.clone()]);
    until("paid", || truth(&runtime)["status"] == "PAID");
    assert_eq!(truth(&runtime)["receipt"], "r-1");
    let received = side.received(1);
    let call = &received[0];
    assert_eq!(call.line, "POST /charges");
    assert_eq!(call.json(), json!({ "order": "o1", "amount": "12.50" }));
    assert_eq!(call.header("content-type"), "application/json");
    let id = call.header("webhook-id");
    assert!(id.starts_with("pay-charge-"), "{id}");
    assert_eq!(call.header("idempotency-key"), format!("\"{id}\""));
    assert_eq!(call.header("ce-specversion"), "1.0");
    assert_eq!(call.header("ce-id"), id);
    assert_eq!(call.header("ce-source"), "/v1/pay");
    assert_eq!(call.header("ce-type"), "Pay.bank.charge");
    let at: i64 = call.header("webhook-timestamp").parse().unwrap();
    let signed = (id, at, call.header("webhook-signature"));
    for secret in [old, new] {
        assert_eq!(verify(&[secret], signed, &call.body, at), Ok(()));
    }
    assert!(verify(&[Secret::fresh()], signed, &call.body, at).is_err());
}

#[test]
fn what_decides_nothing_is_asked_again_under_the_same_key() {
    let answers = [
        "503|retry-after: 0\n",
        "drop",
        "429\n",
        "302|location: /x\n",
        "404\n",
        "201\n{\"receipt\":\"r-2\"}",
    ];
    let (side, end) = ends(&answers, "PAID");
    assert_eq!(end["receipt"], "r-2", "a field of the answer that has the name of the parameter");
    let received = side.received(6);
    assert_eq!(received.len(), 6);
    for call in &received {
        assert_eq!(call.header("idempotency-key"), received[0].header("idempotency-key"));
        assert_eq!(call.header("webhook-signature"), "", "without a secret nothing is signed");
    }
}

#[test]
fn what_is_decided_against_is_not_asked_again() {
    let (side, _) = ends(&["422\n{\"reason\":\"funds\"}"], "DECLINED");
    assert_eq!(side.received(1).len(), 1);
}

#[test]
fn what_is_never_answered_is_known_to_be_unknown() {
    ends(&["drop"; 12], "UNSURE");
}

#[test]
fn a_target_that_is_not_set_is_named() {
    let runtime = open(PAY);
    let unset = Targets::default().unset(runtime.design());
    assert_eq!(unset.len(), 1);
    assert_eq!(unset[0].name.as_deref(), Some("bank"));
    assert_eq!(
        unset[0].to_string(),
        "the effect `bank.charge` calls `{bank.url}`, which is not set"
    );
}
