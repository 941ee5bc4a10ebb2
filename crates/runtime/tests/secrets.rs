//! Secrets: compared, stored as hashes, never told; and what the server chooses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aws_lc_rs::hmac;
use runtime::{
    CallError, ManualClock, Request, Runtime, SALT_BYTES, SecretTrouble, Secrets, Settings,
    TextCall, ViewQuery, Viewer,
};
use serde_json::{Value, json};
use store::{KeyRange, Memory, Scan, Store, Surroundings};

use crate::support::{Bench, START, ask, compile};

const SAFE: &str = r#"
design Safes

actor owner
actor visitor

subject Safe(safe: text) {
    truth SafeState { pin: secret?, other: secret?, opened: int = 0 }
    truth Label { note: text = "" }
}
subject Guest(guest: text) {
    truth GuestState { code: secret?, name: text = "" }
}

step owner[set_pin(safe: Safe, pin: secret)] { SafeState.pin := pin }
step owner[set_both(safe: Safe, pin: secret, again: secret) { same: pin = again }] {
    SafeState.pin := pin
    SafeState.other := again
}
step owner[move_it(safe: Safe)] {
    SafeState.other := SafeState.pin
    SafeState.pin := null
}
step owner[issue(safe: Safe, code: secret = new code(24))] { SafeState.pin := code }
step owner[invite(guest: new Guest = new id, name: text, code: secret = new key)] {
    GuestState.code := code
    GuestState.name := name
}
step visitor[open(safe: Safe, pin: secret) { right: SafeState.pin = pin }] {
    SafeState.opened += 1
}
step visitor[open_other(safe: Safe, pin: secret) { right: SafeState.other = pin }] {
    SafeState.opened += 1
}
step visitor[change(safe: Safe, known: secret, next_pin: secret) {
    right: SafeState.pin = known
    another: SafeState.pin != next_pin
}] { SafeState.pin := next_pin }
step visitor[knock(safe: Safe, pin: secret) { wrong: SafeState.pin != pin }] {
    SafeState.opened += 1
}
step visitor[enter(guest: Guest, code: secret) { right: GuestState.code = code }] {
    GuestState.code := null
}
read visitor[look(safe: Safe, pin: secret) { right: SafeState.pin = pin }] = SafeState
read owner[label(safe: Safe)] = Label
view All = list Safe order by safe
"#;

/// Keys of a test; the last one is the newest.
#[derive(Debug, Default)]
struct Keys(Mutex<Vec<(u8, Vec<u8>)>>);

impl Keys {
    fn new() -> Arc<Keys> {
        let keys = Keys::default();
        keys.add(1);
        Arc::new(keys)
    }

    fn add(&self, id: u8) {
        self.0.lock().unwrap().push((id, vec![id; 32]));
    }

    fn lose(&self, id: u8) {
        self.0.lock().unwrap().retain(|(known, _)| *known != id);
    }

    fn tag(key: &[u8], salt: &[u8], plain: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        hmac::sign(&key, &[salt, plain].concat()).as_ref().to_vec()
    }
}

impl Secrets for Keys {
    fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, SecretTrouble> {
        let keys = self.0.lock().unwrap();
        let (id, key) = keys.last().ok_or(SecretTrouble::NoKeys)?;
        Ok([&[*id][..], &salt, &Keys::tag(key, &salt, plain)].concat())
    }

    fn matches(&self, stored: &[u8], plain: &[u8]) -> Result<bool, SecretTrouble> {
        let keys = self.0.lock().unwrap();
        let key = keys.iter().find(|(id, _)| *id == stored[0]);
        let (_, key) = key.ok_or_else(|| SecretTrouble::UnknownKey(stored[0].to_string()))?;
        let (salt, tag) = stored[1..].split_at(SALT_BYTES);
        Ok(Keys::tag(key, salt, plain) == tag)
    }

    fn fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, SecretTrouble> {
        let keys = self.0.lock().unwrap();
        let print = |(_, key): &(u8, Vec<u8>)| -> [u8; 16] {
            Keys::tag(key, b"sent", message)[..16].try_into().unwrap()
        };
        Ok(keys.iter().rev().map(print).collect())
    }
}

fn safes(keys: &Arc<Keys>) -> Bench {
    safes_on(Arc::new(Memory::new()), keys, store::real_surroundings())
}

fn safes_on(store: Arc<dyn Store>, keys: &Arc<Keys>, surroundings: Arc<dyn Surroundings>) -> Bench {
    let clock = Arc::new(ManualClock::new(START));
    let secrets = Some(Arc::clone(keys) as Arc<dyn Secrets>);
    let settings = Settings { secrets, surroundings, ..Settings::default() };
    let design = compile("safes", SAFE);
    let runtime =
        Runtime::open_with_clock(design, Arc::clone(&store), settings, clock.clone()).unwrap();
    Bench { runtime: Arc::new(runtime), clock, store }
}

fn set(pin: &str) -> Request {
    ask("owner", "set_pin", "olga").with("safe", "s1").with("pin", pin)
}

fn open(pin: &str) -> Request {
    ask("visitor", "open", "vera").with("safe", "s1").with("pin", pin)
}

/// Everything that the store holds, records and feed.
fn all_bytes(bench: &Bench) -> Vec<u8> {
    let page = store::block_on(bench.store.scan(everything())).unwrap();
    let mut all = Vec::new();
    for (key, record) in &page.records {
        all.extend_from_slice(key);
        all.extend_from_slice(&record.value);
    }
    for entry in store::block_on(bench.runtime.history()).unwrap() {
        all.extend_from_slice(&entry);
    }
    all
}

fn everything() -> Scan {
    Scan::new(KeyRange::prefix(Vec::new()), 10_000)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn who_knows_the_secret_passes_and_who_does_not_is_told_nothing() {
    let bench = safes(&Keys::new());
    assert_eq!(bench.refused_by(open("nothing is set yet")), "right");
    let done = bench.call(set("correct horse")).unwrap();
    assert_eq!(done.truth[0]["truth"]["SafeState"], json!({ "opened": 0 }));
    assert_eq!(bench.refused_by(open("battery staple")), "right");
    bench.call(open("correct horse")).unwrap();
    assert_eq!(bench.truth("Safe", "s1")["SafeState"], json!({ "opened": 1 }));
    let look = ask("visitor", "look", "vera").with("safe", "s1").with("pin", "correct horse");
    assert_eq!(bench.call(look).unwrap().result, json!({ "opened": 1 }), "without the secret");
    let error = bench.call(open("battery staple")).unwrap_err();
    let Err(wrong) =
        bench.call(ask("visitor", "open", "vera").with("safe", "s1").with("pin", 4711))
    else {
        panic!("a number is no secret");
    };
    for said in [format!("{error:?}"), error.to_string(), format!("{wrong:?}"), wrong.to_string()] {
        for secret in ["correct horse", "battery staple", "4711"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    assert!(!format!("{:?}", open("battery staple")).contains("battery"));
    let stored = all_bytes(&bench);
    assert!(holds(&stored, "s1"), "the store is looked through");
    assert!(!holds(&stored, "correct horse") && !holds(&stored, "battery"));
}

#[test]
fn what_is_no_secret_is_refused_without_being_told() {
    let bench = safes(&Keys::new());
    let long = "x".repeat(runtime::MAX_SECRET + 1);
    for value in [
        json!(""),
        json!(long),
        json!(7),
        json!(["a-secret"]),
        json!({ "a": "a-secret" }),
        Value::Null,
    ] {
        let asked = ask("visitor", "open", "vera").with("safe", "s1").with("pin", value.clone());
        let Err(CallError::Bad(bad)) = bench.call(asked) else { panic!("{value}") };
        assert_eq!(bad.pointer, "/params/pin");
        assert!(
            !bad.message.contains("a-secret") && !bad.message.contains("xxx"),
            "{}",
            bad.message
        );
    }
    bench.call(set(&"x".repeat(runtime::MAX_SECRET))).unwrap();
    bench.call(open(&"x".repeat(runtime::MAX_SECRET))).unwrap();
}

#[test]
fn two_parameters_and_two_attributes_are_told_apart() {
    let bench = safes(&Keys::new());
    let both = |pin: &str, again: &str| {
        let asked = ask("owner", "set_both", "olga").with("safe", "s1");
        asked.with("pin", pin).with("again", again)
    };
    assert_eq!(bench.refused_by(both("one", "two")), "same");
    bench.call(both("one", "one")).unwrap();
    let change = |old: &str, new: &str| {
        let asked = ask("visitor", "change", "vera").with("safe", "s1");
        asked.with("known", old).with("next_pin", new)
    };
    assert_eq!(bench.refused_by(change("two", "three")), "right");
    assert_eq!(bench.refused_by(change("one", "one")), "another");
    bench.call(change("one", "three")).unwrap();
    let other =
        |pin: &str| ask("visitor", "open_other", "vera").with("safe", "s1").with("pin", pin);
    bench.call(other("one")).unwrap();
    assert_eq!(bench.refused_by(other("three")), "right");
    bench.call(ask("owner", "move_it", "olga").with("safe", "s1")).unwrap();
    bench.call(other("three")).unwrap();
    assert_eq!(bench.refused_by(open("three")), "right", "it is null now");
}

#[test]
fn one_secret_has_many_hashes() {
    let keys = Keys::new();
    let bench = safes(&keys);
    let mut hashes = BTreeSet::new();
    for safe in 0..20 {
        let asked = ask("owner", "set_pin", "olga").with("safe", format!("safe-{safe}"));
        bench.call(asked.with("pin", "1234")).unwrap();
    }
    let scanned = store::block_on(bench.store.scan(everything())).unwrap();
    for (_, record) in &scanned.records {
        // a hash begins with its key: 1, the salt, the tag
        let ends = record.value.windows(1 + SALT_BYTES + 32).filter(|part| part[0] == 1);
        let is_hash = |part: &&[u8]| keys.matches(part, b"1234") == Ok(true);
        hashes.extend(ends.filter(is_hash).map(<[u8]>::to_vec));
    }
    assert_eq!(hashes.len(), 20, "as many as there are safes");
}

/// No object in it has a secret under its name, not even null.
fn has_no_place_for_a_secret(door: &str, told: &Value) {
    match told {
        Value::Object(fields) => {
            for (name, held) in fields {
                assert!(!["pin", "other"].contains(&name.as_str()), "{door} has {name}: {told}");
                has_no_place_for_a_secret(door, held);
            }
        }
        Value::Array(list) => list.iter().for_each(|held| has_no_place_for_a_secret(door, held)),
        _ => {}
    }
}

/// Whether a secret is set is told by nothing that tells of the state that it stands in.
#[test]
fn no_door_has_a_place_for_a_secret() {
    let bench = safes(&Keys::new());
    let runtime = &bench.runtime;
    let mut doors: Vec<(&str, Value)> = vec![
        ("an answer", bench.call(set("1234").keyed("k")).unwrap().to_json()),
        ("the answer again", bench.call(set("1234").keyed("k")).unwrap().to_json()),
    ];
    for (door, viewer) in [("a refusal", None), ("one to an operator", Some(Viewer::operator("o")))]
    {
        let asked = Request { viewer, ..open("5678") };
        let Err(CallError::Refused(refused)) = bench.call(asked) else { panic!("it is wrong") };
        doors.push((door, refused.truth));
    }
    // the short way of a step that is given none
    let named = |name: &str| runtime.design().operations.iter().position(|it| it.name == name);
    let operation = design::model::OperationId::of(named("move_it").unwrap());
    let params = br#"{"safe":"s1"}"#;
    let call = TextCall { operation, params, principal: "olga", viewer: None, trace: None };
    let mut out = Vec::new();
    let (ticket, answer) = runtime.begin_text(&call, &mut out).expect("the short way").unwrap();
    ticket.wait().unwrap();
    answer.unwrap();
    doors.push(("an answer by the short way", serde_json::from_slice(&out).unwrap()));
    let truth = store::block_on(runtime.get("Safe", &[json!("s1")])).unwrap().unwrap().truth;
    doors.push(("truth", truth));
    let page = store::block_on(runtime.records("Safe", None, 10)).unwrap();
    doors.push(("a list", page.records.into_iter().map(|(_, held)| held.truth).collect()));
    let view = ViewQuery { view: "All".into(), ..ViewQuery::default() };
    doors.push(("a view", runtime.view(&view).unwrap()));
    let (feed, _) = store::block_on(runtime.feed(None, 10)).unwrap();
    doors.push(("the feed", feed.iter().map(|(_, told)| told.to_json()).collect()));
    let stored = store::block_on(bench.store.scan(everything())).unwrap();
    let described = |(key, held): &(store::Key, store::Record)| runtime.described(key, &held.value);
    doors.push(("an export", stored.records.iter().filter_map(described).collect()));
    for (door, told) in &doors {
        assert!(told.to_string().contains("\"SafeState\":{\"opened\":0}"), "{door}: {told}");
        has_no_place_for_a_secret(door, told);
    }
}

#[test]
fn a_refusal_is_the_same_whatever_it_hides() {
    let keys = Keys::new();
    let mut bodies = BTreeSet::new();
    for stored in [None, Some("1234"), Some("9876"), Some("a much longer one, of many words")] {
        let bench = safes(&keys);
        if let Some(stored) = stored {
            bench.call(set(stored)).unwrap();
        } else {
            // written, too, so that the record is there
            bench.call(ask("owner", "move_it", "olga").with("safe", "s1")).unwrap();
        }
        let mut asked = open("5555").seen_by(Viewer::with_roles("vera", ["visitor"]));
        asked.legal = true;
        let Err(CallError::Refused(refused)) = bench.call(asked) else { panic!("it is wrong") };
        bodies.insert(format!("{refused:?}"));
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let one = bodies.first().unwrap();
    assert!(one.contains("right"), "{one}");
    assert!(!one.contains("note"), "who compares a secret reads nothing else: {one}");
}

#[test]
fn a_guess_is_not_tried_on_other_steps() {
    let bench = safes(&Keys::new());
    let asked = ask("owner", "set_both", "olga").with("safe", "s1");
    bench.call(asked.with("pin", "other one").with("again", "other one")).unwrap();
    bench.call(set("1234")).unwrap();
    let mut asked = open("other one");
    asked.legal = true;
    let Err(CallError::Refused(refused)) = bench.call(asked) else { panic!("it is wrong") };
    // `open_other` would be done with it, and `knock`, since it is not the PIN
    assert_eq!(refused.legal, [] as [Value; 0], "{refused:?}");
}

/// Truth that `visible to` hides, and that a guard compares with a plain text.
#[test]
fn a_guard_over_hidden_truth_says_nothing_of_it() {
    let text = r#"
design Doors
actor owner
actor visitor
subject Door(door: text) {
    truth DoorState { word: text = "", tries: int = 0 } visible to owner
    truth Shown { open: bool = false } visible to visitor
}
step owner[set(door: Door, word: text, tries: int)] {
    DoorState.word := word
    DoorState.tries := tries
}
step visitor[open(door: Door, word: text) {
    right: DoorState.word = word
    calm: DoorState.tries < 3
}] { Shown.open := true }
step visitor[shut(door: Door) { tired: DoorState.tries > 1 }] { Shown.open := false }
"#;
    let mut bodies = BTreeSet::new();
    for (word, tries) in [("sesame", 0), ("sesam", 2), ("", 1), ("a word that is longer", 7)] {
        let bench = crate::support::bench(compile("doors", text));
        let set = ask("owner", "set", "olga").with("door", "d").with("word", word);
        bench.call(set.with("tries", tries)).unwrap();
        let asked = ask("visitor", "open", "vera").with("door", "d").with("word", "abracadabra");
        let mut asked = asked.seen_by(Viewer::with_roles("vera", ["visitor"]));
        asked.legal = true;
        let Err(CallError::Refused(refused)) = bench.call(asked) else { panic!("it is wrong") };
        bodies.insert(format!("{refused:?}"));
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

#[test]
fn what_the_server_chooses_is_told_once() {
    let bench = safes(&Keys::new());
    let invite = || ask("owner", "invite", "olga").with("name", "ann").keyed("k1");
    let first = bench.call(invite()).unwrap();
    let (id, code) = (&first.result["guest"], first.result["code"].as_str().unwrap());
    assert_eq!((id.as_str().unwrap().len(), code.len()), (26, 32));
    assert_eq!(first.result.get("already_given"), None);
    let again = bench.call(invite()).unwrap();
    assert!(again.replayed);
    assert_eq!(
        again.result,
        json!({ "guest": id, "code": null, "already_given": ["code"] }),
        "an id is no secret"
    );
    assert_eq!(again.truth, first.truth);
    let other = bench.call(ask("owner", "invite", "olga").with("name", "bob")).unwrap();
    assert_ne!(other.result["guest"], first.result["guest"]);
    assert_ne!(other.result["code"], first.result["code"]);
    let stored = all_bytes(&bench);
    assert!(holds(&stored, id.as_str().unwrap()), "the feed carries the id");
    assert!(!holds(&stored, code), "and not the secret");
    let enter =
        |code: &str| ask("visitor", "enter", "vera").with("guest", id.clone()).with("code", code);
    assert_eq!(bench.refused_by(enter("guess")), "right");
    // who only compares the secret of a state does not see what else stands in it
    let seen = enter("guess").seen_by(Viewer::with_roles("vera", ["visitor"]));
    let Err(CallError::Refused(refused)) = bench.call(seen) else { panic!("it is wrong") };
    assert!(!format!("{refused:?}").contains("ann"), "{refused:?}");
    bench.call(enter(code)).unwrap();
    assert_eq!(bench.refused_by(enter(code)), "right", "it is used up");
    let given = ask("owner", "issue", "olga").with("safe", "s1").with("code", "mine");
    let Err(CallError::Bad(bad)) = bench.call(given) else { panic!("a caller does not choose") };
    assert!(bad.message.contains("chosen by the server") && !bad.message.contains("mine"));
}

/// Chance that gives the same again for a while.
#[derive(Debug)]
struct Stuck {
    real: Arc<dyn Surroundings>,
    left: Mutex<u32>,
}

impl Surroundings for Stuck {
    fn now(&self) -> store::Moment {
        self.real.now()
    }
    fn time_ms(&self) -> u64 {
        self.real.time_ms()
    }
    fn chance(&self) -> u64 {
        self.real.chance()
    }
    fn fill(&self, bytes: &mut [u8]) {
        let mut left = self.left.lock().unwrap();
        // only an id has so many letters
        if bytes.len() == 26 && *left > 0 {
            *left -= 1;
            bytes.fill(7);
        } else {
            self.real.fill(bytes);
        }
    }
    fn sleep(&self, duration: std::time::Duration) -> store::Sleep {
        self.real.sleep(duration)
    }
    fn wait(
        &self,
        future: std::pin::Pin<&mut dyn Future<Output = ()>>,
        at_most: Option<std::time::Duration>,
    ) -> bool {
        self.real.wait(future, at_most)
    }
    fn spawn(&self, name: &str, step: store::Step) -> std::io::Result<store::Task> {
        self.real.spawn(name, step)
    }
}

#[test]
fn an_id_that_is_taken_is_chosen_anew() {
    for (times, done) in [(1, true), (3, true), (5, true), (9, false)] {
        let stuck = Stuck { real: store::real_surroundings(), left: Mutex::new(times) };
        let bench = safes_on(Arc::new(Memory::new()), &Keys::new(), Arc::new(stuck));
        let invite = || ask("owner", "invite", "olga").with("name", "ann");
        let first = bench.call(invite()).unwrap();
        assert_eq!(first.result["guest"], "7".repeat(26), "the id that chance gives");
        match bench.call(invite()) {
            Ok(second) => {
                assert!(done && second.result["guest"] != first.result["guest"], "{times}");
            }
            Err(CallError::Refused(refused)) => {
                assert!(!done && refused.clause == "fresh", "{times}: {refused:?}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_retry_is_held_against_the_first_also_after_a_rotation() {
    let keys = Keys::new();
    let bench = safes(&keys);
    bench.call(set("1234").keyed("k")).unwrap();
    assert!(bench.call(set("1234").keyed("k")).unwrap().replayed);
    keys.add(2);
    assert!(bench.call(set("1234").keyed("k")).unwrap().replayed, "the older key is known");
    assert_eq!(bench.call(set("1235").keyed("k")).unwrap_err(), CallError::OtherPayload);
    keys.lose(1);
    assert_eq!(bench.call(set("1234").keyed("k")).unwrap_err(), CallError::OtherPayload);
}

#[test]
fn keys_are_rotated_by_use_and_a_missing_one_is_no_wrong_secret() {
    let keys = Keys::new();
    let bench = safes(&keys);
    let of_s2 = |pin: &str| ask("owner", "set_pin", "olga").with("safe", "s2").with("pin", pin);
    bench.call(set("1234")).unwrap();
    bench.call(of_s2("5678")).unwrap();
    keys.add(2);
    // recognised, and written again: under the new key
    bench.call(open("1234")).unwrap();
    keys.lose(1);
    bench.call(open("1234")).unwrap();
    assert_eq!(bench.refused_by(open("9999")), "right");
    // never used since: neither right nor wrong
    let trouble = CallError::Secret(SecretTrouble::UnknownKey("1".into()));
    for (operation, pin) in
        [("open", "5678"), ("open", "0000"), ("knock", "5678"), ("knock", "0000"), ("look", "1")]
    {
        let asked = ask("visitor", operation, "vera").with("safe", "s2").with("pin", pin);
        assert_eq!(bench.call(asked).unwrap_err(), trouble, "{operation} {pin}");
    }
    // what does not compare it works, and so does a new one
    bench.call(ask("owner", "label", "olga").with("safe", "s2")).unwrap();
    bench.call(of_s2("5678")).unwrap();
    let asked = ask("visitor", "open", "vera").with("safe", "s2").with("pin", "5678");
    bench.call(asked).unwrap();
    // without any key nothing that takes a secret is done
    keys.lose(2);
    assert_eq!(bench.call(set("1")).unwrap_err(), CallError::Secret(SecretTrouble::NoKeys));
}

#[test]
fn a_replacement_carries_secrets_and_does_not_tell_them() {
    let keys = Keys::new();
    let bench = safes(&keys);
    bench.call(set("1234")).unwrap();
    let text = SAFE.replace("truth Label {", "truth Added { more: int = 0 }\n    truth Label {");
    let replaced = bench.runtime.replace(compile("safes", &text), &[]);
    let next = replaced.unwrap_or_else(|error| panic!("{error:?}"));
    next.call(&open("1234")).unwrap();
    let Err(CallError::Refused(_)) = next.call(&open("1235")) else { panic!("it is wrong") };
}

/// The store holds hashes whatever the secret is, and every one of them opens what it locks.
#[test]
fn any_secret_is_kept() {
    let bench = safes(&Keys::new());
    let surroundings = store::real_surroundings();
    for length in (1..64).chain([127, 128, 500, 1_000, 1_024]) {
        let mut bytes = vec![0; length];
        surroundings.fill(&mut bytes);
        let pin: String = bytes.iter().map(|byte| char::from(b' ' + byte % 95)).collect();
        bench.call(set(&pin)).unwrap();
        bench.call(open(&pin)).unwrap();
        let mut wrong = pin.clone();
        let last = wrong.pop().unwrap();
        wrong.push(if last == 'a' { 'b' } else { 'a' });
        assert_eq!(bench.refused_by(open(&wrong)), "right");
        assert!(length < 8 || !holds(&all_bytes(&bench), &pin), "{pin}");
    }
}
