//! `cargo xtask bench next`: workers of one queue, each of which takes the next job and puts in a new one,
//! over HTTP and durable, beside PostgreSQL with `for update skip locked`.

use std::path::Path;

use super::beside;
use super::runtime::figures::{self, Cell, Load, System};
use super::runtime::postgres::{Postgres, Work};
use super::runtime::report::POSTGRES;
use super::runtime::server::load_average;
use super::scratch::Scratch;
use super::serve::ours::Ours;
use crate::{cargo, repo};

const USAGE: &str = "`bench next` takes `--small`, `--ours`, both or nothing";
const OURS: &str = "HTTP";
/// Jobs that wait in the queue, at each moment.
const SHAPES: &[(u64, &str)] = &[(1_000, "1,000 jobs wait"), (100_000, "100,000 jobs wait")];

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (mut clients, mut rounds, mut seconds, mut peer) = (&[1, 16, 64][..], 5, 3.0, true);
    for argument in arguments {
        match *argument {
            "--small" => (clients, rounds, seconds) = (&[64], 1, 1.0),
            "--ours" => peer = false,
            _ => return Err(USAGE.into()),
        }
    }
    let program = cargo::release_example(&repo::root()?, "server", "http_load")?;
    let folder = Scratch::new("next")?;
    let before = load_average();
    let mut cells: Vec<Cell> = Vec::new();
    for (at, (waiting, shape)) in SHAPES.iter().enumerate() {
        let mut systems = systems(&program, &folder.0.join(at.to_string()), *waiting, peer)?;
        for round in 1..=rounds {
            for clients in clients {
                let load = Load { clients: *clients, keys: *waiting, seconds };
                for system in &mut systems {
                    let figures = system.measure(&load)?;
                    let (name, rate) = (system.name(), figures.per_second);
                    eprintln!(
                        "round {round} of {rounds}, {shape}, {clients} clients, {name}: {rate:.0} a second"
                    );
                    figures::add(&mut cells, name, shape, *clients, figures);
                }
            }
        }
    }
    println!(
        "taken and put in, two durable steps; median of {rounds} rounds by turns (10th to 90th percentile), \
         {seconds} s each, on {} cores that the clients share; load of the machine {before} before and {} after",
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    for (_, shape) in SHAPES {
        println!("\n{shape}\n\n{}", beside::table(&cells, shape));
    }
    Ok(beside::is_ahead(&cells, OURS, POSTGRES))
}

fn systems(
    program: &Path,
    folder: &Path,
    waiting: u64,
    peer: bool,
) -> Result<Vec<Box<dyn System>>, String> {
    let ours = Ours::start(program, "queue", "take", OURS, &folder.join("ours"))?;
    ours.prepare("fill", &Load { clients: 64, keys: waiting, seconds: 0.0 })?;
    let mut systems: Vec<Box<dyn System>> = vec![Box::new(ours)];
    if peer {
        systems.push(Box::new(Postgres::start(folder, queue(waiting))?));
    }
    Ok(systems)
}

/// The same queue: a partial index in the order of the jobs, a lock that others pass over.
fn queue(waiting: u64) -> Work {
    Work {
        create: format!(
            "create table job (
                id bigint generated always as identity primary key, queue text not null,
                status text not null, by text, asked_at timestamptz not null);
             create index waiting on job (queue, asked_at, id) where status = 'WAITS';
             insert into job (queue, status, asked_at)
                select 'mail', 'WAITS', now() from generate_series(1, {waiting});
             analyze job;"
        ),
        script: |_| {
            "update job set status = 'HELD', by = 'worker' where id = (\
             select id from job where queue = 'mail' and status = 'WAITS' \
             order by asked_at, id limit 1 for update skip locked) returning id;\n\
             insert into job (queue, status, asked_at) values ('mail', 'WAITS', clock_timestamp());\n"
                .to_owned()
        },
    }
}
