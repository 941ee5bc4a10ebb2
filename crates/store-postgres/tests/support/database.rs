//! A PostgreSQL that lives as long as its tests. Other crates' tests use this file as well.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::programs::program;

const FOLDERS: &[&str] = &[
    "/usr/lib/postgresql/18/bin",
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/14/bin",
];

pub struct Server {
    folder: PathBuf,
    pub port: u16,
    process: Mutex<Child>,
}

/// The one that tests share. Each works in a schema of its own.
pub fn shared() -> Arc<Server> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return server;
    }
    let server = Arc::new(Server::start());
    *shared = Arc::downgrade(&server);
    server
}

impl Server {
    /// One of its own, for a test that stops it.
    pub fn start() -> Server {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("steadfast-store-postgres-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&folder));
        }
        let initdb = program("initdb", FOLDERS, "postgresql");
        let made = ["-U", "steadfast", "-A", "trust", "-E", "UTF8", "--no-sync"];
        run(as_user(&initdb).args(made).arg("-D").arg(folder.join("data")).current_dir(&folder));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Mutex::new(started(&folder, port));
        let server = Server { folder, port, process };
        server.wait();
        server
    }

    /// Ends it at once, as a crash of its machine does, and starts it again.
    pub fn crash(&self) {
        let mut process = self.process.lock().unwrap();
        run(Command::new("kill").arg("-QUIT").arg(process.id().to_string()));
        process.wait().unwrap();
        *process = started(&self.folder, self.port);
        drop(process);
        self.wait();
    }

    fn wait(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err()
            || self.try_sql("SELECT 1").is_err()
        {
            if begun.elapsed() > Duration::from_secs(60) {
                let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                panic!("PostgreSQL does not answer:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A schema that nobody else has.
    pub fn schema(&self) -> String {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed))
    }

    pub fn address(&self, schema: &str) -> String {
        self.address_at(self.port, schema)
    }

    pub fn address_at(&self, port: u16, schema: &str) -> String {
        format!("postgres://steadfast@127.0.0.1:{port}/postgres?schema={schema}")
    }

    /// What statements give, as text, a row each.
    pub fn sql(&self, statements: &str) -> Vec<Vec<String>> {
        self.try_sql(statements).unwrap_or_else(|why| panic!("{statements}: {why}"))
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until a transaction in this schema sleeps: what it did before has a place, and nobody sees it.
    pub fn wait_for_sleeper(&self, schema: &str) {
        let asleep = format!(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%{schema}.%'"
        );
        let begun = Instant::now();
        while self.sql(&asleep).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing sleeps");
        }
    }

    fn try_sql(&self, statements: &str) -> Result<Vec<Vec<String>>, String> {
        let mut psql = Command::new(program("psql", FOLDERS, "postgresql-client"));
        psql.args(["-X", "-q", "-A", "-t", "-F", "|", "-h", "127.0.0.1", "-U", "steadfast"]);
        psql.args(["-d", "postgres", "-p", &self.port.to_string(), "-c", statements]);
        let output = psql.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = Command::new("kill").arg("-QUIT").arg(process.id().to_string()).status();
        let _ = process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn started(folder: &Path, port: u16) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
    let mut command = as_user(&program("postgres", FOLDERS, "postgresql"));
    command.arg("-D").arg(folder.join("data")).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "fsync=on",
    ] {
        command.args(["-c", setting]);
    }
    command.current_dir(folder).stdin(Stdio::null());
    command.stdout(log.try_clone().unwrap()).stderr(log);
    command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The server refuses to run as root: the user that its package brought does, under the same process id.
pub fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

fn is_root() -> bool {
    run(Command::new("id").arg("-u")).trim() == "0"
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
