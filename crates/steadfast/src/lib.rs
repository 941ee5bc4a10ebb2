//! Steadfast inside a Rust program: load a design, open a store, call steps, read, watch.
//!
//! ```
//! use steadfast::{Request, Settings, load, open_store, start};
//!
//! let design = load("counter", "
//!     design Counter
//!     actor visitor
//!     subject Page(page: text) { truth Visits { seen: int = 0 } }
//!     step visitor[visit(page: Page) { room: Visits.seen < 2 }] { Visits.seen += 1 }
//! ")?;
//! let service = start(design, open_store("memory:")?, Settings::default())?;
//! let visit = Request::new("visitor", "visit", "ann").with("page", "home");
//! service.call(&visit)?;
//! service.call(&visit)?;
//! assert_eq!(service.call(&visit).unwrap_err().to_string(), "`visit` was refused by `room`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod broken;
pub mod catalog;
pub mod find;
pub mod known;
mod tables;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gateway::SecretKeys;
use identity::Identity;
use runtime::{SALT_BYTES, SecretTrouble};

pub use design::model::Design;
pub use runtime::{
    CallError, Clock, Delivered, Delivery, ManualClock, OpenError, Outside, Refused, Reply,
    Request, Runtime, Secrets, Settings, TextEngine, Transition, Truth, ViewQuery, Workers,
};
pub use store::{Store, block_on};
pub use store_embedded::Embedded;

/// A text that is not a design, with every reason on a line of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotADesign(pub Vec<String>);

impl fmt::Display for NotADesign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.join("\n"))
    }
}

impl std::error::Error for NotADesign {}

/// Compiles a design, which may use the archetypes of the catalog; `name` is how messages call the text.
pub fn load(name: &str, text: &str) -> Result<Design, NotADesign> {
    let compiled = design::compile(name, text, &catalog::Embedded);
    compiled.design.ok_or_else(|| {
        let problems = compiled.diagnostics.iter().filter(|problem| problem.is_error());
        NotADesign(
            problems
                .map(|problem| {
                    let at = compiled.sources.position(problem.primary.span);
                    let (line, column) = (at.line, at.column);
                    format!("{name}:{line}:{column}: {} [{}]", problem.message, problem.code)
                })
                .collect(),
        )
    })
}

/// Opens a store by its address: `memory:`, `embedded:PATH` for a directory that is made if it is not there, or
/// `postgres://USER@HOST/DATABASE` for one that several servers share.
pub fn open_store(address: &str) -> Result<Arc<dyn Store>, StoreError> {
    open_copyable(address).map(|(store, _)| store)
}

/// A store, and the embedded one behind it if it is one.
pub type Opened = (Arc<dyn Store>, Option<Arc<Embedded>>);

/// The same, and the embedded store itself if it is one: it can be copied while it serves.
pub fn open_copyable(address: &str) -> Result<Opened, StoreError> {
    match address.split_once(':') {
        Some(("memory", "")) => Ok((Arc::new(store::Memory::new()), None)),
        Some(("embedded", path)) if !path.is_empty() => {
            let options = store_embedded::Options::default();
            match Embedded::open(path, options) {
                Ok(store) => {
                    let store = Arc::new(store);
                    Ok((Arc::clone(&store) as Arc<dyn Store>, Some(store)))
                }
                Err(error) => Err(StoreError {
                    message: error.to_string(),
                    help: error.help(),
                    damaged: error.is_damage(),
                }),
            }
        }
        Some(("postgres" | "postgresql", _)) => open_postgres(address),
        _ => Err(StoreError {
            message: format!("`{address}` is no store"),
            help: "write `memory:`, `embedded:PATH` or `postgres://USER@HOST/DATABASE`",
            damaged: false,
        }),
    }
}

fn open_postgres(address: &str) -> Result<Opened, StoreError> {
    let read = store_postgres::Address::read(address).map_err(|why| StoreError {
        message: format!("`{}` is no store: {why}", shown_store(address)),
        help: "write `postgres://USER@HOST:PORT/DATABASE`; the password may stand in PGPASSWORD",
        damaged: false,
    })?;
    match store_postgres::Postgres::open(&read) {
        Ok(store) => Ok((Arc::new(store), None)),
        Err(error) => {
            Err(StoreError { message: error.message, help: error.help, damaged: error.is_foreign })
        }
    }
}

/// The address of a store as it may be shown: without a password.
pub fn shown_store(address: &str) -> String {
    store_postgres::Address::shown(address)
}

/// A store that cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreError {
    pub message: String,
    /// what a person can do about it
    pub help: &'static str,
    /// a file is damaged, missing or foreign, so trying again does not help
    pub damaged: bool,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for StoreError {}

/// What answers `search` views of designs on this store: its indexes are in the folder `search` of the store, or in
/// memory as it is. None: this is a build without the feature `search`.
pub fn open_search(address: &str) -> Option<Arc<dyn TextEngine>> {
    #[cfg(feature = "search")]
    return Some(Arc::new(match address.split_once(':') {
        Some(("embedded", path)) => search::Engine::in_directory(Path::new(path).join("search")),
        _ => search::Engine::in_memory(),
    }));
    #[cfg(not(feature = "search"))]
    {
        let _ = address;
        None
    }
}

/// Keys that designs keep their secrets with, in a directory that is made if it is not there.
pub fn open_secrets(directory: impl AsRef<Path>) -> Result<Arc<dyn Secrets>, identity::Error> {
    let identity = Identity::open(directory, true)?;
    Ok(Arc::new(SecretKeys(Arc::new(identity))))
}

/// The same for as long as this process lives. They are made when the first secret is met: to gather the randomness for
/// them takes most of a tenth of a second.
pub fn passing_secrets() -> Arc<dyn Secrets> {
    Arc::new(Passing::default())
}

#[derive(Default, Debug)]
struct Passing(OnceLock<Result<SecretKeys, String>>);

impl Passing {
    fn keys(&self) -> Result<&SecretKeys, SecretTrouble> {
        let made = self.0.get_or_init(|| match Identity::in_memory() {
            Ok(identity) => Ok(SecretKeys(Arc::new(identity))),
            Err(error) => Err(error.to_string()),
        });
        made.as_ref().map_err(|why| SecretTrouble::Unavailable(why.clone()))
    }
}

impl Secrets for Passing {
    fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, SecretTrouble> {
        self.keys()?.hash(salt, plain)
    }

    fn matches(&self, stored: &[u8], plain: &[u8]) -> Result<bool, SecretTrouble> {
        self.keys()?.matches(stored, plain)
    }

    fn fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, SecretTrouble> {
        self.keys()?.fingerprints(message)
    }
}

/// Runs a design on a store. Repairs and effects are made to happen by [`Workers`].
pub fn start(
    design: Design,
    store: Arc<dyn Store>,
    settings: Settings,
) -> Result<Arc<Runtime>, OpenError> {
    Runtime::open(design, store, settings).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let problems = load("bad", "design D\nactor a\nstep a[go(x: Nope)] { }\n").unwrap_err();
        assert_eq!(problems.to_string(), "bad:3:14: no type `Nope` [E0203]");
        for address in
            ["", "memory", "embedded:", "memory:x", "redis://localhost", "postgres://u@h"]
        {
            assert!(
                open_store(address).err().unwrap().message.contains("is no store"),
                "{address}"
            );
        }
    }
}
