//! PostgreSQL, through `psql`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use explain::{Engine, Realized, realize};
use postgres_requests::COMMIT_TYPES;

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
    /// tokens that were used
    tokens: Cell<u128>,
    /// versions of seeded records: no commit gives as high a one
    seeded: u64,
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
    let session = RefCell::new(session);
    let running = Postgres { psql, session, server, tokens: Cell::new(0), seeded: 1 << 40 };
    let layout = realize(&support::design("tickets").design, Engine::Postgres).layout.join("\n");
    let epoch = format!("INSERT INTO record VALUES ('\\x{}', 1, '');", hex(EPOCH));
    let (made, _, errors) = running.script(&format!("{layout}\n{epoch}"));
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
        let open: Vec<(Session, String)> = (0..sessions)
            .map(|_| (Session::open(&self.psql, self.server.port), self.sent(realized, binding)))
            .collect();
        let ready = std::sync::Barrier::new(sessions);
        std::thread::scope(|scope| {
            let racing: Vec<_> = open
                .into_iter()
                .map(|(mut session, script)| {
                    let ready = &ready;
                    scope.spawn(move || {
                        ready.wait();
                        let printed = session.run(&script).unwrap();
                        drop(session);
                        is_accepted(&printed)
                    })
                })
                .collect();
            racing.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    /// The printed commit with its parameters in their places: one statement.
    fn sent(&self, realized: &Realized, binding: &Binding) -> String {
        let mut lines = realized.commit.iter().filter(|line| binding.applies(line));
        let mut statement = lines.next().expect("a commit begins with its request").text.clone();
        let mut parameters: Vec<Vec<String>> = vec![Vec::new(); COMMIT_TYPES.len()];
        for line in lines {
            for (number, value) in held(&line.text) {
                if value != "empty" && !value.starts_with("where ") {
                    parameters[number - 1].push(self.literal(value, binding));
                }
            }
        }
        // from the last, so that `$1` is not found in `$13`
        for (at, values) in parameters.iter().enumerate().rev() {
            let array = format!("ARRAY[{}]::{}", values.join(", "), COMMIT_TYPES[at]);
            statement = statement.replace(&format!("${}", at + 1), &array);
        }
        format!("{statement};")
    }

    /// What a name in braces stands for.
    fn literal(&self, value: &str, binding: &Binding) -> String {
        let bytes = |bytes: &[u8]| format!("'\\x{}'::bytea", hex(bytes));
        let Some(name) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) else {
            return if value == "''" { bytes(&[]) } else { value.to_owned() };
        };
        match name.rsplit_once('.') {
            None if name == "token" => {
                let number = self.tokens.get() + 1;
                self.tokens.set(number);
                format!("'{:032x}'::uuid", number)
            }
            // of this commit, which is the only one of its kind
            None if name == "version" => format!("{}", (1_i64 << 52) + self.tokens.get() as i64),
            Some(("feed", "entry")) => bytes(&[0, 0xff]),
            Some(("epoch", "key")) => bytes(EPOCH),
            Some(("epoch", "version")) => "1".to_owned(),
            Some((name, "key")) => bytes(&binding.keys[name]),
            Some((name, "value")) => bytes(&binding.values[name]),
            Some((name, "version")) => binding.versions[name].clone(),
            _ => panic!("`{value}` is not known"),
        }
    }

    /// The rows of the printed reads or scans, with their parameters in their places.
    fn asked(&self, statement: &str, parameters: &[(usize, String)]) -> Vec<Vec<u8>> {
        let mut statement = statement.to_owned();
        for (number, value) in parameters.iter().rev() {
            statement = statement.replace(&format!("${number}"), value);
        }
        let (done, rows, errors) = self.script(&format!("{statement};"));
        assert!(done, "{statement}: {errors}");
        // the head has a position, and no key
        let keys = rows.lines().filter_map(|row| row.strip_prefix(" \\x")?.split(' ').next());
        keys.map(from_hex).collect()
    }
}

/// A key that no design of the tests has.
const EPOCH: &[u8] = b"\xff\xffmepoch";

/// `$4, $5, $6: 1, {seat.key}, 0`: which parameter holds what.
fn held(line: &str) -> Vec<(usize, &str)> {
    let (places, values) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
    let places: Vec<usize> = places.split(", ").map(|place| place[1..].parse().unwrap()).collect();
    if places == [1] {
        // one list of keys
        return values.split(", ").map(|value| (1, value)).collect();
    }
    places.into_iter().zip(values.split(", ")).collect()
}

/// The position of the only commit of the group.
fn is_accepted(printed: &str) -> bool {
    let row = printed.lines().find(|line| line.starts_with('{'));
    let row = row.unwrap_or_else(|| panic!("no answer: {printed}"));
    !row.starts_with("{NULL}")
}

impl Running for Postgres {
    fn seed(&mut self, records: &[(Vec<u8>, Vec<u8>)]) {
        let mut script = String::new();
        for (key, value) in records {
            self.seeded += 1;
            let version = self.seeded;
            script.push_str(&format!(
                "INSERT INTO record (key, version, value) VALUES ('\\x{}', {version}, '\\x{}') \
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
        let mut found = BTreeSet::new();
        for pair in realized.reads.chunks(2) {
            let keys = held(&pair[1].text).into_iter();
            let keys: Vec<String> = keys.map(|(_, value)| self.literal(value, binding)).collect();
            let array = format!("ARRAY[{}]::bytea[]", keys.join(", "));
            found.extend(self.asked(&pair[0].text, &[(1, array)]));
        }
        assert!(found.remove(EPOCH), "every call looks at the epoch");
        found
    }

    fn scan(&mut self, line: &str, _name: &str, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
        let bytes = |bytes: &[u8]| format!("'\\x{}'::bytea", hex(bytes));
        self.asked(line, &[(1, bytes(from)), (2, "100".into()), (3, bytes(to))])
    }

    fn commit(&mut self, realized: &Realized, binding: &Binding) -> bool {
        let sent = self.sent(realized, binding);
        let (done, rows, errors) = self.script(&sent);
        assert!(done, "{}: {errors}", realized.operation);
        is_accepted(&rows)
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
        self.script("SELECT count(*) FROM commits WHERE entries IS NOT NULL;")
            .1
            .trim()
            .parse()
            .unwrap()
    }

    fn forget(&mut self) {
        let (done, _, errors) = self.script(&format!(
            "DELETE FROM record WHERE key <> '\\x{}'; DELETE FROM commits;",
            hex(EPOCH)
        ));
        assert!(done, "{errors}");
    }
}
