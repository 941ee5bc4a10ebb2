//! Records as lines of JSON, to look into a store or to carry it to another version.
//!
//! The first line says what follows; every other line is one record. Keys and values are text where
//! they are text, and base64 under `key64` and `value64` where they are not.

use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Map as Object, Value, json};
use store::{Decision, LocalStore};

use crate::backup::export_from;
use crate::base64;
use crate::disk::RealDisk;
use crate::embedded::Embedded;
use crate::error::{Error, Result};
use crate::options::Options;

/// The version of the lines.
const LINES: u64 = 1;
/// So many bytes are committed at once on import.
const COMMIT_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    pub records: u64,
    /// Of the last commit, in the store that was exported.
    pub position: u64,
}

/// What a person reads of a record, by its key and value, where that is known.
pub type Describe<'a> = dyn FnMut(&[u8], &[u8]) -> Option<Value> + 'a;

/// Writes all records of a store that is not open, such as a backup. What they mean is written under
/// `record`, for people and other programs. `seal` ties it to key and value: one that was edited is not imported as if
/// the edit counted.
pub fn export(
    directory: impl AsRef<Path>,
    output: &mut dyn Write,
    describe: &mut Describe<'_>,
) -> Result<Exported> {
    let directory = directory.as_ref();
    let found = export_from(&RealDisk, directory)?;
    let (records, position) = (found.map.len() as u64, found.position);
    let mut line =
        |value: Value| writeln!(output, "{value}").map_err(Error::io("export", directory));
    line(json!({ "steadfast": "records", "version": LINES, "records": records,
        "position": position }))?;
    for (key, _, value) in found.map.after(None) {
        let mut record = Object::new();
        if let Some(described) = describe(key, value) {
            record.insert("seal".into(), seal(&described, key, value).into());
            record.insert("record".into(), described);
        }
        insert(&mut record, "key", key);
        insert(&mut record, "value", value);
        line(Value::Object(record))?;
    }
    Ok(Exported { records, position })
}

/// Makes a new store of exported records. Their versions begin anew, and the feed is empty. If they cannot all be taken,
/// nothing is left in the directory.
pub fn import(
    input: &mut dyn BufRead,
    directory: impl AsRef<Path>,
    options: Options,
) -> Result<u64> {
    let directory = directory.as_ref();
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Place { directory: directory.into(), why: "is not empty" });
    }
    let there = directory.is_dir();
    let imported = import_into(input, directory, options);
    if imported.is_err() {
        // half of a store would be served as if it were whole
        std::fs::remove_dir_all(directory).map_err(Error::io("remove", directory))?;
        if there {
            std::fs::create_dir(directory).map_err(Error::io("make", directory))?;
        }
    }
    imported
}

fn import_into(input: &mut dyn BufRead, directory: &Path, options: Options) -> Result<u64> {
    let commit_bytes = COMMIT_BYTES.min(options.commit_bytes_max as usize / 2);
    let store = Embedded::open(directory, options)?;
    let mut lines = input.lines().zip(1..).map(|(line, number)| {
        let line = line.map_err(|e| Error::Import { line: number, why: e.to_string() })?;
        let value = serde_json::from_str::<Value>(&line);
        Ok((number, value.map_err(|e| Error::Import { line: number, why: e.to_string() })?))
    });
    let (_, head) = lines.next().transpose()?.unwrap_or_default();
    if head["steadfast"] != "records" || head["version"] != LINES {
        let why = "this is not the head of exported records".into();
        return Err(Error::Import { line: 1, why });
    }
    let mut records = Vec::new();
    let (mut bytes, mut count, mut last) = (0, 0, 1);
    for line in lines {
        let (number, record) = line?;
        let part = |name| {
            let why = || format!("there is no `{name}` that can be read");
            part(&record, name).ok_or_else(|| Error::Import { line: number, why: why() })
        };
        let (key, value) = (part("key")?, part("value")?);
        if let Some(described) = record.get("record")
            && record["seal"].as_u64() != Some(seal(described, &key, &value).into())
        {
            let why = "its `record` is not what its value says: it was edited, and what is imported is the value. \
                       Truth is changed by steps; leave `record` out to take the value as it is"
                .into();
            return Err(Error::Import { line: number, why });
        }
        bytes += key.len() + value.len();
        records.push((key, value));
        (count, last) = (count + 1, number);
        if bytes >= commit_bytes {
            put_all(&store, &mut records, number)?;
            bytes = 0;
        }
    }
    put_all(&store, &mut records, last)?;
    if head["records"] != count {
        let why = format!("there are {count} records, and {} were exported", head["records"]);
        return Err(Error::Import { line: last, why });
    }
    Ok(count)
}

/// Ties what is told of a record to its key and value.
fn seal(described: &Value, key: &[u8], value: &[u8]) -> u32 {
    let told = crc32c::crc32c(described.to_string().as_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(told, key), value)
}

fn put_all(store: &Embedded, records: &mut Vec<(Vec<u8>, Vec<u8>)>, line: u64) -> Result<()> {
    let refused = |e: store::Error| Error::Import { line, why: e.to_string() };
    let ticket = store.transact(&mut |transaction| {
        records.iter().for_each(|(key, value)| transaction.put(key, value));
        Decision::Commit
    });
    records.clear();
    ticket.and_then(|ticket| ticket.wait()).map_err(refused)
}

fn insert(record: &mut Object<String, Value>, name: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => record.insert(name.into(), text.into()),
        _ => record.insert(format!("{name}64"), base64::encode(bytes).into()),
    };
}

fn part(record: &Value, name: &str) -> Option<Vec<u8>> {
    if let Some(text) = record[name].as_str() {
        return Some(text.as_bytes().to_vec());
    }
    base64::decode(record[&format!("{name}64")].as_str()?)
}
