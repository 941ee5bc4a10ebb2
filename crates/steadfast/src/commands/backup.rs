//! `steadfast backup TO`

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::client::ServerOptions;
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::problem::{Problem, reason};

/// Copy a store while it serves
///
/// The server writes the copy into an empty directory of its machine and reads all of it back. It
/// holds every step that was answered before. With `--store` the copy is made of a store that no
/// server has open.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast backup ./copy
  steadfast backup /var/backups/shop-monday --server https://shop.example --token …
  steadfast backup ./copy --store embedded:./steadfast-data")]
pub struct Backup {
    /// An empty directory, or one that is to be made
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// A store that no server has open
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Backup {
    pub fn run(self, output: &mut Output) -> Answer {
        let to = absolute(&self.to)?;
        let copied = match &self.store {
            Some(store) => {
                let from = directory(store)?;
                let copied = store_embedded::restore(&from, &to).map_err(|e| stored(&e))?;
                counts(&copied)
            }
            None => ask(&self.server, &to)?,
        };
        let text = if self.server.json {
            format!("{copied}\n")
        } else {
            format!(
                "{GOOD}copied{GOOD:#} {} records and {} blobs, up to revision {}, and read back\n\
                 restore them with: steadfast restore {} DIRECTORY\n",
                copied["records"],
                copied["blobs"],
                copied["revision"].as_str().unwrap_or("?"),
                to.display()
            )
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}

/// Asks a server to copy what it has open.
pub fn ask(server: &ServerOptions, to: &Path) -> Result<Value, Problem> {
    let client = server.patient_client()?;
    let body = json!({ "to": to.to_string_lossy() });
    let answered = client.post("/v1/admin/backup", &[], &body)?;
    if answered.is_ok() { Ok(answered.json()) } else { Err(answered.problem()) }
}

pub fn counts(copied: &store_embedded::Verified) -> Value {
    json!({
        "records": copied.records,
        "blobs": copied.blobs,
        "revision": format!("0-{}", copied.position),
    })
}

/// The directory of an embedded store, given as its address or as a path.
pub fn directory(store: &str) -> Result<PathBuf, Problem> {
    let path = store.strip_prefix("embedded:").unwrap_or(store);
    if path.is_empty() || path == "memory:" || path.contains("://") {
        return Err(Problem::new(format!("`{store}` is no directory of a store"))
            .help("write `embedded:PATH`, or the path alone"));
    }
    let path = PathBuf::from(path);
    // whoever serves it holds the lock; without one the directory may be a backup
    let lock = path.join("lock");
    if lock.exists() {
        use store_embedded::disk::{Disk, RealDisk};
        let held = RealDisk.lock(&lock).map_err(|error| {
            Problem::new(format!("cannot look at `{}`: {}", lock.display(), reason(&error)))
        })?;
        if held.is_none() {
            return Err(Problem::new(format!("`{}` is open in another process", path.display()))
                .help("leave out the store to ask the server that has it open"));
        }
    }
    Ok(path)
}

pub fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|error| {
        Problem::new(format!("`{}` is no path: {}", path.display(), reason(&error)))
    })
}

pub fn stored(error: &store_embedded::Error) -> Problem {
    Problem::new(error.to_string()).help(error.help())
}
