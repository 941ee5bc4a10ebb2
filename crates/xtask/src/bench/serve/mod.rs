//! `cargo xtask bench serve`: steps over HTTP, durable, beside a bare echo, Redis, Valkey and Restate.

pub mod ours;
mod report;
mod restate;
mod valkey;

use std::path::Path;

use super::runtime::figures::{self, Cell, Load, System};
use super::runtime::ours::InProcess;
use super::runtime::redis::Redis;
use super::runtime::server::{load_average, program};
use super::scratch::Scratch;
use crate::{cargo, repo};
use ours::Ours;
use restate::Restate;

const USAGE: &str = "`bench serve` takes `--small` and `--ours`, or nothing";
const CLIENTS: usize = 64;
const KEYS: u64 = 100_000;
const PIPELINE: usize = 16;

const TRANSITION: &str = "the transition, in process";
const ECHO: &str = "bare axum echo";
const HTTP: &str = "HTTP";
const BATCH: &str = "HTTP, batches of 64";
const SOCKET: &str = "WebSocket, 16 deep";
const REDIS: &str = "Redis";
const REDIS_PIPELINED: &str = "Redis, 16 deep";
const VALKEY: &str = "Valkey";
const VALKEY_PIPELINED: &str = "Valkey, 16 deep";
const RESTATE: &str = "Restate, a virtual object";

pub fn run(arguments: &[&str]) -> crate::Answer {
    let mut extent = Extent { rounds: 5, seconds: 2.0, peers: true };
    for argument in arguments {
        match *argument {
            "--small" => (extent.rounds, extent.seconds) = (1, 2.0),
            "--ours" => extent.peers = false,
            _ => return Err(USAGE.into()),
        }
    }
    let root = repo::root()?;
    let transitions = cargo::release_example(&root, "runtime", "transitions")?;
    let load = cargo::release_example(&root, "server", "http_load")?;
    let folder = Scratch::new("serve")?;
    let mut notes = Vec::new();
    let mut systems = ours(&transitions, &load, &folder.0)?;
    if extent.peers {
        systems.extend(peers(&root, &load, &folder.0, &mut notes)?);
    }
    let before = load_average();
    let mut cells: Vec<Cell> = Vec::new();
    for round in 1..=extent.rounds {
        for system in &mut systems {
            let asked = Load { clients: CLIENTS, keys: KEYS, seconds: extent.seconds };
            let figures = system.measure(&asked)?;
            let (name, rate) = (system.name(), figures.per_second);
            eprintln!("round {round} of {}, {name}: {rate:.0} a second", extent.rounds);
            figures::add(&mut cells, name, "uniform", CLIENTS, figures);
        }
    }
    println!(
        "{CLIENTS} clients, {KEYS} records, median of {} rounds by turns (10th to 90th percentile), {} s \
         each, on {} cores that the clients share; load of the machine {before} before and {} after",
        extent.rounds,
        extent.seconds,
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    for note in &notes {
        println!("{note}");
    }
    println!("\n{}", report::table(&cells));
    Ok(report::goals(&cells))
}

struct Extent {
    rounds: usize,
    seconds: f64,
    /// the systems of others as well
    peers: bool,
}

fn ours(transitions: &Path, load: &Path, folder: &Path) -> Result<Vec<Box<dyn System>>, String> {
    let mut systems: Vec<Box<dyn System>> =
        vec![Box::new(InProcess::new(transitions, "runtime", TRANSITION))];
    systems.push(Box::new(Ours::start(load, "echo", "bare", ECHO, &folder.join("none"))?));
    for (kind, name) in [("http", HTTP), ("batch", BATCH), ("socket", SOCKET)] {
        systems.push(Box::new(Ours::start(load, "serve", kind, name, &folder.join(kind))?));
    }
    Ok(systems)
}

/// Whoever cannot be had is left out, and the notes say so.
fn peers(
    root: &Path,
    load: &Path,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Box<dyn System>>, String> {
    let mut systems: Vec<Box<dyn System>> = Vec::new();
    let redis = program("redis-server", None, "redis-server")?;
    let mut servers = vec![(redis.clone(), REDIS, REDIS_PIPELINED)];
    match valkey::server(root) {
        Ok(valkey) => servers.push((valkey, VALKEY, VALKEY_PIPELINED)),
        Err(why) => notes.push(format!("Valkey is left out: {why}")),
    }
    for (server, plain, pipelined) in servers {
        let version = valkey::version(&server)?;
        notes.push(format!(
            "{plain} {version}, `appendfsync always`, a script that compares and sets"
        ));
        for (name, pipeline) in [(plain, 1), (pipelined, PIPELINE)] {
            let folder = folder.join(name.replace([' ', ','], "-"));
            systems.push(Box::new(Redis::started(&folder, &server, name, pipeline)?));
        }
    }
    match Restate::installed(root, load, folder, RESTATE) {
        Ok((restate, note)) => {
            notes.push(note);
            systems.push(Box::new(restate));
        }
        Err(why) => notes.push(format!("Restate is left out: {why}")),
    }
    Ok(systems)
}
