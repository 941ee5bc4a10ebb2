//! `steadfast restore FROM TO`

use std::path::PathBuf;

use clap::Args;
use identity::Act;
use serde_json::json;

use super::backup::{counts, directory, stored};
use super::{Answer, audit};
use crate::exit::Exit;
use crate::output::{GOOD, Output};

/// Make a store of a backup
///
/// All of the backup is read and checked before anything is written, and the copy is checked again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast restore ./copy ./steadfast-data
  steadfast serve shop.design --store embedded:./steadfast-data")]
pub struct Restore {
    /// The backup
    #[arg(value_name = "FROM")]
    from: String,
    /// An empty directory, or one that is to be made
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// The directory of keys, whose log says that this was done; `./steadfast-keys` if it is there
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub fn run(self, output: &mut Output) -> Answer {
        let from = directory(&self.from)?;
        let copied = store_embedded::restore(&from, &self.to).map_err(|error| stored(&error))?;
        let of = json!({
            "from": from.to_string_lossy(), "to": self.to.to_string_lossy(),
            "revision": format!("0-{}", copied.position),
        });
        audit::note(self.keys.as_deref(), Act::StoreRestored, of)?;
        let text = if self.json {
            format!("{}\n", counts(&copied))
        } else {
            format!(
                "{GOOD}restored{GOOD:#} {} records and {} blobs, up to revision 0-{}\n\
                 serve them with: steadfast serve DESIGN --store embedded:{}\n",
                copied.records,
                copied.blobs,
                copied.position,
                self.to.display()
            )
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}
