//! Faults below the store: never a wrong answer. Every run prints its seed when it fails.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use store::{Decision, KeyRange, LocalStore, Scan, Seeded, Store, Ticket, block_on};
use store_embedded::disk::{Faults, SimulatedDisk};
use store_embedded::{Embedded, Error, Options};

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

fn options() -> Options {
    Options {
        segment_bytes: 2 << 10,
        snapshot_after_bytes: 3 << 10,
        commit_bytes_max: 512,
        pending_bytes_max: 512,
        feed_retention_bytes: 4 << 10,
        ..Options::default()
    }
}

fn open(disk: &SimulatedDisk) -> Result<Embedded, Error> {
    Embedded::open_on(Arc::new(disk.clone()), "store", options())
}

/// Everything that was issued, in order, and how much of it was acknowledged.
#[derive(Default)]
struct Ledger {
    /// The records after each commit; the first entry is the empty store.
    states: Vec<Records>,
    acknowledged: usize,
}

impl Ledger {
    fn new() -> Self {
        Ledger { states: vec![Records::new()], acknowledged: 0 }
    }

    /// Issues some commits, acknowledging in between, until one is refused.
    fn load(&mut self, store: &Embedded, seeded: &mut Seeded, commits: u64) {
        let mut tickets: Vec<(usize, Ticket)> = Vec::new();
        for _ in 0..commits {
            let number = self.states.len();
            let mut records = self.states.last().cloned().unwrap_or_default();
            let changes = random_changes(seeded, number);
            let issued = store.transact(&mut |transaction| {
                for (key, value) in &changes {
                    match value {
                        Some(value) => transaction.put(key, value),
                        None => transaction.delete(key),
                    }
                }
                transaction.feed(number.to_string().as_bytes());
                Decision::Commit
            });
            let Ok(ticket) = issued else { break };
            for (key, value) in changes {
                match value {
                    Some(value) => records.insert(key, value),
                    None => records.remove(&key),
                };
            }
            self.states.push(records);
            tickets.push((number, ticket));
            if seeded.percent(30) && !self.settle(&mut tickets) {
                break;
            }
            if seeded.percent(3) {
                // It may fail; then the log is all there is.
                let _ = store.snapshot();
            }
        }
        self.settle(&mut tickets);
    }

    fn settle(&mut self, tickets: &mut Vec<(usize, Ticket)>) -> bool {
        for (number, ticket) in tickets.drain(..) {
            if ticket.wait().is_err() {
                return false;
            }
            self.acknowledged = self.acknowledged.max(number);
        }
        true
    }

    /// The store holds what was issued up to some commit that is not before the acknowledged ones,
    /// and its feed tells the same. The ledger goes on from there.
    fn compare(&mut self, store: &Embedded, seed: u64) {
        let found = contents(store);
        let position = block_on(store.head(Default::default())).unwrap().position() as usize;
        let last = self.states.len() - 1;
        assert!(position >= self.acknowledged, "seed {seed}: {} lost", self.acknowledged);
        assert!(position <= last, "seed {seed}: {position} was never issued, only {last}");
        assert_eq!(found, self.states[position], "seed {seed}: other records at {position}");
        let mut from = store::Cursor::start(Default::default());
        let mut expected = 1;
        while (from.position() as usize) < position {
            let page = match block_on(store.feed(from, 10)) {
                Err(store::Error::BelowFloor(floor)) => {
                    // A snapshot that was due when the store was opened lets go of the log.
                    let next = floor.position() as usize + 1;
                    assert!(next > expected, "seed {seed}: the floor is not above {expected}");
                    from = floor;
                    expected = next;
                    continue;
                }
                // The power was cut once more; what was read so far was right.
                Err(store::Error::Unavailable(why)) if why.contains("power") => return,
                page => page.unwrap_or_else(|e| panic!("seed {seed}: {e}")),
            };
            for commit in page.commits {
                assert_eq!(commit.entries, [expected.to_string()], "seed {seed}");
                expected += 1;
            }
            from = page.next;
        }
        assert_eq!(expected, position + 1, "seed {seed}: the feed ends early");
        self.states.truncate(position + 1);
        self.acknowledged = position;
    }
}

fn random_changes(seeded: &mut Seeded, number: usize) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut changes = BTreeMap::new();
    for _ in 0..=seeded.below(3) {
        let key = format!("key/{}", seeded.below(30)).into_bytes();
        let length = seeded.below(120) as usize;
        let value = format!("{number}/").repeat(length / 4 + 1).into_bytes();
        changes.insert(key, (!seeded.percent(20)).then_some(value));
    }
    changes.into_iter().collect()
}

fn contents(store: &Embedded) -> Records {
    let page = block_on(store.scan(Scan::new(KeyRange::all(), 1000))).unwrap();
    page.records.into_iter().map(|(key, r)| (key.to_vec(), r.value.to_vec())).collect()
}

fn rounds(full: u64) -> u64 {
    if std::env::var_os("STEADFAST_QUICK").is_some() { full / 5 } else { full }
}

#[test]
fn a_crash_at_any_point_loses_nothing_that_was_acknowledged() {
    for seed in 0..rounds(300) {
        let mut seeded = Seeded::new(seed);
        let mut disk = SimulatedDisk::new();
        let mut ledger = Ledger::new();
        for _ in 0..4 {
            let crash_at = Some(1 + seeded.below(400));
            disk.set_faults(Faults { crash_at, ..Faults::default() });
            if let Ok(store) = open(&disk) {
                ledger.compare(&store, seed);
                ledger.load(&store, &mut seeded, 150);
                if seeded.percent(70) {
                    // The power is cut while the store is still open.
                    disk = disk.after_power_cut(&mut seeded);
                    drop(store);
                    continue;
                }
            }
            disk = disk.after_power_cut(&mut seeded);
        }
        let store = open(&disk).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        ledger.compare(&store, seed);
    }
}

#[test]
fn a_short_write_or_failed_sync_poisons_the_store_until_it_is_opened_again() {
    let mut poisoned = 0;
    for seed in 0..rounds(200) {
        let mut seeded = Seeded::new(seed);
        let disk = SimulatedDisk::new();
        let mut ledger = Ledger::new();
        let store = open(&disk).unwrap();
        let at = Some(1 + seeded.below(60));
        let faults = match seeded.percent(50) {
            true => Faults { short_write_at: at, ..Faults::default() },
            false => Faults { failed_sync_at: at, ..Faults::default() },
        };
        disk.set_faults(faults);
        ledger.load(&store, &mut seeded, 150);
        let number = ledger.states.len();
        let refused = store.transact(&mut |transaction| {
            transaction.put(b"late", b"");
            transaction.feed(number.to_string().as_bytes());
            Decision::Commit
        });
        let mut records = ledger.states.last().cloned().unwrap_or_default();
        records.insert(b"late".into(), Vec::new());
        let refused = match refused {
            Ok(ticket) => {
                ledger.states.push(records);
                ticket.wait()
            }
            Err(error) => Err(error),
        };
        match refused {
            Err(store::Error::Poisoned(_)) => poisoned += 1,
            // No segment could be made ready; nothing was taken.
            Err(store::Error::Full(_)) => {}
            // The fault hit a snapshot or a spare segment, which are tried again.
            outcome => {
                assert_eq!(outcome, Ok(()), "seed {seed}");
                ledger.acknowledged = ledger.states.len() - 1;
            }
        }
        let disk = if seeded.percent(50) {
            // The process is started again while the system, with what it caches, goes on.
            drop(store);
            disk.set_faults(Faults::default());
            let store = open(&disk).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            ledger.compare(&store, seed);
            disk.after_power_cut(&mut seeded)
        } else {
            disk.after_power_cut(&mut seeded)
        };
        let store = open(&disk).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        ledger.compare(&store, seed);
    }
    assert!(poisoned > 10, "only {poisoned} runs met the fault");
}

#[test]
fn a_full_disk_refuses_and_loses_nothing_and_recovers_when_there_is_room() {
    let mut full = 0;
    for seed in 0..rounds(50) {
        let mut seeded = Seeded::new(seed);
        let disk = SimulatedDisk::new();
        let mut ledger = Ledger::new();
        let store = open(&disk).unwrap();
        let capacity_bytes = Some(4200 + seeded.below(3000));
        disk.set_faults(Faults { capacity_bytes, ..Faults::default() });
        let mut refused = 0;
        for _ in 0..200 {
            let before = ledger.states.len();
            ledger.load(&store, &mut seeded, 5);
            refused += u64::from(ledger.states.len() == before);
        }
        full += u64::from(refused > 0);
        assert_eq!(contents(&store), *ledger.states.last().unwrap(), "seed {seed}");
        disk.set_faults(Faults::default());
        let before = ledger.states.len();
        while ledger.states.len() == before {
            std::thread::sleep(std::time::Duration::from_millis(20));
            ledger.load(&store, &mut seeded, 5);
        }
        drop(store);
        let store = open(&disk).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        ledger.acknowledged = ledger.states.len() - 1;
        ledger.compare(&store, seed);
    }
    assert!(full >= 5, "the disk was full in {full} runs only");
}

#[test]
fn a_flipped_bit_is_an_error_or_does_not_matter() {
    let (mut errors, mut harmless) = (0, 0);
    for seed in 0..rounds(400) {
        let mut seeded = Seeded::new(seed);
        let disk = SimulatedDisk::new();
        let mut ledger = Ledger::new();
        let store = open(&disk).unwrap();
        ledger.load(&store, &mut seeded, 60);
        block_on(store.close()).unwrap();
        ledger.acknowledged = ledger.states.len() - 1;
        let held = |path: &Path| path.to_string_lossy().contains('-');
        let place = disk.flip_bit(&mut seeded, held).unwrap();
        match open(&disk) {
            Ok(store) => {
                harmless += 1;
                ledger.compare(&store, seed);
            }
            Err(
                Error::DamagedLog { .. } | Error::DamagedSnapshot { .. } | Error::Format { .. },
            ) => {
                errors += 1;
            }
            Err(Error::Missing { .. }) => errors += 1,
            Err(error) => panic!("seed {seed}: {place}: {error}"),
        }
    }
    assert!(errors > 20 && harmless > 5, "{errors} errors, {harmless} harmless");
}

#[test]
fn a_damaged_record_in_the_middle_is_named_with_what_to_do() {
    let disk = SimulatedDisk::new();
    let store = open(&disk).unwrap();
    for n in 0..5_u8 {
        let ticket = store.transact(&mut |transaction| {
            transaction.put(b"key", &[n; 100]);
            Decision::Commit
        });
        ticket.unwrap().wait().unwrap();
    }
    drop(store);
    use store_embedded::disk::Disk;
    let path = Path::new("store/log-0000000000000001");
    disk.open(path).unwrap().write_at(512 + 50, b"!").unwrap();
    let error = open(&disk).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, Error::DamagedLog { offset: 512, .. }), "{message}");
    assert!(message.contains("log-0000000000000001` is damaged at offset 512"), "{message}");
    assert!(error.help().contains("backup"));
}

#[test]
fn two_cannot_open_one_directory() {
    let disk = SimulatedDisk::new();
    let store = open(&disk).unwrap();
    assert!(matches!(open(&disk), Err(Error::Locked(_))));
    drop(store);
    open(&disk).unwrap();
}
