//! Events reach subscribers in order and at least once, whatever happens in between.

use std::sync::Arc;

use outgoing::{Secret, Subscription, Timeouts, Webhooks, verify};
use runtime::{Request, Runtime};
use serde_json::json;

use crate::support::{OtherSide, open, until};

const BELL: &str = r#"
design Bell
actor ringer
subject Bell(bell: text) { truth Rung { times: int = 0 } }
step ringer[ring(bell: Bell)] {
    Rung.times += 1
    emit Ringing { bell: bell, times: Rung.times }
}
step ringer[hush(bell: Bell)] {
    Rung.times := 0
    emit Silent { bell: bell }
}
"#;

fn subscription(side: &OtherSide, events: Option<&[&str]>) -> Subscription {
    Subscription {
        url: side.url.clone(),
        events: events.map(|names| names.iter().map(ToString::to_string).collect()),
        secrets: vec![Secret::fresh()],
    }
}

fn ring(runtime: &Runtime, times: usize) {
    for _ in 0..times {
        runtime.call(&Request::new("ringer", "ring", "ann").with("bell", "b")).unwrap();
    }
}

fn start(runtime: &Arc<Runtime>, subscription: &Subscription) -> Webhooks {
    Webhooks::start(runtime, std::slice::from_ref(subscription), Timeouts::default()).unwrap()
}

#[test]
fn events_come_in_order_signed_and_whole() {
    let (runtime, side) = (open(BELL), OtherSide::new(&[]));
    ring(&runtime, 2);
    let told = subscription(&side, None);
    let webhooks = start(&runtime, &told);
    ring(&runtime, 3);
    let received = side.received(3);
    let times: Vec<_> = received.iter().map(|call| call.json()["data"]["times"].clone()).collect();
    assert_eq!(times, [json!(3), json!(4), json!(5)], "a new subscription begins with now");
    let call = &received[0];
    let event = call.json();
    assert_eq!(call.header("content-type"), "application/cloudevents+json; charset=utf-8");
    assert_eq!(event["type"], "Bell.Ringing");
    assert_eq!(event["source"], "/v1/bell");
    assert_eq!(event["id"], call.header("webhook-id"));
    let at: i64 = call.header("webhook-timestamp").parse().unwrap();
    let signed = (call.header("webhook-id"), at, call.header("webhook-signature"));
    assert_eq!(verify(&told.secrets, signed, &call.body, at), Ok(()));
    until("kept", || runtime.followers().unwrap()[0].behind <= 1);
    assert_eq!(webhooks.standings()[0].delivered, 3);
}

#[test]
fn an_event_that_is_not_taken_is_told_again_before_those_after_it() {
    let answers = ["500\n", "drop", "410\n", "429|retry-after: 0\n"];
    let (runtime, side) = (open(BELL), OtherSide::new(&answers));
    let webhooks = start(&runtime, &subscription(&side, None));
    ring(&runtime, 2);
    let received = side.received(6);
    let ids: Vec<&str> = received.iter().map(|call| call.header("webhook-id")).collect();
    assert!(ids[..5].iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_ne!(ids[5], ids[0]);
    until("well again", || webhooks.standings()[0].delivered == 2);
    assert_eq!(webhooks.standings()[0].trouble, "");
}

#[test]
fn nothing_is_lost_while_nobody_tells_and_the_trouble_is_visible() {
    let (runtime, side) = (open(BELL), OtherSide::new(&["503\n"; 3]));
    let told = subscription(&side, None);
    let webhooks = start(&runtime, &told);
    ring(&runtime, 3);
    until("trouble", || webhooks.standings()[0].trouble.contains("503"));
    assert!(runtime.followers().unwrap()[0].behind >= 3);
    drop(webhooks);
    ring(&runtime, 2);
    let before = side.received(1).len();
    let _webhooks = start(&runtime, &told);
    let expected: Vec<i64> = (1..=5).collect();
    until("all five", || {
        let received = side.received(before);
        let mut seen: Vec<i64> =
            received.iter().filter_map(|call| call.json()["data"]["times"].as_i64()).collect();
        seen.dedup();
        seen == expected
    });
}

#[test]
fn a_subscription_may_want_some_events_only() {
    let (runtime, side) = (open(BELL), OtherSide::new(&[]));
    let _webhooks = start(&runtime, &subscription(&side, Some(&["Silent"])));
    ring(&runtime, 2);
    runtime.call(&Request::new("ringer", "hush", "ann").with("bell", "b")).unwrap();
    let received = side.received(1);
    assert_eq!(received[0].json()["type"], "Bell.Silent");
    until("kept", || runtime.followers().unwrap()[0].behind <= 1);
    assert_eq!(side.received(1).len(), 1);
}

#[test]
fn who_is_forgotten_begins_anew() {
    let (runtime, side) = (open(BELL), OtherSide::new(&["503\n"; 1_000]));
    let webhooks = start(&runtime, &subscription(&side, None));
    let name = webhooks.standings()[0].follower.clone();
    ring(&runtime, 1);
    drop(webhooks);
    runtime.forget_follower(&name).unwrap();
    assert_eq!(runtime.followers().unwrap(), []);
}
