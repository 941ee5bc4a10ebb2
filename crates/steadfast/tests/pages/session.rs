//! A reader at a terminal: one folder, one server at most.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::cli::readme::{Shown, fits};
use crate::cli::serving::Running;
use crate::cli::support::{folder, verdicts};
use crate::pages::parts::{Part, changed};

/// The database that pages show.
const SHOWN_DATABASE: &str = "shop@db.example";

/// The address that pages show. A test listens elsewhere, since tests run side by side.
const SHOWN: &str = "127.0.0.1:7070";

/// Whatever is waited for happens within seconds; the bound is for a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(180);

pub struct Session {
    pub folder: PathBuf,
    server: Option<Serving>,
    /// how long the commands took, and how long was waited for the server to say something
    pub took: Duration,
    pub commands: usize,
    /// the processes that were started, each with what it started itself
    groups: Vec<u32>,
    /// the port of a PostgreSQL on this machine, where there is one
    database: Option<u16>,
}

/// Whatever a page leaves running in the background ends with it.
impl Drop for Session {
    fn drop(&mut self) {
        for group in &self.groups {
            let _ = Command::new("kill").args(["-TERM", "--", &format!("-{group}")]).output();
        }
    }
}

/// A server that was started in a terminal of its own.
struct Serving {
    process: Running,
    lines: Receiver<String>,
    /// said, and not read yet
    said: Vec<String>,
    /// where it listens
    address: Option<String>,
}

impl Session {
    pub fn new(name: &str) -> Session {
        Session {
            folder: folder(name),
            server: None,
            took: Duration::ZERO,
            commands: 0,
            groups: Vec::new(),
            database: None,
        }
    }

    /// The commands of PostgreSQL, and addresses of the database that pages show, mean this one.
    pub fn has_database(&mut self, port: u16) {
        self.database = Some(port);
    }

    /// Does what a page shows. An error says what was not as it is shown.
    pub fn follow(&mut self, parts: &[Part]) -> Result<(), String> {
        for part in parts {
            let begun = Instant::now();
            match part {
                Part::File { name, text } => self.write(name, text),
                Part::Change { name, lines } => {
                    let text = fs::read_to_string(self.folder.join(name));
                    let text = text.map_err(|error| format!("{name}: {error}"))?;
                    self.write(name, &changed(&text, lines)?);
                }
                Part::Type(typed) => {
                    for shown in typed {
                        self.type_in(shown)?;
                    }
                }
                Part::Read(lines) => self.reads(lines)?,
                Part::Stop(lines) => self.stop(lines)?,
            }
            self.took += begun.elapsed();
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    fn type_in(&mut self, shown: &Shown) -> Result<(), String> {
        self.commands += 1;
        let words = &shown.command;
        let serves = words.starts_with("steadfast dev ") || words.starts_with("steadfast serve ");
        if serves && !words.contains(';') && !words.contains('|') {
            self.serve(words)?;
            return self.reads(&shown.output);
        }
        let out = self.run(words);
        let said: Vec<&str> = out.lines().collect();
        let Shown { command, output } = shown;
        if fits(output, &said) {
            return Ok(());
        }
        Err(format!("`{command}` says\n{out}\nand not\n{}", output.join("\n")))
    }

    /// Runs a command to its end; what it prints, on both streams.
    pub fn run(&mut self, words: &str) -> String {
        let told = self.folder.with_extension("told");
        let file = File::create(&told).unwrap();
        // a file and no pipe: a command with `&` at its end leaves something behind that still writes
        let mut shell = self.shell(&self.elsewhere(words));
        shell.stdout(file.try_clone().unwrap()).stderr(file);
        let mut process = shell.process_group(0).spawn().unwrap();
        self.groups.push(process.id());
        process.wait().unwrap();
        self.as_shown(&fs::read_to_string(told).unwrap())
    }

    fn serve(&mut self, words: &str) -> Result<(), String> {
        if self.server.is_some() {
            return Err(format!("`{words}`: the one before it was not stopped"));
        }
        let mut shell = self.shell(&format!("exec {} 2>&1", self.elsewhere(words)));
        shell.stdout(Stdio::piped());
        let mut process = Running(shell.spawn().unwrap());
        let out = process.0.stdout.take().unwrap();
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        self.server = Some(Serving { process, lines, said: Vec::new(), address: None });
        Ok(())
    }

    /// Waits until the server has said this.
    fn reads(&mut self, shown: &[String]) -> Result<(), String> {
        let server = self.server.as_mut().ok_or("no server runs")?;
        let bound = Instant::now() + PATIENCE;
        loop {
            let said: Vec<&str> = server.said.iter().map(String::as_str).collect();
            if let Some(end) = (0..=said.len()).find(|end| fits(shown, &said[..*end])) {
                server.said.drain(..end);
                return Ok(());
            }
            let left = bound.saturating_duration_since(Instant::now());
            let Ok(line) = server.lines.recv_timeout(left) else {
                let (said, shown) = (said.join("\n"), shown.join("\n"));
                return Err(format!("the server says\n{said}\nand not\n{shown}"));
            };
            if server.address.is_none()
                && let Some((_, rest)) = line.split_once("http://127.0.0.1:")
            {
                let port = rest.chars().take_while(char::is_ascii_digit).collect::<String>();
                server.address = Some(format!("127.0.0.1:{port}"));
            }
            // a note about the machine that the test runs on
            if line.contains("the system allows too few open files") {
                continue;
            }
            let address = server.address.as_deref().unwrap_or(SHOWN);
            server.said.push(line.replace(address, SHOWN));
        }
    }

    fn stop(&mut self, shown: &[String]) -> Result<(), String> {
        let server = self.server.as_mut().ok_or("no server runs")?;
        let pid = server.process.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        if !shown.is_empty() {
            let mut after = vec!["…".to_string()];
            after.extend_from_slice(shown);
            self.reads(&after)?;
        }
        let ended = self.server.take().unwrap().process.0.wait().unwrap();
        // a server that is interrupted the moment it has said where it listens may not yet wait for that
        let early = ended.signal() == Some(2);
        (ended.success() || early).then_some(()).ok_or(format!("the server ended with {ended}"))
    }

    /// A command with the address where the server of this session listens.
    fn elsewhere(&self, words: &str) -> String {
        let address = self.server.as_ref().and_then(|server| server.address.as_deref());
        let mut words = words.replace(SHOWN, address.unwrap_or(SHOWN));
        words = words.replace(SHOWN_DATABASE, &self.database());
        for serving in ["steadfast dev ", "steadfast serve "] {
            words = words.replace(serving, &format!("{serving}--listen 127.0.0.1:0 "));
        }
        words
    }

    fn as_shown(&self, said: &str) -> String {
        let address = self.server.as_ref().and_then(|server| server.address.as_deref());
        said.replace(address.unwrap_or(SHOWN), SHOWN).replace(&self.database(), SHOWN_DATABASE)
    }

    fn database(&self) -> String {
        self.database.map_or(SHOWN_DATABASE.into(), |port| format!("steadfast@127.0.0.1:{port}"))
    }

    fn shell(&self, words: &str) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_steadfast"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        let mut shell = Command::new("sh");
        shell.args(["-c", words]).current_dir(&self.folder).stdin(Stdio::null()).env("PATH", path);
        shell.env("STEADFAST_VERDICTS", verdicts(&self.folder));
        shell.env("XDG_STATE_HOME", self.folder.join(".state"));
        // at a terminal curl shows no progress of what it prints there
        fs::write(self.folder.join(".curlrc"), "silent\n").unwrap();
        shell.env("CURL_HOME", &self.folder);
        if let Some(port) = self.database {
            shell.env("PGHOST", "127.0.0.1").env("PGPORT", port.to_string());
            shell.env("PGUSER", "steadfast");
        }
        if let Some(address) = self.server.as_ref().and_then(|server| server.address.as_deref()) {
            shell.env("STEADFAST", format!("http://{address}"));
        }
        shell
    }
}
