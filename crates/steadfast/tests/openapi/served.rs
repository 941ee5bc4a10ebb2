//! The binary, serving.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Ends with the test.
pub struct Served {
    process: Child,
    pub url: String,
}

impl Served {
    /// These designs on any free port, on a store in memory; whatever they call is not there.
    pub fn start(designs: &[Design]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
        command.args(["serve", "--store", "memory:", "--listen", "127.0.0.1:0"]);
        command.arg("--no-background-check").env("STEADFAST_VERDICTS", folder("verdicts"));
        for design in designs {
            command.arg(&design.name);
            for name in outside(&flat(&design.name)) {
                command.args(["--outside", &format!("{name}=http://127.0.0.1:9")]);
            }
        }
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let mut lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let url = lines.find_map(|line| {
            let line = line.ok()?;
            line.find("http://").map(|at| line[at..].trim().to_string())
        });
        let url = url.expect("the server says where it listens");
        // what is printed later must have somebody who reads it
        std::thread::spawn(move || lines.for_each(drop));
        Served { process, url }
    }

    /// Ended already? Only a server that broke is.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A design of the catalog.
pub struct Design {
    pub name: String,
}

/// Every design of the catalog.
pub fn catalog() -> Vec<Design> {
    let designs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs");
    let mut all = Vec::new();
    for family in ["infra", "product", "systems"] {
        for entry in std::fs::read_dir(designs.join(family)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "design") {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                all.push(Design { name });
            }
        }
    }
    assert!(all.len() >= 19, "{}", all.len());
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// Those that one server can serve: no two of a turn begin with the same `design` line.
pub fn in_turns(designs: Vec<Design>) -> Vec<Vec<Design>> {
    let mut turns: Vec<(Vec<String>, Vec<Design>)> = Vec::new();
    for design in designs {
        let text = flat(&design.name);
        let first = text.lines().next().unwrap_or_default();
        let words = first.split('"').next().unwrap_or_default();
        let stored = words.split_whitespace().last().expect("its name").to_string();
        match turns.iter_mut().find(|(names, _)| !names.contains(&stored)) {
            Some((names, turn)) => {
                names.push(stored);
                turn.push(design);
            }
            None => turns.push((vec![stored], vec![design])),
        }
    }
    turns.into_iter().map(|(_, turn)| turn).collect()
}

/// With everything that it uses.
fn flat(name: &str) -> String {
    let mut show = Command::new(env!("CARGO_BIN_EXE_steadfast"));
    let shown = show.args(["show", name, "--flat"]).output().expect("it is shown");
    String::from_utf8(shown.stdout).expect("a text")
}

/// The systems whose address a design leaves open: `{network.url}`.
fn outside(text: &str) -> Vec<&str> {
    let opened = text.match_indices(".url}").filter_map(|(at, _)| text[..at].rsplit_once('{'));
    opened.map(|(_, name)| name).collect()
}

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
