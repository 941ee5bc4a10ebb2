//! A running service moves from an embedded store to PostgreSQL and back. What it must hold then is known from the answers
//! that callers were given, and not from any store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use store::Seeded;

use crate::cli::postgres::{Bank, DESIGN};
use crate::cli::serving::Server;
use crate::cli::support::{folder_with, run_in};
use crate::database;

/// The design that servers share, with a view.
fn design() -> String {
    DESIGN.replace("design Many", "design Moving") + "view Sum = sum total of Count\n"
}

/// What callers know.
#[derive(Default)]
struct Known {
    totals: BTreeMap<String, i64>,
    /// Calls by their key, and what was answered.
    answers: BTreeMap<String, (Vec<String>, Value)>,
    moves: u32,
}

fn serve(folder: &Path, store: &str, bank: &Bank) -> Server {
    let outside = format!("bank=http://127.0.0.1:{}", bank.port);
    let words = ["moving.design", "--store", store, "--outside", &outside];
    let more = ["--outside-attempts", "50", "--unproved"];
    Server::start(folder, &[&words[..], &more[..]].concat())
}

impl Known {
    fn call(&mut self, server: &Server, seed: &mut Seeded, calls: usize) {
        for _ in 0..calls {
            let (count, by) = (format!("c{}", seed.below(5)), seed.below(9) as i64 + 1);
            let key = format!("{:x}", seed.number());
            let (at, raised) = (format!("count={count}"), format!("by={by}"));
            let words =
                ["call", "moving", "client", "raise", &at, &raised, "--key", &key, "--json"];
            let answer = server.run(&words).exits(0).json();
            *self.totals.entry(count).or_default() += by;
            let words = words.iter().map(|word| word.to_string()).collect();
            self.answers.insert(key, (words, answer));
        }
        let name = format!("move=m{}", self.moves);
        server.run(&["call", "moving", "client", "pay", &name]).exits(0);
        self.moves += 1;
    }

    /// Every total, the view, and the same answer again under every key.
    fn holds(&self, server: &Server) {
        for (count, total) in &self.totals {
            server.run(&["get", "moving", "Count", count]).exits(0).says(&format!("total {total}"));
        }
        for (words, answer) in self.answers.values() {
            let words: Vec<&str> = words.iter().map(|word| &**word).collect();
            let (mut again, mut first) = (server.run(&words).exits(0).json(), answer.clone());
            // the revision is that of the moment at which it is asked
            again["revision"].take();
            first["revision"].take();
            assert_eq!(again, first, "{words:?}");
        }
        let sum: i64 = self.totals.values().sum();
        let seen = server.run(&["view", "moving", "Sum", "--json"]).exits(0).json();
        assert_eq!(seen["sum"], sum, "{seen}");
    }
}

fn wait_for(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_running_service_moves_to_postgres_and_back() {
    let database = database::shared();
    let (to, other) = (database.address(&database.schema()), database.address(&database.schema()));
    let folder = folder_with("copying-move", "moving.design", &design());
    let (bank, mut known, mut seed) = (Bank::start(), Known::default(), Seeded::new(7));
    let here = |words: &[&str]| run_in(&folder, words);

    // most of it is copied while it serves
    let server = serve(&folder, "embedded:./data", &bank);
    known.call(&server, &mut seed, 25);
    server.run(&["call", "moving", "client", "take", "lease=l", "ttl=20s"]).exits(0);
    here(&["copy", "./data", &to])
        .exits(2)
        .says("is open in another process")
        .says("steadfast backup ./ahead");
    server.run(&["backup", "./ahead"]).exits(0);
    here(&["copy", "./ahead", &to, "--ahead"]).exits(0).says("not served yet");
    let outside = format!("bank=http://127.0.0.1:{}", bank.port);
    let words = ["serve", "moving.design", "--listen", "127.0.0.1:0", "--outside", &outside];
    here(&[&words[..], &["--store", &to]].concat())
        .exits(5)
        .says("holds a copy of `./ahead` that was made ahead and is not finished")
        .says("stop the server of that store");
    known.call(&server, &mut seed, 10);
    server.kill();

    // a stop of seconds
    let sound = here(&["verify", "./data", "--json"]).exits(0).json();
    let begun = Instant::now();
    let copied = here(&["copy", "./data", &to, "--json"]).exits(0).json();
    println!("the rest was copied in {:.2} s: {copied}", begun.elapsed().as_secs_f64());
    assert!(copied["records_written"].as_u64() < copied["records"].as_u64(), "{copied}");
    assert!(copied["commits_written"].as_u64() < copied["commits"].as_u64(), "{copied}");
    assert_eq!(here(&["verify", &to, "--json"]).exits(0).json(), sound);
    here(&["copy", "./data", &to])
        .exits(2)
        .says("is not empty: it holds a store up to revision 0-");

    // the timer fires, the outbox is delivered once, keys are known
    let server = serve(&folder, &to, &bank);
    known.holds(&server);
    bank.open.store(true, Ordering::Release);
    wait_for("the lease does not expire", || {
        server.run(&["get", "moving", "Lease", "l"]).exits(0).out.contains("expired 1")
    });
    wait_for("the outbox is not delivered", || {
        (0..known.moves).all(|n| {
            let got = server.run(&["get", "moving", "Move", &format!("m{n}")]);
            got.exits(0).out.contains("status PAID")
        })
    });
    known.call(&server, &mut seed, 5);
    // while it serves
    server.run(&["verify"]).exits(0).says("sound");
    server.run(&["backup", "./kept"]).exits(0);
    server.run(&["backup", "./kept"]).exits(2).says("is not empty");
    wait_for("the outbox is not delivered", || bank.calls.lock().unwrap().len() == 3);
    let sound = here(&["verify", &to, "--json"]).exits(0).json();
    server.kill();

    // and back
    here(&["copy", &to, "./back"]).exits(0).says("--store 'embedded:./back'");
    let back = here(&["verify", "./back", "--json"]).exits(0).json();
    assert!(
        back["designs"][0]["transitions"].as_u64() >= sound["designs"][0]["transitions"].as_u64()
    );
    let server = serve(&folder, "embedded:./back", &bank);
    known.holds(&server);
    known.call(&server, &mut seed, 3);
    server.kill();
    let calls = bank.calls.lock().unwrap().clone();
    assert!(calls.values().all(|count| *count == 1), "{calls:?}");

    // a backup of PostgreSQL, put back into PostgreSQL
    here(&["backup", "verify", "./kept"]).exits(0).says("whole");
    here(&["restore", "./kept", &other]).exits(0).says("restored");
    here(&["verify", &other]).exits(0).says("sound");
}

/// A store that is opened takes its directory for itself; what is only read is left as it is.
#[test]
fn what_holds_no_store_is_not_made_one_by_looking_at_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder_with("looked-at", "moving.design", &design());
    let full = folder.join("full");
    std::fs::create_dir_all(full.join("letters")).unwrap();
    std::fs::write(full.join("notes.txt"), "mine").unwrap();
    let rights = |path: &std::path::Path| path.metadata().unwrap().permissions().mode();
    let before = [rights(&full), rights(&full.join("letters")), rights(&full.join("notes.txt"))];
    for words in
        [&["verify", "./full"][..], &["export", "--readable", "./lines", "--from", "./full"]]
    {
        run_in(&folder, words).exits(2);
        let mut found: Vec<_> = std::fs::read_dir(&full).unwrap().flatten().collect();
        found.sort_by_key(std::fs::DirEntry::file_name);
        let names: Vec<_> = found.iter().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["letters", "notes.txt"], "{words:?}");
        let after = [rights(&full), rights(&full.join("letters")), rights(&full.join("notes.txt"))];
        assert_eq!(after, before, "{words:?}");
    }
    run_in(&folder, &["verify", "./full"]).says("holds no store and no backup");
}

#[test]
fn what_cannot_be_copied_is_said_and_changes_nothing() {
    let database = database::shared();
    let schema = database.schema();
    let to = database.address(&schema);
    let folder = folder_with("copying-wrong", "moving.design", &design());
    let here = |words: &[&str]| run_in(&folder, words);
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    std::fs::create_dir_all(folder.join("full")).unwrap();
    std::fs::write(folder.join("full/notes.txt"), "mine").unwrap();
    for (from, to, code, says) in [
        ("./nowhere", &*to, 2, "there is no `./nowhere`"),
        ("./empty", &to, 2, "holds no store and no backup"),
        ("./full", &to, 2, "holds no store and no backup"),
        ("memory:", &to, 2, "is no store that can be copied"),
        ("etcd://host/x", &to, 2, "is no store that can be copied"),
        (&to, "./to", 2, "there is no store in the schema"),
        ("postgres://kim:hush@127.0.0.1:1/shop", "./to", 2, "cannot connect to `postgres://kim@"),
    ] {
        let ran = here(&["copy", from, to]).exits(code).says(says);
        assert!(!ran.err.contains("hush"), "{}", ran.err);
        here(&["copy", "--ahead", "./a", "./b"]).exits(2).says("into PostgreSQL only");
    }
    let mine = "SELECT count(*) FROM pg_namespace WHERE nspname = ";
    assert_eq!(database.sql(&format!("{mine}'{schema}'")), [["0"]], "nothing was made");
    assert!(!folder.join("to").exists());

    let server = Server::start(
        &folder,
        &["moving.design", "--unproved", "--outside", "bank=http://127.0.0.1:1"],
    );
    server.run(&["call", "moving", "client", "raise", "count=c", "by=1"]).exits(0);
    server.kill();
    here(&["copy", "./data", "./full"]).exits(2).says("`./full` is not empty");
    database.sql(&format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.orders (id int)"));
    here(&["copy", "./data", &to]).exits(5).says("is not Steadfast's: it holds `orders`");
    let tables = format!("SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(database.sql(&tables), [["orders"]]);
    // between directories, too
    here(&["copy", "embedded:./data", "./to"]).exits(0).says("copied");
    assert_eq!(
        here(&["verify", "./to", "--json"]).exits(0).json(),
        here(&["verify", "./data", "--json"]).exits(0).json()
    );
}
