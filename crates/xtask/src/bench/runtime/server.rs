//! A server that the benchmark starts, watches and stops.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(30);

pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start(command: &mut Command, port: u16) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|e| format!("cannot start `{name}`: {e}"))?;
        let mut server = Self { child, port };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("`{name}` ended instead of serving: {status}"));
            }
            if started.elapsed() > START_MAX {
                return Err(format!("`{name}` does not listen after {START_MAX:?}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// User and system time of the server and of the processes that it started.
    pub fn cpu_micros(&self) -> u64 {
        tree_ticks(self.pid()) * 10_000
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The data goes away with the scratch folder: there is nothing to shut down gently.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|e| format!("no port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("no port: {e}"))
}

/// A program by its name, in a folder of its own or on the path; installed if it is missing.
pub fn program(name: &str, folder: Option<&str>, package: &str) -> Result<PathBuf, String> {
    let find = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&folders).map(|folder| folder.join(name));
        folder
            .iter()
            .map(|folder| Path::new(folder).join(name))
            .chain(on_path)
            .find(|p| p.is_file())
    };
    if let Some(path) = find() {
        return Ok(path);
    }
    eprintln!("installing `{package}` from Debian's packages");
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", package]).env("DEBIAN_FRONTEND", "noninteractive");
    install.stdin(Stdio::null()).stdout(Stdio::null());
    // Whether that went well is seen from what is there afterwards.
    drop(install.status());
    find().ok_or_else(|| format!("`{name}` is missing\nhelp: install the package `{package}`"))
}

/// Numbers of `/proc/PID/stat` that follow the name: parent, user and system time, and both of
/// the children that have ended.
fn stat(pid: u32) -> Option<[u64; 5]> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(stat: &str) -> Option<[u64; 5]> {
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
    Some([number(1)?, number(11)?, number(12)?, number(13)?, number(14)?])
}

/// In hundredths of a second.
fn tree_ticks(pid: u32) -> u64 {
    let own = stat(pid).map_or(0, |[_, user, system, ended_user, ended_system]| {
        user + system + ended_user + ended_system
    });
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    let children =
        pids.filter(|child| stat(*child).is_some_and(|[parent, ..]| parent == u64::from(pid)));
    own + children.map(tree_ticks).sum::<u64>()
}

/// Over a minute, as the kernel tells it.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_a_name_with_spaces_and_brackets() {
        let line = "77 (a b) c) S 5 77 77 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 99";
        assert_eq!(parse_stat(line), Some([5, 10, 20, 30, 40]));
        assert_eq!(parse_stat("77 (a) S"), None);
    }

    #[test]
    fn the_work_of_children_counts() {
        let script = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; sleep 30";
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let server = Server { child, port: 0 };
        let started = Instant::now();
        while server.cpu_micros() < 20_000 && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(server.cpu_micros() >= 20_000);
    }

    #[test]
    fn a_server_that_ends_is_an_error_and_not_a_wait() {
        let port = free_port().unwrap();
        let problem = Server::start(&mut Command::new("false"), port).err().unwrap();
        assert!(problem.contains("ended instead of serving"), "{problem}");
    }
}
