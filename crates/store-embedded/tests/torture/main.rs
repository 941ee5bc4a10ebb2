//! A process under load is killed at random moments, again and again. Nothing that it acknowledged
//! may be lost, and nothing may be applied twice: not when the system goes on, and not when, as if
//! the power were cut, a layer below the process takes back what was not synced. With a layer that
//! answers syncs and does not carry them out the same test fails.
//!
//! `STEADFAST_KILLS` sets how often; the default is small.

use crate::place;
mod takeback;
mod worker;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use place::Place;
use store::{Cursor, Seeded, Store, block_on};
use store_embedded::{Embedded, Options};
use takeback::{TakeBack, Taken};

const SEED: u64 = 7;

/// Set for the process that is killed, which is this test once more: the store's directory.
const DIRECTORY: &str = "STEADFAST_TORTURE_DIRECTORY";
/// How many times the asked number of lives a slow machine may take until enough has happened.
const PATIENCE: u64 = 40;

const NAME: &str = "torture::nothing_acknowledged_is_lost_and_nothing_is_applied_twice";

/// What the killed processes have acknowledged.
#[derive(Default)]
struct Ledger {
    /// The highest count of each client.
    counts: BTreeMap<u64, u64>,
    total: u64,
    acknowledged: u64,
    opened_at: Vec<u64>,
}

impl Ledger {
    fn line(&mut self, line: &str) {
        let numbers: Vec<&str> = line.split(' ').collect();
        let number = |n: usize| numbers[n].parse::<u64>().expect("a number");
        if numbers[0] == "open" {
            self.opened_at.push(number(1));
            return;
        }
        let count = self.counts.entry(number(0)).or_default();
        assert!(number(1) > *count, "client {} counted to {} twice", numbers[0], numbers[1]);
        *count = number(1);
        self.total = self.total.max(number(2));
        self.acknowledged += 1;
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_applied_twice() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        return worker::work(Path::new(&directory));
    }
    let least = kills();
    let place = Place::new("torture");
    let mut seeded = Seeded::new(SEED);
    let mut ledger = Ledger::default();
    let mut recoveries_ms = Vec::new();
    let mut kills = 0;
    while kills < least || ledger.acknowledged <= least * 10 {
        assert!(kills < least * PATIENCE, "only {} commits in {kills} lives", ledger.acknowledged);
        kills += 1;
        let life = Duration::from_millis(5 + seeded.below(250));
        let opened = live_and_die(place.path(), life, &mut ledger, None);
        recoveries_ms.push(opened.unwrap_or_else(|why| panic!("{why}")));
        check(place.path(), &ledger).unwrap_or_else(|why| panic!("{why}"));
    }
    recoveries_ms.sort_unstable();
    let worst = recoveries_ms.last().copied().unwrap_or(0);
    println!(
        "seed {SEED}: {kills} kills, {} commits acknowledged, {} in the store, recovery {} ms in \
         the middle and {worst} ms at worst",
        ledger.acknowledged,
        ledger.total,
        recoveries_ms[recoveries_ms.len() / 2],
    );
}

fn kills() -> u64 {
    std::env::var("STEADFAST_KILLS").map_or(12, |n| n.parse().expect("a number"))
}

/// What came of processes that were killed with what they had not synced taken back.
struct TookBack {
    kills: u64,
    acknowledged: u64,
    taken: Taken,
}

/// Kills a process at least so many times, each time with what was not synced taken back, until
/// something is lost or enough was taken back to say that nothing is.
fn take_back(name: &str, lies: bool, least: u64) -> Result<TookBack, String> {
    let place = Place::new(name);
    let store = place.path().join("store");
    std::fs::create_dir_all(&store).expect("a directory");
    let layer = TakeBack::build(place.path(), &store, lies);
    let mut seeded = Seeded::new(SEED);
    let mut ledger = Ledger::default();
    let mut taken = Taken::default();
    let mut kills = 0;
    while kills < least
        || ledger.acknowledged <= least * 10
        || taken.sectors <= least
        || taken.names <= least / 4
    {
        assert!(
            kills < least * PATIENCE,
            "only {taken:?} were taken back in {kills} lives, {} commits acknowledged",
            ledger.acknowledged
        );
        kills += 1;
        let life = Duration::from_millis(5 + seeded.below(150));
        let told = |why: String| format!("seed {SEED}, kill {kills}: {why}");
        live_and_die(&store, life, &mut ledger, Some(&layer)).map_err(told)?;
        let now = layer.take_back(&mut seeded);
        taken.sectors += now.sectors;
        taken.names += now.names;
        check(&store, &ledger).map_err(told)?;
    }
    Ok(TookBack { kills, acknowledged: ledger.acknowledged, taken })
}

#[test]
fn nothing_acknowledged_is_lost_when_what_was_not_synced_is_taken_back() {
    let TookBack { kills, acknowledged, taken } =
        take_back("take-back", false, kills()).unwrap_or_else(|why| panic!("{why}"));
    println!(
        "seed {SEED}: {kills} kills with {} sectors and {} changes of names taken back, \
         {acknowledged} commits acknowledged",
        taken.sectors, taken.names
    );
}

/// The test above would notice.
#[test]
fn a_sync_that_lies_is_found_out() {
    let Err(lost) = take_back("lying", true, 12) else {
        panic!("nothing was lost to syncs that lie")
    };
    println!("lying syncs: {lost}");
}

/// Runs the program for so long after it has opened the store, and kills it. Answers with how long
/// it took to open.
fn live_and_die(
    directory: &Path,
    life: Duration,
    ledger: &mut Ledger,
    layer: Option<&TakeBack>,
) -> Result<u128, String> {
    let begun = Instant::now();
    let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
    command.args(["--exact", NAME, "--nocapture"]).env(DIRECTORY, directory);
    command.stdout(Stdio::piped());
    if let Some(layer) = layer {
        // What it says when it refuses to open is the verdict of a test that expects that.
        layer.under(&mut command);
        command.stderr(Stdio::null());
    }
    let mut child = command.spawn().expect("a process to kill");
    let lines = BufReader::new(child.stdout.take().expect("an output")).lines();
    let (sender, receiver) = mpsc::channel();
    let reading = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some(said) = line.strip_prefix(worker::MARK) {
                drop(sender.send(said.to_owned()));
            }
        }
    });
    let Ok(first) = receiver.recv() else {
        child.wait().expect("a child that ended");
        return Err("the store does not open".into());
    };
    let opened = begun.elapsed().as_millis();
    ledger.line(&first);
    thread::sleep(life);
    child.kill().expect("a child to kill");
    child.wait().expect("a child that ended");
    reading.join().expect("a reader");
    // The last line may have been cut short: then it was not acknowledged to anyone.
    receiver.iter().filter(|line| line.split(' ').count() == 3).for_each(|line| ledger.line(&line));
    Ok(opened)
}

/// The store holds all that was acknowledged, its counters agree, and its feed has each count once.
fn check(directory: &Path, ledger: &Ledger) -> Result<(), String> {
    let store = Embedded::open(directory, Options::small()).map_err(|e| e.to_string())?;
    let read = |key: String| {
        let found = block_on(store.read(&[key.into()], None)).unwrap().records.remove(0);
        found.map_or(0, |r| u64::from_le_bytes(r.value.as_ref().try_into().unwrap()))
    };
    let total = read("total".into());
    let mut sum = 0;
    for client in 0..worker::CLIENTS {
        let count = read(format!("client/{client}"));
        let acknowledged = ledger.counts.get(&client).copied().unwrap_or(0);
        if count < acknowledged {
            return Err(format!("client {client} lost {acknowledged}: {count}"));
        }
        sum += count;
    }
    assert_eq!(sum, total, "a commit was applied in part or twice");
    if total < ledger.total {
        return Err(format!("the total {} was lost: {total}", ledger.total));
    }
    let head = block_on(store.head(Default::default())).unwrap();
    assert_eq!(head.position(), total, "every commit counts once");
    check_feed(&store, head);
    Ok(())
}

fn check_feed(store: &Embedded, head: Cursor) {
    let mut from = Cursor::start(Default::default());
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    while from < head {
        let page = match block_on(store.feed(from, 500)) {
            Err(store::Error::BelowFloor(floor)) => {
                from = floor;
                continue;
            }
            page => page.unwrap(),
        };
        for commit in &page.commits {
            assert_eq!(commit.cursor.position(), from.position() + 1, "a gap in the feed");
            from = commit.cursor;
            let text = String::from_utf8(commit.entries[0].to_vec()).unwrap();
            let (client, count) = text.split_once(' ').unwrap();
            let count = count.parse().unwrap();
            let before = last.insert(client.to_owned(), count);
            assert!(before.is_none_or(|before| before + 1 == count), "{text} after {before:?}");
        }
        from = page.next;
    }
}
