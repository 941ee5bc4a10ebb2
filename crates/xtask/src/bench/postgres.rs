//! `cargo xtask bench postgres`: guarded transitions by servers that share a PostgreSQL, beside the statement that one
//! would write by hand. Both use the same database, and both are durable when they are answered.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::beside;
use super::measure;
use super::runtime::figures::{self, Cell, Figures, Load, System};
use super::runtime::postgres::{Postgres, Work};
use super::runtime::report::POSTGRES;
use super::runtime::server::load_average;
use super::scratch::Scratch;
use super::summary::Summary;
use crate::{cargo, repo};

const USAGE: &str = "`bench postgres` takes `--small` or nothing";
const OURS: &str = "Steadfast";
const UNIFORM: &str = "uniform over 10,000 records";
const HOT: &str = "one hot record";

/// What is measured, and how many times the throughput of statements by hand is the goal.
const LOADS: &[(u64, &str, usize, f64)] =
    &[(10_000, UNIFORM, 16, 1.2), (10_000, UNIFORM, 64, 2.0), (1, HOT, 64, 3.0)];

/// A register takes a new value if its version is below a limit, and says so in the feed.
const DESIGN: &str = "design Registers
actor client
subject Register(register: text) { truth RegisterState { version: int = 0, value: int = 0 } }
step client[write(register: Register, value: int 0..1000000) { few: RegisterState.version < 1000000000 }] {
    RegisterState.version += 1
    RegisterState.value := value
}
check { register: 1 client: 1 value: 0..1 RegisterState.version: 0..1 RegisterState.value: 0..1 }
";

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (rounds, seconds) = match arguments {
        [] => (5, 4.0),
        ["--small"] => (1, 1.0),
        _ => return Err(USAGE.into()),
    };
    let ours = Ours { binary: cargo::release_binary(&repo::root()?, "steadfast")? };
    let folder = Scratch::new("postgres")?;
    let design = folder.0.join("registers.design");
    std::fs::write(&design, DESIGN).map_err(|e| format!("cannot write the design: {e}"))?;
    let mut postgres = Postgres::start(&folder.0, by_hand(10_000))?;
    let before = load_average();
    let mut cells: Vec<Cell> = Vec::new();
    for round in 1..=rounds {
        for (keys, shape, clients, _) in LOADS {
            let load = Load { clients: *clients, keys: *keys, seconds };
            for (name, figures) in [
                (OURS, ours.measure(&design, &postgres, &load)?),
                (POSTGRES, postgres.measure(&load)?),
            ] {
                eprintln!(
                    "round {round} of {rounds}, {shape}, {clients} clients, {name}: {:.0} a second",
                    figures.per_second
                );
                figures::add(&mut cells, name, shape, *clients, figures);
            }
        }
    }
    println!(
        "median of {rounds} rounds by turns (10th to 90th percentile), {seconds} s each, on {} cores that the clients \
         share; the CPU is that of the database and, of ours, of the server; load of the machine {before} before and {} \
         after",
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    for shape in [UNIFORM, HOT] {
        println!("\n{shape}\n\n{}", beside::table(&cells, shape));
    }
    Ok(is_met(&cells))
}

fn is_met(cells: &[Cell]) -> bool {
    let mut all_met = true;
    for (_, shape, clients, goal) in LOADS {
        let of = |system: &str| {
            cells.iter().find(|it| (it.system, it.shape, it.clients) == (system, *shape, *clients))
        };
        let (Some(ours), Some(theirs)) = (of(OURS), of(POSTGRES)) else { continue };
        let pairs = ours.runs.iter().zip(&theirs.runs);
        let ratios: Vec<f64> =
            pairs.map(|(our, their)| our.per_second / their.per_second).collect();
        let ratio = Summary::of(&ratios);
        let met = ratio.median >= *goal;
        all_met &= met;
        println!(
            "{shape}, {clients} clients: {ratio:.2} times the throughput of statements by hand; goal {goal}: {}",
            if met { "met" } else { "NOT met" }
        );
    }
    all_met
}

/// The same transition: one prepared statement that checks, writes and notes what happened.
fn by_hand(rows: u64) -> Work {
    Work {
        create: format!(
            "create table register (id int primary key, version int not null, value int not null);
             create table event (id bigint generated always as identity primary key, register int not null,
                version int not null, value int not null, at timestamptz not null default now());
             insert into register select n, 0, 0 from generate_series(0, {rows} - 1) n;
             analyze register;"
        ),
        script: |load| {
            format!(
                "\\set id random(0, {} - 1)\n\\set value random(0, 1000000)\n\
                 with changed as (update register set version = version + 1, value = :value \
                 where id = :id and version < 1000000000 returning id, version, value) \
                 insert into event (register, version, value) select id, version, value from changed;\n",
                load.keys
            )
        },
    }
}

struct Ours {
    binary: PathBuf,
}

impl Ours {
    /// One process with so many clients in it, each of which waits for its answer.
    fn measure(&self, design: &Path, database: &Postgres, load: &Load) -> Result<Figures, String> {
        let before = database.cpu_micros();
        let mut command = Command::new(&self.binary);
        command.arg("bench").arg(design).arg("--json");
        command.args(["--store", &database.address("steadfast")]);
        command.args(["--clients", &load.clients.to_string(), "--keys", &load.keys.to_string()]);
        command.args(["--seconds", &(load.seconds.ceil() as u64).to_string()]);
        let run = measure::run(&mut command)?;
        let of_database = database.cpu_micros() - before;
        let said: Value = serde_json::from_str(run.stdout.trim())
            .map_err(|e| format!("`steadfast bench` printed no JSON: {e}"))?;
        let number = |name: &str| {
            said[name].as_f64().ok_or_else(|| format!("`steadfast bench` gave no `{name}`"))
        };
        let done = number("done")?.max(1.0);
        Ok(Figures {
            per_second: done / number("seconds")?,
            cpu_us_each: (of_database as f64 + run.cpu.as_micros() as f64) / done,
            client_cpu_us_each: None,
            p50_us: number("p50_us")?,
            p99_us: number("p99_us")?,
            bytes_each: None,
        })
    }
}
