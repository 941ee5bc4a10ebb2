//! The compiler of TypeScript, from npm, installed once into a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::openapi::python::run;

/// The only version that is used, so that a test means the same everywhere.
const PACKAGE: &str = "typescript@5.9.3";

/// The compiler, as strict as it can be, for browsers and Node alike.
pub fn tsc() -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(installed);
    let mut command = Command::new("node");
    command.arg(folder.join("node_modules/typescript/bin/tsc"));
    command.args(["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]);
    command.args(["--noImplicitOverride", "--noUnusedLocals", "--noImplicitReturns"]);
    command.args(["--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]);
    command.args(["--lib", "es2022,dom,dom.iterable"]);
    command
}

fn installed() -> PathBuf {
    let cache = match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(),
    };
    let folder = cache.join("tools").join(PACKAGE.replace('@', "-"));
    std::fs::create_dir_all(&folder).unwrap();
    // another run may be at it
    let lock = std::fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    // written last: an installation that broke off is begun anew
    let whole = folder.join("installed");
    if !whole.is_file() {
        eprintln!("installing {PACKAGE} from npm, once");
        run(Command::new("npm")
            .args(["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"])
            .arg("--prefix")
            .arg(&folder)
            .arg(PACKAGE));
        std::fs::write(&whole, "").unwrap();
    }
    folder
}
