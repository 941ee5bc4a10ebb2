//! Servers that live as long as their test.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Server {
    child: Child,
    pub port: u16,
    pub folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A folder of its own for each server.
pub fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("steadfast-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Starts it and waits until its port answers.
pub fn start(mut command: Command, port: u16, folder: PathBuf) -> Server {
    let log = std::fs::File::create(folder.join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut server = Server { child, port, folder };
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let gone = server.child.try_wait().unwrap();
        if gone.is_some() || start.elapsed() > Duration::from_secs(30) {
            let log = std::fs::read_to_string(server.folder.join("log")).unwrap_or_default();
            panic!("{command:?} does not answer on port {port} ({gone:?}):\n{log}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// Where tools that are fetched once are kept.
pub fn cache() -> PathBuf {
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = home.join(".cache/steadfast/tools");
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn is_root() -> bool {
    run(Command::new("id").arg("-u")).trim() == "0"
}

pub fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
