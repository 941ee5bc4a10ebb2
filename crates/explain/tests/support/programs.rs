//! Programs that tests start; installed where they are missing.

use std::path::PathBuf;
use std::process::Command;

/// A program by its name, from the path or from these folders; installed from a Debian package if
/// it is nowhere.
pub fn program(name: &str, folders: &[&str], package: &str) -> PathBuf {
    if let Some(found) = find(name, folders) {
        return found;
    }
    let script =
        format!("apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y {package}");
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
