//! The compiler of TypeScript, from npm.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::npm;

/// The only version that is used, so that a test means the same everywhere.
const PACKAGE: &str = "typescript@5.9.3";

/// The compiler, as strict as it can be, for browsers and Node alike.
pub fn tsc() -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| npm::package(PACKAGE));
    let mut command = Command::new("node");
    command.arg(folder.join("bin/tsc"));
    command.args(["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"]);
    command.args(["--noImplicitOverride", "--noUnusedLocals", "--noImplicitReturns"]);
    command.args(["--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]);
    command.args(["--lib", "es2022,dom,dom.iterable"]);
    command
}
