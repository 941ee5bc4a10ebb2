//! `cargo xtask bench near` and `bench rank`: views that are kept in an order, over HTTP and durable, beside Redis with its
//! own kinds for the same, every command synced before it is answered.

use std::fmt::Write as _;
use std::path::Path;

use super::beside;
use super::runtime::figures::{self, Cell, Load, System};
use super::runtime::redis::Redis;
use super::runtime::report::REDIS;
use super::runtime::server::{load_average, program};
use super::scratch::Scratch;
use super::serve::ours::Ours;
use crate::{cargo, repo};

const OURS: &str = "HTTP";
/// Records in the view.
const RECORDS: u64 = 100_000;

/// One kind of view.
struct Subject {
    name: &'static str,
    /// kinds of `http_load`: the server, and the client that makes the records
    server: &'static str,
    fill: &'static str,
    /// the same records for Redis, by their number and two numbers below that of the records
    redis_fill: fn(u64, u64, u64) -> String,
    shapes: &'static [Shape],
}

/// One kind of request.
struct Shape {
    title: &'static str,
    /// a kind of `http_load`
    client: &'static str,
    redis: &'static [&'static str],
}

const NEAR: Subject = Subject {
    name: "near",
    server: "places",
    fill: "settle",
    redis_fill: |at, east, north| format!("GEOADD couriers {east}e-5 {north}e-5 courier-{at:012}"),
    shapes: &[
        Shape {
            title: "the ten nearest within 2 km",
            client: "near",
            redis: &[
                "GEOSEARCH",
                "couriers",
                "FROMLONLAT",
                "__rand_int__e-5",
                "__rand_int__e-5",
                "BYRADIUS",
                "2",
                "km",
                "ASC",
                "COUNT",
                "10",
                "WITHDIST",
            ],
        },
        Shape {
            title: "one moves",
            client: "move",
            redis: &[
                "GEOADD",
                "couriers",
                "__rand_int__e-5",
                "__rand_int__e-5",
                "courier-__rand_int__",
            ],
        },
    ],
};

const RANK: Subject = Subject {
    name: "rank",
    server: "board",
    fill: "join",
    redis_fill: |at, points, _| format!("ZADD board {points} player-{at:012}"),
    shapes: &[
        Shape {
            title: "the first ten",
            client: "top",
            redis: &["ZREVRANGE", "board", "0", "9", "WITHSCORES"],
        },
        Shape {
            title: "the rank of one",
            client: "around",
            redis: &["ZREVRANK", "board", "player-__rand_int__", "WITHSCORE"],
        },
        Shape {
            title: "one gets other points",
            client: "score",
            redis: &["ZADD", "board", "__rand_int__", "player-__rand_int__"],
        },
    ],
};

pub fn near(arguments: &[&str]) -> crate::Answer {
    run(&NEAR, arguments)
}

pub fn rank(arguments: &[&str]) -> crate::Answer {
    run(&RANK, arguments)
}

fn run(subject: &Subject, arguments: &[&str]) -> crate::Answer {
    let (mut clients, mut rounds, mut seconds, mut records, mut peer) =
        (&[1, 16, 64][..], 5, 2.0, RECORDS, true);
    for argument in arguments {
        match *argument {
            "--small" => (clients, rounds, seconds, records) = (&[64], 1, 1.0, 5_000),
            "--ours" => peer = false,
            _ => {
                return Err(format!(
                    "`bench {}` takes `--small`, `--ours`, both or nothing",
                    subject.name
                ));
            }
        }
    }
    let program = cargo::release_example(&repo::root()?, "server", "http_load")?;
    let folder = Scratch::new(subject.name)?;
    let before = load_average();
    let mut redis = match peer {
        true => Some(redis(subject, &folder.0, records)?),
        false => None,
    };
    let mut cells: Vec<Cell> = Vec::new();
    let first = subject.shapes[0].client;
    let mut ours = Ours::start(&program, subject.server, first, OURS, &folder.0.join("ours"))?;
    ours.prepare(subject.fill, &Load { clients: 64, keys: records, seconds: 0.0 })?;
    for round in 1..=rounds {
        for shape in subject.shapes {
            ours.ask_for(shape.client);
            for clients in clients {
                let load = Load { clients: *clients, keys: records, seconds };
                if let Some(redis) = &mut redis {
                    redis.send(shape.redis);
                }
                let theirs = redis.as_mut().map(|redis| redis as &mut dyn System);
                for system in [&mut ours as &mut dyn System].into_iter().chain(theirs) {
                    let figures = system.measure(&load)?;
                    let (name, rate) = (system.name(), figures.per_second);
                    eprintln!(
                        "round {round} of {rounds}, {}, {clients} clients, {name}: {rate:.0} a second",
                        shape.title
                    );
                    figures::add(&mut cells, name, shape.title, *clients, figures);
                }
            }
        }
    }
    println!(
        "{records} records, writes durable; median of {rounds} rounds by turns (10th to 90th percentile), {seconds} s \
         each, on {} cores that the clients share; load of the machine {before} before and {} after",
        std::thread::available_parallelism().map_or(0, usize::from),
        load_average(),
    );
    for shape in subject.shapes {
        println!("\n{}\n\n{}", shape.title, beside::table(&cells, shape.title));
    }
    Ok(beside::is_ahead(&cells, OURS, REDIS))
}

fn redis(subject: &Subject, folder: &Path, records: u64) -> Result<Redis, String> {
    let server = program("redis-server", None, "redis-server")?;
    let redis = Redis::started(&folder.join("redis"), &server, REDIS, 1)?;
    let mut lines = String::new();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut any = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) % records
    };
    // in one transaction, so that it is synced once
    lines.push_str("MULTI\n");
    for at in 0..records {
        let _ = writeln!(lines, "{}", (subject.redis_fill)(at, any(), any()));
    }
    lines.push_str("EXEC\n");
    let file = folder.join("redis.txt");
    std::fs::write(&file, lines).map_err(|e| format!("{}: {e}", file.display()))?;
    redis.feed(&file)?;
    Ok(redis)
}
