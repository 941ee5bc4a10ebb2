//! Redis 7: the transition as a script, every command synced before it is answered. Its own
//! `redis-benchmark` is the client.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::figures::{Figures, Load, System};
use super::server::{Server, free_port, program};
use crate::bench::measure;
use crate::cargo;

const SCRIPT: &str = "\
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0') \
if version >= tonumber(ARGV[1]) then return 0 end \
redis.call('HSET', KEYS[1], 'version', version + 1, 'value', ARGV[2]) \
return 1";

const PAYLOAD: &str = "sixty-four bytes of payload, written again with every transition..";
/// So many commands tell how many fit into the time.
const PROBE: u64 = 500;

pub struct Redis {
    server: Server,
    benchmark: PathBuf,
    /// what is sent; `__rand_int__` is any number below that of the keys
    command: Vec<String>,
    name: &'static str,
    /// commands that one client sends before it waits
    pipeline: usize,
}

impl Redis {
    pub fn start(folder: &Path) -> Result<Self, String> {
        let server = program("redis-server", None, "redis-server")?;
        Self::started(&folder.join("redis"), &server, super::report::REDIS, 1)
    }

    /// Redis, or a server that speaks as it does.
    pub fn started(
        folder: &Path,
        server: &Path,
        name: &'static str,
        pipeline: usize,
    ) -> Result<Self, String> {
        let port = free_port()?;
        std::fs::create_dir_all(folder).map_err(|e| format!("no folder for {name}: {e}"))?;
        let mut command = Command::new(server);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"]).arg(folder);
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--save", ""]);
        command.args(["--auto-aof-rewrite-percentage", "0"]);
        let server = Server::start(&mut command, port)?;
        let mut load = Command::new(program("redis-cli", None, "redis-tools")?);
        load.args(["-p", &port.to_string(), "SCRIPT", "LOAD", SCRIPT]);
        let script = cargo::output(&mut load)?.trim().to_owned();
        if script.len() != 40 {
            return Err(format!("Redis does not take the script: {script}"));
        }
        let benchmark = program("redis-benchmark", None, "redis-tools")?;
        let command = ["EVALSHA", &script, "1", "register-__rand_int__", "1000000000", PAYLOAD];
        let command = command.map(str::to_owned).to_vec();
        Ok(Self { server, benchmark, command, name, pipeline })
    }

    /// From now on it is sent this.
    pub fn send(&mut self, command: &[&str]) {
        self.command = command.iter().map(|part| (*part).to_owned()).collect();
    }

    /// Commands of a file, one a line.
    pub fn feed(&self, file: &Path) -> Result<(), String> {
        let input = std::fs::File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut command = Command::new(program("redis-cli", None, "redis-tools")?);
        command.args(["-p", &self.server.port.to_string()]).stdin(input);
        cargo::output(&mut command).map(drop)
    }

    /// Commands a second, the 50th and 99th percentile in milliseconds, and the client's own CPU
    /// of each command in microseconds.
    fn run(&self, load: &Load, count: u64) -> Result<[f64; 4], String> {
        let mut command = Command::new(&self.benchmark);
        command.args(["-p", &self.server.port.to_string(), "-c", &load.clients.to_string()]);
        command.args(["-n", &count.to_string(), "-r", &load.keys.to_string(), "--csv"]);
        command.args(["-P", &self.pipeline.to_string()]);
        command.args(&self.command);
        let run = measure::run(&mut command)?;
        let [per_second, p50_ms, p99_ms] = parse(&run.stdout)?;
        Ok([per_second, p50_ms, p99_ms, run.cpu.as_micros() as f64 / count as f64])
    }
}

impl System for Redis {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let probe = PROBE.max(20 * load.clients as u64);
        let [per_second, ..] = self.run(load, probe)?;
        let count = ((per_second * load.seconds) as u64).max(probe);
        let cpu = self.server.cpu_micros();
        let [per_second, p50_ms, p99_ms, client_cpu_us] = self.run(load, count)?;
        let cpu = self.server.cpu_micros() - cpu;
        Ok(Figures {
            per_second,
            cpu_us_each: cpu as f64 / count as f64,
            client_cpu_us_each: Some(client_cpu_us),
            p50_us: p50_ms * 1e3,
            p99_us: p99_ms * 1e3,
            bytes_each: None,
        })
    }
}

/// Commands a second, and the 50th and 99th percentile in milliseconds.
fn parse(csv: &str) -> Result<[f64; 3], String> {
    let line = csv.lines().last().unwrap_or_default();
    // The first column is the command itself, commas and all.
    let columns: Vec<f64> = line
        .rsplit(',')
        .take(7)
        .filter_map(|column| column.trim_matches('"').parse().ok())
        .collect();
    match columns.as_slice() {
        [_max, p99, _p95, p50, _min, _avg, per_second] => Ok([*per_second, *p50, *p99]),
        _ => Err(format!("`redis-benchmark` printed no figures: {line}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_counted_from_the_right() {
        let csv = "\"test\",\"rps\",\"avg\"\n\"EVALSHA a, b\",\"52.5\",\"1\",\"0.5\",\"0.9\",\"2\",\"3.1\",\"4\"\n";
        assert_eq!(parse(csv), Ok([52.5, 0.9, 3.1]));
        assert!(parse("ERROR").unwrap_err().contains("no figures"));
    }
}
