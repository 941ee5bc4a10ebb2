//! Where a store is that is copied, verified or restored: a directory, or a schema in PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::block_on;
use store::copying::{AtRest, Copied, CopyFrom, CopyTo, Doing, Outline, Progress, copy};
use store_embedded::{Building, Embedded, Options, Restore};
use store_postgres::{Address, Begun, Filling, OpenError, Reading};

use super::backup::{absolute, is_open, stored};
use crate::exit::Exit;
use crate::problem::Problem;
use crate::progress::Meter;
use crate::removed::Removed;

/// A store by its address.
pub enum Place {
    Directory(PathBuf),
    Postgres(Box<Address>),
}

/// A store that can be read from end to end.
pub enum Source {
    Embedded(AtRest),
    Postgres(Box<Reading>),
}

impl Place {
    /// `embedded:PATH`, a path, or `postgres://…`.
    pub fn read(text: &str) -> Result<Place, Problem> {
        if is_postgres(text) {
            let address = Address::read(text).map_err(|why| {
                let shown = steadfast::shown_store(text);
                Problem::new(format!("`{shown}` is no store: {why}")).help(
                    "write `postgres://USER@HOST:PORT/DATABASE`; the password may stand in PGPASSWORD",
                )
            })?;
            return Ok(Place::Postgres(Box::new(address)));
        }
        let path = text.strip_prefix("embedded:").unwrap_or(text);
        if path.is_empty() || path == "memory:" || path.contains("://") {
            return Err(Problem::new(format!("`{text}` is no store that can be copied")).help(
                "write `embedded:PATH`, the path alone, or `postgres://USER@HOST/DATABASE`",
            ));
        }
        Ok(Place::Directory(PathBuf::from(path)))
    }

    /// Without a password.
    pub fn shown(&self) -> String {
        match self {
            Place::Directory(path) => path.display().to_string(),
            Place::Postgres(address) => address.to_string(),
        }
    }

    /// As `serve --store` takes it.
    pub fn served(&self) -> String {
        match self {
            Place::Directory(path) => format!("embedded:{}", path.display()),
            Place::Postgres(address) if address.schema == "steadfast" => address.to_string(),
            Place::Postgres(address) => format!("{address}?schema={}", address.schema),
        }
    }

    /// Opens it to be read. What a backup holds is restored into the folder.
    pub fn open(&self, folder: &Removed) -> Result<Source, Problem> {
        match self {
            Place::Postgres(address) => {
                Reading::open(address).map(Box::new).map(Source::Postgres).map_err(refused)
            }
            Place::Directory(path) => {
                if !path.is_dir() {
                    return Err(Problem::new(format!("there is no `{}`", path.display())));
                }
                if is_open(path)? {
                    let copied =
                        "copy a backup, which is made while it serves: `steadfast backup ./ahead`";
                    let message = format!("`{}` is open in another process", path.display());
                    return Err(Problem::new(message)
                        .help("stop the server that has it open")
                        .help(copied));
                }
                let (store, lineage) = match store_embedded::backup_of(path) {
                    Ok(Some(lineage)) => {
                        let restored = folder.0.join("store");
                        let made = store_embedded::restore(path, &restored, Restore::default());
                        made.map_err(|error| stored(&error))?;
                        (open_embedded(&restored)?, lineage)
                    }
                    Ok(None) => {
                        store_embedded::holds_store(path).map_err(|error| stored(&error))?;
                        let store = open_embedded(path)?;
                        let lineage = store.lineage();
                        (store, lineage)
                    }
                    Err(error) => return Err(stored(&error)),
                };
                at_rest(store, Some(lineage))
            }
        }
    }
}

/// Whether a store is in PostgreSQL, by its address.
pub fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn open_embedded(path: &Path) -> Result<Arc<Embedded>, Problem> {
    Embedded::open(path, Options::default()).map(Arc::new).map_err(|error| stored(&error))
}

/// A store that one has alone. Without a lineage what is copied of it is copied as a whole.
pub fn at_rest(store: Arc<Embedded>, lineage: Option<String>) -> Result<Source, Problem> {
    block_on(AtRest::new(store, lineage)).map(Source::Embedded).map_err(failed)
}

impl Source {
    pub fn outline(&self) -> &Outline {
        match self {
            Source::Embedded(source) => source.outline(),
            Source::Postgres(source) => source.outline(),
        }
    }

    fn reader(&mut self) -> &mut dyn CopyFrom {
        match self {
            Source::Embedded(source) => source,
            Source::Postgres(source) => &mut **source,
        }
    }

    /// How many commits came after what was copied.
    pub fn moved_on(&self) -> Result<u64, Problem> {
        match self {
            Source::Embedded(_) => Ok(0),
            Source::Postgres(source) => block_on(source.moved_on()).map_err(failed),
        }
    }

    /// Copies everything to another place, and reads it back. `ahead`: it is not to be served yet.
    pub fn copy_to(
        &mut self,
        from: &str,
        to: &Place,
        ahead: bool,
    ) -> Result<(Copied, Begun), Problem> {
        let outline = self.outline().clone();
        let (limits, blob_bytes_max) = match to {
            Place::Directory(_) => (Building::limits(), u64::MAX),
            Place::Postgres(_) => (Filling::limits(), Filling::blob_bytes_max()),
        };
        if outline.position == 0 {
            return Err(Problem::new(format!("`{from}` holds nothing to copy")));
        }
        outline.fits(&limits, blob_bytes_max).map_err(|error| {
            let message = format!("`{}` does not take all of `{from}`: {error}", to.shown());
            Problem::new(message).help("nothing was copied")
        })?;
        match to {
            Place::Directory(path) => {
                let begun = Building::begin(path, from, &outline);
                let mut building = begun.map_err(|error| stored(&error))?;
                let copied = self.fill(&mut building)?;
                building.finish().map_err(|error| stored(&error))?;
                Ok((copied, Begun::New))
            }
            Place::Postgres(address) => {
                let mut filling = Filling::begin(address, from, &outline).map_err(refused)?;
                let begun = filling.begun();
                let copied = self.fill(&mut filling)?;
                let ended = match ahead {
                    true => block_on(filling.rest()),
                    false => block_on(filling.finish()),
                };
                ended.map_err(not_finished)?;
                Ok((copied, begun))
            }
        }
    }

    fn fill(&mut self, to: &mut dyn CopyTo) -> Result<Copied, Problem> {
        let mut meter = Meter::new("copy");
        let mut tell = |progress: Progress| meter.show_text(&said(progress));
        let copied = block_on(copy(self.reader(), to, &mut tell));
        meter.clear();
        copied.map_err(not_finished)
    }
}

fn said(progress: Progress) -> String {
    let Progress { doing, done, of } = progress;
    let of = of.map_or_else(String::new, |of| format!(" of {of}"));
    match doing {
        Doing::Records => format!("{done}{of} records"),
        Doing::Feed => format!("{done}{of} commits of the feed"),
        Doing::Content => format!("{done}{of} blobs"),
        Doing::ReadingBack => format!("{done}{of} read back"),
    }
}

/// A store in PostgreSQL that cannot be opened.
pub fn refused(error: OpenError) -> Problem {
    let exit = if error.is_foreign { Exit::StoreRefused } else { Exit::Wrong };
    Problem::new(error.message).help(error.help).exit(exit)
}

fn failed(error: store::Error) -> Problem {
    Problem::new(error.to_string()).help(error.help())
}

/// Something was written, and it is not whole.
fn not_finished(error: store::Error) -> Problem {
    failed(error).help("what was copied is not served; run the same command again to finish it")
}

/// Copies what is in PostgreSQL into a store in a folder, which is opened. Servers may go on.
pub fn open_postgres(text: &str, folder: &Path) -> Result<Arc<Embedded>, Problem> {
    let from = Place::read(text)?;
    let mut source = from.open(&Removed::new("unused"))?;
    source.copy_to(&from.shown(), &Place::Directory(folder.into()), false)?;
    open_embedded(folder)
}

/// Makes a backup of what is in PostgreSQL. Servers may go on.
pub fn back_up_postgres(text: &str, to: &Path) -> Result<store_embedded::Verified, Problem> {
    if std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Problem::new(format!("`{}` is not empty", to.display()))
            .help("a backup of PostgreSQL is made anew each time: name another directory"));
    }
    let mut name = absolute(to)?.into_os_string();
    name.push(".copying");
    let folder = Removed(PathBuf::from(name));
    let store = open_postgres(text, &folder.0)?;
    store.backup(to).map_err(|error| stored(&error))?;
    drop(store);
    store_embedded::verify(to).map_err(|error| stored(&error))
}
