//! `steadfast export FILE`

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::Answer;
use super::backup::{ask, directory, stored};
use crate::client::ServerOptions;
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::problem::{Problem, reason};

/// Write all records as lines of JSON
///
/// Of a store that no server has open, such as a backup, with `--from`; otherwise of what the server
/// has open on this machine, as of now.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast export records.jsonl
  steadfast export records.jsonl --from ./copy
  steadfast export - --from ./copy | head")]
pub struct Export {
    /// Where to write, or `-` for the output
    #[arg(value_name = "FILE")]
    file: String,
    /// The directory of a store that no server has open
    #[arg(long, value_name = "DIRECTORY")]
    from: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Export {
    pub fn run(self, output: &mut Output) -> Answer {
        let (from, _removed) = match &self.from {
            Some(from) => (directory(from)?, None),
            None => {
                let name = format!("steadfast-export-{}", std::process::id());
                let folder = std::env::temp_dir().join(name);
                let removed = Removed(folder.clone());
                ask(&self.server, &folder)?;
                (folder, Some(removed))
            }
        };
        let exported = if self.file == "-" {
            write(&from, &mut stdout().lock())?
        } else {
            let file = File::create(&self.file).map_err(|error| {
                Problem::new(format!("cannot write `{}`: {}", self.file, reason(&error)))
            })?;
            write(&from, &mut BufWriter::new(file))?
        };
        let text = if self.server.json {
            let revision = format!("0-{}", exported.position);
            format!("{}\n", json!({ "records": exported.records, "revision": revision }))
        } else {
            format!(
                "{GOOD}exported{GOOD:#} {} records, up to revision 0-{}\n",
                exported.records, exported.position
            )
        };
        // the records may be in the output already
        if self.file == "-" {
            output.tell(&text)
        } else {
            output.print(&text)
        }
        Ok(Exit::Yes)
    }
}

fn write(from: &Path, to: &mut dyn Write) -> Result<store_embedded::Exported, Problem> {
    let exported = store_embedded::export(from, to).map_err(|error| stored(&error))?;
    to.flush().map_err(|error| Problem::new(format!("cannot write: {}", reason(&error))))?;
    Ok(exported)
}

/// A folder that is gone in the end.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // it may never have been made
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
