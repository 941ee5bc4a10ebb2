//! The repository as the checks see it: where it is, and its files as text in memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;

/// One file: its path from the root with forward slashes, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
}

impl File {
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Lines with their numbers, from one.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split('\n').enumerate().map(|(i, line)| (i + 1, line))
    }
}

/// The folder that holds the workspace, found from wherever the command was started.
pub fn root() -> Result<PathBuf, String> {
    let here = std::env::current_dir().map_err(|e| format!("no current directory: {e}"))?;
    here.ancestors()
        .find(|folder| folder.join("crates/xtask/Cargo.toml").is_file())
        .map(Path::to_path_buf)
        .ok_or_else(|| "this is not inside the repository".into())
}

/// Every text file that is committed, or would be by the next commit.
///
/// Git is asked rather than the folder walked, so that build output and other ignored files are
/// never judged and a new file is judged before it is committed.
pub fn files(root: &Path) -> Result<Vec<File>, String> {
    let mut list = Command::new("git");
    list.current_dir(root);
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    let mut files = Vec::new();
    for path in cargo::output(&mut list)?.split('\0').filter(|path| !path.is_empty()) {
        // A file that is listed and cannot be read was deleted and not yet committed, and one that
        // is not UTF-8 is not text: neither has lines to judge.
        if let Ok(text) = std::fs::read_to_string(root.join(path)) {
            files.push(File { path: path.to_owned(), text });
        }
    }
    if files.is_empty() {
        return Err("git lists no file here, so there would be nothing to check".into());
    }
    Ok(files)
}

/// A file made up for a test.
#[cfg(test)]
pub fn file(path: &str, text: &str) -> File {
    File { path: path.into(), text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_come_from_the_file_name_alone() {
        assert_eq!(file("a.b/c.rs", "").extension(), "rs");
        assert_eq!(file("a.b/run", "").extension(), "");
    }

    #[test]
    fn this_repository_lists_this_file_and_no_build_output() {
        let root = root().unwrap();
        let files = files(&root).unwrap();
        assert!(files.iter().any(|f| f.path == "crates/xtask/src/repo.rs"));
        assert!(files.iter().all(|f| !f.path.starts_with("target/")));
    }
}
