//! Benchmarks. Each builds the release binaries that it measures and says whether its goal is met.

mod beside;
mod calendar;
mod checker;
mod design_text;
mod due;
mod editor;
mod explain;
mod growth;
mod language;
mod measure;
mod next;
mod ordered;
mod partitions;
mod postgres;
mod runtime;
mod scratch;
mod serve;
mod summary;
mod verify;

use crate::table::Table;

struct Benchmark {
    name: &'static str,
    about: &'static str,
    run: fn(&[&str]) -> crate::Answer,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "language",
        about: "compile time of a generated design, by the line, and its growth",
        run: language::run,
    },
    Benchmark {
        name: "editor",
        about: "from a key that is typed to its diagnostics, in a design of 2,000 lines",
        run: editor::run,
    },
    Benchmark {
        name: "checker",
        about: "states by the second and bytes by the state, beside stateright and TLC; growth",
        run: checker::run,
    },
    Benchmark {
        name: "explain",
        about: "what it takes to explain the whole catalog",
        run: explain::run,
    },
    Benchmark {
        name: "runtime",
        about: "guarded transitions, durable, beside a bare log, Redis, PostgreSQL and etcd",
        run: runtime::run,
    },
    Benchmark {
        name: "serve",
        about: "steps over HTTP, in batches and over a WebSocket, beside bare axum, Redis, Valkey and Restate",
        run: serve::run,
    },
    Benchmark {
        name: "due",
        about: "a million pending due times, and a burst of many in one second",
        run: due::run,
    },
    Benchmark {
        name: "next",
        about: "workers that take the next job of one queue, beside PostgreSQL with `skip locked`",
        run: next::run,
    },
    Benchmark {
        name: "near",
        about: "rows by their distance, beside Redis with its places",
        run: ordered::near,
    },
    Benchmark {
        name: "rank",
        about: "ranks, beside Redis with its sorted sets",
        run: ordered::rank,
    },
    Benchmark {
        name: "calendar",
        about: "the next instant of a schedule, beside croniter",
        run: calendar::run,
    },
    Benchmark {
        name: "postgres",
        about: "transitions on a PostgreSQL that servers share, beside statements by hand",
        run: postgres::run,
    },
    Benchmark {
        name: "partitions",
        about: "four databases as four partitions, with 0, 5 and 20 % of the steps crossing",
        run: partitions::run,
    },
    Benchmark {
        name: "verify",
        about: "a million transitions walked through their design again, beside serving them",
        run: verify::run,
    },
    Benchmark {
        name: "growth",
        about: "the embedded store with 1, 4 and 16 million records",
        run: growth::run,
    },
];

pub fn list() -> crate::Answer {
    let mut table = Table::new(&["benchmark", "what it measures"]);
    for benchmark in BENCHMARKS {
        table.row([benchmark.name.to_owned(), benchmark.about.to_owned()]);
    }
    print!("{table}");
    Ok(true)
}

pub fn run(name: &str, arguments: &[&str]) -> crate::Answer {
    match BENCHMARKS.iter().find(|benchmark| benchmark.name == name) {
        Some(benchmark) => (benchmark.run)(arguments),
        None => {
            let names: Vec<&str> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
            Err(format!("there is no benchmark `{name}`\nhelp: there is `{}`", names.join("`, `")))
        }
    }
}
