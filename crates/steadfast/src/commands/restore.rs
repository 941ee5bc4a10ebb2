//! `steadfast restore FROM TO`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use identity::Act;
use serde_json::json;

use super::backup::{counts, directory, stored};
use super::places::{Place, at_rest};
use super::{Answer, audit};
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::removed::Removed;
use store_embedded::{Embedded, Options, Target};

/// Make a store of a backup
///
/// All of the backup is read and checked before anything is written, and the copy is checked again. A
/// backup that was added to is restored to any revision or time since its first snapshot.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast restore ./copy ./steadfast-data
  steadfast restore ./copy ./before --to 0-1200
  steadfast restore ./copy ./before --to 2026-11-15T09:30:00Z
  steadfast restore ./copy postgres://shop@db.example/shop
  steadfast serve shop.design --store embedded:./steadfast-data")]
pub struct Restore {
    /// The backup
    #[arg(value_name = "FROM")]
    from: String,
    /// An empty directory, or one that is to be made. Or `postgres://USER@HOST/DATABASE`, where the schema is empty or is
    /// to be made
    #[arg(value_name = "TO")]
    to: String,
    /// A revision, such as `0-1200`, or a time: what was answered at it or before
    #[arg(long = "to", id = "target", value_name = "REVISION|TIME", value_parser = target)]
    target: Option<Target>,
    /// Also a copy without a list, as older versions made them: whether it is whole is not known
    #[arg(long)]
    unlisted: bool,
    /// The directory of keys, whose log says that this was done; `./steadfast-keys` if it is there
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub fn run(self, output: &mut Output) -> Answer {
        let from = directory(&self.from)?;
        let target = self.target.unwrap_or(Target::End);
        let options = store_embedded::Restore { target, unlisted: self.unlisted };
        let to = Place::read(&self.to)?;
        let copied = match &to {
            Place::Directory(path) => store_embedded::restore(&from, path, options),
            Place::Postgres(_) => {
                let folder = Removed::new("restore");
                let restored = folder.0.join("store");
                let copied = store_embedded::restore(&from, &restored, options);
                if copied.is_ok() {
                    let store = Embedded::open(&restored, Options::default());
                    let store = store.map_err(|error| stored(&error))?;
                    let shown = from.display().to_string();
                    at_rest(Arc::new(store), None)?.copy_to(&shown, &to, false)?;
                }
                copied
            }
        };
        let copied = copied.map_err(|error| stored(&error))?;
        let of = json!({
            "from": from.to_string_lossy(), "to": to.shown(),
            "revision": format!("0-{}", copied.position),
        });
        audit::note(self.keys.as_deref(), Act::StoreRestored, of)?;
        let text = if self.json {
            format!("{}\n", counts(&copied))
        } else {
            format!(
                "{GOOD}restored{GOOD:#} {} records and {} blobs, up to revision 0-{}\n\
                 serve them with: steadfast serve DESIGN --store {}\n",
                copied.records,
                copied.blobs,
                copied.position,
                to.served()
            )
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}

/// A revision, with or without its partition, or a time of RFC 3339.
fn target(text: &str) -> Result<Target, String> {
    if let Ok(revision) = text.strip_prefix("0-").unwrap_or(text).parse() {
        return Ok(Target::Revision(revision));
    }
    let time = runtime::time::read_time(&serde_json::Value::from(text));
    let time = time.and_then(|ms| u64::try_from(ms).ok()).map(Target::Time);
    time.ok_or_else(|| "neither a revision such as `0-1200` nor a time of RFC 3339".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_revision_or_a_time() {
        assert_eq!(target("0-1200"), Ok(Target::Revision(1200)));
        assert_eq!(target("7"), Ok(Target::Revision(7)));
        assert_eq!(target("1970-01-01T00:00:02Z"), Ok(Target::Time(2000)));
        assert!(target("yesterday").is_err());
    }
}
