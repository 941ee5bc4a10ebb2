//! Whether an archive is any good: it is unpacked in an empty directory, and its binary is used there as on
//! a machine that has nothing else of ours.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::done;
use crate::cargo;

pub fn run(archive: &Path) -> Result<(), String> {
    let folder = archive.parent().unwrap_or(Path::new("."));
    checksum(folder)?;
    let empty = folder.join("unpacked");
    if empty.exists() {
        fs::remove_dir_all(&empty).map_err(|error| format!("cannot empty a folder: {error}"))?;
    }
    fs::create_dir_all(&empty).map_err(|error| format!("cannot make a folder: {error}"))?;
    done(
        Command::new("tar")
            .arg("--extract")
            .arg("--file")
            .arg(archive)
            .arg("--directory")
            .arg(&empty),
    )?;
    let home = only_folder(&empty)?;
    for file in [
        "LICENSE",
        "Containerfile",
        "share/man/man1/steadfast-dev.1",
        "share/zsh/site-functions/_steadfast",
    ] {
        if !home.join(file).is_file() {
            return Err(format!("the archive has no `{file}`"));
        }
    }
    let program = home.join("bin/steadfast");
    let version = cargo::output(alone(&program, &empty).arg("--version"))?;
    expect("--version", &version, env!("CARGO_PKG_VERSION"))?;
    let checked = cargo::output(alone(&program, &empty).args(["check", "tickets"]))?;
    expect("check tickets", &checked, "tickets: proved")?;
    served(&program, &empty)?;
    fs::remove_dir_all(&empty).map_err(|error| format!("cannot remove a folder: {error}"))
}

/// As whoever downloads it checks it.
fn checksum(folder: &Path) -> Result<(), String> {
    let mut check = Command::new("sha256sum");
    cargo::output(check.current_dir(folder).args(["--check", "SHA256SUMS"])).map(|_| ())
}

fn only_folder(of: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(of).map_err(|error| format!("cannot read a folder: {error}"))?;
    let all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    match &all[..] {
        [one] if one.is_dir() => Ok(one.clone()),
        _ => Err(format!("the archive has {} entries, and not one folder", all.len())),
    }
}

/// Without anything of the environment, such as a home.
fn alone(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(folder).stdin(Stdio::null());
    command
}

fn expect(what: &str, said: &str, part: &str) -> Result<(), String> {
    match said.contains(part) {
        true => Ok(()),
        false => Err(format!("`steadfast {what}` of the archive does not say `{part}`:\n{said}")),
    }
}

/// A process that is gone in the end.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves on any port, and takes a step.
fn served(program: &Path, folder: &Path) -> Result<(), String> {
    let mut serve = alone(program, folder);
    serve.args(["dev", "tickets", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
    let started = serve.spawn().map_err(|error| format!("cannot start the server: {error}"))?;
    let mut serving = Serving(started);
    let out = serving.0.stdout.take().ok_or("the server has no output")?;
    let mut lines = BufReader::new(out).lines().map_while(Result::ok);
    let address = lines.find_map(|line| {
        let (_, address) = line.split_once("http://")?;
        Some(address.trim().to_string())
    });
    let address = address.ok_or("the server does not say where it is")?;
    let body = r#"{"seat":"A1","section":"stalls"}"#;
    let step = format!(
        "POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    expect("dev", &ask(&address, &step)?, r#""outcome":"done""#)?;
    let read = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    expect("dev", &ask(&address, &read)?, "/v1/tickets")
}

fn ask(address: &str, request: &str) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("the server does not answer: {error}");
    let mut stream = TcpStream::connect(address).map_err(cannot)?;
    stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(cannot)?;
    stream.write_all(request.as_bytes()).map_err(cannot)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(cannot)?;
    Ok(answer)
}
