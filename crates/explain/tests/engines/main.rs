//! What `explain` prints for an engine, carried out on the engine: each commit once with everything
//! as it was read, and once for each record that changed in between. Then nothing at all may happen.
//!
//! The servers are started here, on free ports of the loopback, and stopped again. What is missing
//! on the machine is installed; where that is impossible, the test fails and says so.

use crate::support;

mod cases;
mod dynamodb;
mod encoding;
mod etcd;
mod http;
mod postgres;
mod server;

use std::collections::{BTreeMap, BTreeSet};

use cases::{Binding, Case};
use explain::{Engine, Realized, realize};

/// An engine that runs.
trait Running {
    /// Writes these records, whatever was there.
    fn seed(&mut self, records: &[(Vec<u8>, Vec<u8>)]);
    /// The versions that a reader is told; nothing for what is absent.
    fn versions(&mut self, keys: &[Vec<u8>]) -> BTreeMap<Vec<u8>, String>;
    /// The printed reads, carried out: the values that were found.
    fn read(&mut self, realized: &Realized, binding: &Binding) -> BTreeSet<Vec<u8>>;
    /// The printed scan, carried out: the keys that were found, in order.
    fn scan(&mut self, line: &str, name: &str, from: &[u8], to: &[u8]) -> Vec<Vec<u8>>;
    /// The printed commit: was it accepted?
    fn commit(&mut self, realized: &Realized, binding: &Binding) -> bool;
    /// Every record of one design, with its version.
    fn dump(&mut self, design: u16) -> BTreeMap<Vec<u8>, (String, Vec<u8>)>;
    fn feed_length(&mut self) -> usize;
    /// Leaves the engine empty: to look at what a commit did costs what the commit did, not what all
    /// before it did.
    fn forget(&mut self);
}

/// Runs every kind of commit that the catalog has; how many were tried.
fn carry_out(engine: Engine, running: &mut dyn Running) -> usize {
    let mut seen = BTreeSet::new();
    let mut number = 0;
    let mut tried = 0;
    for found in support::designs() {
        let realization = realize(&found.design, engine);
        if !realization.misfits.is_empty() {
            println!("{} does not fit: {:?}", found.name, realization.misfits);
            continue;
        }
        for realized in &realization.operations {
            if realized.commit.is_empty() || !seen.insert(cases::signature(&realized.form)) {
                continue;
            }
            for case in cases::cases(&realized.form) {
                number += 1;
                tried += 1;
                let place = format!("{} {} {case:?}", found.name, realized.operation);
                one(running, realized, case, number, &place);
                running.forget();
            }
        }
    }
    println!("{} commits of {} kinds on {}", tried, seen.len(), engine.name());
    tried
}

fn one(running: &mut dyn Running, realized: &Realized, case: Case, number: u16, place: &str) {
    let form = &realized.form;
    let seeds = cases::seeds(form, case, number);
    running.seed(&seeds);
    let keys: Vec<Vec<u8>> = form.reads.iter().map(|read| cases::key(&read.key, number)).collect();
    let versions = running.versions(&keys);
    let binding = Binding::new(form, case, number, &versions);
    let read = running.read(realized, &binding);
    let there = keys.iter().filter(|key| seeds.iter().any(|(seeded, _)| seeded == *key)).count();
    assert_eq!(read.len(), there, "{place}: what was read");
    if let Some(broken) = case.broken {
        running.seed(&[(keys[broken].clone(), b"changed in between".to_vec())]);
    }
    let before = running.dump(number);
    let fed = running.feed_length();
    let accepted = running.commit(realized, &binding);
    let after = running.dump(number);
    if case.broken.is_some() {
        assert!(!accepted, "{place}: accepted");
        assert_eq!(before, after, "{place}: something was written");
        assert_eq!(fed, running.feed_length(), "{place}: something was fed");
        return;
    }
    assert!(accepted, "{place}: refused");
    assert_eq!(fed + usize::from(form.feed.is_some()), running.feed_length(), "{place}: the feed");
    let found: BTreeMap<Vec<u8>, Vec<u8>> =
        after.iter().map(|(k, (_, v))| (k.clone(), v.clone())).collect();
    assert_eq!(found, cases::expected_records(form, case, number), "{place}: what was written");
    for (key, (version, _)) in &after {
        let moved = before.get(key).is_none_or(|(old, _)| old != version);
        assert_eq!(moved, cases::is_written(form, key, number), "{place}: a version");
    }
}

/// What lies in a range is found in the order of the keys, and nothing beside it.
fn look_through(engine: Engine, running: &mut dyn Running) {
    let design = support::design("payments").design;
    let realization = realize(&design, engine);
    let repair =
        realization.operations.iter().find(|one| one.operation.contains("reconcile")).unwrap();
    let (scan, line) = (&repair.form.scans[0], &repair.scans[0]);
    let number = 60_000_u16;
    let sorted = |at: i64| (at as u64 ^ 1 << 63).to_be_bytes().to_vec();
    let index = &repair.form.writes.iter().find(|w| w.what == "due-time index");
    assert!(index.is_none(), "the repair only sends");
    let entry = |at: i64| {
        [&number.to_be_bytes()[..], b"t", &sorted(at), &[0, 3, 0, 1, b'c', 0, 1]].concat()
    };
    let times = [1_000, 5, 999, -7, 1_001, 2_000];
    let seeds: Vec<(Vec<u8>, Vec<u8>)> = times.iter().map(|at| (entry(*at), Vec::new())).collect();
    running.seed(&seeds);
    let beside = [&number.to_be_bytes()[..], b"r", &sorted(1)].concat();
    running.seed(&[(beside, b"a record".to_vec())]);
    let now = |_: &str| sorted(1_000 + 1);
    let (from, to) = (scan.from.bytes(number, &now), scan.to.bytes(number, &now));
    let found = running.scan(&line.text, &scan.name, &from, &to);
    assert_eq!(found, [-7, 5, 999, 1_000].map(entry));
}

#[test]
fn on_postgres() {
    let mut running = postgres::start();
    assert!(carry_out(Engine::Postgres, &mut running) > 20);
    look_through(Engine::Postgres, &mut running);
    one_of_many_wins(&mut running);
}

/// Of several that hold one seat at the same moment, one does.
fn one_of_many_wins(running: &mut postgres::Postgres) {
    let realization = realize(&support::design("tickets").design, Engine::Postgres);
    let hold = realization.operations.iter().find(|one| one.operation == "buyer[hold]").unwrap();
    let case = Case { present: true, broken: None };
    for round in 0..10 {
        let number = 61_000 + round;
        running.seed(&cases::seeds(&hold.form, case, number));
        let keys: Vec<Vec<u8>> =
            hold.form.reads.iter().map(|r| cases::key(&r.key, number)).collect();
        let binding = Binding::new(&hold.form, case, number, &running.versions(&keys));
        let fed = running.feed_length();
        let accepted = running.race(hold, &binding, 4);
        assert_eq!(accepted.iter().filter(|one| **one).count(), 1, "{accepted:?}");
        assert_eq!(running.feed_length(), fed + 1);
    }
}

#[test]
fn on_etcd() {
    let mut running = etcd::start();
    assert!(carry_out(Engine::Etcd, &mut running) > 20);
    look_through(Engine::Etcd, &mut running);
}

#[test]
fn on_dynamodb() {
    let mut running = dynamodb::start();
    assert!(carry_out(Engine::Dynamodb, &mut running) > 20);
    look_through(Engine::Dynamodb, &mut running);
}
