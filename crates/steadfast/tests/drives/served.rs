//! The binary, serving one design on a store in a directory, until it is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use ureq::Agent;

/// How long anything may take that is bound to happen: a machine under load is slow, not wrong.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Served {
    process: Child,
    pub url: String,
}

impl Served {
    /// `words` are what comes after `steadfast serve DESIGN`.
    pub fn start(folder: &Path, design: &str, words: &[String]) -> Result<Served, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
        command.current_dir(folder).args(["serve", design, "--listen", "127.0.0.1:0"]);
        command
            .args(["--store", "embedded:./data", "--no-background-check", "--replace"])
            .args(words);
        command.env("STEADFAST_VERDICTS", folder.join("verdicts"));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let said = fs::File::create(folder.join("said")).map_err(|error| error.to_string())?;
        command.stderr(said);
        let mut process = command.spawn().map_err(|error| error.to_string())?;
        let Some(out) = process.stdout.take() else { return Err("no output".into()) };
        let (sender, first) = mpsc::channel();
        std::thread::spawn(move || {
            // what is printed later must have somebody who reads it
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut served = Served { process, url: String::new() };
        while served.url.is_empty() {
            let Ok(line) = first.recv_timeout(PATIENCE) else {
                let said = fs::read_to_string(folder.join("said")).unwrap_or_default();
                return Err(format!("it does not serve: {said}"));
            };
            if let Some((_, address)) = line.split_once("http://") {
                let address = address.split('/').next().unwrap_or_default().trim();
                served.url = format!("http://{address}/v1/{}", design_name(design));
            }
        }
        Ok(served)
    }

    /// kill -9
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

fn design_name(file: &str) -> String {
    file.trim_end_matches(".design").to_lowercase()
}

/// Answers of every status are answers; nothing is asked through a proxy.
pub fn agent() -> Agent {
    Agent::config_builder().http_status_as_error(false).proxy(None).build().into()
}

/// The folder of a drive.
pub fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("catalog").join(name)
}

/// An empty folder for one drive.
pub fn folder(name: &str) -> PathBuf {
    let folder = kept(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
