//! What was done with authority: lines that are only ever added, each bound to the one before.
//!
//! A line is `{"entry":…,"hash":…,"key":…,"signature":…}`. The hash covers the bytes of the entry as
//! they stand in the line, and the entry names the hash of the line before: no byte can change, and no
//! line can go or move, without breaking what follows. Each hash is signed with the key of the service
//! that was current then: whoever can write the file and has no key cannot make a line. Lines cut from
//! the end break nothing; whoever must notice that notes the last hash elsewhere.

mod act;
mod chain;

pub use act::Act;
pub use chain::{Broken, Chain, Noted, verify};

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::directory;
use crate::error::Error;
use crate::key::Key;
use chain::{Link, line};

/// The log of one service. Several processes may write to it.
pub struct Audit {
    path: PathBuf,
    /// the end, as far as this process knows
    tail: Mutex<Tail>,
}

#[derive(Clone, Default)]
struct Tail {
    /// bytes of whole lines
    end: u64,
    last: Link,
}

impl Audit {
    pub fn open(path: impl Into<PathBuf>) -> Audit {
        Audit { path: path.into(), tail: Mutex::default() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Durable when this returns.
    pub fn append(&self, key: &Key, act: Act, by: &str, of: Value) -> Result<(), Error> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = directory::open_lines(&self.path)?;
        file.lock().map_err(|error| Error::io(&self.path, &error))?;
        let torn = self.follow(&mut file, &mut tail)?;
        let made = tail.end == 0;
        let mut next = tail.clone();
        let mut text = String::new();
        if torn > 0 {
            let cut = json!({ "bytes": torn });
            text.push_str(&line(&mut next.last, key, Act::Mended, "steadfast", cut));
        }
        text.push_str(&line(&mut next.last, key, act, by, of));
        directory::append(&mut file, &self.path, tail.end, torn, &text)?;
        if made {
            directory::sync_parent(&self.path)?;
        }
        next.end += text.len() as u64;
        *tail = next;
        Ok(())
    }

    /// Reads what other processes wrote. Gives the length of an unfinished line at the end.
    fn follow(&self, file: &mut File, tail: &mut Tail) -> Result<u64, Error> {
        let length = file.metadata().map_err(|error| Error::io(&self.path, &error))?.len();
        if length < tail.end {
            // someone cut it: what is left is followed from its beginning
            *tail = Tail::default();
        }
        let (text, torn) = directory::lines_from(file, &self.path, tail.end)?;
        for line in text.lines() {
            let last = chain::link(line, &tail.last).map_err(|_| Error::Damaged {
                path: self.path.clone(),
                line: usize::try_from(tail.last.number).unwrap_or(usize::MAX).saturating_add(1),
            })?;
            tail.end += line.len() as u64 + 1;
            tail.last = last;
        }
        Ok(torn)
    }
}
