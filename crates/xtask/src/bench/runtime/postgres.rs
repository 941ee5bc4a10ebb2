//! PostgreSQL 15, synchronous commit on, every statement prepared. Its own `pgbench` is the client.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::figures::{Figures, Load, System, percentile};
use super::server::{Server, free_port, program};
use crate::cargo;

const FOLDER: &str = "/usr/lib/postgresql/15/bin";
const PACKAGE: &str = "postgresql-15";
/// Clients connect in this time; nothing is measured before.
const CONNECT_S: f64 = 1.5;

/// What is asked of it.
pub struct Work {
    /// the statements that make the tables
    pub create: String,
    /// what a client does again and again
    pub script: fn(&Load) -> String,
}

/// A register takes a new value if its version is below a limit.
pub fn registers(rows: u64) -> Work {
    Work {
        create: format!(
            "create table register (id int primary key, version int not null, value text not null);
             insert into register select n, 0, '' from generate_series(0, {rows} - 1) n;"
        ),
        script: |load| {
            format!(
                "\\set id random(0, {} - 1)\n\
                 update register set version = version + 1, \
                 value = 'sixty-four bytes of payload, written again with every transition..' \
                 where id = :id and version < 1000000000;\n",
                load.keys
            )
        },
    }
}

pub struct Postgres {
    server: Server,
    client: PathBuf,
    folder: PathBuf,
    script: fn(&Load) -> String,
}

impl Postgres {
    pub fn start(folder: &Path, work: Work) -> Result<Self, String> {
        let port = free_port()?;
        let folder = folder.join("postgres");
        std::fs::create_dir_all(&folder).map_err(|e| format!("no folder for PostgreSQL: {e}"))?;
        let data = folder.join("data");
        let initdb = program("initdb", Some(FOLDER), PACKAGE)?;
        let is_root = cargo::output(Command::new("id").arg("-u"))?.trim() == "0";
        if is_root {
            // The server refuses to run as root; the package brought a user of its own.
            cargo::output(Command::new("chown").arg("postgres").arg(&folder))?;
        }
        let mut init = as_server(is_root, &initdb);
        init.args(["--auth", "trust", "--username", "bench", "--no-sync", "--pgdata"]).arg(&data);
        cargo::output(&mut init)?;
        let mut command = as_server(is_root, &program("postgres", Some(FOLDER), PACKAGE)?);
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=on",
            "synchronous_commit=on",
            "max_connections=300",
            // for steps across several databases; without any it costs nothing
            "max_prepared_transactions=100",
            "shared_buffers=256MB",
        ] {
            command.args(["-c", setting]);
        }
        let server = Server::start(&mut command, port)?;
        let client = program("pgbench", Some(FOLDER), PACKAGE)?;
        let mut create = Command::new(program("psql", Some(FOLDER), "postgresql-client-15")?);
        create.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--username", "bench"]);
        create.args(["--quiet", "--dbname", "postgres", "--command"]);
        create.arg(work.create);
        cargo::output(&mut create)?;
        Ok(Self { server, client, folder, script: work.script })
    }

    /// Where a store in this database is, in a schema of its own.
    pub fn address(&self, schema: &str) -> String {
        format!("postgres://bench@127.0.0.1:{}/postgres?schema={schema}", self.server.port)
    }

    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// Of the server and its processes.
    pub fn cpu_micros(&self) -> u64 {
        self.server.cpu_micros()
    }

    fn script(&self, load: &Load) -> Result<PathBuf, String> {
        let path = self.folder.join("script.sql");
        std::fs::write(&path, (self.script)(load))
            .map_err(|e| format!("cannot write the script: {e}"))?;
        Ok(path)
    }
}

fn as_server(is_root: bool, program: &Path) -> Command {
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["--user", "postgres", "--"]).arg(program).current_dir("/");
    command
}

impl System for Postgres {
    fn name(&self) -> &'static str {
        super::report::POSTGRES
    }

    /// Measures a window in the middle of the run: forking a process for each client is not what
    /// is compared.
    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let logs = self.folder.join("logs");
        drop(std::fs::remove_dir_all(&logs));
        std::fs::create_dir_all(&logs).map_err(|e| format!("no folder for logs: {e}"))?;
        let seconds = (CONNECT_S + load.seconds).ceil() + 1.0;
        let mut command = Command::new(&self.client);
        command.args(["--host", "127.0.0.1", "--port", &self.server.port.to_string()]);
        command.args(["--username", "bench", "--no-vacuum", "--protocol", "prepared"]);
        command.args(["--client", &load.clients.to_string(), "--jobs"]);
        command.arg(load.clients.min(2).to_string()).arg("--time").arg(seconds.to_string());
        command.arg("--file").arg(self.script(load)?).args(["--log", "--log-prefix"]);
        command.arg(logs.join("transactions")).arg("postgres");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("cannot start `pgbench`: {e}"))?;
        std::thread::sleep(Duration::from_secs_f64(CONNECT_S));
        let (begun, cpu) = (now_us(), self.server.cpu_micros());
        std::thread::sleep(Duration::from_secs_f64(load.seconds));
        let (ended, cpu) = (now_us(), self.server.cpu_micros() - cpu);
        let status = child.wait().map_err(|e| format!("cannot wait for `pgbench`: {e}"))?;
        if !status.success() {
            return Err(format!("`pgbench` failed: {status}"));
        }
        let mut latencies = Vec::new();
        for file in std::fs::read_dir(&logs).map_err(|e| format!("no logs: {e}"))?.flatten() {
            let text = std::fs::read_to_string(file.path()).map_err(|e| format!("no log: {e}"))?;
            latencies.extend(text.lines().filter_map(|line| within(line, begun, ended)));
        }
        if latencies.is_empty() {
            return Err("`pgbench` logged no transaction in time".into());
        }
        latencies.sort_by(f64::total_cmp);
        let count = latencies.len() as f64;
        Ok(Figures {
            per_second: count * 1e6 / (ended - begun) as f64,
            cpu_us_each: cpu as f64 / count,
            client_cpu_us_each: None,
            p50_us: percentile(&latencies, 0.5),
            p99_us: percentile(&latencies, 0.99),
            bytes_each: None,
        })
    }
}

fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// The microseconds that a logged transaction took, if it ended within this time.
fn within(line: &str, begun: u64, ended: u64) -> Option<f64> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_client, _number, took, _script, seconds, micros, ..] = fields.as_slice() else {
        return None;
    };
    let at = seconds.parse::<u64>().ok()? * 1_000_000 + micros.parse::<u64>().ok()?;
    (begun..ended).contains(&at).then(|| took.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn only_transactions_of_the_window_count() {
        let line = "3 17 1250 0 1700000000 500000";
        let at = 1_700_000_000_500_000;
        assert_eq!(within(line, at, at + 1), Some(1250.0));
        assert_eq!(within(line, at + 1, at + 2), None);
        assert_eq!(within("3 17", 0, u64::MAX), None);
    }
}
