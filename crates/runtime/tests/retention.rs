//! Logs that keep their entries for a time: what is older is forgotten, when it is due and not
//! before, whatever happened in between.

use crate::support;

use std::sync::Arc;

use design::model::Design;
use runtime::{Clock, Fired, ManualClock, Runtime, Viewer};
use serde_json::{Value, json};
use store::{Distant, Faults, Store, block_on};
use support::{Bench, START, ask, bench, bench_on, compile};

const JOURNAL: &str = r#"
design Journal
actor producer
actor consumer
actor stranger
actor janitor
subject Partition(partition: text) {
    truth State { noted: int = 0 }
    truth Open { size: int = 0 } visible to consumer, stranger
    log Entries { value: text } retain 60s visible to consumer
}
step producer[write(partition: Partition, value: text)] {
    append Entries { value: value }
    Open.size += 1
}
subject Basket(basket: text) {
    truth Owner { by: actor }
    log Items { what: text } retain 60s
}
step producer[fill(basket: new Basket, what: text)] {
    Owner.by := me
    append Items { what: what }
}
step producer[close(basket: Basket)] { delete basket }
step consumer[next(partition: Partition, from: int) { unbroken: Entries.start <= from }] {
    Open.size += 0
}
read consumer[fetch(partition: Partition, from: int)] = slice(Entries, from, 1000)
read consumer[span(partition: Partition)] = { first: Entries.start, last: Entries.end }
repair janitor[note(partition: Partition) { moved: State.noted < Entries.start }] {
    State.noted := Entries.start
}
"#;

const MINUTE: i64 = 60_000;

fn journal() -> Design {
    compile("journal", JOURNAL)
}

fn write(bench: &Bench, value: &str) {
    let request = ask("producer", "write", "pat").with("partition", "p").with("value", value);
    bench.call(request).unwrap();
}

fn offsets(bench: &Bench, from: i64) -> Vec<i64> {
    let fetch = ask("consumer", "fetch", "cat").with("partition", "p").with("from", from);
    let page = bench.call(fetch).unwrap().result;
    page.as_array().unwrap().iter().map(|entry| entry["offset"].as_i64().unwrap()).collect()
}

fn span(bench: &Bench) -> Value {
    bench.call(ask("consumer", "span", "cat").with("partition", "p")).unwrap().result
}

fn set(bench: &Bench, now: i64) {
    bench.clock.advance(now - bench.clock.now_ms());
}

/// Fires what is due, batch after batch. Gives how many transitions, and when the next is due.
fn settle(bench: &Bench) -> (usize, Option<i64>) {
    let mut all = 0;
    for _ in 0..100 {
        let (done, next) = bench.runtime.fire_due().unwrap();
        all += done;
        if next.is_none_or(|at| at > bench.clock.now_ms()) {
            return (all, next);
        }
    }
    panic!("what is due is never done");
}

fn walk_again(bench: &Bench) {
    let entries = block_on(bench.runtime.history()).unwrap();
    let walked = runtime::replay(journal(), entries.iter().map(Vec::as_slice));
    assert_eq!(walked, Ok(entries.len()));
}

#[test]
fn an_entry_is_forgotten_at_its_age_and_not_a_moment_before() {
    let bench = bench(journal());
    for value in ["a", "b", "c"] {
        write(&bench, value);
        bench.clock.advance(1_000);
    }
    // a step that writes the record and appends nothing moves no due time
    let next = |from: i64| ask("consumer", "next", "cat").with("partition", "p").with("from", from);
    bench.call(next(0)).unwrap();
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(Some(START + MINUTE)));
    set(&bench, START + MINUTE - 1);
    assert_eq!(settle(&bench), (0, Some(START + MINUTE)));
    assert_eq!(offsets(&bench, 0), [0, 1, 2]);
    set(&bench, START + MINUTE);
    // the log, and the repair that looks at where it begins
    assert_eq!(settle(&bench), (2, Some(START + MINUTE + 1_000)));
    assert_eq!(offsets(&bench, 0), [1, 2], "offsets stay as they are");
    assert_eq!(span(&bench), json!({ "first": 1, "last": 3 }));
    assert_eq!(bench.truth("Partition", "p")["Entries"], json!({ "start": 1, "end": 3 }));
    assert_eq!(bench.truth("Partition", "p")["State"]["noted"], 1);
    // who stands below the beginning is told, as with a log that keeps a number
    assert_eq!(bench.refused_by(next(0)), "unbroken");
    bench.call(next(1)).unwrap();
    set(&bench, START + MINUTE + 2_000);
    assert_eq!(settle(&bench), (2, None));
    assert_eq!(span(&bench), json!({ "first": 3, "last": 3 }));
    assert_eq!(bench.runtime.counters().forgotten(), 3);
    // and it begins anew
    write(&bench, "d");
    assert_eq!(settle(&bench).1, Some(START + 2 * MINUTE + 2_000));
    assert_eq!(offsets(&bench, 0), [3]);
    walk_again(&bench);
}

#[test]
fn the_feed_tells_of_it_whoever_sees_the_log() {
    let bench = bench(journal());
    write(&bench, "a");
    bench.clock.advance(MINUTE);
    assert_eq!(bench.runtime.due(9).unwrap()[0].repair, "forget Entries");
    settle(&bench);
    let told = |viewer: Option<&Viewer>| {
        let (all, _) = block_on(bench.runtime.feed_as(None, 100, viewer)).unwrap();
        let told = all.into_iter().map(|(_, it)| (it.actor, it.operation, it.changes));
        told.filter(|(_, operation, _)| operation == "forget Entries").collect::<Vec<_>>()
    };
    let all = told(None);
    assert_eq!((all.len(), all[0].0.as_str()), (1, "clock"));
    let truth = all[0].2[0].truth.as_ref().unwrap();
    assert_eq!(truth["Entries"], json!({ "start": 1, "end": 1 }));
    let viewer = |role: &str| Viewer::with_roles("ann", [role]);
    assert_eq!(told(Some(&viewer("consumer"))).len(), 1);
    assert_eq!(told(Some(&viewer("stranger"))), []);
}

#[test]
fn many_are_forgotten_in_transitions_that_stay_small() {
    let bench = bench(journal());
    for n in 0..250 {
        write(&bench, &n.to_string());
    }
    bench.clock.advance(MINUTE);
    let mut starts = Vec::new();
    while settle_one(&bench) {
        assert!(starts.len() < 100, "what is due is never done");
        starts.push(span(&bench)["first"].as_i64().unwrap());
    }
    starts.dedup();
    assert_eq!(starts, [100, 200, 250]);
    assert_eq!(offsets(&bench, 0), [] as [i64; 0]);
    walk_again(&bench);
}

fn settle_one(bench: &Bench) -> bool {
    !matches!(bench.runtime.fire_one().unwrap(), Fired::Idle(_))
}

#[test]
fn what_grew_old_while_nothing_ran_is_forgotten_after_the_start() {
    let folder = std::env::temp_dir().join(format!("retention-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let clock = Arc::new(ManualClock::new(START));
    let open = || {
        let options = store_embedded::Options::default();
        let store = store_embedded::Embedded::open(&folder, options).unwrap();
        bench_on(journal(), Arc::new(store), Arc::clone(&clock))
    };
    let first = open();
    write(&first, "a");
    clock.advance(10_000);
    write(&first, "b");
    drop(first);
    clock.advance(MINUTE - 10_000);
    let second = open();
    assert_eq!(offsets(&second, 0), [0, 1], "nothing runs yet");
    assert_eq!(settle(&second), (2, Some(START + MINUTE + 10_000)));
    assert_eq!(offsets(&second, 0), [1]);
    drop(second);
    let third = open();
    assert_eq!(offsets(&third, 0), [1]);
    assert_eq!(settle(&third), (0, Some(START + MINUTE + 10_000)));
    write(&third, "c");
    assert_eq!(offsets(&third, 0), [1, 2]);
    walk_again(&third);
    drop(third);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_history_that_forgets_too_early_departs_from_its_design() {
    let bench = bench(journal());
    write(&bench, "a");
    bench.clock.advance(MINUTE);
    settle(&bench);
    let entries = block_on(bench.runtime.history()).unwrap();
    let longer = compile("journal", &JOURNAL.replace("retain 60s", "retain 61s"));
    let departed = runtime::replay(longer, entries.iter().map(Vec::as_slice)).unwrap_err();
    assert_eq!(
        departed.to_string(),
        "transition 1 (`forget Entries`): nothing is old enough to be forgotten"
    );
}

#[test]
fn a_record_that_goes_takes_its_entries_and_its_due_time_along() {
    let bench = bench(journal());
    let fill = || ask("producer", "fill", "pat").with("basket", "b").with("what", "apple");
    bench.call(fill()).unwrap();
    assert_eq!(settle(&bench), (0, Some(START + MINUTE)));
    bench.call(ask("producer", "close", "pat").with("basket", "b")).unwrap();
    assert_eq!(settle(&bench), (0, None));
    bench.clock.advance(10_000);
    bench.call(fill()).unwrap();
    assert_eq!(settle(&bench), (0, Some(START + 10_000 + MINUTE)));
}

#[test]
fn another_age_counts_from_when_entries_were_appended() {
    for before in ["retain 60s", "", "retain 100"] {
        let old = bench(compile("journal", &JOURNAL.replace("retain 60s", before)));
        for value in ["a", "b"] {
            write(&old, value);
            old.clock.advance(1_000);
        }
        let shorter = compile("journal", &JOURNAL.replace("retain 60s", "retain 10s"));
        let runtime = Arc::new(old.runtime.replace(shorter, &[]).unwrap());
        let new = Bench { runtime, clock: old.clock, store: old.store };
        assert_eq!(settle(&new), (0, Some(START + 10_000)), "{before}");
        set(&new, START + 10_999);
        assert_eq!(settle(&new), (2, Some(START + 11_000)), "{before}");
        assert_eq!(offsets(&new, 0), [1], "{before}");
    }
}

#[test]
fn a_store_far_away_forgets_as_well() {
    let clock = Arc::new(ManualClock::new(START));
    let store: Arc<dyn Store> = Arc::new(Distant::new(7, Faults::default()));
    let settings = support::by_hand();
    let runtime =
        Runtime::open_with_clock(journal(), Arc::clone(&store), settings, clock.clone()).unwrap();
    let bench = Bench { runtime: Arc::new(runtime), clock, store };
    for n in 0..5 {
        write(&bench, &n.to_string());
        bench.clock.advance(1_000);
    }
    set(&bench, START + MINUTE + 2_500);
    assert_eq!(settle(&bench).1, Some(START + MINUTE + 3_000));
    assert_eq!(offsets(&bench, 0), [3, 4]);
    walk_again(&bench);
}
