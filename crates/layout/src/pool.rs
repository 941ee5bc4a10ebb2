//! Handles for what does not fit into a word: texts, and keys of records.
//!
//! One pool serves one call. The same content has the same handle, so the engine may compare
//! handles. The texts written in the design come first, as the program numbers them.

use std::fmt;

use design::model::{OperationId, SubjectId};
use engine::Word;
use rustc_hash::FxHashMap;

/// Up to here a list is searched; beyond, a map is kept.
const SMALL: usize = 24;

#[derive(Debug, Default)]
pub struct Pool {
    texts: Texts,
    keys: Keys,
    given: Given,
}

/// The secrets that one call was given: beside the handle of what would be stored of each the secret itself,
/// which is forgotten with the call.
#[derive(Default)]
pub struct Given {
    /// what was called
    pub operation: Option<OperationId>,
    plain: Vec<(Word, Box<[u8]>)>,
}

/// Never shows one.
impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({})", self.plain.len())
    }
}

impl Given {
    pub fn add(&mut self, handle: Word, plain: &[u8]) {
        self.plain.push((handle, plain.into()));
    }

    pub fn iter(&self) -> impl Iterator<Item = (Word, &[u8])> {
        self.plain.iter().map(|(handle, plain)| (*handle, &plain[..]))
    }

    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    pub fn forget(&mut self) {
        self.operation = None;
        // what is left in memory is overwritten, as far as the compiler lets it
        self.plain.iter_mut().for_each(|(_, plain)| plain.fill(0));
        self.plain.clear();
    }
}

#[derive(Debug, Default)]
struct Texts {
    /// all contents, one after the other
    bytes: Vec<u8>,
    /// where each ends
    ends: Vec<usize>,
    /// how many belong to the design
    fixed: usize,
    fixed_map: FxHashMap<Box<[u8]>, Word>,
    /// a bit for each of their lengths: most texts are of another one
    fixed_lengths: u64,
    map: FxHashMap<Box<[u8]>, Word>,
}

#[derive(Debug, Default)]
struct Keys {
    /// the parts of all keys, one after the other
    words: Vec<Word>,
    /// of each its subject, and where its parts end
    list: Vec<(SubjectId, usize)>,
    map: FxHashMap<(SubjectId, Box<[Word]>), Word>,
}

impl Texts {
    fn get(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    fn push(&mut self, content: &[u8]) {
        self.bytes.extend_from_slice(content);
        self.ends.push(self.bytes.len());
    }
}

/// The longest share a bit.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

impl Keys {
    fn get(&self, at: usize) -> (SubjectId, &[Word]) {
        let start = at.checked_sub(1).map_or(0, |before| self.list[before].1);
        let (subject, end) = self.list[at];
        (subject, &self.words[start..end])
    }
}

impl Pool {
    /// A pool that begins with the texts of a program.
    pub fn new(texts: &[String]) -> Pool {
        let mut pool = Pool::default();
        for (at, text) in texts.iter().enumerate() {
            pool.texts.push(text.as_bytes());
            pool.texts.fixed_map.insert(text.as_bytes().into(), at as Word);
            pool.texts.fixed_lengths |= length_bit(text.len());
        }
        pool.texts.fixed = texts.len();
        pool
    }

    /// Forgets everything but the design's own texts.
    pub fn reset(&mut self) {
        let texts = &mut self.texts;
        texts.ends.truncate(texts.fixed);
        texts.bytes.truncate(texts.ends.last().copied().unwrap_or(0));
        texts.map.clear();
        self.keys.list.clear();
        self.keys.words.clear();
        self.keys.map.clear();
        self.given.forget();
    }

    pub fn given(&self) -> &Given {
        &self.given
    }

    pub fn given_mut(&mut self) -> &mut Given {
        &mut self.given
    }

    pub fn text(&mut self, content: &[u8]) -> Word {
        let texts = &mut self.texts;
        if texts.fixed_lengths & length_bit(content.len()) != 0
            && let Some(handle) = texts.fixed_map.get(content)
        {
            return *handle;
        }
        let (fixed, count) = (texts.fixed, texts.ends.len());
        if count - fixed <= SMALL {
            if let Some(at) = (fixed..count).find(|at| texts.get(*at) == content) {
                return at as Word;
            }
        } else if let Some(handle) = texts.map.get(content) {
            return *handle;
        }
        texts.push(content);
        if count + 1 - fixed > SMALL {
            // the first time, those before it too
            let from = if texts.map.is_empty() { fixed } else { count };
            for at in from..=count {
                let content = texts.get(at).into();
                texts.map.insert(content, at as Word);
            }
        }
        count as Word
    }

    /// Nothing for a handle that was never given out.
    pub fn content(&self, handle: Word) -> &[u8] {
        match usize::try_from(handle) {
            Ok(at) if at < self.texts.ends.len() => self.texts.get(at),
            _ => &[],
        }
    }

    pub fn key(&mut self, subject: SubjectId, parts: &[Word]) -> Word {
        let keys = &mut self.keys;
        let count = keys.list.len();
        if count <= SMALL {
            if let Some(at) = (0..count).find(|at| keys.get(*at) == (subject, parts)) {
                return at as Word;
            }
        } else if let Some(handle) = keys.map.get(&(subject, Box::from(parts))) {
            return *handle;
        }
        keys.words.extend_from_slice(parts);
        keys.list.push((subject, keys.words.len()));
        if count + 1 > SMALL {
            let from = if keys.map.is_empty() { 0 } else { count };
            for at in from..=count {
                let (subject, parts) = keys.get(at);
                let entry = (subject, parts.into());
                keys.map.insert(entry, at as Word);
            }
        }
        count as Word
    }

    pub fn parts(&self, handle: Word) -> &[Word] {
        match usize::try_from(handle) {
            Ok(at) if at < self.keys.list.len() => self.keys.get(at).1,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_has_the_same_handle_however_many_there_are() {
        let mut pool = Pool::new(&["fixed".into(), String::new()]);
        assert_eq!(pool.text(b"fixed"), 0);
        assert_eq!(pool.text(b""), 1);
        for round in 0..3 {
            for n in 0..100_i64 {
                let content = format!("text {n}");
                assert_eq!(pool.text(content.as_bytes()), n + 2, "round {round}");
                assert_eq!(pool.content(n + 2), content.as_bytes());
                assert_eq!(pool.key(SubjectId(3), &[n, 7]), n);
                assert_eq!(pool.parts(n), &[n, 7]);
            }
        }
        assert_eq!(pool.key(SubjectId(4), &[0, 7]), 100);
        pool.reset();
        assert_eq!(pool.text(b"new"), 2);
        assert_eq!(pool.content(3), b"");
    }
}
