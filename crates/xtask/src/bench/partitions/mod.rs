//! `cargo xtask bench partitions`: four databases as four partitions, and what steps cost that need two of them.
//!
//! All of it is on one machine, so nothing scales here. What is measured is how much more a step costs that crosses.

mod load;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::runtime::figures::percentile;
use super::runtime::postgres::{Postgres, Work};
use super::runtime::server::load_average;
use super::scratch::Scratch;
use super::summary::Summary;
use crate::table::Table;
use load::{CREATE, Client, Crossing, Load, Told};
use wire::Wire;

const USAGE: &str = "`bench partitions` takes `--small` or nothing";
const PARTITIONS: usize = 4;
const CLIENTS: usize = 16;
/// Clients run so long before anything is counted.
const WARM_S: f64 = 0.3;

/// How steps cross, and how many of a hundred.
const SHAPES: &[(&str, Crossing, u64)] = &[
    ("none crosses", Crossing::Prepared, 0),
    ("5 % cross, prepared transactions", Crossing::Prepared, 5),
    ("20 % cross, prepared transactions", Crossing::Prepared, 20),
    ("5 % cross, a message", Crossing::Message, 5),
    ("20 % cross, a message", Crossing::Message, 20),
];

struct Run {
    per_second: f64,
    cpu_us_each: f64,
    local_p50: f64,
    crossing_p50: Option<f64>,
    p99: f64,
}

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (rounds, seconds) = match arguments {
        [] => (5, 4.0),
        ["--small"] => (1, 1.0),
        _ => return Err(USAGE.into()),
    };
    let folder = Scratch::new("partitions")?;
    let mut databases = Vec::new();
    for number in 1..=PARTITIONS {
        let folder = folder.0.join(number.to_string());
        let work = Work { create: CREATE.into(), script: |_| String::new() };
        databases.push(Postgres::start(&folder, work)?);
    }
    let before = load_average();
    let mut runs: Vec<Vec<Run>> = SHAPES.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for ((name, crossing, percent), runs) in SHAPES.iter().zip(&mut runs) {
            let load = Load { clients: CLIENTS, crossing: *crossing, percent: *percent, seconds };
            let run = measure(&databases, &load, round)?;
            eprintln!("round {round} of {rounds}, {name}: {:.0} a second", run.per_second);
            runs.push(run);
        }
    }
    println!(
        "{PARTITIONS} PostgreSQL servers and {CLIENTS} clients on one machine with {} cores; median of {rounds} round(s) by \
         turns, {seconds} s each; durable; the CPU is that of the databases; load of the machine {before} before and {} \
         after\n",
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    println!("{}", table(&runs));
    tell(&runs);
    Ok(true)
}

fn measure(databases: &[Postgres], load: &Load, round: u64) -> Result<Run, String> {
    let ports: Vec<u16> = databases.iter().map(Postgres::port).collect();
    let mut clients = Vec::new();
    for number in 0..load.clients {
        clients.push(Client::connect(&ports, number, round * 1_000 + load.percent)?);
    }
    let steps_before = steps(&ports)?;
    let stop = AtomicBool::new(false);
    let cpu = || databases.iter().map(Postgres::cpu_micros).sum::<u64>();
    let begun = Instant::now() + Duration::from_secs_f64(WARM_S);
    let (told, done_in, cpu_us) = std::thread::scope(|scope| {
        let running: Vec<_> = clients
            .iter_mut()
            .map(|client| scope.spawn(|| client.run(load, begun, &stop)))
            .collect();
        std::thread::sleep(Duration::from_secs_f64(WARM_S));
        let from = cpu();
        std::thread::sleep(Duration::from_secs_f64(load.seconds));
        let used = cpu() - from;
        let took = begun.elapsed();
        stop.store(true, Ordering::Relaxed);
        let told: Result<Vec<Told>, String> = running
            .into_iter()
            .map(|client| client.join().map_err(|_| "a client panicked".to_owned())?)
            .collect();
        told.map(|told| (told, took.as_secs_f64(), used))
    })?;
    is_whole(&ports)?;
    let mut local: Vec<f64> = told.iter().flat_map(|told| told.local.iter().copied()).collect();
    let mut crossing: Vec<f64> =
        told.iter().flat_map(|told| told.crossing.iter().copied()).collect();
    let counted = (local.len() + 2 * crossing.len()) as u64;
    let carried_out = steps(&ports)? - steps_before;
    if counted > carried_out {
        return Err(format!("{counted} transitions were answered, and {carried_out} are stored"));
    }
    let mut all = [&local[..], &crossing[..]].concat();
    for list in [&mut local, &mut crossing, &mut all] {
        list.sort_by(f64::total_cmp);
    }
    let done = all.len() as f64;
    if local.is_empty() {
        return Err("nothing was answered in time".into());
    }
    Ok(Run {
        per_second: done / done_in,
        cpu_us_each: cpu_us as f64 / done,
        local_p50: percentile(&local, 0.5),
        crossing_p50: (!crossing.is_empty()).then(|| percentile(&crossing, 0.5)),
        p99: percentile(&all, 0.99),
    })
}

fn number(port: u16, sql: &str) -> Result<u64, String> {
    let said = Wire::connect(port)?.ask(sql)?.unwrap_or_default();
    said.parse().map_err(|_| format!("`{sql}` gave `{said}`"))
}

fn steps(ports: &[u16]) -> Result<u64, String> {
    let each = ports.iter().map(|port| number(*port, "select count(*) from event"));
    each.sum::<Result<u64, String>>()
}

/// Every transition has its event, no message is left, and no transaction hangs between two databases.
fn is_whole(ports: &[u16]) -> Result<(), String> {
    for port in ports {
        let torn = "select abs((select sum(version) from register) - (select count(*) from event))";
        for (what, sql) in [
            ("transitions without their event", torn),
            ("messages that nobody carried", "select count(*) from outbox"),
            ("transactions that nobody decided", "select count(*) from pg_prepared_xacts"),
        ] {
            let found = number(*port, sql)?;
            if found != 0 {
                return Err(format!("{found} {what}"));
            }
        }
    }
    Ok(())
}

fn of(runs: &[Run], figure: impl Fn(&Run) -> f64) -> Summary {
    Summary::of(&runs.iter().map(figure).collect::<Vec<_>>())
}

fn table(runs: &[Vec<Run>]) -> Table {
    let mut table = Table::new(&[
        "steps",
        "a second",
        "of none",
        "CPU µs each",
        "p50 µs in one",
        "p50 µs across",
        "p99 µs",
    ]);
    for ((name, ..), shape) in SHAPES.iter().zip(runs) {
        let across = shape.iter().filter_map(|run| run.crossing_p50).collect::<Vec<_>>();
        table.row([
            (*name).to_owned(),
            format!("{:.0}", of(shape, |run| run.per_second).median),
            format!("{:.2}", ratio(shape, &runs[0], |run| run.per_second)),
            format!("{:.0}", of(shape, |run| run.cpu_us_each).median),
            format!("{:.0}", of(shape, |run| run.local_p50).median),
            if across.is_empty() {
                "-".into()
            } else {
                format!("{:.0}", Summary::of(&across).median)
            },
            format!("{:.0}", of(shape, |run| run.p99).median),
        ]);
    }
    table
}

/// Of the same rounds.
fn ratio(ours: &[Run], theirs: &[Run], figure: fn(&Run) -> f64) -> f64 {
    let pairs = ours.iter().zip(theirs).map(|(our, their)| figure(our) / figure(their));
    Summary::of(&pairs.collect::<Vec<_>>()).median
}

/// So many times the CPU of a step within one partition does a step take that crosses: what is left of the whole when
/// those within one are taken off.
fn times(share: f64, whole: f64) -> f64 {
    (whole - (1.0 - share)) / share
}

/// So many partitions full of local steps do as much as a thousand with a share of crossing ones.
fn worth(share: f64, times: f64) -> f64 {
    1_000.0 / (1.0 - share + share * times)
}

fn tell(runs: &[Vec<Run>]) {
    for (at, (name, _, percent)) in SHAPES.iter().enumerate().skip(1) {
        let share = *percent as f64 / 100.0;
        let times = times(share, ratio(&runs[at], &runs[0], |run| run.cpu_us_each));
        println!(
            "{name}: one that crosses takes {times:.1} times the CPU of one that does not; a thousand \
             partitions do as much then as {:.0} in which nothing crosses",
            worth(share, times)
        );
    }
    println!(
        "This is arithmetic from one machine without a network between the databases. What it does not show: waiting for \
         the slower of two, and what a partition that is down holds up."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crossing_costs_is_what_is_left_of_the_whole() {
        // of ten, two take four times as much: 8 + 8 instead of 10
        assert!((times(0.2, 1.6) - 4.0).abs() < 1e-9);
        assert!((worth(0.2, 4.0) - 625.0).abs() < 1e-9);
        assert!((worth(0.2, 1.0) - 1_000.0).abs() < 1e-9);
    }
}
