//! Runs the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
    command.current_dir(folder).args(words).stdin(Stdio::null());
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command.env("STEADFAST_VERDICTS", verdicts(folder));
    command
}

/// Where the verdicts of one folder are kept: beside it, so that a folder is empty when it is new.
pub fn verdicts(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("verdicts").join(&*name)
}

pub fn run_in(folder: &Path, words: &[&str]) -> Ran {
    let output = command(folder, words).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// In a folder where nothing is.
pub fn run(words: &[&str]) -> Ran {
    run_in(&folder("empty"), words)
}

/// An empty folder for one test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if test != "empty" {
        let _ = fs::remove_dir_all(&folder);
        let _ = fs::remove_dir_all(verdicts(&folder));
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A folder with one file in it.
pub fn folder_with(test: &str, file: &str, text: &str) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join(file), text).unwrap();
    folder
}

impl Ran {
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn says(self, part: &str) -> Ran {
        let all = format!("{}\n{}", self.out, self.err);
        assert!(all.contains(part), "no `{part}` in\n{all}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e} in\n{}", self.out))
    }
}

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A design that is small and sound.
pub const SOUND: &str = r#"design Door "A door that one keeper opens"

actor keeper

subject Door(door: text) {
    truth DoorState { open: bool = false, opened: int = 0 }
}

step keeper[open(door: Door) { shut: DoorState.open = false }] {
    DoorState.open := true
    DoorState.opened := 1
}

step keeper[close(door: Door) { open: DoorState.open = true }] { DoorState.open := false }

protocol main { keeper[open] -> keeper[close] => done }

invariant counted: all d in Door: d.open = false or d.opened = 1

check { door: 1  keeper: 1 }
"#;
