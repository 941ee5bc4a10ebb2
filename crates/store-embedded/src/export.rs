//! Records as lines of JSON, to look into a store or to carry it to another version.
//!
//! The first line says what follows; every other line is one record. Keys and values are text where
//! they are text, and base64 under `key64` and `value64` where they are not.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

use serde_json::{Map as Object, Value, json};
use store::copying::Outline;

use crate::backup::export_from;
use crate::base64;
use crate::building::Building;
use crate::disk::RealDisk;
use crate::error::{Error, Result};
use crate::options::{KEY_BYTES_MAX, Options};

/// The version of the lines.
const LINES: u64 = 1;

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

/// Makes a new store of exported records. Their versions begin anew, and the feed begins after them: nothing in it tells
/// how they came about. If they cannot all be taken, nothing is left in the directory.
pub fn import(
    input: &mut dyn BufRead,
    directory: impl AsRef<Path>,
    options: &Options,
) -> Result<u64> {
    let directory = directory.as_ref();
    if std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Place { directory: directory.into(), why: "is not empty" });
    }
    // before anything is made
    let records = read_all(input, options)?;
    let there = directory.is_dir();
    let imported = write_all(&records, directory);
    if imported.is_err() && directory.is_dir() {
        // half of a store would be served as if it were whole
        std::fs::remove_dir_all(directory).map_err(Error::io("remove", directory))?;
        if there {
            std::fs::create_dir(directory).map_err(Error::io("make", directory))?;
        }
    }
    imported.map(|()| records.len() as u64)
}

/// By key, as a store holds them.
type Records = BTreeMap<Vec<u8>, Vec<u8>>;

fn read_all(input: &mut dyn BufRead, options: &Options) -> Result<Records> {
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
    let (mut records, mut count, mut last) = (Records::new(), 0_u64, 1);
    for line in lines {
        let (number, record) = line?;
        let wrong = |why: String| Error::Import { line: number, why };
        let part = |name| {
            part(&record, name)
                .ok_or_else(|| wrong(format!("there is no `{name}` that can be read")))
        };
        let (key, value) = (part("key")?, part("value")?);
        if let Some(described) = record.get("record")
            && record["seal"].as_u64() != Some(seal(described, &key, &value).into())
        {
            let why = "its `record` is not what its value says: it was edited, and what is imported is the value. \
                       Truth is changed by steps; leave `record` out to take the value as it is";
            return Err(wrong(why.into()));
        }
        for (name, bytes, most) in [
            ("key", key.len() as u64, KEY_BYTES_MAX),
            ("value", value.len() as u64, options.commit_bytes_max),
        ] {
            if bytes > most {
                return Err(wrong(format!("its {name} has {bytes} bytes, and may have {most}")));
            }
        }
        if records.insert(key, value).is_some() {
            return Err(wrong("an earlier line has the same key".into()));
        }
        (count, last) = (count + 1, number);
    }
    if head["records"] != count {
        let why = format!("there are {count} records, and {} were exported", head["records"]);
        return Err(Error::Import { line: last, why });
    }
    Ok(records)
}

/// What was imported is as if it were written in the first commit, which no feed tells of.
fn write_all(records: &Records, directory: &Path) -> Result<()> {
    const FIRST: u64 = 1;
    let lengths = records.iter().map(|(key, value)| (key.len() + value.len()) as u64);
    let outline = Outline {
        position: FIRST,
        floor: FIRST,
        records: records.len() as u64,
        record_bytes: lengths.sum(),
        ..Outline::default()
    };
    let mut building = Building::begin(directory, "exported records", &outline)?;
    for (key, value) in records {
        building.record(key, FIRST, value)?;
    }
    building.list()?;
    building.finish()
}

/// Ties what is told of a record to its key and value.
fn seal(described: &Value, key: &[u8], value: &[u8]) -> u32 {
    let told = crc32c::crc32c(described.to_string().as_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(told, key), value)
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
