//! PostgreSQL, through `psql`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use explain::{Engine, Realized, realize};

use crate::engines::Running;
use crate::engines::cases::Binding;
use crate::engines::encoding::{from_hex, hex};
use crate::engines::server::{self, Server};
use crate::support;
use crate::support::programs::program;

const FOLDERS: &[&str] = &[
    "/usr/lib/postgresql/17/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/14/bin",
];

pub struct Postgres {
    psql: PathBuf,
    session: RefCell<Session>,
    server: Server,
}

/// One `psql` that is given scripts one after the other.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

const END: &str = "-- the script ends here --";

impl Session {
    fn open(psql: &Path, port: u16) -> Session {
        let arguments = format!(
            "exec {} -X -q -A -t -F ' ' -h 127.0.0.1 -U steadfast -d postgres -p {port} -v VERBOSITY=verbose 2>&1",
            server::path_text(psql)
        );
        for _ in 0..100 {
            let mut child = Command::new("sh")
                .args(["-c", &arguments])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let input = child.stdin.take().unwrap();
            let output = BufReader::new(child.stdout.take().unwrap());
            let mut session = Session { child, input, output };
            if session.run("SELECT 1;").is_some() {
                return session;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("psql finds no server on port {port}");
    }

    /// Everything that was printed; nothing: psql has ended.
    fn run(&mut self, script: &str) -> Option<String> {
        self.input.write_all(format!("{script}\n\\echo '{END}'\n").as_bytes()).ok()?;
        self.input.flush().ok()?;
        let mut text = String::new();
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) if line.trim_end() == END => return Some(text),
                Ok(_) => text.push_str(&line),
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn start() -> Postgres {
    let initdb = program("initdb", FOLDERS, "postgresql");
    let postgres = program("postgres", FOLDERS, "postgresql");
    let psql = program("psql", FOLDERS, "postgresql-client");
    let folder = server::folder("postgres");
    let data = folder.join("data");
    // The server refuses to run as root: its own user does, under the same process id.
    let as_user = |program: &PathBuf| {
        if server::is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        }
    };
    if server::is_root() {
        server::run(Command::new("chown").arg("postgres").arg(&folder));
    }
    let user = ["-U", "steadfast", "-A", "trust", "-E", "UTF8", "--no-sync"];
    server::run(as_user(&initdb).args(user).arg("-D").arg(&data).current_dir(&folder));
    let port = server::free_port();
    let mut command = as_user(&postgres);
    command.arg("-D").arg(&data).args([
        "-p",
        &port.to_string(),
        "-c",
        "listen_addresses=127.0.0.1",
    ]);
    command.args([
        "-c",
        "fsync=off",
        "-c",
        &format!("unix_socket_directories={}", server::path_text(&folder)),
    ]);
    command.current_dir(&folder);
    let server = server::start(command, port, folder);
    let session = Session::open(&psql, port);
    let running = Postgres { psql, session: RefCell::new(session), server };
    let layout = realize(&support::design("tickets").design, Engine::Postgres).layout.join("\n");
    let (made, _, errors) = running.script(&layout);
    assert!(made, "{errors}");
    running
}

impl Postgres {
    /// Whether all of it went through, and what was printed.
    fn script(&self, text: &str) -> (bool, String, String) {
        let printed = self.session.borrow_mut().run(text).expect("psql has ended");
        let (errors, rows): (Vec<&str>, Vec<&str>) =
            printed.lines().partition(|line| line.contains("ERROR:") || line.contains("LOCATION:"));
        let failed = errors.iter().any(|line| line.contains("ERROR:"));
        (!failed, rows.join("\n"), errors.join("\n"))
    }

    /// The same commit from several sessions at once: which of them were accepted?
    pub fn race(&self, realized: &Realized, binding: &Binding, sessions: usize) -> Vec<bool> {
        let lines: Vec<&str> = realized
            .commit
            .iter()
            .filter(|line| binding.applies(line))
            .map(|line| line.text.as_str())
            .collect();
        let script = format!("{}{}\n", self.bound(binding), lines.join("\n"));
        let open: Vec<Session> =
            (0..sessions).map(|_| Session::open(&self.psql, self.server.port)).collect();
        let ready = std::sync::Barrier::new(sessions);
        std::thread::scope(|scope| {
            let racing: Vec<_> = open
                .into_iter()
                .map(|mut session| {
                    let (ready, script) = (&ready, &script);
                    scope.spawn(move || {
                        ready.wait();
                        let printed = session.run(script).unwrap();
                        drop(session);
                        !printed.contains("ERROR:")
                    })
                })
                .collect();
            racing.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    fn bound(&self, binding: &Binding) -> String {
        let mut script = String::new();
        for (name, key) in &binding.keys {
            script.push_str(&format!("\\set {name}_key '\\\\x{}'\n", hex(key)));
        }
        for (name, value) in &binding.values {
            script.push_str(&format!("\\set {name}_value '\\\\x{}'\n", hex(value)));
        }
        for (name, version) in &binding.versions {
            script.push_str(&format!("\\set {name}_version {version}\n"));
        }
        script.push_str("\\set feed_entry '\\\\x00ff'\n");
        script
    }
}

impl Running for Postgres {
    fn seed(&mut self, records: &[(Vec<u8>, Vec<u8>)]) {
        let mut script = String::new();
        for (key, value) in records {
            script.push_str(&format!(
                "INSERT INTO record (key, version, value) VALUES ('\\x{}', nextval('version'), '\\x{}') \
                 ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value;\n",
                hex(key),
                hex(value)
            ));
        }
        let (done, _, errors) = self.script(&script);
        assert!(done, "{errors}");
    }

    fn versions(&mut self, keys: &[Vec<u8>]) -> BTreeMap<Vec<u8>, String> {
        let all =
            keys.iter().map(|key| format!("'\\x{}'", hex(key))).collect::<Vec<_>>().join(", ");
        let (_, rows, _) = self.script(&format!(
            "SELECT encode(key, 'hex'), version FROM record WHERE key IN ({all});"
        ));
        rows.lines()
            .filter_map(|row| row.split_once(' '))
            .map(|(key, version)| (from_hex(key), version.to_owned()))
            .collect()
    }

    fn read(&mut self, realized: &Realized, binding: &Binding) -> BTreeSet<Vec<u8>> {
        let reads: Vec<&str> = realized.reads.iter().map(|line| line.text.as_str()).collect();
        let script = format!("{}{}", self.bound(binding), reads.join("\n"));
        let (done, rows, errors) = self.script(&script);
        assert!(done, "{errors}");
        let keys = rows.lines().filter_map(|row| row.strip_prefix("\\x")?.split(' ').next());
        keys.map(from_hex).collect()
    }

    fn scan(&mut self, line: &str, name: &str, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
        let bound =
            format!("\\set {name}_from '\\\\x{}'\n\\set {name}_to '\\\\x{}'\n", hex(from), hex(to));
        let (done, rows, errors) = self.script(&format!("{bound}{line}"));
        assert!(done, "{errors}");
        let keys = rows.lines().filter_map(|row| row.strip_prefix("\\x")?.split(' ').next());
        keys.map(from_hex).collect()
    }

    fn commit(&mut self, realized: &Realized, binding: &Binding) -> bool {
        let lines: Vec<&str> = realized
            .commit
            .iter()
            .filter(|l| binding.applies(l))
            .map(|l| l.text.as_str())
            .collect();
        let script = format!("{}{}\n", self.bound(binding), lines.join("\n"));
        let (done, _, errors) = self.script(&script);
        let conflict = errors.contains("40001") || errors.contains("23505");
        assert!(done || conflict, "{}: {errors}", realized.operation);
        done
    }

    fn dump(&mut self, design: u16) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let (_, rows, _) = self.script(&format!(
            "SELECT encode(key, 'hex'), version, 'x' || encode(value, 'hex') FROM record WHERE substring(key FROM 1 FOR 2) = '\\x{design:04x}';"
        ));
        rows.lines()
            .map(|row| {
                let cells: Vec<&str> = row.split(' ').collect();
                (from_hex(cells[0]), (cells[1].to_owned(), from_hex(&cells[2][1..])))
            })
            .collect()
    }

    fn feed_length(&mut self) -> usize {
        self.script("SELECT count(*) FROM feed;").1.trim().parse().unwrap()
    }

    fn forget(&mut self) {
        let (done, _, errors) = self.script("DELETE FROM record; DELETE FROM feed;");
        assert!(done, "{errors}");
    }
}
