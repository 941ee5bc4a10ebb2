//! The lines of the log and what binds them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Act;
use crate::error::Error;

/// What is hashed begins with this; another form of the log has another beginning.
const FORM: &[u8] = b"steadfast audit 1\n";

/// The last line: its number and its hash. Before the first line: nothing, and zeros.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    pub number: u64,
    pub hash: String,
}

impl Default for Link {
    fn default() -> Link {
        Link { number: 0, hash: "0".repeat(64) }
    }
}

/// One entry as it stands in the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Noted {
    /// from 1
    pub number: u64,
    /// RFC 3339
    pub at: String,
    pub act: String,
    /// who did it
    pub by: String,
    /// to what
    pub of: Value,
    /// the hash of the line before
    pub previous: String,
}

/// What a log says, from its first line to its last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    pub entries: u64,
    /// the hash of the last line
    pub last: String,
    /// bytes of a line that was never finished
    pub torn: u64,
}

/// The first line that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// from 1
    pub line: u64,
    pub why: &'static str,
}

/// The line that follows `last`, which becomes it.
pub fn line(last: &mut Link, act: Act, by: &str, of: Value) -> String {
    let number = last.number + 1;
    let entry = Noted {
        number,
        at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        act: act.name().into(),
        by: by.into(),
        of,
        previous: last.hash.clone(),
    };
    // texts, numbers and nothing that has no JSON
    let entry = serde_json::to_string(&entry).unwrap_or_default();
    let hash = hash(&entry);
    let line = format!("{BEFORE}{entry}{BETWEEN}{hash}{AFTER}\n");
    *last = Link { number, hash };
    line
}

const BEFORE: &str = "{\"entry\":";
const BETWEEN: &str = ",\"hash\":\"";
const AFTER: &str = "\"}";

fn hash(entry: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(FORM);
    hasher.update(entry.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// The entry of a line, if the line follows `last`.
pub fn link(line: &str, last: &Link) -> Result<Link, &'static str> {
    read(line, last).map(|(_, link)| link)
}

fn read(line: &str, last: &Link) -> Result<(Noted, Link), &'static str> {
    let no_line = "it is no line of this log";
    let inside = line.strip_prefix(BEFORE).and_then(|line| line.strip_suffix(AFTER));
    let (entry, stated) = inside.and_then(|line| line.rsplit_once(BETWEEN)).ok_or(no_line)?;
    if hash(entry) != stated {
        return Err("its hash is not that of what it says");
    }
    let noted: Noted = serde_json::from_str(entry).map_err(|_| no_line)?;
    if noted.previous != last.hash {
        return Err("it does not follow the line before it");
    }
    if noted.number != last.number + 1 {
        return Err("its number does not follow that of the line before it");
    }
    let link = Link { number: noted.number, hash: stated.to_string() };
    Ok((noted, link))
}

/// Walks the log and gives every entry to `each`, up to the first line that does not hold.
pub fn verify(path: &Path, each: &mut dyn FnMut(&Noted)) -> Result<Result<Chain, Broken>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return Err(Error::io(path, &error)),
    };
    let mut reader = BufReader::new(file);
    let mut last = Link::default();
    let mut torn = 0;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read_bytes = reader.read_until(b'\n', &mut bytes);
        if read_bytes.map_err(|error| Error::io(path, &error))? == 0 {
            break;
        }
        if bytes.pop() != Some(b'\n') {
            // the byte that was taken off belongs to it
            torn = bytes.len() as u64 + 1;
            break;
        }
        let broken = |why| Broken { line: last.number + 1, why };
        let Ok(text) = str::from_utf8(&bytes) else {
            return Ok(Err(broken("it is no line of this log")));
        };
        match read(text, &last) {
            Ok((noted, link)) => {
                each(&noted);
                last = link;
            }
            Err(why) => return Ok(Err(broken(why))),
        }
    }
    Ok(Ok(Chain { entries: last.number, last: last.hash, torn }))
}
