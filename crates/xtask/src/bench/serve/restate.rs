//! Restate: its server and, beside it, a service of ours with one virtual object whose handler does
//! what the transition does. Both are started for every round: an idle one would take from the others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::ours::clients;
use crate::bench::runtime::figures::{Figures, Load, System};
use crate::bench::runtime::server::{Server, free_port};
use crate::{cargo, tools};

const SERVER: &str = "1.7.12";
const SDK: &str = "1.17.2";
const SERVICE: &str = include_str!("restate.mjs");
/// Both are compiled as they run: what comes first is not what they can do.
const WARM_UP_S: f64 = 2.0;
const READY_MAX: Duration = Duration::from_secs(30);

pub struct Restate {
    program: PathBuf,
    tools: PathBuf,
    folder: PathBuf,
    name: &'static str,
    rounds: usize,
}

impl Restate {
    /// Ready to be started, and what it is.
    pub fn installed(
        root: &Path,
        program: &Path,
        folder: &Path,
        name: &'static str,
    ) -> Result<(Self, String), String> {
        let tools = tools::folder(root, &format!("restate-{SERVER}-{SDK}"));
        let server = format!("@restatedev/restate-server@{SERVER}");
        tools::npm(&tools, &[&server, &format!("@restatedev/restate-sdk@{SDK}")])?;
        // beside the packages that it imports
        std::fs::write(tools.join("register.mjs"), SERVICE)
            .map_err(|e| format!("the service cannot be written: {e}"))?;
        let node = cargo::output(Command::new("node").arg("--version"))?;
        let note = format!(
            "Restate {SERVER}, its log synced, calling a service on its SDK {SDK} and Node {}; the CPU is that of both",
            node.trim()
        );
        let (program, folder) = (program.to_path_buf(), folder.join("restate"));
        Ok((Self { program, tools, folder, name, rounds: 0 }, note))
    }

    fn service(&self) -> Result<Server, String> {
        let port = free_port()?;
        let mut command = Command::new("node");
        command.arg(self.tools.join("register.mjs")).arg(port.to_string());
        command.env("NODE_ENV", "production").env("RESTATE_LOGGING", "ERROR");
        Server::start(&mut command, port)
    }

    fn server(&mut self) -> Result<(Server, u16), String> {
        self.rounds += 1;
        let folder = self.folder.join(self.rounds.to_string());
        std::fs::create_dir_all(&folder).map_err(|e| format!("no folder for Restate: {e}"))?;
        let (ingress, admin, fabric) = (free_port()?, free_port()?, free_port()?);
        let settings = folder.join("restate.toml");
        std::fs::write(&settings, configuration(ingress, admin, fabric))
            .map_err(|e| format!("no settings for Restate: {e}"))?;
        let found = ["x64", "arm64"].map(|machine| {
            let package = format!("node_modules/@restatedev/restate-server-linux-{machine}");
            self.tools.join(package).join("bin/restate-server")
        });
        let found = found.iter().find(|program| program.is_file());
        let mut command = Command::new(found.ok_or("its package has no program for this machine")?);
        command.arg("--no-logo").arg("--config-file").arg(settings);
        command.arg("--base-dir").arg(&folder).env("DO_NOT_TRACK", "1");
        Ok((Server::start(&mut command, ingress)?, admin))
    }
}

/// On loopback only; everything else is as it comes, and it comes with a log that is synced.
fn configuration(ingress: u16, admin: u16, fabric: u16) -> String {
    format!(
        "node-name = \"bench\"\ndisable-telemetry = true\nlisten-mode = \"tcp\"\n\
         bind-ip = \"127.0.0.1\"\nbind-port = {fabric}\nadvertised-host = \"127.0.0.1\"\n\
         log-filter = \"error\"\n[admin]\nbind-port = {admin}\ndisable-web-ui = true\n\
         [ingress]\nbind-port = {ingress}\n[log-server]\nrocksdb-disable-wal-fsync = false\n"
    )
}

impl System for Restate {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let service = self.service()?;
        let (server, admin) = self.server()?;
        let uri = format!("{{\"uri\":\"http://127.0.0.1:{}\"}}", service.port);
        until(|| post(admin, "/deployments", &uri))?;
        let first = "{\"limit\":1000000000,\"value\":\"\"}";
        until(|| post(server.port, "/Register/000000000/write", first))?;
        let pids = [server.pid(), service.pid()];
        let put = |load: &Load| clients(&self.program, "restate", load, server.port, &pids);
        put(&Load { seconds: WARM_UP_S, ..*load })?;
        put(load)
    }
}

/// It listens before it is ready.
fn until(mut attempt: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    let started = Instant::now();
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(why) if started.elapsed() > READY_MAX => return Err(format!("Restate: {why}")),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn post(port: u16, path: &str, body: &str) -> Result<(), String> {
    let talk = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = talk().map_err(|e| e.to_string())?;
    if answer.starts_with("HTTP/1.1 20") { Ok(()) } else { Err(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_listens_on_loopback() {
        let settings = configuration(1, 2, 3);
        for line in ["bind-ip = \"127.0.0.1\"", "advertised-host = \"127.0.0.1\""] {
            assert!(settings.contains(line), "{settings}");
        }
        assert!(settings.contains("[ingress]\nbind-port = 1\n"));
    }

    #[test]
    fn an_answer_that_is_no_yes_is_a_problem() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            for answer in ["HTTP/1.1 503 no\r\n\r\n", "HTTP/1.1 201 yes\r\n\r\n"] {
                let (mut stream, _) = listener.accept().unwrap();
                // all of it, or the client would write to a connection that is closed
                let (mut asked, mut piece) = (Vec::new(), [0; 512]);
                while !asked.ends_with(b"{}") {
                    let read = stream.read(&mut piece).unwrap();
                    assert!(read > 0, "{asked:?}");
                    asked.extend_from_slice(&piece[..read]);
                }
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        assert!(post(port, "/x", "{}").unwrap_err().contains("503"));
        assert_eq!(post(port, "/x", "{}"), Ok(()));
        server.join().unwrap();
    }
}
