//! Packages of npm that tests use, each installed once into a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of a package, by its name and version: `typescript@5.9.3`. It is installed if it is not there; nothing of it is
/// run for that.
pub fn package(name: &str) -> PathBuf {
    let cache = match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => std::env::temp_dir().join("steadfast-tools"),
    };
    let folder = cache.join("tools").join(name.replace('@', "-"));
    std::fs::create_dir_all(&folder).unwrap();
    // another run may be at it
    let lock = std::fs::File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    // written last: an installation that broke off is begun anew
    let whole = folder.join("installed");
    if !whole.is_file() {
        eprintln!("installing {name} from npm, once");
        let install = ["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"];
        let mut npm = Command::new("npm");
        let ran = npm.args(install).arg("--prefix").arg(&folder).arg(name).output().unwrap();
        let complained = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name} cannot be installed from npm: {complained}");
        std::fs::write(&whole, "").unwrap();
    }
    let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
    folder.join("node_modules").join(name)
}
