//! A history that was tampered with is found out.

use std::sync::Arc;

use runtime::{ManualClock, Runtime, Verified, Walk};
use serde_json::json;
use store::{Commit, Memory, Scan, Store, block_on};

use crate::support::{Bench, ask, bench_on, compile};

const DESIGN: &str = r#"design Till
actor clerk
subject Till(till: text) { truth TillState { cash: int = 0, count: int = 0 } }
step clerk[take(till: Till, amount: int 1..9 = 1)] {
    TillState.cash += amount
    TillState.count += 1
}
step clerk[give(till: Till) { enough: TillState.cash > 0 }] { TillState.cash -= 1 }
invariant never_owes: all t in Till: t.cash >= 0
check { till: 1 clerk: 1 TillState.cash: 0..2 TillState.count: 0..2 }
"#;

struct Served {
    bench: Bench,
    store: Arc<dyn Store>,
}

/// Two tills, six transitions.
fn served() -> Served {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let clock = Arc::new(ManualClock::new(1_000));
    let bench = bench_on(compile("till", DESIGN), Arc::clone(&store), Arc::clone(&clock));
    for (step, till) in
        [("take", "a"), ("take", "b"), ("give", "a"), ("take", "a"), ("give", "b"), ("take", "b")]
    {
        bench.call(ask("clerk", step, "ann").with("till", till)).unwrap();
        clock.advance(10);
    }
    Served { bench, store }
}

fn verified(runtime: &Runtime) -> Verified {
    runtime.verify_history().unwrap()
}

fn entries(served: &Served) -> Vec<Vec<u8>> {
    block_on(served.bench.runtime.history()).unwrap()
}

/// Where a walk over these entries ends, and what it says.
fn departs(entries: &[Vec<u8>]) -> Option<String> {
    let mut walk = Walk::new(compile("till", DESIGN)).unwrap();
    let departed = entries.iter().find_map(|entry| walk.take(entry, true).err());
    departed.map(|departure| departure.to_string())
}

#[test]
fn a_history_that_nobody_touched_is_sound() {
    let served = served();
    let verified = verified(&served.bench.runtime);
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!((verified.transitions, verified.trusted), (6, 0));
    assert_eq!(verified.watched.len(), 1);
    assert!(verified.watched[0].always && verified.watched[0].looks == 7, "{verified:?}");
    assert_eq!(departs(&entries(&served)), None);
}

#[test]
fn a_record_that_was_changed_by_hand_is_named() {
    let served = served();
    let page = block_on(served.store.scan(Scan::new(store::KeyRange::all(), 1_000))).unwrap();
    let is_a = |key: &[u8], value: &[u8]| {
        let told = served.bench.runtime.described(key, value);
        told.is_some_and(|told| told["subject"] == "Till" && told["key"] == json!(["a"]))
    };
    let found = page.records.iter().find(|(key, stored)| is_a(key, &stored.value));
    let (key, stored) = found.expect("a till is stored");
    let mut value = stored.value.to_vec();
    *value.last_mut().unwrap() ^= 2;
    block_on(served.store.commit(Commit::new().put(key.clone(), value))).unwrap();
    let verified = verified(&served.bench.runtime);
    assert!(!verified.is_sound());
    assert_eq!(verified.differ.len(), 1, "{verified:?}");
    assert_eq!(verified.differ[0], "Till[\"a\"]", "{verified:?}");
}

#[test]
fn entries_that_are_dropped_swapped_or_changed_are_found() {
    let whole = entries(&served());
    for at in 0..whole.len() - 1 {
        let mut without = whole.clone();
        without.remove(at);
        // of the last transition of a till the records tell, and nothing in the feed does
        let last_of_a = at == 3;
        assert_eq!(departs(&without).is_none(), last_of_a, "without {at}");
    }
    for at in [0, 2, 4] {
        let mut swapped = whole.clone();
        swapped.swap(at, (at + 3) % whole.len());
        assert!(departs(&swapped).is_some(), "{at} and {}", at + 3);
    }
    for (at, entry) in whole.iter().enumerate() {
        for byte in 0..entry.len() {
            let mut flipped = whole.clone();
            flipped[at][byte] ^= 1;
            // the number of the design, the principal and the parameters of a step that does not read them may be
            // something else and still allowed; what is left behind may not
            if let Some(told) = departs(&flipped) {
                assert!(told.starts_with("transition "), "{told}");
            }
        }
        let mut flipped = whole.clone();
        *flipped[at].last_mut().unwrap() ^= 1;
        assert!(departs(&flipped).is_some(), "{at}");
    }
}

#[test]
fn a_feed_that_was_trimmed_is_walked_from_where_it_begins() {
    let served = served();
    let head = block_on(served.store.head(Default::default())).unwrap();
    let below = store::Cursor::at(head.partition(), head.position() - 3);
    block_on(served.store.trim(below)).unwrap();
    let verified = verified(&served.bench.runtime);
    assert!(verified.is_sound(), "{verified:?}");
    // the first transition of each till rests on what nobody knows any more
    assert_eq!((verified.transitions, verified.trusted), (3, 2), "{verified:?}");
}

#[test]
fn an_invariant_that_a_later_text_states_is_watched_over_the_whole_history() {
    let served = served();
    let stricter = DESIGN.replace("t.cash >= 0", "t.cash >= 0 and t.count <= 1");
    let mut walk = Walk::new(compile("till", &stricter)).unwrap();
    let mut broken = Vec::new();
    for (at, entry) in entries(&served).iter().enumerate() {
        walk.take(entry, true).unwrap();
        broken.extend(walk.broken(false).into_iter().map(|broken| json!([at, broken.goal])));
    }
    assert_eq!(json!(broken), json!([[3, "never_owes"], [5, "never_owes"]]));
}

/// The next version: another name, a new attribute, a stricter guard.
fn next() -> String {
    let version = runtime::version(&compile("till", DESIGN));
    let text = DESIGN
        .replace("cash", "coins")
        .replace("count: int = 0 }", "count: int = 0, note: text = \"\" }")
        .replace("TillState.coins > 0 }", "TillState.coins > 0  busy: TillState.count < 9 }");
    format!("{text}\nfrom \"{version}\" {{ rename TillState.cash as coins }}\n")
}

/// Two versions, three transitions of the second.
fn replaced() -> (Served, Runtime) {
    let served = served();
    let new = served.bench.runtime.replace(compile("till", &next()), &[]).unwrap();
    for (step, till) in [("take", "a"), ("give", "a"), ("take", "c")] {
        let mut request = runtime::Request::new("clerk", step, "ann");
        request.params.insert("till".into(), json!(till));
        new.call(&request).unwrap();
    }
    (served, new)
}

#[test]
fn a_history_is_walked_across_versions() {
    let (_served, new) = replaced();
    let verified = verified(&new);
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!((verified.transitions, verified.versions, verified.earlier), (9, 1, 0));
    assert_eq!(verified.not_followed, None);
}

/// What was stored by the first version, and nobody has touched since, is held to what the first version did.
#[test]
fn what_is_changed_by_hand_is_found_across_versions() {
    let (served, new) = replaced();
    let page = block_on(served.store.scan(Scan::new(store::KeyRange::all(), 1_000))).unwrap();
    let is_b = |key: &[u8], value: &[u8]| {
        let told = new.described(key, value);
        told.is_some_and(|told| told["subject"] == "Till" && told["key"] == json!(["b"]))
    };
    let found = page.records.iter().find(|(key, stored)| is_b(key, &stored.value));
    let (key, stored) = found.expect("a till is stored");
    let mut value = stored.value.to_vec();
    // before the note, which is empty: how often something was taken
    let count = value.len() - 2;
    value[count] ^= 2;
    block_on(served.store.commit(Commit::new().put(key.clone(), value))).unwrap();
    let verified = verified(&new);
    assert!(!verified.is_sound());
    assert_eq!(verified.differ, ["Till[\"b\"]"]);
}

/// A step of a version that was replaced, after it was.
#[test]
fn an_earlier_version_that_acts_once_more_is_found() {
    let (served, new) = replaced();
    let first = entries(&served).into_iter().next().expect("there is one");
    block_on(served.store.commit(Commit::new().feed(first))).unwrap();
    let verified = verified(&new);
    let (_, departure) = verified.departed.expect("it is found");
    assert_eq!(departure.what, "an earlier version acts after it was replaced");
}

/// What a version has dropped cannot be followed: then its transitions are counted, as they were before.
#[test]
fn what_was_dropped_is_said() {
    let served = served();
    let text = DESIGN
        .replace("cash: int = 0, count: int = 0", "cash: int = 0")
        .replace("    TillState.count += 1\n", "")
        .replace(" TillState.count: 0..2", "");
    let drop = ["Till.TillState.count".to_string()];
    let new = served.bench.runtime.replace(compile("till", &text), &drop).unwrap();
    let verified = verified(&new);
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!((verified.transitions, verified.versions, verified.earlier), (0, 0, 6));
    let why = verified.not_followed.expect("it is said");
    assert!(why.contains("Till.TillState.count"), "{why}");
}

/// Sets were stored in the order of the handles of one call: such a history is still one that the design allows.
#[test]
fn a_set_in_the_order_of_earlier_stores_is_the_same_set() {
    let design = r#"design Guests
actor host
subject Table(table: text) { truth TableState { guests: set text max 4 } }
step host[seat(table: Table, guest: text)] { TableState.guests += guest }
check { table: 1 host: 1 guest: 1 }
"#;
    let bench = bench_on(
        compile("guests", design),
        Arc::new(Memory::default()),
        Arc::new(ManualClock::new(1_000)),
    );
    for guest in ["bob", "ann"] {
        bench.call(ask("host", "seat", "kim").with("table", "t").with("guest", guest)).unwrap();
    }
    let entries = block_on(bench.runtime.history()).unwrap();
    let other = |from: &[u8], to: &[u8]| {
        let mut entries = entries.clone();
        let last = entries.last_mut().unwrap();
        let at = last.windows(from.len()).rposition(|bytes| bytes == from).unwrap();
        last[at..at + from.len()].copy_from_slice(to);
        runtime::replay(compile("guests", design), entries.iter().map(Vec::as_slice))
    };
    assert_eq!(other(b"\x03ann\x03bob", b"\x03bob\x03ann"), Ok(2));
    let departed = other(b"\x03ann\x03bob", b"\x03bob\x03amy").unwrap_err().to_string();
    assert!(departed.contains("the design leaves another truth"), "{departed}");
}

/// What a text allowed stays allowed, when the next one allows less: also if nothing else changes.
#[test]
fn each_transition_is_held_to_the_text_that_decided_it() {
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(Memory::default()), Arc::new(store::Distant::new(3, store::Faults::default()))];
    let stricter = DESIGN.replace("enough: TillState.cash > 0", "enough: TillState.cash > 5");
    let freer = DESIGN.replace("enough: TillState.cash > 0", "enough: TillState.cash >= 0");
    for store in stores {
        let open = |text: &str, store: &Arc<dyn Store>| {
            Runtime::open(compile("till", text), Arc::clone(store), Default::default()).unwrap()
        };
        let first = open(DESIGN, &store);
        let step = |name: &str| ask("clerk", name, "ann").with("till", "a");
        for name in ["take", "give", "take"] {
            first.call(&step(name)).unwrap();
        }
        let second = first.replace(compile("till", &stricter), &[]).unwrap();
        second.call(&step("take")).unwrap();
        assert!(second.call(&step("give")).is_err());
        let third = second.replace(compile("till", &freer), &[]).unwrap();
        third.call(&step("give")).unwrap();
        let found = verified(&third);
        assert!(found.is_sound(), "{found:?}");
        assert_eq!((found.transitions, found.versions), (5, 2), "{found:?}");
        let told = block_on(third.feed(None, 100)).unwrap();
        assert_eq!(told.0.len(), 5, "a mark is no transition");
        // what the text at that time refused is found out, although the newest would allow it
        let taken = block_on(third.history()).unwrap();
        let last = taken.last().unwrap();
        let walked = Walk::new(compile("till", &stricter)).unwrap().take(last, true);
        assert!(walked.unwrap_err().to_string().contains("enough"));
    }
}
