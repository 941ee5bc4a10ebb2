//! Servers to be measured, and the clients that measure them.
//!
//! `http_load echo|serve|queue|places|board --port P [--folder F]` serves until it is killed. `http_load
//! http|batch|socket|bare|restate|fill|take|settle|move|near|join|score|top|around --port P --pid P… [--clients N]
//! [--keys N] [--seconds S]` prints one line of JSON.
//!
//! `echo` is bare axum that gives back the body; `serve` is a design on the embedded store. `bare` are
//! requests to the first, `http`, `batch` and `socket` steps of the second: one a request, 64 a request, and
//! 16 at a time over a WebSocket. `restate` calls a virtual object of the same kind. `queue` is a queue of
//! jobs: `fill` puts as many in as there are keys; `take` takes the next one and puts a new one in. `places` are
//! couriers in a square of one degree: `settle` gives each a place, `move` another one, `near` asks for the ten nearest
//! within 2 km. `board` are players by their points: `join` gives points to each, `score` others, `top` asks for the
//! first ten and `around` for the rank of one.

mod answers;
mod client;
mod requests;
mod servers;

use std::process::ExitCode;

const USAGE: &str = "usage: http_load echo|serve|queue|places|board|bare|http|batch|socket|restate|fill|take|settle|move|near|join|score|\
                     top|around --port P [--pid P]… [--clients N] \
                     [--keys N] [--seconds S] [--folder F]";

#[derive(Clone)]
pub struct Settings {
    pub port: u16,
    /// of the server
    pub pids: Vec<u32>,
    pub clients: usize,
    pub keys: u64,
    pub seconds: f64,
    pub folder: String,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<String, String> {
    let [kind, rest @ ..] = arguments else { return Err(USAGE.into()) };
    let mut settings = Settings {
        port: 0,
        pids: Vec::new(),
        clients: 64,
        keys: 100_000,
        seconds: 3.0,
        folder: String::new(),
    };
    for pair in rest.chunks(2) {
        let [name, value] = pair else { return Err(USAGE.into()) };
        let wrong = |_| format!("`{value}` is no value for `{name}`\n{USAGE}");
        match name.as_str() {
            "--port" => settings.port = value.parse().map_err(wrong)?,
            "--pid" => settings.pids.push(value.parse().map_err(wrong)?),
            "--clients" => settings.clients = value.parse().map_err(wrong)?,
            "--keys" => settings.keys = value.parse().map_err(wrong)?,
            "--seconds" => {
                settings.seconds = value.parse().map_err(|_| format!("`{value}`\n{USAGE}"))?;
            }
            "--folder" => settings.folder.clone_from(value),
            _ => return Err(USAGE.into()),
        }
    }
    match kind.as_str() {
        "echo" => servers::echo(&settings),
        "serve" => servers::registers(&settings),
        "queue" => servers::queue(&settings),
        "bare" => client::run(&settings, client::Kind::Bare),
        "http" => client::run(&settings, client::Kind::Http),
        "batch" => client::run(&settings, client::Kind::Batch),
        "socket" => client::run(&settings, client::Kind::Socket),
        "restate" => client::run(&settings, client::Kind::Restate),
        "fill" => client::run(&settings, client::Kind::Fill),
        "take" => client::run(&settings, client::Kind::Take),
        "places" => servers::places(&settings),
        "settle" => client::run(&settings, client::Kind::Settle),
        "move" => client::run(&settings, client::Kind::Move),
        "near" => client::run(&settings, client::Kind::Near),
        "board" => servers::board(&settings),
        "join" => client::run(&settings, client::Kind::Join),
        "score" => client::run(&settings, client::Kind::Score),
        "top" => client::run(&settings, client::Kind::Top),
        "around" => client::run(&settings, client::Kind::Around),
        _ => Err(USAGE.into()),
    }
}
