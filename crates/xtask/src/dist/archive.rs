//! What is in the archive, and where.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::done;
use crate::{cargo, repo};

pub struct Made {
    pub archive: PathBuf,
    pub archive_bytes: u64,
    pub binary_bytes: u64,
}

/// Files of the repository, and what they are called in the archive.
const FILES: &[(&str, &str)] = &[
    ("LICENSE", "LICENSE"),
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("packaging/steadfast@.service", "lib/systemd/system/steadfast@.service"),
    ("packaging/Containerfile", "Containerfile"),
];

/// What there is to read, in the folders that it has here, so that links lead on.
const DOCUMENTS: &str = "share/doc/steadfast";
const READ: &[&str] = &["README.md", "CHANGELOG.md", "docs/", "designs/", "editors/", "examples/"];

const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/steadfast"),
    ("zsh", "share/zsh/site-functions/_steadfast"),
    ("fish", "share/fish/vendor_completions.d/steadfast.fish"),
];

/// Writes `steadfast-VERSION-HOST.tar.gz` and `SHA256SUMS` into the folder `to`.
pub fn make(root: &Path, binary: &Path, host: &str, to: &Path) -> Result<Made, String> {
    let name = format!("steadfast-{}-{host}", env!("CARGO_PKG_VERSION"));
    let staged = to.join(&name);
    if staged.exists() {
        fs::remove_dir_all(&staged).map_err(|error| cannot("remove", &staged, &error))?;
    }
    let program = staged.join("bin/steadfast");
    copy(binary, &program)?;
    // a binary of the tests has names in it for backtraces
    done(Command::new("strip").arg(&program))?;
    for (from, at) in FILES {
        copy(&root.join(from), &staged.join(at))?;
    }
    for file in repo::files(root)? {
        if READ.iter().any(|part| file.path.starts_with(part)) {
            write(&staged.join(DOCUMENTS).join(&file.path), &file.text)?;
        }
    }
    for (shell, at) in COMPLETIONS {
        let script = cargo::output(Command::new(&program).args(["completions", shell]))?;
        write(&staged.join(at), &script)?;
    }
    let pages = staged.join("share/man/man1");
    cargo::output(Command::new(&program).arg("man").arg(&pages))?;
    folder(&staged.join("data"))?;
    let archive = to.join(format!("{name}.tar.gz"));
    // the same files give the same archive
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mtime=2000-01-01 00:00Z", "--file"]).arg(&archive).arg("--directory").arg(to);
    done(tar.arg(&name))?;
    let mut sums = Command::new("sha256sum");
    let sums = cargo::output(sums.current_dir(to).arg(format!("{name}.tar.gz")))?;
    write(&to.join("SHA256SUMS"), &sums)?;
    let (archive_bytes, binary_bytes) = (size(&archive)?, size(&program)?);
    Ok(Made { archive, archive_bytes, binary_bytes })
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    folder(to.parent().unwrap_or(to))?;
    fs::copy(from, to).map(|_| ()).map_err(|error| cannot("copy", from, &error))
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    folder(to.parent().unwrap_or(to))?;
    fs::write(to, text).map_err(|error| cannot("write", to, &error))
}

fn folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| cannot("make", path, &error))
}

fn size(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|about| about.len()).map_err(|error| cannot("read", path, &error))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} `{}`: {error}", path.display())
}
