use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::conformance;
use crate::distant::{Distant, Faults};
use crate::surroundings::{RealSurroundings, block_on};

/// Runs a transaction of whoever keeps nothing.
fn settle(
    store: &dyn Store,
    retry: &Retry,
    run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
) -> Result<Settled> {
    settle_with(None, store, retry, run)
}

fn settle_with(
    recent: Option<&Recent>,
    store: &dyn Store,
    retry: &Retry,
    run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
) -> Result<Settled> {
    let surroundings = &RealSurroundings::default();
    block_on(transact(Ground { surroundings, store, recent, retry }, run))
}

fn number(transaction: &dyn Transaction, key: &str) -> u64 {
    let found = transaction.get(key.as_bytes());
    found.map_or(0, |(_, value)| value.try_into().map_or(0, u64::from_le_bytes))
}

fn stored(store: &dyn Store, key: &str) -> u64 {
    let found = block_on(store.read(&[key.into()], None)).unwrap().records;
    found[0].as_ref().map_or(0, |r| (*r.value).try_into().map_or(0, u64::from_le_bytes))
}

#[test]
fn a_distant_store_conforms() {
    let faults = Faults { delay_us_max: 50, ..Faults::default() };
    let names = conformance::run(&mut || Box::new(Distant::new(1, faults)));
    assert!(names.len() >= 40, "only {} checks ran", names.len());
}

/// Two counters that are raised together, followed by reference, by many at once.
#[test]
fn nothing_is_lost_and_nothing_is_torn() {
    let faults = Faults { delay_us_max: 200, conflicts_percent: 10, ..Faults::default() };
    let store = Distant::new(7, faults);
    let retry = Retry { attempts_max: 1000, ..Retry::default() };
    let (met, torn) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut run = |transaction: &mut dyn Transaction| {
                        let (a, b) = (number(transaction, "a"), number(transaction, "b"));
                        transaction.put(b"a", &(a + 1).to_le_bytes());
                        transaction.put(b"b", &(b + 1).to_le_bytes());
                        transaction.feed(b"raised");
                        Decision::Commit
                    };
                    let settled = settle(&store, &retry, &mut run).unwrap();
                    met.fetch_add(settled.conflicts.into(), Ordering::Relaxed);
                    let mut seen = (0, 0);
                    let mut look = |transaction: &mut dyn Transaction| {
                        let a = number(transaction, "a");
                        // asked for only when the first is there: fetched at another moment
                        let b = if a > 0 { number(transaction, "b") } else { 0 };
                        seen = (a, b);
                        Decision::Abandon
                    };
                    settle(&store, &retry, &mut look).unwrap();
                    torn.fetch_add(u64::from(seen.0 != seen.1), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!((stored(&store, "a"), stored(&store, "b")), (200, 200));
    assert_eq!(torn.into_inner(), 0);
    assert!(met.into_inner() > 0, "nobody met anybody");
}

#[test]
fn who_meets_others_too_often_is_told_and_has_written_nothing() {
    let store = Distant::new(3, Faults { conflicts_percent: 100, ..Faults::default() });
    let retry = Retry { attempts_max: 5, backoff_first: Duration::ZERO, ..Retry::default() };
    let mut runs = 0;
    let mut run = |transaction: &mut dyn Transaction| {
        runs += 1;
        let n = number(transaction, "n");
        transaction.put(b"n", &(n + 1).to_le_bytes());
        Decision::Commit
    };
    let outcome = settle(&store, &retry, &mut run);
    assert_eq!(outcome.unwrap_err(), Error::Contended { attempts: 5 });
    assert_eq!(stored(&store, "n"), 0);
    // once to find out what it reads, then once for each attempt
    assert_eq!(runs, 6);
}

#[test]
fn a_scan_goes_as_far_as_it_is_followed_and_sees_own_writes() {
    let store = Distant::new(3, Faults::default());
    for n in 0..500_u32 {
        let key = format!("k{n:03}");
        block_on(store.commit(Commit::new().put(&*key, "x"))).unwrap();
    }
    for (reverse, stop, expected) in
        [(false, 10, "k000 k009"), (true, 10, "k499 k490"), (false, 1000, "k000 own")]
    {
        let mut seen = Vec::new();
        let mut run = |transaction: &mut dyn Transaction| {
            seen.clear();
            transaction.put(b"own", b"");
            transaction.delete(b"k100");
            let all = KeyRange::all();
            transaction.scan(&all, reverse, &mut |key, _, _| {
                if !reverse || key != b"own" {
                    seen.push(String::from_utf8_lossy(key).into_owned());
                }
                if seen.len() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            Decision::Abandon
        };
        settle(&store, &Retry::default(), &mut run).unwrap();
        assert_eq!(format!("{} {}", seen[0], seen[seen.len() - 1]), expected);
        assert_eq!(seen.len(), stop.min(500));
        assert!(!seen.iter().any(|key| key == "k100"));
    }
}

/// What was scanned counts as read.
#[test]
fn a_record_that_was_scanned_may_not_change_before_the_commit() {
    let store = Distant::new(3, Faults::default());
    block_on(store.commit(Commit::new().put("due/1", "x"))).unwrap();
    let mut runs = 0;
    let mut run = |transaction: &mut dyn Transaction| {
        runs += 1;
        let mut first = None;
        transaction.scan(&KeyRange::prefix("due/"), false, &mut |key, _, _| {
            first = Some(key.to_vec());
            ControlFlow::Break(())
        });
        if runs == 2 {
            // somebody else is faster
            block_on(store.commit(Commit::new().delete("due/1"))).unwrap();
        }
        let Some(first) = first else { return Decision::Abandon };
        transaction.delete(&first);
        transaction.put(b"fired", b"");
        Decision::Commit
    };
    let settled = settle(&store, &Retry::default(), &mut run).unwrap();
    assert_eq!(settled.conflicts, 1);
    assert_eq!(block_on(store.read(&["fired".into()], None)).unwrap().records, [None]);
}

/// It would ask for ever, if the number were another one when it is run again.
#[test]
fn a_transaction_may_ask_for_what_lies_under_its_number() {
    let store = Distant::new(3, Faults::default());
    let mut runs = 0;
    let mut run = |transaction: &mut dyn Transaction| {
        runs += 1;
        assert!(runs < 10, "it is run again and again");
        let key = transaction.number().to_be_bytes();
        if transaction.get(&key).is_none() {
            transaction.put(&key, b"here");
        }
        Decision::Commit
    };
    settle(&store, &Retry::default(), &mut run).unwrap();
    assert_eq!(runs, 2);
}

/// Eight threads of two processes at one record. Whoever is told that the limit is reached has seen it reached.
#[test]
fn transactions_that_build_upon_each_other_lose_nothing() {
    const LIMIT: u64 = 300;
    let faults = Faults { delay_us_max: 300, conflicts_percent: 2, lost_percent: 5 };
    for seed in 0..4 {
        let store = Distant::new(seed, faults);
        let processes = [Recent::default(), Recent::default()];
        let (done, met) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (store, recent) = (&store, &processes[thread % 2]);
                let (done, met) = (&done, &met);
                scope.spawn(move || {
                    loop {
                        let mut refused = false;
                        let mut run = |transaction: &mut dyn Transaction| {
                            let n = number(transaction, "n");
                            refused = n >= LIMIT;
                            if refused {
                                return Decision::Abandon;
                            }
                            transaction.put(b"n", &(n + 1).to_le_bytes());
                            transaction.feed(&n.to_le_bytes());
                            Decision::Commit
                        };
                        let retry = Retry { attempts_max: 1_000, ..Retry::default() };
                        let settled = settle_with(Some(recent), store, &retry, &mut run).unwrap();
                        if refused {
                            assert_eq!(stored(store, "n"), LIMIT);
                            return;
                        }
                        done.fetch_add(1, Ordering::Relaxed);
                        met.fetch_add(settled.conflicts.into(), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!((done.into_inner(), stored(&store, "n")), (LIMIT, LIMIT));
        let fed = block_on(store.feed(Cursor::at(Partition::default(), 0), 1_000)).unwrap();
        let fed: Vec<u64> = fed
            .commits
            .iter()
            .flat_map(|commit| &commit.entries)
            .map(|entry| u64::from_le_bytes((&**entry).try_into().unwrap()))
            .collect();
        assert_eq!(fed, (0..LIMIT).collect::<Vec<u64>>(), "seed {seed}");
    }
}

/// What was read long ago may decide nothing without a commit that checks it.
#[test]
fn nothing_is_answered_on_what_is_only_remembered() {
    let store = Distant::new(3, Faults::default());
    let recent = Recent::default();
    let mut seen = 0;
    let mut look = |transaction: &mut dyn Transaction| {
        seen = number(transaction, "n");
        Decision::Abandon
    };
    settle_with(Some(&recent), &store, &Retry::default(), &mut look).unwrap();
    assert!(recent.find(&"n".into()).is_some());
    block_on(store.commit(Commit::new().put("n", 5_u64.to_le_bytes().to_vec()))).unwrap();
    let settled = settle_with(Some(&recent), &store, &Retry::default(), &mut look).unwrap();
    assert_eq!((seen, settled.ticket.position()), (5, 1));
}

/// A log and the record that says how long it is, in two processes: a range is never older than its record.
#[test]
fn a_range_is_of_the_moment_of_its_record() {
    let faults = Faults { delay_us_max: 200, ..Faults::default() };
    let store = Distant::new(11, faults).with_operations_max(1_000);
    let processes = [Recent::default(), Recent::default()];
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let (store, recent) = (&store, &processes[thread % 2]);
            scope.spawn(move || {
                let retry = Retry { attempts_max: 1_000, ..Retry::default() };
                for _ in 0..25 {
                    // half of them append without a look at the log
                    let mut append = |transaction: &mut dyn Transaction| {
                        let n = number(transaction, "length");
                        let mut entries = 0;
                        if thread >= 3 {
                            transaction.scan(&KeyRange::prefix("log/"), false, &mut |_, _, _| {
                                entries += 1;
                                ControlFlow::Continue(())
                            });
                        }
                        if transaction.misses() {
                            return Decision::Abandon;
                        }
                        let torn = thread >= 3 && entries != n;
                        transaction.put(b"length", &(n + 1).to_le_bytes());
                        transaction.put(format!("log/{n:05}").as_bytes(), b"");
                        if torn {
                            transaction.put(b"torn", b"");
                        }
                        Decision::Commit
                    };
                    settle_with(Some(recent), store, &retry, &mut append).unwrap();
                }
            });
        }
    });
    assert_eq!(stored(&store, "length"), 150);
    assert_eq!(block_on(store.read(&["torn".into()], None)).unwrap().records, [None]);
}

/// The record is known from a commit that is not answered yet, and what it appends is not in the store yet.
#[test]
fn a_range_is_not_mixed_with_what_is_under_way() {
    let store = Distant::new(3, Faults::default());
    let recent = Recent::default();
    let length = |n: u64| n.to_le_bytes().to_vec();
    let append = Commit::new().absent("length").put("length", length(1)).put("log/0", "");
    let append = append.version(Version(1 << 52));
    let sent = recent.begin(&append, Version(1 << 52), || std::task::Poll::<()>::Pending).unwrap();
    let mut under_way = Some(sent.0);
    let mut seen = Vec::new();
    let mut run = |transaction: &mut dyn Transaction| {
        let (n, mut entries) = (number(transaction, "length"), 0);
        transaction.scan(&KeyRange::prefix("log/"), false, &mut |_, _, _| {
            entries += 1;
            ControlFlow::Continue(())
        });
        transaction.put(b"length", &(n + 1).to_le_bytes());
        if !transaction.misses() {
            seen.push((n, entries));
            // it arrives after the look at the log
            if let Some(under_way) = under_way.take() {
                block_on(store.commit(append.clone())).unwrap();
                under_way.holds(1);
            }
        }
        Decision::Commit
    };
    settle_with(Some(&recent), &store, &Retry::default(), &mut run).unwrap();
    assert_eq!(seen.last(), Some(&(1, 1)), "{seen:?}");
}
