//! `steadfast backup TO` and `steadfast backup verify DIRECTORY`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use store::Store;
use store_embedded::{Embedded, Options, Restore};

use super::Answer;
use super::places::{back_up_postgres, is_postgres};
use crate::client::ServerOptions;
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::problem::{Problem, reason};
use crate::removed::Removed;

/// Copy a store while it serves
///
/// The server writes the copy into an empty directory of its machine, or adds what is new to the
/// backup that is there, and reads all of it back. It holds every step that was answered before.
/// With `--store` the copy is made of a store that no server has open, or of one in PostgreSQL, which may be served.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  steadfast backup ./copy          once more adds what is new
  steadfast backup verify ./copy   before one needs it
  steadfast backup /var/backups/shop-monday --server https://shop.example --token …
  steadfast backup ./copy --store embedded:./steadfast-data
  steadfast backup ./copy --store postgres://shop@db.example/shop    always into an empty directory")]
pub struct Backup {
    #[command(subcommand)]
    command: Option<Command>,
    /// An empty directory, one that is to be made, or a backup of the same store
    #[arg(value_name = "TO", required = true)]
    to: Option<PathBuf>,
    /// A store that no server has open, or one in PostgreSQL
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Read all of a backup, and say whether it is whole
    ///
    /// Every file that it lists, content included, is held against its length and digest, and the
    /// log is read over the newest snapshot. Exits 1 if it is not whole, and names the file.
    Verify {
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
        #[arg(long)]
        json: bool,
    },
}

impl Backup {
    pub fn run(self, output: &mut Output) -> Answer {
        if let Some(Command::Verify { directory, json }) = &self.command {
            return verify(directory, *json, output);
        }
        let to = absolute(&self.to.unwrap_or_default())?;
        let copied = match &self.store {
            Some(store) if is_postgres(store) => counts(&back_up_postgres(store, &to)?),
            Some(store) => {
                let from = directory(store)?;
                if !from.is_dir() {
                    return Err(Problem::new(format!("there is no `{}`", from.display())));
                }
                let store = Embedded::open(&from, Options::default()).map_err(|e| stored(&e))?;
                store.backup(&to).map_err(|e| stored(&e))?;
                counts(&store_embedded::verify(&to).map_err(|e| stored(&e))?)
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

fn verify(directory: &Path, json: bool, output: &mut Output) -> Answer {
    let found = store_embedded::verify(directory).map_err(|error| {
        // that something is not whole is an answer, and no wrong usage
        stored(&error).exit(Exit::No)
    })?;
    let text = if json {
        format!("{}\n", counts(&found))
    } else {
        format!(
            "{GOOD}whole{GOOD:#}: {} records and {} blobs, up to revision 0-{}; can be restored \
             from revision 0-{} on\n",
            found.records, found.blobs, found.position, found.earliest
        )
    };
    output.print(&text);
    Ok(Exit::Yes)
}

/// Asks a server to copy what it has open.
pub fn ask(server: &ServerOptions, to: &Path) -> Result<Value, Problem> {
    let client = server.patient_client()?;
    let body = json!({ "to": to.to_string_lossy() });
    let answered = client.post("/v1/admin/backup", &[], &body)?;
    if answered.is_ok() { Ok(answered.json()) } else { Err(answered.problem()) }
}

/// Opens a copy of a store that no server has open, or of a backup: whoever opens a design may write.
pub fn open_copy(from: &Path, folder: &Removed) -> Result<Arc<dyn Store>, Problem> {
    if from.join("backup").is_file() {
        return open_backup(from, folder);
    }
    if !from.is_dir() {
        return Err(Problem::new(format!("`{}` is no directory", from.display())));
    }
    // opening makes a store where there is none, and sets the rights of what is there
    store_embedded::holds_store(from).map_err(|e| stored(&e))?;
    let copy = folder.0.join("copy");
    let store = Embedded::open(from, Options::default()).map_err(|e| stored(&e))?;
    store.backup(&copy).map_err(|e| stored(&e))?;
    drop(store);
    open_backup(&copy, folder)
}

/// Opens what a backup holds, restored into this folder.
pub fn open_backup(backup: &Path, folder: &Removed) -> Result<Arc<dyn Store>, Problem> {
    let restored = folder.0.join("store");
    store_embedded::restore(backup, &restored, Restore::default()).map_err(|e| stored(&e))?;
    let store = Embedded::open(&restored, Options::default()).map_err(|e| stored(&e))?;
    Ok(Arc::new(store))
}

pub fn counts(copied: &store_embedded::Verified) -> Value {
    json!({
        "records": copied.records,
        "blobs": copied.blobs,
        "revision": format!("0-{}", copied.position),
        "earliest": format!("0-{}", copied.earliest),
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
    if is_open(&path)? {
        return Err(Problem::new(format!("`{}` is open in another process", path.display()))
            .help("leave out the store to ask the server that has it open"));
    }
    Ok(path)
}

/// Whether somebody has a store open: whoever serves it holds its lock. A backup has none.
pub fn is_open(path: &Path) -> Result<bool, Problem> {
    use store_embedded::disk::{Disk, RealDisk};
    let lock = path.join("lock");
    if !lock.exists() {
        return Ok(false);
    }
    let held = RealDisk.lock(&lock).map_err(|error| {
        Problem::new(format!("cannot look at `{}`: {}", lock.display(), reason(&error)))
    })?;
    Ok(held.is_none())
}

pub fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|error| {
        Problem::new(format!("`{}` is no path: {}", path.display(), reason(&error)))
    })
}

pub fn stored(error: &store_embedded::Error) -> Problem {
    let problem = Problem::new(error.to_string()).help(error.help());
    match error {
        store_embedded::Error::Unfinished { .. } => problem.exit(Exit::StoreRefused),
        _ => problem,
    }
}
