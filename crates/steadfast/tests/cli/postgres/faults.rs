//! What goes wrong with several servers on one PostgreSQL, with a ledger of the calls.
//!
//! Clients call all the time, each under a key of its own, and ask again under it until there is an answer. Whatever
//! is killed or cut meanwhile: what was answered is there once, and nothing stays unknown. In the tests each fault comes
//! twice; `cargo xtask torture postgres` says more.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::serving::Server;
use crate::cli::support::{folder_with, verdicts};
use crate::database;
use crate::programs::program;
use crate::proxy::{Proxy, Trap};

const DESIGN: &str = "design Counts
actor client
subject Count(count: text) { truth Total { total: int = 0 } }
step client[raise(count: Count, by: int) { small: by <= 10 }] { Total.total += by }
";

const CLIENTS: usize = 6;
const COUNTS: usize = 4;
/// Once everything is back, nobody waits longer than this for an answer.
const ANSWERED: Duration = Duration::from_secs(60);

fn times() -> usize {
    std::env::var("STEADFAST_FAULTS").map_or(2, |text| text.parse().expect("a number of faults"))
}

/// Two servers on one database, each behind a proxy that cuts what it is told to.
struct Fleet<'f> {
    folder: &'f Path,
    database: database::Server,
    schema: String,
    proxies: [Proxy; 2],
    servers: [Mutex<Option<Server>>; 2],
    addresses: [Mutex<String>; 2],
}

impl Fleet<'_> {
    fn start(folder: &Path) -> Fleet<'_> {
        let database = database::Server::start();
        let (schema, port) = (database.schema(), database.port);
        let proxies = [Proxy::start(port), Proxy::start(port)];
        let servers = [Mutex::default(), Mutex::default()];
        let fleet =
            Fleet { folder, database, schema, proxies, servers, addresses: Default::default() };
        (0..2).for_each(|at| fleet.serve(at));
        fleet
    }

    fn store(&self, at: usize) -> String {
        let address = self.database.address_at(self.proxies[at].port, &self.schema);
        // what is committed is what meets a trap
        format!("{address}&listen=127.0.0.1:{}", self.database.port)
    }

    fn serve(&self, at: usize) {
        let words = ["counts.design", "--store", &self.store(at), "--unproved"];
        let server = Server::start(self.folder, &words);
        *self.addresses[at].lock().unwrap() = server.address.clone();
        *self.servers[at].lock().unwrap() = Some(server);
    }

    fn kill(&self, at: usize) {
        self.servers[at].lock().unwrap().take().expect("it serves").kill();
    }

    fn address(&self, at: usize) -> String {
        self.addresses[at].lock().unwrap().clone()
    }
}

/// What the clients were told.
#[derive(Default)]
struct Ledger {
    /// by count: how often it was raised
    raised: Mutex<BTreeMap<String, u64>>,
    answered: AtomicU64,
    /// no answer, or one that leaves open what became of the call
    open: AtomicU64,
    /// asked for again under its key
    again: AtomicU64,
    longest_ms: AtomicU64,
}

struct Caller {
    agent: ureq::Agent,
}

impl Caller {
    fn new() -> Caller {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(20)));
        Caller { agent: ureq::Agent::new_with_config(config.build()) }
    }

    /// Whether the answer says that it is done; if not, that is not known.
    fn raise(&self, server: &str, key: &str, count: &str) -> bool {
        let sent = self
            .agent
            .post(format!("{server}/v1/counts/client/raise"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", format!("\"{key}\""))
            .send(format!("{{\"count\":\"{count}\",\"by\":1}}"));
        let Ok(answer) = sent else { return false };
        let status = answer.status().as_u16();
        // a call under the same key may be under way
        assert!(status == 200 || status == 409 || status >= 500, "{status}");
        status == 200
    }
}

/// Clients stop with the test, also when it fails.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Calls until it is told to stop, and never gives one up.
fn call(fleet: &Fleet<'_>, ledger: &Ledger, stop: &AtomicBool, client: usize) {
    let caller = Caller::new();
    let mut number = 0;
    while !stop.load(Ordering::Acquire) {
        number += 1;
        let (key, count) = (format!("k-{client}-{number}"), format!("c{}", number % COUNTS));
        let begun = Instant::now();
        let mut at = client % 2;
        while !caller.raise(&fleet.address(at), &key, &count) {
            ledger.open.fetch_add(1, Ordering::Relaxed);
            assert!(begun.elapsed() < ANSWERED * 2, "{key} is never answered");
            thread::sleep(Duration::from_millis(20));
            at = 1 - at;
        }
        let took = u64::try_from(begun.elapsed().as_millis()).unwrap();
        ledger.longest_ms.fetch_max(took, Ordering::Relaxed);
        ledger.answered.fetch_add(1, Ordering::Relaxed);
        *ledger.raised.lock().unwrap().entry(count.clone()).or_default() += 1;
        // what was done is not done again by whoever is asked
        if number % 5 == 0 && caller.raise(&fleet.address(1 - at), &key, &count) {
            ledger.again.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Waits until a call was begun and answered after this moment.
fn goes_on(ledger: &Ledger) {
    let target = ledger.answered.load(Ordering::Acquire) + CLIENTS as u64 + 1;
    let begun = Instant::now();
    while ledger.answered.load(Ordering::Acquire) < target {
        assert!(begun.elapsed() < ANSWERED, "nothing is answered any more");
        thread::sleep(Duration::from_millis(5));
    }
}

fn sprung(proxy: &Proxy) {
    let begun = Instant::now();
    while !proxy.is_sprung() {
        assert!(begun.elapsed() < ANSWERED, "nothing is committed through this server");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn nothing_is_lost_or_done_twice_whatever_fails() {
    let folder = folder_with("postgres-faults", "counts.design", DESIGN);
    let fleet = Fleet::start(&folder);
    let (ledger, stop, times) = (Ledger::default(), AtomicBool::new(false), times());
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (fleet, ledger, stop) = (&fleet, &ledger, &stop);
            scope.spawn(move || call(fleet, ledger, stop, client));
        }
        let stop = Stop(&stop);
        goes_on(&ledger);
        for n in 0..times {
            // the database has the commit, the server does not know it, and is gone
            let at = n % 2;
            fleet.proxies[at].set(Trap::Silence);
            sprung(&fleet.proxies[at]);
            fleet.kill(at);
            fleet.serve(at);
            goes_on(&ledger);
        }
        for n in 0..times {
            let trap =
                if n % 2 == 0 { Trap::Request(n * 37 % 900) } else { Trap::Answer(n * 7 % 90) };
            fleet.proxies[n / 2 % 2].set(trap);
            sprung(&fleet.proxies[n / 2 % 2]);
            goes_on(&ledger);
        }
        for _ in 0..times {
            fleet.database.crash();
            goes_on(&ledger);
        }
        // both servers are asked for the same at the same time
        for n in 0..times {
            let (key, both) = (format!("race-{n}"), [fleet.address(0), fleet.address(1)]);
            let answers: Vec<bool> = thread::scope(|scope| {
                let asked = both.each_ref().map(|server| {
                    let key = &key;
                    scope.spawn(move || Caller::new().raise(server, key, "c0"))
                });
                asked.into_iter().map(|it| it.join().unwrap()).collect()
            });
            assert!(answers.contains(&true), "{answers:?}");
            *ledger.raised.lock().unwrap().entry("c0".into()).or_default() += 1;
        }
        drop(stop);
    });
    let raised = ledger.raised.lock().unwrap().clone();
    for at in 0..2 {
        for (count, times) in &raised {
            let server = fleet.servers[at].lock().unwrap();
            let ran = server.as_ref().unwrap().run(&["get", "counts", "Count", count]);
            ran.exits(0).says(&format!("total {times}"));
        }
    }
    let of = |number: &AtomicU64| number.load(Ordering::Acquire);
    println!(
        "{times} kills between commit and answer, {times} connections cut in a commit, {times} databases restarted at \
         once, {times} races under one key: {} calls answered, {} answers left open and asked for again, {} asked for \
         twice, none lost, none done twice; the longest took {} ms",
        of(&ledger.answered),
        of(&ledger.open),
        of(&ledger.again),
        of(&ledger.longest_ms),
    );
    assert!(of(&ledger.open) > 0 && of(&ledger.again) > 0, "nothing was ever in doubt");
}

/// A server whose clock is off by 400 ms serves; one that is off by five seconds says so, and does not.
#[test]
fn a_clock_that_is_far_off_does_not_serve() {
    let database = database::shared();
    let folder = folder_with("postgres-clocks", "counts.design", DESIGN);
    let store = database.address(&database.schema());
    // the program itself starts another process, which would live on: what it loads does not
    let mut faketime = Command::new(program("faketime", &[], "faketime"));
    let library = faketime.args(["-f", "+0s", "printenv", "LD_PRELOAD"]).output().unwrap();
    let library = String::from_utf8(library.stdout).unwrap();
    let serve = |off: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
        command.env("LD_PRELOAD", library.trim()).env("FAKETIME", off);
        command.args(["serve", "counts.design", "--unproved"]);
        command.args(["--listen", "127.0.0.1:0", "--store", &store]);
        command.arg("--no-background-check").current_dir(&folder).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", folder.join("state"));
        command.env("STEADFAST_VERDICTS", verdicts(&folder));
        // what is waited for is not moved
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        command
    };
    let mut raised = 0;
    for n in 0..times() {
        let off = if n % 2 == 0 { "+0.4s" } else { "-0.4s" };
        let mut served = serve(off);
        served.stdout(Stdio::piped());
        let server = Server::spawn(&folder, served);
        let done = Caller::new().raise(&server.address, &format!("clock-{n}"), "c");
        assert!(done, "{off}: it serves");
        raised += 1;
        let off = if n % 2 == 0 { "+5s" } else { "-5s" };
        let refused = serve(off).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success(), "{off}: {said}");
        assert!(said.contains("the clock of this server is") && said.contains("500 ms"), "{said}");
        server.run(&["get", "counts", "Count", "c"]).exits(0).says(&format!("total {raised}"));
    }
    println!("{raised} clocks off by 400 ms served, {raised} off by 5 s refused");
}
