//! Whether an archive is any good: it is unpacked in an empty directory, which is the root of all that its binary sees, as on a
//! machine that has nothing else.

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
        "share/doc/steadfast/docs/tutorial.md",
        "share/doc/steadfast/designs/systems/tickets.design",
        "share/doc/steadfast/editors/neovim/steadfast.lua",
    ] {
        if !home.join(file).is_file() {
            return Err(format!("the archive has no `{file}`"));
        }
    }
    let program = home.join("bin/steadfast");
    libraries(&program, &empty)?;
    let alone = Alone::find(&program, &empty)?;
    let version = cargo::output(alone.command().arg("--version"))?;
    expect("--version", &version, env!("CARGO_PKG_VERSION"))?;
    let checked = cargo::output(alone.command().args(["check", "tickets"]))?;
    expect("check tickets", &checked, "tickets: proved")?;
    served(&alone)?;
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

/// What the binary is linked with goes along; nothing, where it is linked statically.
fn libraries(program: &Path, root: &Path) -> Result<(), String> {
    // of a static program it says that it is none, and fails
    let said = Command::new("ldd").arg(program).output();
    let said = said.map_err(|error| format!("cannot ask what is linked: {error}"))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    for library in said.split_whitespace().filter(|word| word.starts_with('/')) {
        let to = root.join(library.trim_start_matches('/'));
        let folder = to.parent().unwrap_or(root);
        let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(library, &to));
        copied.map_err(|error| format!("cannot copy `{library}`: {error}"))?;
    }
    Ok(())
}

/// How the binary is started: as the only program of a system.
struct Alone {
    /// `chroot ROOT`, with what it takes to be allowed that
    words: Vec<String>,
    /// where it is, as it sees it
    program: PathBuf,
}

impl Alone {
    fn find(program: &Path, root: &Path) -> Result<Alone, String> {
        let within = program.strip_prefix(root).map_err(|error| error.to_string())?;
        let within = Path::new("/").join(within);
        let root = root.display().to_string();
        // whoever is not root is root in a name space of its own, where that is allowed
        for with in [&["chroot"][..], &["unshare", "--map-root-user", "chroot"]] {
            let words = with.iter().map(|word| (*word).to_string()).chain([root.clone()]).collect();
            let alone = Alone { words, program: within.clone() };
            if alone.command().arg("--version").output().is_ok_and(|ran| ran.status.success()) {
                return Ok(alone);
            }
        }
        Err(format!(
            "`{}` does not run with `{root}` as its root: it needs something that is not there, or this machine lets \
             nobody change the root",
            within.display()
        ))
    }

    /// Without anything of the environment, such as a home.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).arg(&self.program);
        command.env_clear().stdin(Stdio::null());
        // for `chroot` itself
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command
    }
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
fn served(alone: &Alone) -> Result<(), String> {
    let mut serve = alone.command();
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
