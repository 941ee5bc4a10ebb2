//! Copies between stores, held against what the test itself knows of the history.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use store::copying::{AtRest, CopyFrom, CopyTo, Doing, Progress, copy};
use store::{Commit, Cursor, Error, Hash, KeyRange, Partition, Scan, Seeded, Store, block_on};
use store_embedded::{Building, Embedded, Options, Restore, Target};
use store_postgres::{Address, Begun, Filling, Postgres, Reading};

use crate::support::database::Server;
use crate::support::{open, shared};

/// What must be in a store: known from what was committed, and not from any store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Truth {
    position: u64,
    records: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    feed: Vec<(u64, Vec<Vec<u8>>)>,
    blobs: BTreeMap<Hash, u64>,
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("steadfast-copying-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Random commits: keys of all kinds that come, change and go, with and without a feed.
fn live(store: &dyn Store, truth: &mut Truth, seed: &mut Seeded, commits: usize) {
    for _ in 0..commits {
        let mut commit = Commit::new();
        let mut puts = BTreeMap::new();
        for _ in 0..seed.below(4) {
            let mut key = seed.below(150).to_be_bytes()[6..].to_vec();
            key.resize(2 + seed.below(3) as usize, 0xff);
            let length = if seed.percent(2) { 70_000 } else { seed.below(60) };
            let value: Vec<u8> = (0..length).map(|_| seed.number() as u8).collect();
            puts.insert(key, (!seed.percent(30)).then_some(value));
        }
        for (key, value) in &puts {
            commit = match value {
                Some(value) => commit.put(&key[..], value.clone()),
                None => commit.delete(&key[..]),
            };
        }
        let entries: Vec<Vec<u8>> = (0..seed.below(3))
            .map(|_| vec![seed.number() as u8; seed.below(40) as usize])
            .collect();
        for entry in &entries {
            commit = commit.feed(entry.clone());
        }
        if commit.only_checks() {
            continue;
        }
        let at = block_on(store.commit(commit)).unwrap().position();
        truth.position = at;
        for (key, value) in puts {
            match value {
                Some(value) => truth.records.insert(key, (at, value)),
                None => truth.records.remove(&key),
            };
        }
        if !entries.is_empty() {
            truth.feed.push((at, entries));
        }
    }
    for _ in 0..3 {
        let length = if seed.percent(30) { 1_500_000 } else { seed.below(5_000) };
        let bytes: Vec<u8> = (0..length).map(|_| seed.number() as u8).collect();
        let blob = block_on(async {
            let mut writer = store.blobs().begin().await?;
            writer.write(bytes.clone().into()).await?;
            writer.finish(None).await
        });
        truth.blobs.insert(blob.unwrap().hash, bytes.len() as u64);
    }
}

/// What a store says through its contract.
fn told(store: &dyn Store) -> Truth {
    let mut truth = Truth::default();
    let mut range = KeyRange { start: store::Key::default(), end: None };
    loop {
        let page = block_on(store.scan(Scan::new(range.clone(), 100))).unwrap();
        for (key, record) in &page.records {
            truth.records.insert(key.to_vec(), (record.version.0, record.value.to_vec()));
        }
        match page.records.last() {
            Some((last, _)) if page.more => range.start = last.next(),
            _ => break,
        }
    }
    let mut from = Cursor::start(Partition::default());
    loop {
        let page = block_on(store.feed(from, 50)).unwrap();
        for commit in &page.commits {
            let entries = commit.entries.iter().map(|entry| entry.to_vec()).collect();
            truth.feed.push((commit.cursor.position(), entries));
        }
        if page.next == from {
            break;
        }
        from = page.next;
    }
    truth.position = block_on(store.head(Partition::default())).unwrap().position();
    for blob in block_on(store.blobs().list(None, 1_000)).unwrap() {
        let mut reader = block_on(store.blobs().get(blob.hash)).unwrap().unwrap();
        let mut bytes = 0;
        while let Some(piece) = block_on(reader.next()).unwrap() {
            bytes += piece.len() as u64;
        }
        truth.blobs.insert(blob.hash, bytes);
    }
    truth
}

/// What the tables hold, past everything that this crate reads them with.
fn in_tables(server: &Server, schema: &str) -> Truth {
    let hex = |text: &str| -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(digit).collect()
    };
    let mut truth = Truth::default();
    let records =
        format!("SELECT encode(key, 'hex'), version, encode(value, 'hex') FROM {schema}.record");
    for row in server.sql(&records) {
        truth.records.insert(hex(&row[0]), (row[1].parse().unwrap(), hex(&row[2])));
    }
    let feed =
        format!("SELECT position, encode(entries, 'hex') FROM {schema}.commits ORDER BY position");
    for row in server.sql(&feed) {
        let (packed, mut entries) = (hex(&row[1]), Vec::new());
        let mut rest = &packed[..];
        while let Some((length, tail)) = rest.split_at_checked(4) {
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            entries.push(tail[..length].to_vec());
            rest = &tail[length..];
        }
        truth.feed.push((row[0].parse().unwrap(), entries));
    }
    for row in server.sql(&format!("SELECT encode(hash, 'hex'), bytes FROM {schema}.blob")) {
        truth.blobs.insert(row[0].parse().unwrap(), row[1].parse().unwrap());
    }
    let head = server.sql(&format!("SELECT position FROM {schema}.head"));
    truth.position = head.first().map_or(0, |row| row[0].parse().unwrap());
    truth
}

fn opened(path: PathBuf) -> Arc<Embedded> {
    Arc::new(Embedded::open(path, Options::default()).unwrap())
}

fn at_rest(store: &Arc<Embedded>) -> AtRest {
    let lineage = Some(store.lineage());
    block_on(AtRest::new(Arc::clone(store) as Arc<dyn Store>, lineage)).unwrap()
}

fn copied(from: &mut dyn CopyFrom, to: &mut dyn CopyTo) -> store::copying::Copied {
    block_on(copy(from, to, &mut |_: Progress| {})).unwrap()
}

#[test]
fn a_store_goes_to_postgres_and_back_and_is_the_same() {
    let (server, folder) = (shared(), Folder::new("there-and-back"));
    let (schema, mut truth, mut seed) = (server.schema(), Truth::default(), Seeded::new(21));
    let address = Address::read(&server.address(&schema)).unwrap();
    let first = opened(folder.at("first"));
    live(&*first, &mut truth, &mut seed, 400);
    assert!(truth.records.len() > 50 && truth.feed.len() > 100, "the history is too poor");

    let mut source = at_rest(&first);
    let mut filling = Filling::begin(&address, "first", source.outline()).unwrap();
    assert_eq!(filling.begun(), Begun::New);
    let done = copied(&mut source, &mut filling);
    assert_eq!(done.records_written, truth.records.len() as u64);
    block_on(filling.finish()).unwrap();
    assert_eq!(in_tables(&server, &schema), truth);

    // commits go on where they were
    let middle = open(&server.address(&schema));
    assert_eq!(told(&middle), truth);
    live(&middle, &mut truth, &mut seed, 100);

    // while it is copied back, others commit: the copy is of one moment
    let mut source = Reading::open(&address).unwrap();
    let before = truth.clone();
    live(&middle, &mut truth, &mut seed, 20);
    let mut building = Building::begin(folder.at("last"), "middle", source.outline()).unwrap();
    copied(&mut source, &mut building);
    assert_eq!(block_on(source.moved_on()).unwrap(), truth.position - before.position);
    building.finish().unwrap();
    let last = opened(folder.at("last"));
    let mut found = told(&*last);
    // content has no revision: what was stored meanwhile may be there
    found.blobs.retain(|hash, _| before.blobs.contains_key(hash));
    assert_eq!(found, before);

    // it goes on, is opened again, and is backed up and restored as any other
    let mut truth = before;
    live(&*last, &mut truth, &mut seed, 50);
    block_on(last.close()).unwrap();
    drop(last);
    let last = opened(folder.at("last"));
    assert_eq!(told(&*last).records, truth.records);
    last.backup(folder.at("backup")).unwrap();
    store_embedded::restore(folder.at("backup"), folder.at("again"), Restore::default()).unwrap();
    let again = told(&*opened(folder.at("again")));
    assert_eq!((&again.records, &again.feed), (&truth.records, &truth.feed));
    // of what was before the copy only the feed is known: nobody is given a store without its records
    let early = Restore { target: Target::Revision(5), unlisted: false };
    let error = store_embedded::restore(folder.at("backup"), folder.at("early"), early);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("revision 5 is not in it"), "{error}");
}

#[test]
fn an_unfinished_copy_is_not_served_and_is_finished_later() {
    let (server, folder) = (shared(), Folder::new("unfinished"));
    let (schema, mut truth, mut seed) = (server.schema(), Truth::default(), Seeded::new(22));
    let text = server.address(&schema);
    let address = Address::read(&text).unwrap();
    let store = opened(folder.at("store"));
    live(&*store, &mut truth, &mut seed, 300);

    // a server that was there before anything was copied cannot write in between
    let early = open(&text);
    let mut source = at_rest(&store);
    let mut filling = Filling::begin(&address, "./store", source.outline()).unwrap();
    let page = block_on(source.records()).unwrap();
    block_on(filling.records(page)).unwrap();
    let error = block_on(early.commit(Commit::new().put("k", "v"))).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_) | Error::Damaged(_)), "{error}");
    drop((filling, early));
    let refused = Postgres::open(&address).unwrap_err();
    assert!(refused.is_foreign);
    assert!(
        refused.message.contains("holds a copy of `./store` that is not finished"),
        "{refused}"
    );
    let refused = Reading::open(&address).err().unwrap();
    assert!(refused.message.contains("is not finished"), "{refused}");

    // the store goes on, a copy is made ahead, the store goes on again, and only what is new is written
    live(&*store, &mut truth, &mut seed, 50);
    let mut source = at_rest(&store);
    let mut filling = Filling::begin(&address, "./store", source.outline()).unwrap();
    assert_eq!(filling.begun(), Begun::GoesOn);
    copied(&mut source, &mut filling);
    block_on(filling.rest()).unwrap();
    let refused = Postgres::open(&address).unwrap_err();
    assert!(refused.message.contains("was made ahead and is not finished"), "{refused}");
    live(&*store, &mut truth, &mut seed, 30);
    let mut source = at_rest(&store);
    let mut filling = Filling::begin(&address, "./store", source.outline()).unwrap();
    assert!(filling.base() > 0, "what was made ahead counts");
    let done = copied(&mut source, &mut filling);
    assert!(done.records_written < 90, "{done:?}");
    assert!(done.feed_written < 31, "{done:?}");
    block_on(filling.finish()).unwrap();
    assert_eq!(in_tables(&server, &schema), truth);
    assert_eq!(told(&open(&text)), truth);

    // there is a store now
    let refused = Filling::begin(&address, "./store", source.outline()).err().unwrap();
    assert!(refused.message.contains("is not empty: it holds a store up to"), "{refused}");
}

#[test]
fn a_copy_of_another_store_begins_anew_and_one_that_was_overtaken_is_refused() {
    let (server, folder) = (shared(), Folder::new("overtaken"));
    let (schema, mut seed) = (server.schema(), Seeded::new(23));
    let address = Address::read(&server.address(&schema)).unwrap();
    let (mut one, mut other) = (Truth::default(), Truth::default());
    let (first, second) = (opened(folder.at("one")), opened(folder.at("other")));
    live(&*first, &mut one, &mut seed, 60);
    live(&*second, &mut other, &mut seed, 40);
    let mut source = at_rest(&first);
    let mut overtaken = Filling::begin(&address, "one", source.outline()).unwrap();
    copied(&mut source, &mut overtaken);
    let mut source = at_rest(&second);
    let mut filling = Filling::begin(&address, "other", source.outline()).unwrap();
    assert_eq!(filling.begun(), Begun::Anew);
    let error = block_on(overtaken.finish()).unwrap_err();
    assert!(error.to_string().contains("another copy into this store began later"), "{error}");
    copied(&mut source, &mut filling);
    block_on(filling.finish()).unwrap();
    assert_eq!(in_tables(&server, &schema), other);
}

#[test]
fn an_unfinished_directory_is_not_opened_and_begins_anew() {
    let folder = Folder::new("directory");
    let (mut truth, mut seed) = (Truth::default(), Seeded::new(24));
    let store = opened(folder.at("store"));
    live(&*store, &mut truth, &mut seed, 200);
    for cut in 0..4 {
        let mut source = at_rest(&store);
        let mut building = Building::begin(folder.at("to"), "./store", source.outline()).unwrap();
        let said = store_embedded::Error::Locked(folder.at("to")).to_string();
        let busy = Building::begin(folder.at("to"), "./store", source.outline()).unwrap_err();
        assert_eq!(busy.to_string(), said);
        match cut {
            0 => {}
            1 => drop(block_on(building.records(block_on(source.records()).unwrap())).unwrap()),
            2 => drop(copied(&mut source, &mut building)),
            _ => {
                copied(&mut source, &mut building);
                building.finish().unwrap();
                break;
            }
        }
        drop(building);
        let error = Embedded::open(folder.at("to"), Options::default()).unwrap_err();
        assert!(error.is_damage());
        let expected = "holds a copy of `./store` that was not finished";
        assert!(error.to_string().contains(expected), "{cut}: {error}");
        let error = store_embedded::verify(folder.at("to")).unwrap_err();
        assert!(error.to_string().contains(expected), "{cut}: {error}");
    }
    assert_eq!(told(&*opened(folder.at("to"))), truth);
    let again = Building::begin(folder.at("to"), "./store", at_rest(&store).outline());
    assert!(again.unwrap_err().to_string().ends_with("is not empty"));
}

/// A store that forgets something on its way in is not finished.
#[test]
fn what_is_read_back_must_be_what_was_copied() {
    let (server, folder) = (shared(), Folder::new("tampered"));
    let (schema, mut truth, mut seed) = (server.schema(), Truth::default(), Seeded::new(25));
    let address = Address::read(&server.address(&schema)).unwrap();
    let store = opened(folder.at("store"));
    live(&*store, &mut truth, &mut seed, 100);
    // each when the rows are there, and are not read again yet
    let (record, commit) = (
        "key = (SELECT key FROM record ORDER BY key DESC LIMIT 1)",
        "position = (SELECT max(position) FROM commits)",
    );
    let wrongs = [
        (Doing::Content, format!("DELETE FROM record WHERE {record}")),
        (Doing::Content, format!("UPDATE record SET value = '\\x00' WHERE {record}")),
        (Doing::Content, format!("UPDATE record SET version = version + 1 WHERE {record}")),
        (Doing::ReadingBack, format!("DELETE FROM commits WHERE {commit}")),
        (Doing::ReadingBack, format!("UPDATE commits SET entries = '\\x00000000' WHERE {commit}")),
    ];
    for (when, wrong) in wrongs {
        let mut source = at_rest(&store);
        let mut filling = Filling::begin(&address, "./store", source.outline()).unwrap();
        let mut tampered = false;
        let mut tell = |progress: Progress| {
            if progress.doing == when && !tampered {
                tampered = true;
                server.sql(&format!("SET search_path = {schema}; {wrong}"));
            }
        };
        let error = block_on(copy(&mut source, &mut filling, &mut tell)).unwrap_err();
        assert!(tampered);
        assert!(
            error.to_string().contains("what was read back is another copy"),
            "{wrong}: {error}"
        );
        server.sql(&format!("DROP SCHEMA {schema} CASCADE"));
    }
}
