//! What the tests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use design::model::Design;
use runtime::{CallError, ManualClock, Request, Runtime, Settings, TextEngine, ViewQuery};
use search::Engine;
use serde_json::Value;
use store::{Memory, Store};
use store_embedded::{Embedded, Options};

pub const DESIGN: &str = r#"
design Market

actor seller
actor buyer

subject Item(item: text) {
    truth ItemState {
        title: text = "",
        body: text?,
        city: text = "",
        kind: FRESH | USED = FRESH,
        sold: bool = false,
    }
}

step seller[offer(item: new Item, title: text, body: text?, city: text, kind: FRESH | USED)] {
    ItemState := { title: title, body: body, city: city, kind: kind, sold: false }
}
step seller[rename(item: Item, title: text)] { ItemState.title := title }
step seller[sell(item: Item)] { ItemState.sold := true }
step seller[drop(item: Item)] { delete item }

view Find = search Item on title, body where not sold
view InCity(city: text) = search Item on title, body
view Titles = search Item on title

read buyer[sold(item: Item)] = ItemState.sold
"#;

struct NoCatalog;

impl design::Catalog for NoCatalog {
    fn archetype(&self, _: &str) -> Option<&str> {
        None
    }

    fn ids(&self) -> Vec<String> {
        Vec::new()
    }
}

pub fn compile(text: &str) -> Design {
    let compiled = design::compile("test", text, &NoCatalog);
    compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// Every answer reflects everything that is durable.
pub fn settings(engine: Engine) -> Settings {
    let search: Option<Arc<dyn TextEngine>> = Some(Arc::new(engine));
    Settings { search, search_lag_ms: 0, ..Settings::default() }
}

const START: i64 = 1_700_000_000_000;

pub fn in_memory(text: &str) -> Runtime {
    on(text, Arc::new(Memory::new()), settings(Engine::in_memory()))
}

pub fn on(text: &str, store: Arc<dyn Store>, settings: Settings) -> Runtime {
    let clock = Arc::new(ManualClock::new(START));
    Runtime::open_with_clock(compile(text), store, settings, clock).unwrap()
}

/// A directory that is gone when the test is.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Directory {
        let name = format!("steadfast-search-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub fn indexes(&self) -> PathBuf {
        self.0.join("search")
    }

    pub fn store(&self) -> Arc<dyn Store> {
        Arc::new(Embedded::open(self.0.join("store"), Options::default()).unwrap())
    }

    /// Store and indexes are here.
    pub fn open(&self, text: &str) -> Runtime {
        on(text, self.store(), settings(Engine::in_directory(self.indexes())))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// All files below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

pub fn by(operation: &str) -> Request {
    Request::new("seller", operation, "ann")
}

pub fn offer(runtime: &Runtime, item: &str, title: &str, body: Option<&str>, city: &str) {
    let call = by("offer").with("item", item).with("title", title).with("body", body);
    runtime.call(&call.with("city", city).with("kind", "FRESH")).unwrap();
}

pub fn query(view: &str, words: &str) -> ViewQuery {
    let mut query = ViewQuery { view: view.into(), ..ViewQuery::default() };
    query.params.insert("q".into(), words.into());
    query
}

pub fn keys(page: &Value) -> Vec<String> {
    let rows = page["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["key"][0].as_str().expect("a key").to_string()).collect()
}

/// The keys of all hits in order.
pub fn found(runtime: &Runtime, view: &str, words: &str) -> Vec<String> {
    keys(&runtime.view(&query(view, words)).unwrap_or_else(|error| panic!("{words}: {error}")))
}

/// What is wrong with the words.
pub fn wrong(runtime: &Runtime, query: &ViewQuery) -> (String, String) {
    match runtime.view(query) {
        Err(CallError::Bad(bad)) => (bad.pointer, bad.message),
        other => panic!("{other:?}"),
    }
}

/// The same numbers for the same seed.
pub struct Chance(pub u64);

impl Chance {
    pub fn of_seed(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % most as u64) as usize
    }

    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// A text of a few words, with what stands between words.
    pub fn text(&mut self, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most + 1) {
            text.push_str(self.of(&WORDS));
            text.push_str(self.of(&BETWEEN));
        }
        text
    }
}

/// Some begin alike, some are the same in another case, some are not ASCII.
pub const WORDS: [&str; 14] = [
    "bike", "Bikes", "bi", "blue", "BLUE", "red", "r2d2", "42", "Äpfel", "äpfel", "straße", "日本",
    "о", "b",
];
pub const BETWEEN: [&str; 8] = [" ", " ", " ", ", ", "-", "/", "' ", " <b> "];
