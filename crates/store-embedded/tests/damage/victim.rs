//! A small store with every kind of file, and what it must hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use place::Place;
use store::{Blobs, Commit, Cursor, Error as StoreError, KeyRange, Scan, Store, block_on};
use store_embedded::{Embedded, Options};

use crate::place;

/// Everything that is served from a directory.
#[derive(Debug, PartialEq, Eq)]
pub struct Truth {
    pub position: u64,
    records: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    feed: Vec<(u64, Vec<u8>)>,
    content: Vec<Vec<u8>>,
}

pub struct Victim {
    root: PathBuf,
    pub truth: Truth,
}

pub fn options() -> Options {
    Options {
        segment_bytes: 4 << 10,
        snapshot_after_bytes: u64::MAX,
        commit_bytes_max: 512,
        pending_bytes_max: 512,
        feed_retention_bytes: u64::MAX,
        ..Options::default()
    }
}

pub fn put(store: &Embedded, n: u64, history: &str) {
    let value = format!("{history} {n} {}", "x".repeat(90));
    let fed = format!("fed {history} {n}");
    block_on(store.commit(Commit::new().put(format!("key/{:02}", n % 30), value).feed(fed)))
        .unwrap();
}

fn put_content(store: &Embedded, text: &str) {
    let written = block_on(async {
        let mut writer = store.blobs().begin().await?;
        writer.write(text.to_owned().into()).await?;
        writer.finish(None).await
    });
    written.unwrap();
}

pub fn open(directory: &Path) -> Embedded {
    Embedded::open(directory, options()).unwrap()
}

fn fill(directory: &Path, history: &str) -> Embedded {
    let store = open(directory);
    (0..30).for_each(|n| put(&store, n, history));
    put_content(&store, &"the content ".repeat(200));
    put_content(&store, "other content");
    store.snapshot().unwrap();
    (30..60).for_each(|n| put(&store, n, history));
    store
}

impl Victim {
    /// A store that was killed at rest, the same one closed, an older copy of it, and another one.
    pub fn new(place: &Place) -> Victim {
        let root = place.path().to_path_buf();
        let living = root.join("living");
        let store = fill(&living, "ours");
        std::thread::sleep(options().seal_after * 4);
        copy(&living, &root.join("old"));
        // another snapshot and another active segment than the older copy has
        (60..70).for_each(|n| put(&store, n, "ours"));
        store.snapshot().unwrap();
        (70..99).for_each(|n| put(&store, n, "ours"));
        // the log rests, and is sealed
        std::thread::sleep(options().seal_after * 4 + Duration::from_millis(20));
        copy(&living, &root.join("killed"));
        block_on(store.close()).unwrap();
        copy(&living, &root.join("closed"));
        let foreign = fill(&root.join("foreign"), "theirs");
        (60..99).for_each(|n| put(&foreign, n, "theirs"));
        block_on(foreign.close()).unwrap();
        let truth = read(&living).unwrap();
        assert_eq!((truth.position, truth.content.len()), (99, 2));
        Victim { root, truth }
    }

    pub fn killed_or_closed(&self, killed: bool) -> PathBuf {
        self.root.join(if killed { "killed" } else { "closed" })
    }

    pub fn old(&self) -> PathBuf {
        self.root.join("old")
    }

    pub fn foreign(&self) -> PathBuf {
        self.root.join("foreign")
    }

    pub fn copy_to(&self, to: &Path, killed: bool) {
        // What the case before has left.
        let _ = fs::remove_dir_all(to);
        copy(&self.killed_or_closed(killed), to);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if fs::copy(entry.path(), &target).is_err() {
            // A segment that was being made ready has got its name meanwhile.
            assert!(entry.file_name().to_string_lossy().ends_with(".tmp"));
        }
    }
}

/// Opens a directory and reads all of it; a refusal is told as it is to a person.
pub fn read(directory: &Path) -> Result<Truth, String> {
    let told = |error: store_embedded::Error| format!("{error}\nhelp: {}", error.help());
    let store = Embedded::open(directory, options()).map_err(told)?;
    let told = |error: StoreError| format!("{error}\nhelp: {}", error.help());
    let page = block_on(store.scan(Scan::new(KeyRange::all(), 10_000))).map_err(told)?;
    let records = page.records.into_iter();
    let records = records.map(|(key, r)| (key.to_vec(), (r.version.0, r.value.to_vec()))).collect();
    let head = block_on(store.head(Default::default())).map_err(told)?;
    let mut from = Cursor::start(Default::default());
    let mut feed = Vec::new();
    while from < head {
        let page = block_on(store.feed(from, 100)).map_err(told)?;
        for commit in page.commits {
            let position = commit.cursor.position();
            feed.extend(commit.entries.iter().map(|entry| (position, entry.to_vec())));
        }
        from = page.next;
    }
    let mut content = Vec::new();
    for blob in block_on(store.blobs().list(None, 100)).map_err(told)? {
        content.push(read_content(store.blobs(), blob.hash).map_err(told)?);
    }
    Ok(Truth { position: head.position(), records, feed, content })
}

fn read_content(blobs: &dyn Blobs, hash: store::Hash) -> store::Result<Vec<u8>> {
    block_on(async {
        let mut reader = blobs.get(hash).await?.ok_or(StoreError::Closed)?;
        let mut content = Vec::new();
        while let Some(piece) = reader.next().await? {
            content.extend_from_slice(&piece);
        }
        Ok(content)
    })
}
