//! The lines of the log and what binds them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Act;
use crate::base64;
use crate::error::Error;
use crate::key::{Key, KeyId, verifies};

/// What is hashed begins with this; another form of the log has another beginning.
const FORM: &[u8] = b"steadfast audit 1\n";
/// What is signed begins with this, so that no signature of a line is one of a token.
const SIGNED: &str = "steadfast audit signature 1\n";

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
    /// lines at the beginning that have no signature: an earlier version wrote them, and the first
    /// signature covers them
    pub unsigned: u64,
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
pub fn line(last: &mut Link, key: &Key, act: Act, by: &str, of: Value) -> String {
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
    let public = base64::encode(&key.public);
    let signature = base64::encode(&key.sign(signed(&hash).as_bytes()));
    let line = format!("{BEFORE}{entry}{BETWEEN}{hash}{BY}{public}{SIGNATURE}{signature}{AFTER}\n");
    *last = Link { number, hash };
    line
}

const BEFORE: &str = "{\"entry\":";
const BETWEEN: &str = ",\"hash\":\"";
const BY: &str = "\",\"key\":\"";
const SIGNATURE: &str = "\",\"signature\":\"";
const AFTER: &str = "\"}";

fn signed(hash: &str) -> String {
    format!("{SIGNED}{hash}")
}

fn hash(entry: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(FORM);
    hasher.update(entry.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// The entry of a line, if the line follows `last`. Whose signature it bears is for [`verify`].
pub fn link(line: &str, last: &Link) -> Result<Link, &'static str> {
    read(line, last).map(|read| read.link)
}

struct Read {
    noted: Noted,
    link: Link,
    /// the key that signed it; none: it bears no signature
    by: Option<KeyId>,
}

fn read(line: &str, last: &Link) -> Result<Read, &'static str> {
    let no_line = "it is no line of this log";
    let inside = line.strip_prefix(BEFORE).and_then(|line| line.strip_suffix(AFTER));
    let (entry, rest) = inside.and_then(|line| line.rsplit_once(BETWEEN)).ok_or(no_line)?;
    let (stated, signature) = match rest.split_once(BY) {
        None => (rest, None),
        Some((stated, rest)) => (stated, Some(rest.split_once(SIGNATURE).ok_or(no_line)?)),
    };
    if hash(entry) != stated {
        return Err("its hash is not that of what it says");
    }
    let by = match signature {
        None => None,
        Some((public, signature)) => {
            let public = base64::decode(public).ok_or(no_line)?;
            let signature = base64::decode(signature).ok_or(no_line)?;
            if !verifies(&public, signed(stated).as_bytes(), &signature) {
                return Err("its signature is not that of what it says");
            }
            Some(KeyId::of(&public))
        }
    };
    let noted: Noted = serde_json::from_str(entry).map_err(|_| no_line)?;
    if noted.previous != last.hash {
        return Err("it does not follow the line before it");
    }
    if noted.number != last.number + 1 {
        return Err("its number does not follow that of the line before it");
    }
    let link = Link { number: noted.number, hash: stated.to_string() };
    Ok(Read { noted, link, by })
}

/// Walks the log and gives every entry to `each`, up to the first line that does not hold. Every line
/// from the first signed one on bears the signature of a key that `is_ours`, and there is such a line.
pub fn verify(
    path: &Path,
    is_ours: &dyn Fn(KeyId) -> bool,
    each: &mut dyn FnMut(&Noted),
) -> Result<Result<Chain, Broken>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return Err(Error::io(path, &error)),
    };
    let mut reader = BufReader::new(file);
    let mut chain = Chain { entries: 0, last: Link::default().hash, unsigned: 0, torn: 0 };
    let mut last = Link::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read_bytes = reader.read_until(b'\n', &mut bytes);
        if read_bytes.map_err(|error| Error::io(path, &error))? == 0 {
            break;
        }
        if bytes.pop() != Some(b'\n') {
            // the byte that was taken off belongs to it
            chain.torn = bytes.len() as u64 + 1;
            break;
        }
        let broken = |why| Broken { line: last.number + 1, why };
        let Ok(text) = str::from_utf8(&bytes) else {
            return Ok(Err(broken("it is no line of this log")));
        };
        let read = match read(text, &last) {
            Ok(read) => read,
            Err(why) => return Ok(Err(broken(why))),
        };
        match read.by {
            Some(key) if !is_ours(key) => {
                return Ok(Err(broken("it is signed with a key that is none of this service's")));
            }
            None if chain.unsigned < chain.entries => {
                return Ok(Err(broken("it bears no signature, and an earlier line does")));
            }
            None => chain.unsigned += 1,
            Some(_) => {}
        }
        chain.entries += 1;
        each(&read.noted);
        last = read.link;
    }
    if chain.unsigned == chain.entries {
        // every key was noted when it was made
        let why = "the log ends before any signature; a log of an earlier version is signed from the \
                   next entry on";
        return Ok(Err(Broken { line: chain.entries + 1, why }));
    }
    chain.last = last.hash;
    Ok(Ok(chain))
}
