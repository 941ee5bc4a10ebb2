//! Clients that are slow, silent or greedy, beside honest ones: the honest do not notice.
//!
//! A small crowd runs with all other tests. `cargo xtask torture crowd` lets two thousand come, and says what
//! an honest request cost the server with them and without.

mod attacker;
mod honest;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::serving::Server;
use crate::cli::support::folder;
use attacker::{Attacker, KINDS};

/// So much memory the server may take at most, whatever the crowd sends: what it takes with honest
/// clients alone, the bodies that are under way, and what each connection may have sent or not read.
const BASE_BYTES: u64 = 192 << 20;
const BODIES_BYTES: u64 = 64 << 20;
const CONNECTION_BYTES: u64 = 128 << 10;

struct Extent {
    attackers: usize,
    honest: usize,
    /// of each honest client
    requests: usize,
    /// an honest client comes again after so many
    reconnect: usize,
}

fn extent() -> Extent {
    let full = std::env::var("STEADFAST_CROWD").ok().and_then(|text| text.parse().ok());
    match full {
        None => Extent { attackers: 100, honest: 8, requests: 200, reconnect: 20 },
        Some(attackers) => Extent { attackers, honest: 64, requests: 2_000, reconnect: 100 },
    }
}

#[test]
fn honest_clients_do_not_notice_a_crowd() {
    let extent = extent();
    let folder = folder("crowd");
    let limits = ["--limit", "bodies_bytes_max=67108864"];
    let server = Server::start(&folder, &["tickets", "i14", limits[0], limits[1]]);
    let address = server.address.strip_prefix("http://").unwrap().to_string();
    let pid = server.process.0.id();
    let alone = round(&address, pid, &extent, 0);
    let crowd: Vec<Attacker> = (0..extent.attackers)
        .map(|at| Attacker::begin(KINDS[at % KINDS.len()], &address))
        .collect();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let pressing = thread::spawn(move || {
        let mut crowd = crowd;
        while matches!(stopped.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty)) {
            crowd.iter_mut().for_each(Attacker::press);
            thread::sleep(Duration::from_millis(100));
        }
    });
    // what the crowd costs by itself, while nobody else asks; it is busiest when it comes, so the smaller of both counts
    let rest = Duration::from_millis(if extent.attackers > 100 { 3_000 } else { 300 });
    let before = idle(pid, rest);
    let among = round(&address, pid, &extent, 1);
    let idle = before.min(idle(pid, rest));
    drop(stop);
    pressing.join().unwrap();
    let own = among.cpu.saturating_sub(idle.mul_f64(among.took.as_secs_f64()));
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / among.answered as f64;
    let most = BASE_BYTES + BODIES_BYTES + extent.attackers as u64 * CONNECTION_BYTES;
    println!(
        "crowd of {}: {} honest requests, none refused; server CPU of each {:.1} µs alone, {:.1} µs among them \
         ({:.2} times, {:.1} µs with what the crowd costs by itself); memory at most {} MiB of {} MiB",
        extent.attackers,
        among.answered,
        each(alone.cpu),
        each(own),
        each(own) / each(alone.cpu),
        each(among.cpu),
        among.memory >> 20,
        most >> 20,
    );
    assert!(among.memory <= most, "{} of {most}", among.memory);
}

/// What the server uses in a second.
fn idle(pid: u32, rest: Duration) -> Duration {
    let (before, begun) = (cpu(pid), Instant::now());
    thread::sleep(rest);
    (cpu(pid) - before).div_f64(begun.elapsed().as_secs_f64())
}

struct Round {
    answered: usize,
    cpu: Duration,
    took: Duration,
    /// the most that the server had in memory until then
    memory: u64,
}

fn round(address: &str, pid: u32, extent: &Extent, number: usize) -> Round {
    let (before, begun) = (cpu(pid), Instant::now());
    let clients: Vec<_> = (0..extent.honest)
        .map(|client| {
            let (address, requests, reconnect) =
                (address.to_string(), extent.requests, extent.reconnect);
            thread::spawn(move || honest::run(&address, (number, client), requests, reconnect))
        })
        .collect();
    // a refused one has panicked
    let answered = clients.into_iter().map(|client| client.join().unwrap()).sum();
    Round { answered, cpu: cpu(pid) - before, took: begun.elapsed(), memory: peak(pid) }
}

/// What a process has used of the processors.
fn cpu(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after = text.rsplit_once(')').unwrap().1;
    let ticks = |at: usize| after.split_whitespace().nth(at).unwrap().parse::<u64>().unwrap();
    // user and system time, in hundredths
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// The most that a process ever had in memory.
fn peak(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
