//! Handles for what does not fit into a word: texts, and keys of records.
//!
//! One pool serves one call. The same content has the same handle, so the engine may compare
//! handles. The texts written in the design come first, as the program numbers them.

use design::model::SubjectId;
use engine::Word;
use rustc_hash::FxHashMap;

/// Up to here a list is searched; beyond, a map is kept.
const SMALL: usize = 24;

#[derive(Debug, Default)]
pub struct Pool {
    texts: Texts,
    keys: Keys,
}

#[derive(Debug, Default)]
struct Texts {
    list: Vec<Box<[u8]>>,
    /// how many belong to the design
    fixed: usize,
    fixed_map: FxHashMap<Box<[u8]>, Word>,
    map: FxHashMap<Box<[u8]>, Word>,
}

#[derive(Debug, Default)]
struct Keys {
    list: Vec<(SubjectId, Box<[Word]>)>,
    map: FxHashMap<(SubjectId, Box<[Word]>), Word>,
}

impl Pool {
    /// A pool that begins with the texts of a program.
    pub fn new(texts: &[String]) -> Pool {
        let list: Vec<Box<[u8]>> = texts.iter().map(|text| text.as_bytes().into()).collect();
        let fixed_map =
            list.iter().enumerate().map(|(at, text)| (text.clone(), at as Word)).collect();
        Pool {
            texts: Texts { fixed: list.len(), list, fixed_map, map: FxHashMap::default() },
            keys: Keys::default(),
        }
    }

    /// Forgets everything but the design's own texts.
    pub fn reset(&mut self) {
        self.texts.list.truncate(self.texts.fixed);
        self.texts.map.clear();
        self.keys.list.clear();
        self.keys.map.clear();
    }

    pub fn text(&mut self, content: &[u8]) -> Word {
        let texts = &mut self.texts;
        if let Some(handle) = texts.fixed_map.get(content) {
            return *handle;
        }
        let own = &texts.list[texts.fixed..];
        if own.len() <= SMALL {
            if let Some(at) = own.iter().position(|known| **known == *content) {
                return (texts.fixed + at) as Word;
            }
        } else if let Some(handle) = texts.map.get(content) {
            return *handle;
        }
        let handle = texts.list.len() as Word;
        texts.list.push(content.into());
        if own_len(texts) > SMALL {
            if texts.map.is_empty() {
                for at in texts.fixed..texts.list.len() {
                    texts.map.insert(texts.list[at].clone(), at as Word);
                }
            } else {
                texts.map.insert(content.into(), handle);
            }
        }
        handle
    }

    /// Nothing for a handle that was never given out.
    pub fn content(&self, handle: Word) -> &[u8] {
        usize::try_from(handle).ok().and_then(|at| self.texts.list.get(at)).map_or(&[], |text| text)
    }

    pub fn key(&mut self, subject: SubjectId, parts: &[Word]) -> Word {
        let keys = &mut self.keys;
        if keys.list.len() <= SMALL {
            let found = keys
                .list
                .iter()
                .position(|(known, known_parts)| *known == subject && **known_parts == *parts);
            if let Some(at) = found {
                return at as Word;
            }
        } else if let Some(handle) = keys.map.get(&(subject, Box::from(parts))) {
            return *handle;
        }
        let handle = keys.list.len() as Word;
        keys.list.push((subject, parts.into()));
        if keys.list.len() > SMALL {
            if keys.map.is_empty() {
                for (at, entry) in keys.list.iter().enumerate() {
                    keys.map.insert(entry.clone(), at as Word);
                }
            } else {
                keys.map.insert((subject, parts.into()), handle);
            }
        }
        handle
    }

    pub fn parts(&self, handle: Word) -> &[Word] {
        usize::try_from(handle).ok().and_then(|at| self.keys.list.get(at)).map_or(&[], |(_, p)| p)
    }
}

fn own_len(texts: &Texts) -> usize {
    texts.list.len() - texts.fixed
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
