//! `steadfast export FILE`

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use runtime::{OpenError, Runtime, Settings};
use serde_json::{Value, json};
use store_embedded::Describe;

use super::Answer;
use super::backup::{ask, directory, open_copy, stored};
use crate::client::ServerOptions;
use crate::exit::Exit;
use crate::output::{GOOD, Output};
use crate::problem::{Problem, reason};
use crate::removed::Removed;

/// Write all records as lines of JSON
///
/// Of a store that no server has open, such as a backup, with `--from`; otherwise of what the server
/// has open on this machine, as of now. With `--readable` each line of truth also says its design,
/// subject, key and attributes, under `record`; `import` takes such lines, too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast export records.jsonl
  steadfast export records.jsonl --from ./copy
  steadfast export - --from ./copy | head
  steadfast export - --from ./copy --readable | jq -c 'select(.record).record'")]
pub struct Export {
    /// Where to write, or `-` for the output
    #[arg(value_name = "FILE")]
    file: String,
    /// The directory of a store that no server has open
    #[arg(long, value_name = "DIRECTORY")]
    from: Option<String>,
    /// Also say what each record means
    #[arg(long)]
    readable: bool,
    #[command(flatten)]
    server: ServerOptions,
}

impl Export {
    pub fn run(self, output: &mut Output) -> Answer {
        let (from, _removed) = match &self.from {
            Some(from) => (directory(from)?, None),
            None => {
                let folder = Removed::new("export");
                ask(&self.server, &folder.0)?;
                (folder.0.clone(), Some(folder))
            }
        };
        let described = if self.readable { Some(Described::open(&from)?) } else { None };
        let mut describe = |key: &[u8], value: &[u8]| described.as_ref()?.of(key, value);
        let exported = if self.file == "-" {
            write(&from, &mut stdout().lock(), &mut describe)?
        } else {
            let file = File::create(&self.file).map_err(|error| {
                Problem::new(format!("cannot write `{}`: {}", self.file, reason(&error)))
            })?;
            write(&from, &mut BufWriter::new(file), &mut describe)?
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

fn write(
    from: &Path,
    to: &mut dyn Write,
    describe: &mut Describe<'_>,
) -> Result<store_embedded::Exported, Problem> {
    let exported = store_embedded::export(from, to, describe).map_err(|error| stored(&error))?;
    to.flush().map_err(|error| Problem::new(format!("cannot write: {}", reason(&error))))?;
    Ok(exported)
}

/// The designs of a store, which know what its records mean.
struct Described {
    runtimes: Vec<Runtime>,
    _folder: Removed,
}

impl Described {
    /// Of a copy, since a design that is opened may write.
    fn open(from: &Path) -> Result<Described, Problem> {
        let folder = Removed::new("readable");
        let store = open_copy(from, &folder)?;
        let settings = Settings::default();
        let cannot = |error: OpenError| Problem::new(format!("cannot read the designs: {error}"));
        let mut runtimes = Vec::new();
        for name in runtime::designs_of(store.as_ref(), &settings).map_err(cannot)? {
            let kept = runtime::kept(store.as_ref(), &name, &settings).map_err(cannot)?;
            if let Some(design) = kept.and_then(|kept| kept.design) {
                let opened = Runtime::open(design, Arc::clone(&store), settings.clone());
                runtimes.push(opened.map_err(cannot)?);
            }
        }
        Ok(Described { runtimes, _folder: folder })
    }

    fn of(&self, key: &[u8], value: &[u8]) -> Option<Value> {
        self.runtimes.iter().find_map(|runtime| runtime.described(key, value))
    }
}
