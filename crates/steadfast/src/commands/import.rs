//! `steadfast import FILE TO`

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::PathBuf;

use clap::Args;
use identity::Act;
use serde_json::json;

use super::backup::stored;
use super::{Answer, audit};
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::problem::{Problem, reason};

/// Make a store of exported records
///
/// Versions begin anew, and the feed begins after what was imported: those who watch begin again, and
/// `verify` takes the records as they were imported.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast import records.jsonl ./steadfast-data
  steadfast export - --from ./copy | steadfast import - ./steadfast-data")]
pub struct Import {
    /// What `steadfast export` wrote, or `-` for the input
    #[arg(value_name = "FILE")]
    file: String,
    /// An empty directory, or one that is to be made
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// The directory of keys, whose log says that this was done; `./steadfast-keys` if it is there
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Import {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut input: Box<dyn BufRead> = if self.file == "-" {
            Box::new(stdin().lock())
        } else {
            let file = File::open(&self.file).map_err(|error| {
                Problem::new(format!("cannot read `{}`: {}", self.file, reason(&error)))
            })?;
            Box::new(BufReader::new(file))
        };
        let options = store_embedded::Options::default();
        let records = store_embedded::import(&mut input, &self.to, &options)
            .map_err(|error| stored(&error))?;
        let of = json!({ "from": self.file, "to": self.to.to_string_lossy(), "records": records });
        audit::note(self.keys.as_deref(), Act::StoreRestored, of)?;
        let text = if self.json {
            format!("{}\n", json!({ "records": records }))
        } else {
            format!(
                "{GOOD}imported{GOOD:#} {records} records\n\
                 serve them with: steadfast serve DESIGN --store embedded:{}\n",
                self.to.display()
            )
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}
