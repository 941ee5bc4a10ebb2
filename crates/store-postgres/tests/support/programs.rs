//! Programs that tests start; installed where they are missing.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

/// A program by its name, from the path or from these folders; installed from a Debian package if
/// it is nowhere. Tests run side by side, in one process and in several: one of them installs, and the
/// others wait for it.
pub fn program(name: &str, folders: &[&str], package: &str) -> PathBuf {
    if let Some(found) = find(name, folders) {
        return found;
    }
    let lock = File::create(std::env::temp_dir().join("steadfast-tests-install.lock"));
    let lock = lock.expect("a file for the lock");
    lock.lock().expect("locked");
    if let Some(found) = find(name, folders) {
        return found;
    }
    // others may be installing, too
    let apt =
        "DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3";
    let script = format!("{apt} update && {apt} install -y {package}");
    let installed = Command::new("sh").args(["-c", &script]).output();
    find(name, folders).unwrap_or_else(|| {
        let why = match installed {
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        panic!("`{name}` is needed and could not be installed (package `{package}`): {why}")
    })
}

fn find(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path).collect::<Vec<_>>();
    let listed = folders.iter().map(PathBuf::from);
    path.into_iter().chain(listed).map(|folder| folder.join(name)).find(|file| file.is_file())
}
