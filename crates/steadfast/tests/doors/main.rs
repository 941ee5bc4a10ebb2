//! Generated inputs through every door of a server: HTTP, the socket, batches, tokens, designs and imports.
//! Nothing makes it panic, and nothing is answered with a status that says that the server is at fault.
//!
//! A small number of inputs runs with all other tests. `cargo xtask fuzz doors` runs ten million, from any seed.

mod http;
mod json;
mod local;
mod spoil;

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use store::Seeded;

use crate::cli::serving::Server;
use crate::cli::support::{command, folder};

/// So many inputs run with the other tests.
const FEW: u64 = 120_000;
const THREADS: u64 = 4;

/// A door, and how many of a hundred thousand inputs come to it.
const DOORS: [(&str, u64, Door); 7] = [
    ("HTTP", 40_000, http::requests),
    ("batch", 10_000, http::batches),
    ("socket", 20_000, http::messages),
    ("tokens over HTTP", 2_000, http::tokens),
    ("tokens", 14_900, local::tokens),
    ("designs", 13_000, local::designs),
    ("imports", 100, local::imports),
];

/// Sends about so many inputs that this seed decides. Gives how many there were, and what was wrong.
type Door = fn(&Place, &mut Seeded, u64) -> (u64, Result<(), String>);

/// What the doors lead to.
pub struct Place {
    /// a server that lets in everybody on this machine
    pub open: String,
    /// a server that asks for tokens, and one that it takes
    pub guarded: String,
    pub token: String,
    pub folder: std::path::PathBuf,
}

/// So many inputs have one seed: a failure is run again with its seed alone.
const ROUND: u64 = 2_000;

#[test]
fn nothing_that_comes_through_a_door_is_the_server_s_fault() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let inputs = number("STEADFAST_INPUTS").unwrap_or(FEW);
    let from = number("STEADFAST_SEED").unwrap_or(1);
    let folder = folder("doors");
    let open = started(
        &folder,
        "open",
        &["tickets", "i14", "i05", "--outside", "sink=http://127.0.0.1:9"],
    );
    let guarded = started(&folder, "guarded", &["tickets", "--tokens", "--keys", "keys"]);
    let token = token(&folder);
    let place = Place {
        open: open.address.trim_start_matches("http://").into(),
        guarded: guarded.address.trim_start_matches("http://").into(),
        token,
        folder: folder.clone(),
    };
    let rounds = inputs.div_ceil(ROUND);
    let mut sums = [0; DOORS.len()];
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let place = &place;
                scope.spawn(move || {
                    let mut sums = [0; DOORS.len()];
                    for round in (thread..rounds).step_by(THREADS as usize) {
                        one_round(place, from + round, &mut sums);
                    }
                    sums
                })
            })
            .collect();
        for thread in threads {
            let ours = thread.join().expect("what was wrong is said above");
            sums.iter_mut().zip(ours).for_each(|(sum, one)| *sum += one);
        }
    });
    for (server, name) in [(open, "open"), (guarded, "guarded")] {
        ends_well(server, &folder.join(format!("{name}.log")));
    }
    let told: Vec<String> =
        DOORS.iter().zip(sums).map(|((name, ..), sum)| format!("{name} {sum}")).collect();
    println!("{} inputs from seed {from}: {}", sums.iter().sum::<u64>(), told.join(", "));
    assert!(sums.iter().all(|sum| *sum > 0), "a door was not tried: {told:?}");
}

fn one_round(place: &Place, seed: u64, sums: &mut [u64; DOORS.len()]) {
    let mut seeded = Seeded::new(seed);
    for ((name, share, door), sum) in DOORS.iter().zip(sums) {
        // what is too rare for each round comes in some of them
        let wanted = share * ROUND / 100_000;
        let rest = share * ROUND % 100_000;
        let wanted = wanted + u64::from(seeded.below(100_000) < rest);
        let mut done = 0;
        while done < wanted {
            let (count, result) = door(place, &mut seeded, wanted - done);
            if let Err(wrong) = result {
                panic!(
                    "{name}: {wrong}\nSTEADFAST_SEED={seed} STEADFAST_INPUTS={ROUND} shows it again"
                );
            }
            done += count.max(1);
        }
        *sum += done;
    }
}

/// A server whose words are kept, so that a panic of any of its threads is seen.
fn started(folder: &std::path::Path, name: &str, words: &[&str]) -> Server {
    let store = format!("embedded:./{name}");
    let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--store", &store];
    all.push("--no-background-check");
    all.extend(words);
    let mut serve: Command = command(folder, &all);
    let log = File::create(folder.join(format!("{name}.log"))).unwrap();
    serve.stdout(Stdio::piped()).stderr(log).env("XDG_STATE_HOME", folder.join("state"));
    Server::spawn(folder, serve)
}

fn token(folder: &std::path::Path) -> String {
    let words = ["token", "new", "ann", "--all-roles", "--keys", "keys", "--json"];
    let output =
        command(folder, &words).env("XDG_STATE_HOME", folder.join("state")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let value: serde_json::Value = serde_json::from_str(&said)
        .unwrap_or_else(|e| panic!("{e}: {said} {}", String::from_utf8_lossy(&output.stderr)));
    value["token"].as_str().expect("a token").to_string()
}

/// It still answers, and has said nothing of a panic.
fn ends_well(mut server: Server, log: &std::path::Path) {
    let address = server.address.trim_start_matches("http://").to_string();
    // however long a busy machine takes
    let deadline = Instant::now() + Duration::from_secs(120);
    let asks = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    while http::status(&address, asks) != Some(200) {
        assert!(server.process.0.try_wait().unwrap().is_none(), "it has ended");
        assert!(Instant::now() < deadline, "it does not answer any more");
    }
    assert!(server.process.0.try_wait().unwrap().is_none(), "it has ended");
    let said = fs::read_to_string(log).unwrap();
    assert!(!said.contains("panicked"), "{said}");
}
