//! Indexes in a directory or in memory, each opened once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use runtime::{TextEngine, TextIndex, TextShape, TextTrouble};

use crate::index::TantivyIndex;
use crate::schema::FORM;

/// For the designs of one store.
#[derive(Debug)]
pub struct Engine {
    /// none: in memory
    directory: Option<PathBuf>,
    /// two versions of a design whose view is the same have the same index, as long as both are there
    open: Mutex<HashMap<String, Weak<TantivyIndex>>>,
}

impl Engine {
    /// Indexes in this directory, which is made when something is put there.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Engine {
        Engine { directory: Some(directory.into()), open: Mutex::default() }
    }

    /// Indexes that last as long as whoever uses them.
    pub fn in_memory() -> Engine {
        Engine { directory: None, open: Mutex::default() }
    }
}

impl TextEngine for Engine {
    fn open(&self, shape: &TextShape) -> Result<Arc<dyn TextIndex>, TextTrouble> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, index| index.strong_count() > 0);
        let view = folder_name(&shape.name);
        let version = format!("{FORM}-{}", folder_name(&shape.mark));
        let name = format!("{view}/{version}");
        if let Some(known) = open.get(&name).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let directory = self.directory.as_ref().map(|directory| directory.join(&view));
        let index = TantivyIndex::open(shape, directory.as_ref().map(|it| it.join(&version)))?;
        let index = Arc::new(index);
        open.insert(name, Arc::downgrade(&index));
        if let Some(directory) = directory {
            remove_others(&directory, |other| open.contains_key(&format!("{view}/{other}")));
        }
        Ok(index)
    }
}

/// Takes away indexes of the view as it was before, unless they are in use. One that stays costs room and nothing else.
fn remove_others(directory: &Path, in_use: impl Fn(&str) -> bool) {
    let Ok(found) = std::fs::read_dir(directory) else { return };
    for other in found.flatten() {
        let name = other.file_name();
        if !in_use(&name.to_string_lossy())
            && let Err(error) = std::fs::remove_dir_all(other.path())
        {
            let path = other.path();
            tracing::warn!(path = %path.display(), %error, "an old search index stays");
        }
    }
}

/// A name that is one folder on every system. Two views of one design never have the same: names are made of these.
fn folder_name(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}
