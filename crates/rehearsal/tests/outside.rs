//! What callers remember, and what the world outside says.

use crate::failure;

const CLAIM: &str = r#"
design Claims

actor claimant { my_epoch: int? }
actor reaper

subject Resource(resource: text) {
    truth ClaimState { owner: actor?, expiry_at: time? }
    truth Epoch { current: int = 0 }
    truth Protected { value: text = "", written_by: int = 0 }
}

step claimant[claim(resource: Resource, ttl: duration) { free: ClaimState.owner = null }] {
    ClaimState := { owner: me, expiry_at: now + ttl }
    Epoch.current += 1
    my_epoch := Epoch.current
}

step claimant[commit(resource: Resource, value: text) { fenced: Epoch.current = my_epoch }] {
    Protected := { value: value, written_by: my_epoch }
}

repair reaper[reclaim(resource: Resource) {
    expired: ClaimState.owner != null and ClaimState.expiry_at < now
}] {
    ClaimState.owner := null
    Epoch.current += 1
}
"#;

#[test]
fn whoever_was_told_an_epoch_uses_it_later() {
    let found = failure(
        CLAIM,
        "claimant ann: claim(r1, 5m) ok
        claimant bob: commit(r1, other) refused fenced
        claimant ann: commit(r1, mine) ok
        expect r1.value = mine and r1.written_by = 1
        after 6m
        claimant bob: claim(r1, 5m) ok
        claimant ann: commit(r1, stale) refused fenced
        claimant bob: commit(r1, fresh) ok
        expect r1.value = fresh and r1.written_by = 3",
    );
    assert_eq!(found, None);
}

/// Who crashed, or never heard, has nothing to show.
#[test]
fn a_crash_and_a_lost_answer_forget() {
    let found = failure(
        CLAIM,
        "claimant ann: claim(r1, 5m) ok
        crash claimant ann
        claimant ann: commit(r1, mine) refused fenced
        after 6m
        claimant bob: claim(r1, 5m) unanswered
        claimant bob: commit(r1, mine) refused fenced
        expect r1.owner = bob and r1.current = 3",
    );
    assert_eq!(found, None);
}

const PAY: &str = r#"
design Pay

actor merchant
actor network
actor reconciler

subject Charge(charge: text) {
    truth ChargeState { status: PENDING | UNKNOWN | TAKEN | DECLINED = PENDING, code: text = "" }
}

step merchant[pay(charge: new Charge)] {
    ChargeState := { status: PENDING }
    send network.authorize(charge)
}

effect network[authorize(charge: Charge)] {
    call POST "{network.url}/authorize" key charge body { charge }
    on ok(code: text) { ChargeState := { status: TAKEN, code: code } }
    on refused { ChargeState.status := DECLINED }
    on unknown { ChargeState.status := UNKNOWN }
}

repair reconciler[reconcile(charge: Charge) { unsure: ChargeState.status = UNKNOWN }] every 30s {
    send network.authorize(charge)
}

invariant once: all c in Charge: count(world.authorize where charge = c) <= 1
"#;

#[test]
fn the_world_outside_answers_what_the_test_says() {
    let found = failure(
        PAY,
        "merchant m: pay(c1) ok
        expect c1.status = PENDING
        answer authorize(c1) nothing
        expect c1.status = PENDING
        answer authorize(c1) ok \"4711\"
        expect c1.status = TAKEN and c1.code = \"4711\" and count(world.authorize) = 1
        merchant m: pay(c2) ok
        answer authorize(c2) refused
        expect c2.status = DECLINED
        merchant m: pay(c3) ok
        answer authorize(c3) unknown
        expect c3.status = UNKNOWN
        after 1m
        answer authorize(c3) ok late
        expect c3.status = TAKEN and c3.code = late",
    );
    assert_eq!(found, None);
}

#[test]
fn an_answer_to_nothing_is_told() {
    let found = failure(PAY, "merchant m: pay(c1) ok\nanswer authorize(c2) refused");
    let (expected, happened) = found.expect("it fails");
    assert_eq!(expected, "`authorize(charge: \"c2\")` is on its way");
    assert_eq!(happened, "on their way are: authorize(charge: \"c1\")");
    let found = failure(
        PAY,
        "merchant m: pay(c1) ok\nanswer authorize(c1) refused\nanswer authorize(c1) ok x",
    );
    assert_eq!(found.expect("it fails").1, "nothing is on its way");
}

const PIN: &str = r#"
design Pins

actor user

subject Account(account: text) {
    truth AccountState { pin: secret?, opened: int = 0 }
}

step user[set_pin(account: Account, pin: secret)] { AccountState.pin := pin }
step user[open_up(account: Account, pin: secret) { right: AccountState.pin = pin }] {
    AccountState.opened += 1
}
"#;

/// Steps that rest on secrets cannot be walked again; what they leave can be looked at all the same.
#[test]
fn a_design_with_secrets_has_tests() {
    let lines = "user ann: set_pin(a1, \"1234\") ok
        user ann: open_up(a1, \"4321\") refused right
        user ann: open_up(a1, \"1234\") ok
        expect a1.opened = 1";
    assert_eq!(failure(PIN, lines), None);
    let wrong = lines.replace("opened = 1", "opened = 2");
    assert_eq!(failure(PIN, &wrong).map(|it| it.1), Some("it does not".to_string()));
}
