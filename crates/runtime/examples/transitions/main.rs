//! Guarded transitions under load, each durable before it is answered. Prints one line of JSON.
//!
//! `transitions runtime|log|etcd --clients N --keys N --seconds S [--count N] [--port P] [--pid P]`
//!
//! `runtime`: a design on the embedded store, in this process. `log`: the same store, appending as
//! many bytes and evaluating nothing. `etcd`: a server on this machine, whose CPU time is taken.

mod etcd;
mod executor;
mod figures;
mod registers;

use std::process::ExitCode;

use figures::Load;

const USAGE: &str = "usage: transitions runtime|log|etcd [--clients N] [--keys N] [--seconds S] [--count N] [--port P] [--pid P]";

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
    let mut load = Load::default();
    let mut port = 0;
    for pair in rest.chunks(2) {
        let [name, value] = pair else { return Err(USAGE.into()) };
        let wrong = || format!("`{value}` is no value for `{name}`\n{USAGE}");
        match name.as_str() {
            "--clients" => load.clients = value.parse().map_err(|_| wrong())?,
            "--keys" => load.keys = value.parse().map_err(|_| wrong())?,
            "--seconds" => load.seconds = value.parse().map_err(|_| wrong())?,
            "--count" => load.count = Some(value.parse().map_err(|_| wrong())?),
            "--pid" => load.pid = Some(value.parse().map_err(|_| wrong())?),
            "--port" => port = value.parse().map_err(|_| wrong())?,
            _ => return Err(USAGE.into()),
        }
    }
    let figures = match kind.as_str() {
        "runtime" => registers::runtime(&load)?,
        "log" => registers::log(&load)?,
        "etcd" => etcd::run(&load, port)?,
        _ => return Err(USAGE.into()),
    };
    Ok(figures.to_json())
}
