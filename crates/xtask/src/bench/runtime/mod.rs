//! `cargo xtask bench runtime`: guarded transitions on the embedded store, beside a bare log and
//! beside servers that make them durable, too.

mod etcd;
pub mod figures;
pub mod ours;
pub mod postgres;
pub mod redis;
pub mod report;
pub mod server;

use std::path::Path;

use figures::{Cell, Load, System};

use super::scratch::Scratch;
use crate::{cargo, repo};

const USAGE: &str = "`bench runtime` takes `--small`, `--ours`, both or nothing";

/// Uniform over many records, and ten hot ones.
const KEYS: &[(u64, &str)] = &[(100_000, "uniform"), (10, "ten hot keys")];

struct Plan {
    clients: &'static [usize],
    rounds: usize,
    seconds: f64,
    servers: bool,
}

pub fn run(arguments: &[&str]) -> crate::Answer {
    let mut plan = Plan { clients: &[1, 16, 64, 256], rounds: 3, seconds: 3.0, servers: true };
    for argument in arguments {
        match *argument {
            "--small" => plan = Plan { clients: &[1, 64], rounds: 1, seconds: 1.0, ..plan },
            "--ours" => plan.servers = false,
            _ => return Err(USAGE.into()),
        }
    }
    let root = repo::root()?;
    let load = cargo::release_example(&root, "runtime", "transitions")?;
    let folder = Scratch::new("runtime")?;
    let mut systems = systems(&load, &folder, plan.servers)?;
    let before = server::load_average();
    let mut cells: Vec<Cell> = Vec::new();
    // Round by round rather than cell by cell: a disturbance then falls on all cells alike.
    for round in 0..plan.rounds {
        for (keys, shape) in KEYS {
            for clients in plan.clients {
                let load = Load { clients: *clients, keys: *keys, seconds: plan.seconds };
                for system in &mut systems {
                    let figures = system.measure(&load)?;
                    eprintln!(
                        "round {} of {}, {shape}, {clients} clients, {}: {:.0} a second",
                        round + 1,
                        plan.rounds,
                        system.name(),
                        figures.per_second
                    );
                    figures::add(&mut cells, system.name(), shape, *clients, figures);
                }
            }
        }
    }
    println!(
        "median of {} (10th to 90th percentile), {} s each, on {} cores; load of the machine \
         {before} before and {} after",
        plan.rounds,
        plan.seconds,
        std::thread::available_parallelism().map_or(0, usize::from),
        server::load_average()
    );
    Ok(report::report(&cells, KEYS))
}

fn systems(load: &Path, folder: &Scratch, servers: bool) -> Result<Vec<Box<dyn System>>, String> {
    let mut systems: Vec<Box<dyn System>> = vec![
        Box::new(ours::InProcess::new(load, "runtime", report::OURS)),
        Box::new(ours::InProcess::new(load, "log", report::LOG)),
    ];
    if servers {
        systems.push(Box::new(redis::Redis::start(&folder.0)?));
        systems
            .push(Box::new(postgres::Postgres::start(&folder.0, postgres::registers(KEYS[0].0))?));
        systems.push(Box::new(etcd::Etcd::start(&folder.0, load)?));
    }
    Ok(systems)
}
